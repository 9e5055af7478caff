"""What is shown of a run while it goes on: a board that repaints on a terminal, a line a minute elsewhere."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Final, TextIO

from proctor.cli.board_lines import board_lines, rows_wanted, totals, width_of
from proctor.cli.run_watch import RunWatch, View

if TYPE_CHECKING:
    from proctor.engine.happenings import Event

PAINTED_EVERY_S: Final = 0.5
SAID_EVERY_S: Final = 60.0
STOPPING: Final = "ending what runs; Ctrl-C once more leaves it at once"
_LOOKED_EVERY_S: Final = 1.0
_USUAL: Final = (80, 24)


class Screen:
    """Some lines at the end of a terminal that are painted over and over, and can be taken away.

    No colour, no other screen, and nothing that would have to be put back: a process that is killed leaves some lines.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._painted: list[int] = []

    def size(self) -> tuple[int, int]:
        """Columns and lines of the terminal, as they are now."""
        with suppress(OSError, ValueError):
            found = os.get_terminal_size(self._stream.fileno())
            if found.columns > 0 and found.lines > 0:
                return found.columns, found.lines
        return _USUAL

    def paint(self, lines: list[str]) -> None:
        """Show these lines instead of those before."""
        self._write(self._back() + "".join(f"{line}\n" for line in lines))
        self._painted = [width_of(line) for line in lines]

    def say(self, line: str) -> None:
        """A line that stays, above what is painted next."""
        self._write(f"{self._back()}{line}\n")
        self._painted = []

    def wipe(self) -> None:
        """Take away what is painted."""
        self._write(self._back())
        self._painted = []

    def _back(self) -> str:
        """What leads back to the first painted line, and clears from there on."""
        if not self._painted:
            return ""
        columns, _ = self.size()
        # Where the terminal has become narrower, a line takes several of its own.
        up = sum(max(1, -(-width // columns)) for width in self._painted)
        return f"\r\x1b[{up}A\x1b[J"

    def _write(self, text: str) -> None:
        if text:
            encoding = self._stream.encoding or "utf-8"
            self._stream.write(text.encode(encoding, "replace").decode(encoding))
            self._stream.flush()


class Board:
    """Shows a run. A context manager; whatever happens, nothing of the board is left on the terminal.

    Args:
        stream: where it is shown.
        environment: says what the terminal can do.
        is_shown: False where something else is printed to the same terminal.
    """

    def __init__(
        self,
        stream: TextIO,
        environment: Mapping[str, str],
        *,
        is_shown: bool = True,
    ) -> None:
        is_terminal = stream.isatty() and (environment.get("TERM") or "dumb") != "dumb"
        self.watch = RunWatch()
        self._stream = stream
        self._screen = Screen(stream) if is_terminal and is_shown else None
        self._on_minute: list[Callable[[View], None]] = []
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._ticker: threading.Thread | None = None
        self._is_stopping: Callable[[], bool] = lambda: False

    def __enter__(self) -> Board:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, stack: TracebackType | None
    ) -> None:
        self.end()

    def begin(self, is_stopping: Callable[[], bool]) -> None:
        """Show from now on what the events tell. `is_stopping` says whether the operator wants everything to end."""
        self._is_stopping = is_stopping
        self._ticker = threading.Thread(target=self._tick, name="board", daemon=True)
        self._ticker.start()

    def every_minute(self, tell: Callable[[View], None]) -> None:
        """Have somebody else told once a minute."""
        self._on_minute.append(tell)

    def on_event(self, event: Event) -> None:
        """Take note of what has happened."""
        self.watch.on_event(event)

    def note(self, line: str) -> None:
        """A line that stays."""
        with self._lock:
            if self._screen is not None:
                self._screen.say(line)
            else:
                self._stream.write(line + "\n")
                self._stream.flush()

    @property
    def is_alive(self) -> bool:
        """True while it is shown."""
        return self._ticker is not None

    def end(self) -> None:
        """Take the board away."""
        self._ended.set()
        if self._ticker is not None:
            self._ticker.join(timeout=5)
            self._ticker = None
        if self._screen is not None:
            with self._lock:
                self._screen.wipe()

    def _tick(self) -> None:
        every_s = PAINTED_EVERY_S if self._screen is not None else _LOOKED_EVERY_S
        said, was_stopping = time.monotonic(), False
        while not self._ended.wait(every_s):
            # A terminal that has gone away is no reason to stop the run.
            with suppress(OSError, ValueError):
                is_stopping = self._is_stopping()
                if time.monotonic() - said >= SAID_EVERY_S:
                    said = time.monotonic()
                    self._say_totals()
                if self._screen is not None:
                    self._paint(self._screen, is_stopping=is_stopping)
                elif is_stopping and not was_stopping:
                    self.note(STOPPING)
                was_stopping = is_stopping

    def _say_totals(self) -> None:
        view = self.watch.view()
        for tell in self._on_minute:
            tell(view)
        if self._screen is None:
            self.note(totals(view))

    def _paint(self, screen: Screen, *, is_stopping: bool) -> None:
        columns, lines = screen.size()
        view = self.watch.view(rows_wanted(lines))
        said = STOPPING if is_stopping else ""
        with self._lock:
            if not self._ended.is_set():
                screen.paint(board_lines(view, columns, lines, said=said))
