"""Folders that an agent has left: moved and removed whole, whatever is in them."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

_FICLONE: Final = 0x40049409
"""Linux: a file becomes one that shares the blocks of another, as btrfs, XFS and others can."""

LONGEST_PATH: Final = 3_000
"""Bytes of a path below a folder that is moved: Linux takes 4,096 in all, of which a group's own path has some."""


class Shared:
    """Which files of a copy are those that have several names in what is copied."""

    def __init__(self) -> None:
        self._copies: dict[tuple[int, int], Path] = {}

    def link(self, source: os.DirEntry[str], target: Path) -> bool:
        """Make `target` another name of the copy that there is of `source`; False when it is to be copied."""
        status = source.stat(follow_symlinks=False)
        if status.st_nlink == 1:
            return False
        copy = self._copies.setdefault((status.st_dev, status.st_ino), target)
        if copy is target:
            return False
        try:
            target.hardlink_to(copy)
        except OSError:
            return False
        return True

    def note(self, source: Path, copy: Path) -> None:
        """What is in the file `source` is in `copy` already."""
        status = source.stat()
        self._copies[status.st_dev, status.st_ino] = copy


def kind_of(mode: int) -> str:
    """What a special file is called; empty for regular files, folders and symbolic links."""
    kinds = {stat.S_IFIFO: "FIFO", stat.S_IFSOCK: "socket", stat.S_IFBLK: "device", stat.S_IFCHR: "device"}
    return kinds.get(stat.S_IFMT(mode), "")


def move_tree(src: Path, dst: Path) -> list[str]:
    """Move the folder `src` to `dst`, which does not exist; copied where they lie on two file systems.

    Symbolic links stay what they are and are never followed. Folders that their owner could not enter are
    opened for the owner. What no copy can hold is left out, and so is what lies so deep that its path is too long.

    Returns what was left out, sorted: relative path and reason, as `pipe (FIFO)`. Where `src` is no folder any
    more, `dst` is an empty one, and `. (gone)` is returned.

    Raises:
        OSError: the target cannot be written.
    """
    if src.is_symlink() or not src.is_dir():
        # Its owner may have removed it, or put a link in its place that leads anywhere.
        with suppress(NotADirectoryError, FileNotFoundError):
            src.unlink()
        dst.mkdir()
        return [". (gone)"]
    skipped = sorted(_drop_special_files(src))
    try:
        src.rename(dst)
    except OSError as err:
        if err.errno != errno.EXDEV:
            raise
        skipped = sorted([*skipped, *_copy_folder(src, dst)])
        remove_tree(src)
    return skipped


def copy_tree(src: Path, dst: Path, shared: Shared | None = None) -> list[str]:
    """Copy the folder `src` to `dst`, which does not exist: links stay links, special files are left out.

    Args:
        src: the folder.
        dst: its copy.
        shared: with it, files that are one file under several names are one in the copy too, also over several calls
            with the same `shared`; and a file that its owner has closed to themselves is copied as closed as it is,
            and `src` is not changed.

    Returns what was left out, sorted, as `move_tree` does.

    Raises:
        OSError: the target cannot be written.
    """
    return sorted(_copy_folder(src, dst, shared))


def files_in(folder: Path) -> Iterator[str]:
    """The files and links below a folder, relative to it; no link is followed. What may not be read has none."""
    waiting = [""]
    while waiting:  # an agent can nest folders deeper than Python nests calls, and `os.walk` is such calls
        inside = waiting.pop()
        with suppress(OSError), os.scandir(folder / inside) as listing:
            for entry in listing:
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(f"{inside}{entry.name}/")
                else:
                    yield f"{inside}{entry.name}"


def remove_tree(root: Path) -> None:
    """Remove a folder and all that is in it. What the system refuses to remove stays; no link is followed."""
    with suppress(FileNotFoundError):
        if not stat.S_ISDIR(root.lstat().st_mode):
            root.unlink()
            return
        try:
            shutil.rmtree(root)
        except (OSError, RecursionError):
            _remove_flat(root)


def _remove_flat(root: Path) -> None:
    """Remove a tree of any depth, also what its owner may not enter: whatever lies in a folder is moved up first."""
    refused: set[str] = set()
    serial = 0
    _open_for_owner(root)
    while folders := [entry for entry in _listed(root) if entry.name not in refused and _is_folder(entry)]:
        for folder in folders:
            _open_for_owner(Path(folder.path))
            for entry in _listed(folder.path):
                with suppress(OSError):
                    if _is_folder(entry):
                        _open_for_owner(Path(entry.path))
                        serial += 1
                        os.rename(entry.path, root / f".moved-up-{os.getpid()}-{serial}")  # noqa: PTH104
                    else:
                        os.unlink(entry.path)  # noqa: PTH108
            try:
                os.rmdir(folder.path)  # noqa: PTH106
            except OSError:
                refused.add(folder.name)
    shutil.rmtree(root, ignore_errors=True)


def _listed(folder: Path | str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as listing:
            return list(listing)
    except OSError:
        return []


def _is_folder(entry: os.DirEntry[str]) -> bool:
    return entry.is_dir(follow_symlinks=False)


def _drop_special_files(root: Path) -> Iterator[str]:
    waiting = [""]
    while waiting:  # an agent can nest folders deeper than Python nests calls
        inside = waiting.pop()
        _open_for_owner(root / inside)
        with os.scandir(root / inside) as listing:
            entries = list(listing)
        for entry in entries:
            name = f"{inside}{entry.name}"
            if len(os.fsencode(name)) > LONGEST_PATH:
                remove_tree(Path(entry.path))
                yield f"{name} (path too long)"
            elif entry.is_symlink() or entry.is_file(follow_symlinks=False):
                continue
            elif _is_folder(entry):
                waiting.append(f"{name}/")
            else:
                kind = kind_of(entry.stat(follow_symlinks=False).st_mode)
                Path(entry.path).unlink()
                yield f"{name} ({kind})"


def _copy_folder(src: Path, dst: Path, shared: Shared | None = None) -> Iterator[str]:
    made, waiting = list[str](), [""]
    while waiting:
        inside = waiting.pop()
        (dst / inside).mkdir()
        made.append(inside)
        with os.scandir(src / inside) as listing:
            entries = list(listing)
        for entry in entries:
            name = f"{inside}{entry.name}"
            if entry.is_symlink():
                (dst / name).symlink_to(os.readlink(entry.path))  # noqa: PTH115  as text, not as a Path made tidy
            elif _is_folder(entry):
                waiting.append(f"{name}/")
            elif entry.is_file(follow_symlinks=False):
                if shared is None or not shared.link(entry, dst / name):
                    yield from _copy_file(Path(entry.path), dst / name, name, is_left=shared is not None)
            else:
                yield f"{name} ({kind_of(entry.stat(follow_symlinks=False).st_mode)})"
    # What is in a folder changes its time, and a folder may be closed to further files.
    for inside in reversed(made):
        shutil.copystat(src / inside, dst / inside)


def _copy_file(src: Path, dst: Path, name: str, *, is_left: bool = False) -> Iterator[str]:
    """Copy one file. is_left: one that must be opened for its owner first is closed again afterwards."""
    closed = None
    if not os.access(src, os.R_OK):
        with suppress(OSError):
            mode = src.stat().st_mode
            src.chmod(mode | stat.S_IRUSR)
            closed = mode
    try:
        source = src.open("rb")
    except PermissionError:
        yield f"{name} (unreadable)"
        return
    finally:
        if closed is not None and is_left:
            src.chmod(closed)
    with source, dst.open("xb") as target:
        _copy_content(source.fileno(), target.fileno())
    shutil.copystat(src, dst)


def _copy_content(source: int, target: int) -> None:
    """Copy what a file holds: shared where the disk can do that; else holes stay holes, and take no more room."""
    with suppress(OSError):
        fcntl.ioctl(target, _FICLONE, source)
        return
    size = os.fstat(source).st_size
    os.ftruncate(target, size)
    at = 0
    while at < size:
        try:
            start = os.lseek(source, at, os.SEEK_DATA)
        except OSError:
            return
        at = min(size, os.lseek(source, start, os.SEEK_HOLE))
        os.lseek(source, start, os.SEEK_SET)
        os.lseek(target, start, os.SEEK_SET)
        while start < at:
            part = os.read(source, min(1 << 20, at - start))
            if not part:
                return
            start += os.write(target, part)


def _open_for_owner(folder: Path) -> None:
    with suppress(OSError):
        mode = folder.lstat().st_mode
        if stat.S_ISDIR(mode) and mode & stat.S_IRWXU != stat.S_IRWXU:
            folder.chmod(stat.S_IMODE(mode) | stat.S_IRWXU)
