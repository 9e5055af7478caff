"""The trials of an invocation that wait for their turn: in the plan's order, and those that are made again."""

from __future__ import annotations

import heapq
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from typing import Final

from proctor.engine.planning import PlannedTrial

FIRST_WAIT_S: Final = 1.0
LONGEST_WAIT_S: Final = 60.0
_LOOK_EVERY_S: Final = 0.2


def wait_before(repetition: int) -> float:
    """Seconds before a trial is made again: 1, 2, 4 and so on, at most 60.

    >>> [wait_before(n) for n in (1, 2, 3, 10)]
    [1.0, 2.0, 4.0, 60.0]
    """
    return min(LONGEST_WAIT_S, FIRST_WAIT_S * 2.0 ** (repetition - 1))


class WaitingLine:
    """Safe for several threads, each of which takes a trial, runs it, and may put it back to be made again."""

    def __init__(self, trials: Iterable[PlannedTrial]) -> None:
        self._first = deque(trials)
        self._again: list[tuple[float, int, PlannedTrial]] = []
        self._serial = 0
        self._lock = threading.Lock()

    def take(self, is_over: Callable[[], bool]) -> PlannedTrial | None:
        """The next trial; None when none is left, or nothing more is to be started.

        One that is made again is waited for until its time has come.
        """
        while not is_over():
            with self._lock:
                now = time.monotonic()
                if self._again and self._again[0][0] <= now:
                    return heapq.heappop(self._again)[2]
                if self._first:
                    return self._first.popleft()
                if not self._again:
                    return None
                wait_s = min(_LOOK_EVERY_S, self._again[0][0] - now)
            time.sleep(max(wait_s, 0.001))
        return None

    def put_back(self, trial: PlannedTrial, after_s: float) -> None:
        """Have a trial made again, after so many seconds at the earliest."""
        with self._lock:
            self._serial += 1
            heapq.heappush(self._again, (time.monotonic() + after_s, self._serial, trial))

    @property
    def has_first_attempts(self) -> bool:
        """True while a trial waits that was not started at all."""
        return bool(self._first)

    @property
    def repetitions(self) -> list[PlannedTrial]:
        """The trials that wait to be made again."""
        with self._lock:
            return [trial for _, _, trial in self._again]
