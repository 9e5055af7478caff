"""The lock by which a group knows who is writing into it. It dies with its process, so that none is ever stale."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from proctor.errors import StoreError


def locked(folder: Path, kind: int) -> int:
    """A descriptor of a group, or of a folder in its `.staging`, with a lock that dies with this process.

    kind: `fcntl.LOCK_EX` for a writer, `fcntl.LOCK_SH` for one that others of its kind may stand beside.

    Raises:
        StoreError: somebody else holds a lock that this one does not go with.
        OSError: the folder cannot be opened.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except OSError as error:
        os.close(descriptor)
        raise StoreError(
            "another process is writing into this group",
            where=str(folder),
            fix="Wait for it to end, or end it; then repeat the command.",
        ) from error
    return descriptor
