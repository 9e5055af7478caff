"""Keeping what an agent printed: without secrets, and without the middle of what is longer than it may be."""

from __future__ import annotations

import hashlib
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from proctor.core.redaction import Redactor

LEAST_KEPT: Final = 1024 * 1024
"""So much is kept whatever the limit was."""
_PIECE: Final = 1 << 18


class Kept(NamedTuple):
    """What was kept of a stream.

    Attributes:
        digest: of the file that holds it.
        left_out: bytes between its beginning and its end that are not in it.
    """

    digest: str
    left_out: int = 0


def keep_printed(source: Path, target: Path, redactor: Redactor, limit: int | None = None) -> Kept | None:
    """Keep what was printed; of what is longer than it may be, the beginning and the end.

    A line with the number of bytes stands in the place of what is left out. None for a stream without a byte.

    limit: bytes that may be printed; None for any number.

    Raises:
        OSError: it cannot be read or written.
    """
    size = _size(source)
    if not size:
        return None
    if limit is None or size <= max(limit, LEAST_KEPT):
        return Kept(_copy(source, target, redactor))
    half = max(limit, LEAST_KEPT) // 2
    digest = hashlib.sha256()
    with source.open("rb") as printed, target.open("wb") as kept:

        def keep(piece: bytes) -> None:
            digest.update(piece)
            kept.write(piece)

        while printed.tell() < half and (piece := _piece(printed)):
            keep(redactor.content(piece))
        head = printed.tell()
        printed.seek(max(head, size - half))
        if printed.tell() > head:
            printed.readline(_PIECE)  # the rest of a line, which may be the half of a secret
        left_out = printed.tell() - head
        if left_out:
            keep(f"\n[proctor: {left_out:,} bytes are left out here]\n".encode())
        for piece in _pieces(printed):
            keep(redactor.content(piece))
    return Kept(f"sha256:{digest.hexdigest()}", left_out)


def keep_file(source: Path, target: Path, redactor: Redactor) -> str | None:
    """Keep a file whole, without secrets, and return its digest; None where there is none, or nothing in it.

    Raises:
        OSError: it cannot be read or written.
    """
    return _copy(source, target, redactor) if _size(source) else None


def _size(source: Path) -> int:
    """Bytes of a regular file; 0 for anything else."""
    try:
        found = source.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return 0
    # An agent can put anything in the stream's place; only a regular file is what it printed.
    return found.st_size if stat.S_ISREG(found.st_mode) else 0


def _copy(source: Path, target: Path, redactor: Redactor) -> str:
    digest = hashlib.sha256()
    with source.open("rb") as printed, target.open("wb") as kept:
        for piece in _pieces(printed):
            clean = redactor.content(piece)
            digest.update(clean)
            kept.write(clean)
    return f"sha256:{digest.hexdigest()}"


def _pieces(printed: BinaryIO) -> Iterator[bytes]:
    while piece := _piece(printed):
        yield piece


def _piece(printed: BinaryIO) -> bytes:
    """The next part of a stream, which ends with a line where it can, so that no secret is cut in two."""
    piece = printed.read(_PIECE)
    return piece + printed.readline(_PIECE) if piece else b""
