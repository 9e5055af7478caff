"""Waiting that always ends: for a descriptor or a call, within a trial's limits, and until the operator cancels.

What starts no process of its own (a request, a model call) holds its limits by this.
"""

from __future__ import annotations

import os
import select
import threading
import time
from collections.abc import Callable
from math import ceil
from typing import Generic, TypeVar

from proctor.ports import Cancel, Exceeded, Place
from proctor.records.grade import Defect
from proctor.records.run import Attempt, Ending, Limits

T = TypeVar("T")

_WATCH_EVERY_S = 0.2


class Stopped(Exception):
    """The trial must end now.

    Attributes:
        ending: how.
        defect: what was used up, where that is why.
    """

    def __init__(self, ending: Ending, defect: Defect | None = None) -> None:
        super().__init__(ending.value)
        self.ending = ending
        self.defect = defect

    def attempt(self, output: object = None, notes: tuple[str, ...] = ()) -> Attempt:
        """The trial as it ends by this, with the output that was there by then."""
        return Attempt(ending=self.ending, defect=self.defect, output=output, notes=notes)


class Patience:
    """How long there is to wait; from now on.

    Args:
        limit_s: seconds.
        cancel: ends every wait when it is set; there is nobody to cancel when None.
        watch: asked several times a second what is used up.
    """

    def __init__(
        self,
        limit_s: float,
        cancel: Cancel | None = None,
        watch: Callable[[], Exceeded | None] = lambda: None,
    ) -> None:
        self._until = time.monotonic() + limit_s
        self._cancel = cancel
        self._watch = watch
        self._watched = 0.0

    @classmethod
    def of(cls, place: Place, limits: Limits, cancel: Cancel) -> Patience:
        """That of a trial which begins now."""
        return cls(limits.timeout_s, cancel, place.exceeded)

    @property
    def left_s(self) -> float:
        """Seconds that are left; 0 when there are none."""
        return max(0.0, self._until - time.monotonic())

    def wait_for(self, descriptor: int, events: int, at_most_s: float | None = None) -> bool:
        """Wait until the descriptor is ready, in the sense of `poll`; False when it was not in `at_most_s` seconds.

        Raises:
            Stopped: the time is up, something is used up, or the operator cancelled.
        """
        poller = select.poll()
        poller.register(descriptor, events)
        cancelled = -1
        if self._cancel is not None:
            cancelled = self._cancel.fileno()
            poller.register(cancelled, select.POLLIN)
        until = self._until if at_most_s is None else min(self._until, time.monotonic() + at_most_s)
        while True:
            # Looked at before each wait: a peer that sends one byte at a time is always ready.
            self.check()
            left_s = max(0.0, until - time.monotonic())
            ready = [found for found, _ in poller.poll(ceil(min(left_s, _WATCH_EVERY_S) * 1000))]
            if cancelled in ready:
                raise Stopped(Ending.INTERRUPTED)
            if ready:
                return True
            if not left_s and until < self._until:
                return False

    def check(self) -> None:
        """Return while there is something left.

        Raises:
            Stopped: as `wait_for`.
        """
        now = time.monotonic()
        if self._cancel is not None and self._cancel.is_set:
            raise Stopped(Ending.INTERRUPTED)
        if now >= self._until:
            raise Stopped(Ending.TIMEOUT)
        if now - self._watched >= _WATCH_EVERY_S:
            self._watched = now
            exceeded = self._watch()
            if exceeded is not None:
                raise Stopped(exceeded.ending, Defect(type=exceeded.ending.value, message=exceeded.message))

    def result_of(self, work: Callable[[], T]) -> T:
        """What a call returns or raises that nothing can interrupt, made in a thread of its own.

        When the wait ends first, the thread is left behind: nobody waits for it, also not at the end of proctor.

        Raises:
            Stopped: as `wait_for`.
        """
        reader, writer = os.pipe()
        call = _Call(work, writer)
        threading.Thread(target=call.run, name="waiting", daemon=True).start()
        try:
            self.wait_for(reader, select.POLLIN)
        finally:
            os.close(reader)
        return call.result()


class _Call(Generic[T]):
    """A call in another thread. Its end of the pipe is closed when it has ended, and by nobody else."""

    def __init__(self, work: Callable[[], T], writer: int) -> None:
        self._work = work
        self._writer = writer
        self._returned: list[T] = []
        self._raised: BaseException | None = None

    def run(self) -> None:
        try:
            self._returned.append(self._work())
        except BaseException as error:  # noqa: BLE001  # handed to whoever waits
            self._raised = error
        finally:
            os.close(self._writer)

    def result(self) -> T:
        if self._raised is not None:
            raise self._raised
        return self._returned[0]
