"""What the system keeps of a process that has ended, and what is told of one that could not be seen itself."""

from __future__ import annotations

import os
import re
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

_TOLD: Final = re.compile(
    r"(?P<how>code|signal) (?P<number>[0-9]{1,3})|not started: (?P<reason>.+)", re.DOTALL
)
_LONGEST: Final = 4096


class Reaped(msgspec.Struct, frozen=True, kw_only=True):
    """What the system keeps of a process that has ended.

    Attributes:
        status: the wait status, see `os.waitstatus_to_exitcode`.
        max_rss_kb: peak memory in KiB.
        cpu_s: user and system time in seconds, of it and of the children that it waited for.
        unstarted: why the program that it was to start never was; None when it was.
    """

    status: int
    max_rss_kb: int
    cpu_s: float
    unstarted: str | None = None


def usage(status: int, rss: int, cpu_s: float) -> Reaped:
    """A `Reaped` from `ru_maxrss`, whose unit differs between systems."""
    return Reaped(status=status, max_rss_kb=rss // 1024 if sys.platform == "darwin" else rss, cpu_s=cpu_s)


def as_told(reaped: Reaped, file: Path) -> Reaped:
    """How a program ended that was started by the one that was reaped, as that has written into a file.

    Where it has written nothing, and was not ended by a signal, it never came to starting the program.
    """
    said = ""
    with suppress(OSError), file.open("rb") as source:
        said = source.read(_LONGEST).decode("utf-8", "replace")
    found = _TOLD.match(said)
    if found is not None and found["reason"] is not None:
        return msgspec.structs.replace(reaped, unstarted=found["reason"])
    if found is not None:
        number = int(found["number"])
        return msgspec.structs.replace(reaped, status=number << 8 if found["how"] == "code" else number)
    code = os.waitstatus_to_exitcode(reaped.status)
    if code > 128:
        # It was ended by a signal itself, and whoever started it says so in the way of a shell.
        return msgspec.structs.replace(reaped, status=code - 128)
    if code >= 0:
        return msgspec.structs.replace(reaped, unstarted=f"what was to start it ended with exit code {code}")
    return reaped
