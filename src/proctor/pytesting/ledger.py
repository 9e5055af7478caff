"""What all processes of one invocation have spent together, where there is a budget."""

from __future__ import annotations

import os
import time
from pathlib import Path

from proctor.stores import rows

_NAME = "spent"


class Ledger:
    """Sums in a file of rows that each process adds to, and reads before it starts anything.

    Args:
        folder: of the file; it goes away with what is staged there.
        most_usd: what everything may cost, in US dollars; None for no such limit.
        most_s: how long everything may take, in seconds; None for no such limit.
    """

    def __init__(self, folder: Path, most_usd: float | None, most_s: float | None) -> None:
        self._path = os.fspath(folder / _NAME)
        self._most_usd = most_usd
        self._until = None if most_s is None else time.monotonic() + most_s

    def spend(self, usd: float) -> None:
        """Note that something cost so much.

        Raises:
            StoreError: it cannot be written.
        """
        if self._most_usd is not None and usd > 0:
            rows.append(self._path, b"%r\n" % usd)

    def left_usd(self) -> float | None:
        """What is left of the money, 0 at least; None where there is no limit."""
        if self._most_usd is None:
            return None
        return max(0.0, self._most_usd - sum(map(float, rows.lines(self._path))))

    def left_s(self) -> float | None:
        """What is left of the time, 0 at least; None where there is no limit."""
        return None if self._until is None else max(0.0, self._until - time.monotonic())

    def used_up(self) -> str | None:
        """The budget of which nothing is left; None when something is left of each."""
        if self.left_s() == 0:
            return "max-time"
        return "max-cost" if self.left_usd() == 0 else None
