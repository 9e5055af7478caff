"""What the workdir of a run held when it was recorded: one entry a file, with the digest of its content."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from proctor.records.json_value import storable

MANIFEST: Final = "workdir.json"
MANIFEST_SCHEMA: Final = "proctor.workdir/1"
MOST_HASHED_BYTES: Final = 256 * 1024 * 1024
"""A larger file, which may be sparse, is known by its size alone."""


class FileEntry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, order=True):
    """One thing in a workdir.

    Attributes:
        path: relative, with slashes.
        kind: `file`, `link` or `folder`; only empty folders are listed.
        digest: of a file's content; None for one that is too large, or that cannot be read.
        size: of a file, in bytes.
        executable: a file may be run.
        link: where a link leads, as it says.
    """

    path: str
    kind: str = "file"
    digest: str | None = None
    size: int | None = None
    executable: bool = False
    link: str | None = None


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """`workdir.json`: everything that a workdir held.

    Attributes:
        entries: files, links, and empty folders, sorted by path.
    """

    schema: str = MANIFEST_SCHEMA
    entries: tuple[FileEntry, ...]


def list_workdir(workdir: Path) -> Manifest:
    """The manifest of a folder, in an order that is the same everywhere. No link is followed."""
    return Manifest(entries=tuple(sorted(_entries(os.fspath(workdir)))))


def _entries(root: str) -> Iterator[FileEntry]:
    waiting = [""]
    while waiting:  # an agent can nest folders deeper than Python nests calls
        inside = waiting.pop()
        try:
            with os.scandir(f"{root}/{inside}") as listing:
                found = list(listing)
        except OSError:
            found = []
        if not found and inside:
            yield FileEntry(path=storable(inside.rstrip("/")), kind="folder")
        for entry in found:
            path = storable(f"{inside}{entry.name}")
            if entry.is_symlink():
                yield FileEntry(path=path, kind="link", link=storable(os.readlink(entry.path)))  # noqa: PTH115
            elif entry.is_dir(follow_symlinks=False):
                waiting.append(f"{inside}{entry.name}/")
            else:
                yield _file(entry, path)


def _file(entry: os.DirEntry[str], path: str) -> FileEntry:
    status = entry.stat(follow_symlinks=False)
    digest = None
    if stat.S_ISREG(status.st_mode) and status.st_size <= MOST_HASHED_BYTES:
        try:
            with open(entry.path, "rb") as content:  # noqa: PTH123
                digest = "sha256:" + hashlib.file_digest(content, "sha256").hexdigest()
        except OSError:
            digest = None
    return FileEntry(path=path, digest=digest, size=status.st_size, executable=bool(status.st_mode & 0o100))
