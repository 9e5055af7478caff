"""What the operator's signals do to a command that runs agents."""

from __future__ import annotations

import signal
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from proctor.cli.board import Board
    from proctor.cli.progress import Progress
    from proctor.host.cancel import Cancel


@contextmanager
def cancel_on_signals(progress: Progress | Board, said: str) -> Generator[Cancel]:
    """The first Ctrl-C or SIGTERM ends what runs, and `said` is noted; the second is as ever."""
    from proctor.host.cancel import Cancel

    cancel = Cancel()
    before: dict[int, Any] = {}

    def on_signal(number: int, _: object) -> None:
        signal.signal(number, before[number])
        cancel.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        before[number] = signal.signal(number, on_signal)
    try:
        yield cancel
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if cancel.is_set:
            progress.note(said)
        cancel.close()
