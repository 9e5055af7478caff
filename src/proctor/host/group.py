"""The process group of a child that has been killed, until nobody in it can act any more."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

_LONGEST_S = 2.0


def wait_until_gone(pgid: int) -> None:
    """Wait until killed members are really gone: until then they may still write into the workdir."""
    give_up = time.monotonic() + _LONGEST_S
    pause_s = 0.0005
    while time.monotonic() < give_up:
        try:
            os.killpg(pgid, 0)
        except OSError:
            return
        time.sleep(pause_s)
        pause_s = min(pause_s * 2, 0.05)
        if pause_s > 0.004 and not _has_living_member(pgid):
            return


def _has_living_member(pgid: int) -> bool:
    """False when all members are zombies, which nobody may ever reap in a container without an init."""
    try:
        pids = [name for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208
    except OSError:
        return True
    for pid in pids:
        with suppress(OSError):
            state, _, group = Path("/proc", pid, "stat").read_text("latin-1").rpartition(")")[2].split()[:3]
            if int(group) == pgid and state not in "ZX":
                return True
    return False
