"""Folders that an agent has left: moved and removed whole, whatever is in them."""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path


def kind_of(mode: int) -> str:
    """What a special file is called; empty for regular files, folders and symbolic links."""
    kinds = {stat.S_IFIFO: "FIFO", stat.S_IFSOCK: "socket", stat.S_IFBLK: "device", stat.S_IFCHR: "device"}
    return kinds.get(stat.S_IFMT(mode), "")


def move_tree(src: Path, dst: Path) -> list[str]:
    """Move the folder `src` to `dst`, which does not exist; copied where they lie on two file systems.

    Symbolic links stay what they are and are never followed. Folders that their owner could not enter are
    opened for the owner. What no copy can hold is left out.

    Returns what was left out, sorted: relative path and reason, as `pipe (FIFO)`. Where `src` is no folder any
    more, `dst` is an empty one, and `. (gone)` is returned.

    Raises:
        OSError: the target cannot be written.
    """
    if src.is_symlink() or not src.is_dir():
        # Its owner may have removed it, or put a link in its place that leads anywhere.
        src.unlink(missing_ok=True)
        dst.mkdir()
        return [". (gone)"]
    skipped = sorted(_drop_special_files(src, ""))
    try:
        src.rename(dst)
    except OSError as err:
        if err.errno != errno.EXDEV:
            raise
        skipped = sorted([*skipped, *_copy_folder(src, dst, "")])
        remove_tree(src)
    return skipped


def copy_tree(src: Path, dst: Path) -> list[str]:
    """Copy the folder `src` to `dst`, which does not exist: links stay links, special files are left out.

    Returns what was left out, sorted, as `move_tree` does.

    Raises:
        OSError: the target cannot be written.
    """
    return sorted(_copy_folder(src, dst, ""))


def remove_tree(root: Path) -> None:
    """Remove a folder and all that is in it. What the system refuses to remove stays; no link is followed."""
    if root.is_symlink():
        root.unlink()
        return
    with suppress(FileNotFoundError):
        try:
            shutil.rmtree(root)
        except OSError:
            for folder, names, _ in os.walk(root):
                for name in names:
                    _open_for_owner(Path(folder, name))
            shutil.rmtree(root, ignore_errors=True)


def _drop_special_files(folder: Path, inside: str) -> Iterator[str]:
    _open_for_owner(folder)
    with os.scandir(folder) as listing:
        entries = list(listing)
    for entry in entries:
        if entry.is_symlink() or entry.is_file(follow_symlinks=False):
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from _drop_special_files(Path(entry.path), f"{inside}{entry.name}/")
        else:
            kind = kind_of(entry.stat(follow_symlinks=False).st_mode)
            Path(entry.path).unlink()
            yield f"{inside}{entry.name} ({kind})"


def _copy_folder(src: Path, dst: Path, inside: str) -> Iterator[str]:
    dst.mkdir()
    with os.scandir(src) as listing:
        entries = list(listing)
    for entry in entries:
        name = f"{inside}{entry.name}"
        target = dst / entry.name
        if entry.is_symlink():
            target.symlink_to(os.readlink(entry.path))  # noqa: PTH115  as text, not as a Path made tidy
        elif entry.is_dir(follow_symlinks=False):
            yield from _copy_folder(Path(entry.path), target, f"{name}/")
        elif entry.is_file(follow_symlinks=False):
            yield from _copy_file(Path(entry.path), target, name)
        else:
            yield f"{name} ({kind_of(entry.stat(follow_symlinks=False).st_mode)})"
    shutil.copystat(src, dst)


def _copy_file(src: Path, dst: Path, name: str) -> Iterator[str]:
    if not os.access(src, os.R_OK):
        with suppress(OSError):
            src.chmod(src.stat().st_mode | stat.S_IRUSR)
    try:
        source = src.open("rb")
    except PermissionError:
        yield f"{name} (unreadable)"
        return
    with source, dst.open("xb") as target:
        _copy_content(source.fileno(), target.fileno())
    shutil.copystat(src, dst)


def _copy_content(source: int, target: int) -> None:
    """Copy what a file holds; holes stay holes, so that a sparse file takes no more room than it did."""
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
