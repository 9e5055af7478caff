"""What judging may cost: nothing is asked that could go beyond it."""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

_TOLERANCE: Final = 1e-12


class OverBudget(Exception):
    """The next question could cost more than is left."""


class Budget:
    """US dollars for the questions of one command. Safe to use from several threads.

    A question is let through while what was spent, and the dearest question so far for each that is under way and
    for this one, stay within the limit. Until the first price is known, one question is under way at a time. So the
    limit is passed by at most what one question is dearer than all before it.

    Args:
        most_usd: the limit; None for no limit.

    Attributes:
        unknown: how many answers came without a price; no limit holds for those.
        refused: how many questions were not let through.
    """

    def __init__(self, most_usd: float | None) -> None:
        self._most = most_usd
        self._spent = 0.0
        self._dearest: float | None = None
        self._under_way = 0
        self._changed = threading.Condition()
        self.unknown = 0
        self.refused = 0

    @contextmanager
    def one_question(self) -> Generator[None]:
        """Hold a share of the budget while a question is asked; then call `paid`.

        Raises:
            OverBudget: nothing is left for it.
        """
        with self._changed:
            while self._most is not None and self._dearest is None and self._under_way:
                self._changed.wait()
            if self._most is not None:
                dearest = self._dearest or 0.0
                would_be = self._spent + dearest * (self._under_way + 1)
                if would_be > self._most + _TOLERANCE or self._spent >= self._most:
                    self.refused += 1
                    raise OverBudget
            self._under_way += 1
        try:
            yield
        finally:
            with self._changed:
                self._under_way -= 1
                self._changed.notify_all()

    def paid(self, cost_usd: float | None) -> None:
        """A question was answered and cost this much; None when nobody knows."""
        with self._changed:
            if cost_usd is None:
                self.unknown += 1
                self._dearest = self._dearest or 0.0
            else:
                self._spent += cost_usd
                self._dearest = max(self._dearest or 0.0, cost_usd)
            self._changed.notify_all()
