"""What a trial has used up, looked at while it runs: bytes printed, bytes on the disk, money, tokens.

A look takes no more than a few milliseconds, however much there is to see: a large workdir is counted a part at a
time. Between two looks an agent can write more than it may: what it wrote is counted once more when it has ended.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Protocol

import msgspec

from proctor.core.sizes import size_text
from proctor.host.place import Place
from proctor.ports import Exceeded
from proctor.records.run import Ending, Limits

_BLOCK = 512
_LOOK_S = 0.010
"""Longest time that counting files takes in one look; looks are 0.2 seconds apart, so it is a twentieth."""
_SHORTEST_LOOK_S = 0.001
_BETWEEN_CLOCKS = 32


class Spent(Protocol):
    """What a trial's model calls come to by now. None is what cannot be told."""

    @property
    def tokens(self) -> int | None:
        """Tokens sent and received."""
        ...

    @property
    def cost_usd(self) -> float | None:
        """US dollars."""
        ...


class Used(msgspec.Struct, frozen=True, kw_only=True):
    """What a trial had used when it ended.

    Attributes:
        output_bytes: what it printed and answered.
        workdir_bytes: what its workdir held on the disk.
        exceeded: what that is too much of; None when it stayed within its limits.
    """

    output_bytes: int
    workdir_bytes: int
    exceeded: Exceeded | None = None


class Budget:
    """What one trial may use, and has used.

    Args:
        limits: what it may use.
        place: where it takes place.
        spent: what its model calls come to by now; None where nobody can tell.
        parallel: how many trials are looked at at once: together they take no more time than that many may.
    """

    def __init__(
        self, limits: Limits, place: Place, spent: Callable[[], Spent] | None = None, *, parallel: int = 1
    ) -> None:
        self._limits, self._place, self._spent = limits, place, spent
        self._streams = tuple(map(os.fspath, (place.stdout, place.stderr, place.output_file)))
        self._look_s = max(_SHORTEST_LOOK_S, _LOOK_S / parallel)
        self._walk: Iterator[int] | None = None
        self._counted = 0

    def exceeded(self) -> Exceeded | None:
        """What is used up by now; None while the trial may go on."""
        return self._over_output(self._printed()) or self._over_disk_so_far() or self._over_spending()

    def settle(self) -> Used:
        """What was used in the end. Called once, when nothing of the trial runs any more."""
        self._stop_walking()
        printed = self._printed()
        workdir = sum(_blocks([os.fspath(self._place.workdir)]))
        over = self._over_output(printed)
        if over is None and self._limits.workdir_bytes is not None:
            over = self._over_disk(workdir + sum(_blocks(self._folders(but=self._place.workdir))))
        return Used(output_bytes=printed, workdir_bytes=workdir, exceeded=over or self._over_spending())

    def _printed(self) -> int:
        total = 0
        for stream in self._streams:
            with suppress(OSError):
                total += os.lstat(stream).st_size
        return total

    def _over_output(self, printed: int) -> Exceeded | None:
        most = self._limits.output_bytes
        if most is None or printed <= most:
            return None
        return Exceeded(
            ending=Ending.OUTPUT_CAP,
            message=f"It had printed and answered {size_text(printed)}, and its limit is {size_text(most)}.",
        )

    def _over_disk(self, held: int) -> Exceeded | None:
        most = self._limits.workdir_bytes
        if most is None or held <= most:
            return None
        return Exceeded(
            ending=Ending.DISK_CAP,
            message=f"Its workdir and temporary files held {size_text(held)} on the disk, and the limit is "
            f"{size_text(most)}.",
        )

    def _over_disk_so_far(self) -> Exceeded | None:
        if self._limits.workdir_bytes is None:
            return None
        if self._walk is None:
            self._walk, self._counted = _blocks(self._folders()), 0
        until = time.monotonic() + self._look_s
        for number, size in enumerate(self._walk, start=1):
            self._counted += size
            if (over := self._over_disk(self._counted)) is not None:
                return over
            if number % _BETWEEN_CLOCKS == 0 and time.monotonic() >= until:
                return None  # the next look goes on from here
        self._walk = None
        return None

    def _over_spending(self) -> Exceeded | None:
        limits = self._limits
        if self._spent is None or (limits.cost_usd is None and limits.tokens is None):
            return None
        spent = self._spent()
        if limits.cost_usd is not None and spent.cost_usd is not None and spent.cost_usd > limits.cost_usd:
            return Exceeded(
                ending=Ending.COST_CAP,
                message=f"Its model calls had cost ${spent.cost_usd:.4f}, and its limit is ${limits.cost_usd:g}.",
            )
        if limits.tokens is not None and spent.tokens is not None and spent.tokens > limits.tokens:
            return Exceeded(
                ending=Ending.TOKEN_CAP,
                message=f"Its model calls had used {spent.tokens:,} tokens, and its limit is {limits.tokens:,}.",
            )
        return None

    def _folders(self, *, but: Path | None = None) -> list[str]:
        """The folders of the trial that an agent can write into: its workdir, and others beside it."""
        place = self._place
        with suppress(OSError), os.scandir(place.root) as listing:
            return [
                entry.path
                for entry in listing
                if entry.is_dir(follow_symlinks=False)
                and entry.path not in (os.fspath(place.spool), but and os.fspath(but))
            ]
        return []

    def _stop_walking(self) -> None:
        # A walk that was not finished holds a folder open.
        self._walk = None


def _blocks(waiting: list[str]) -> Iterator[int]:
    """Bytes on the disk of everything below some folders, one by one. No link is followed; an inode counts once."""
    seen: set[tuple[int, int]] = set()
    while waiting:
        with suppress(OSError), os.scandir(waiting.pop()) as listing:
            for entry in listing:
                try:
                    found = entry.stat(follow_symlinks=False)
                except OSError:
                    continue
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                elif found.st_nlink > 1:
                    if (found.st_dev, found.st_ino) in seen:
                        continue
                    seen.add((found.st_dev, found.st_ino))
                yield found.st_blocks * _BLOCK
