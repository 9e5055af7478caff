"""Giving the files of a trial to the user that its agent runs as, and taking them back; for root alone."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path


def give(path: Path, user: int) -> None:
    """Make a user the owner of a file, or of a folder and all that is in it. Links are never followed.

    Raises:
        OSError: it cannot be done.
    """
    _own(path, user, user)


def take_back(path: Path) -> None:
    """Make this process's user the owner again; what cannot be taken stays."""
    with suppress(OSError):
        _own(path, os.geteuid(), os.getegid())


def _own(path: Path, user: int, group: int) -> None:
    waiting = [os.fspath(path)]
    if not os.path.lexists(path):
        return
    while waiting:
        found = waiting.pop()
        status = os.lstat(found)
        if status.st_uid != user or status.st_gid != group:
            os.lchown(found, user, group)
            if stat.S_ISREG(status.st_mode) and stat.S_IMODE(status.st_mode) & 0o6000:
                # The system takes these bits away with the owner, which is no part of what the agent did.
                Path(found).chmod(stat.S_IMODE(status.st_mode))
        if stat.S_ISDIR(status.st_mode):
            with os.scandir(found) as listing:
                waiting += [entry.path for entry in listing]
