"""How many questions one provider is asked at once: as many as it takes without complaint."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Final

FIRST: Final = 8.0
MOST: Final = 64.0


class AdaptiveLimit:
    """A number of places that halves when the provider says "too many", and grows while questions are answered.

    It grows by one each time a round of as many questions went well: additive increase, multiplicative decrease,
    Chiu and Jain (1989). Safe to use from several threads.

    Args:
        first: places at the beginning.
        most: places at the most.
        clock: seconds that only grow.
    """

    def __init__(
        self, first: float = FIRST, most: float = MOST, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._places, self._most, self._clock = first, most, clock
        self._taken = 0
        self._halved_at = float("-inf")
        self._changed = threading.Condition()

    @property
    def places(self) -> int:
        """How many may be asked at once now; at least 1."""
        return max(1, int(self._places))

    @contextmanager
    def place(self) -> Generator[float]:
        """Wait for a place and hold it; gives the time at which it was had, which `halve` wants to know."""
        with self._changed:
            while self._taken >= self.places:
                self._changed.wait()
            self._taken += 1
        try:
            yield self._clock()
        finally:
            with self._changed:
                self._taken -= 1
                self._changed.notify_all()

    def grow(self) -> None:
        """A question was answered."""
        with self._changed:
            self._places = min(self._most, self._places + 1 / max(1.0, self._places))
            self._changed.notify_all()

    def halve(self, asked_at: float) -> None:
        """A question was turned away. Those that were asked before the last halving tell nothing new."""
        with self._changed:
            if asked_at > self._halved_at:
                self._places = max(1.0, self._places / 2)
                self._halved_at = self._clock()
