"""The end of a file that a program is writing, or has left: read in no time, whatever stands in its place."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

_LINE_BYTES: Final = 4096


def tail(path: Path, most: int) -> str:
    """Up to the last `most` bytes of a regular file as text; empty for anything else. No link is followed."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            return ""
        return os.pread(descriptor, most, max(0, found.st_size - most)).decode("utf-8", "replace")
    except OSError:
        return ""
    finally:
        os.close(descriptor)


class LastLine:
    """The last line that was written to any of some files, read again only when one of them has changed."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self._paths = tuple(paths)
        self._state: tuple[tuple[int, int], ...] = ()
        self._line = ""

    def now(self) -> str:
        """The line, without its end; one that is not finished counts. Empty where nothing is written."""
        states: list[tuple[int, int]] = []
        for path in self._paths:
            found = (0, 0)
            with suppress(OSError):
                status = os.lstat(path)
                found = (status.st_mtime_ns, status.st_size)
            states.append(found)
        if tuple(states) != self._state:
            self._state = tuple(states)
            latest = self._paths[states.index(max(states))]
            lines = tail(latest, _LINE_BYTES).rstrip().splitlines()
            self._line = lines[-1].strip() if lines else ""
        return self._line
