"""Getting what was written onto the disk, in batches: one call for all files of a file system."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from proctor.errors import StoreError


def sync(folder: Path) -> None:
    """Return when everything that was written to the folder's file system before is on its disk.

    Contents and directory entries, however many files: ten thousand runs cost one call and no sync each.

    Raises:
        StoreError: the system could not write it; what was said to be recorded may then not be.
    """
    try:
        if sys.platform == "linux":
            _sync_file_system(folder)
        else:
            os.sync()
    except OSError as error:
        raise StoreError(
            f"what was written is not safely on the disk: {error.strerror}",
            where=str(folder),
            fix="Look at the disk, then run `proctor list` to see what is recorded.",
        ) from error


def _sync_file_system(folder: Path) -> None:
    import ctypes

    library = ctypes.CDLL(None, use_errno=True)
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        if library.syncfs(descriptor) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))
    finally:
        os.close(descriptor)
