"""What all trials of an invocation may cost together, and have cost."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Literal

from proctor.engine.happenings import Cost


class Purse:
    """Safe for several threads.

    Args:
        most_usd: no trial is started any more when all have cost so much; None for no such limit.
        most_s: no trial is started any more after so many seconds; None for no such limit.
    """

    def __init__(self, most_usd: float | None, most_s: float | None) -> None:
        self._most_usd = most_usd
        self._until = None if most_s is None else time.monotonic() + most_s
        self._lock = threading.Lock()
        self._known_usd = 0.0
        self._known = self._unknown = 0
        self._running: dict[int, Callable[[], float | None]] = {}

    def watch(self, trial: int, so_far: Callable[[], float | None]) -> None:
        """A trial was started; `so_far` says what it has cost, as far as that is known."""
        with self._lock:
            self._running[trial] = so_far

    def settle(self, trial: int, cost_usd: float | None, at_least_usd: float = 0.0) -> None:
        """A trial has ended, and cost so much; or nobody knows, and it was `at_least_usd`."""
        with self._lock:
            self._running.pop(trial, None)
            if cost_usd is None:
                self._unknown += 1
                self._known_usd += at_least_usd
            else:
                self._known += 1
                self._known_usd += cost_usd

    def used_up(self) -> Literal["max-cost", "max-time"] | None:
        """What is used up, so that no trial is to be started; trials that run count with what they have cost so far."""
        if self._until is not None and time.monotonic() >= self._until:
            return "max-time"
        if self._most_usd is None:
            return None
        with self._lock:
            running = list(self._running.values())
            known_usd = self._known_usd
        return "max-cost" if known_usd + sum(cost() or 0.0 for cost in running) >= self._most_usd else None

    @property
    def cost(self) -> Cost:
        """What the trials that have ended cost."""
        with self._lock:
            return Cost(known_usd=self._known_usd, known=self._known, unknown=self._unknown)
