"""Files of rows, a line each, that are only ever appended to.

A writer holds the system's lock on the file, which dies with its process, so that no stale lock ever needs
deleting. A reader takes no lock: it ignores a last line without an end, which somebody may just be writing.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from proctor.errors import StoreError

LOCK_TIMEOUT_S: Final = 30.0
_LOCK_POLL_S: Final = 0.005
_CHUNK: Final = 1 << 16


def append(path: str, block: bytes, *, lock_timeout_s: float = LOCK_TIMEOUT_S) -> bytes:
    """Add whole rows in one write, under the file's lock.

    What a killed writer left behind without a line end is moved into `<path>.torn` first, so that the new rows
    stand on lines of their own and nothing is lost.

    Args:
        path: the file; made when it is not there.
        block: rows, each ended by a line feed.
        lock_timeout_s: how long another writer is waited for.

    Returns:
        The torn line that was set aside; empty when there was none.

    Raises:
        StoreError: the file cannot be written, then no row is; or another writer holds it too long.
    """
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        try:
            _lock(descriptor, path, lock_timeout_s)
            torn = _set_aside(descriptor, path)
            _write_whole(descriptor, block, os.lseek(descriptor, 0, os.SEEK_END))
            return torn
        finally:
            os.close(descriptor)
    except OSError as error:
        raise _unwritable(path, error) from error


def append_once(path: str, line: bytes, mark: bytes, *, lock_timeout_s: float = LOCK_TIMEOUT_S) -> bool:
    """Add one row, unless a whole row that holds `mark` is there: looked up and written under the same lock.

    Returns:
        True when it was added.

    Raises:
        StoreError: as `append` does.
    """
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        try:
            _lock(descriptor, path, lock_timeout_s)
            _set_aside(descriptor, path)
            if any(mark in row for row in lines(path)):
                return False
            _write_whole(descriptor, line, os.lseek(descriptor, 0, os.SEEK_END))
            return True
        finally:
            os.close(descriptor)
    except OSError as error:
        raise _unwritable(path, error) from error


def lines(path: str) -> Iterator[bytes]:
    """The whole lines of a file, without their ends; none when there is no such file.

    Lines end in a line feed only: text inside a row may hold any other separator.

    Raises:
        StoreError: the file cannot be read.
    """
    try:
        with open(path, "rb") as file:  # noqa: PTH123  many runs are read one after another
            for line in file:
                if line.endswith(b"\n"):
                    yield line[:-1]
    except FileNotFoundError:
        return
    except OSError as error:
        raise StoreError(
            f"rows cannot be read: {error.strerror}", where=path, fix="Make the file readable."
        ) from error


def torn_file(path: str) -> Path:
    """Where torn lines of a file of rows are set aside."""
    return Path(path + ".torn")


def _unwritable(path: str, error: OSError) -> StoreError:
    return StoreError(
        f"rows cannot be written: {error.strerror}",
        where=path,
        fix="Make room on the disk, or make the folder writable, or copy it to a place that is.",
    )


def _lock(descriptor: int, path: str, timeout_s: float) -> None:
    deadline = time.monotonic() + timeout_s
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() >= deadline:
                raise StoreError(
                    f"another process has been writing for more than {timeout_s:g} s",
                    where=path,
                    fix="Wait for it to end, or end it, and repeat the command: nothing was written.",
                ) from None
            time.sleep(_LOCK_POLL_S)


def _set_aside(descriptor: int, path: str) -> bytes:
    """Move a last line without an end into the side file; it is there before it is gone here."""
    end = os.lseek(descriptor, 0, os.SEEK_END)
    if end == 0 or os.pread(descriptor, 1, end - 1) == b"\n":
        return b""
    pieces, start = list[bytes](), end
    while start > 0 and not (pieces and b"\n" in pieces[-1]):
        step = min(_CHUNK, start)
        start -= step
        pieces.append(os.pread(descriptor, step, start))
    torn = b"".join(reversed(pieces))
    torn = torn[torn.rfind(b"\n") + 1 :]
    with torn_file(path).open("ab") as aside:
        aside.write(torn + b"\n")
        aside.flush()
        os.fsync(aside.fileno())
    os.ftruncate(descriptor, end - len(torn))
    return torn


def _write_whole(descriptor: int, block: bytes, end: int) -> None:
    """Write all of `block` or, on a full disk, none of it."""
    written = 0
    try:
        while written < len(block):
            written += os.write(descriptor, block[written:])
    except OSError:
        os.ftruncate(descriptor, end)
        raise
