"""A group that is put together from others: copied into a hidden folder beside its place, where it appears whole."""

from __future__ import annotations

import fcntl
import filecmp
import os
import shutil
from collections.abc import Generator, Iterable
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Final

import msgspec

from proctor.errors import StoreError, UsageError
from proctor.host.durable import sync
from proctor.host.tree import Shared, copy_tree, files_in, remove_tree
from proctor.records.json_value import storable
from proctor.records.run import GroupPlan
from proctor.stores import rows
from proctor.stores.checklists import CHECKLISTS
from proctor.stores.group import ATTEMPTS, PLAN, STAGING, STORE
from proctor.stores.locks import locked
from proctor.stores.rundir import ANNOTATIONS, RunDir

_MAKE_ROOM: Final = (
    "Make room on the disk, or name another folder with --out; the groups that were named are as before."
)
_OURS: Final = frozenset({PLAN, ATTEMPTS, STAGING, STORE, CHECKLISTS})


@contextmanager
def at_rest(group: Path) -> Generator[None]:
    """Nobody runs trials into the group meanwhile. Others may read it, and merge it, at the same time.

    Raises:
        StoreError: somebody does, or it cannot be opened.
    """
    with ExitStack() as stack:
        try:
            stack.callback(os.close, locked(group, fcntl.LOCK_SH))
            # Those who write into it together let others have the group; each of them holds a folder in here.
            for writer in _folders(group / STAGING):
                with suppress(FileNotFoundError):  # it has just finished
                    stack.callback(os.close, locked(writer, fcntl.LOCK_SH))
        except OSError as error:
            raise StoreError(
                f"the group cannot be read: {error.strerror}", where=str(group), fix="Make it readable."
            ) from error
        yield


def _folders(inside: Path) -> list[Path]:
    if not inside.is_dir():
        return []
    with os.scandir(inside) as entries:
        return [inside / one.name for one in entries if one.is_dir(follow_symlinks=False)]


def left_behind(group: Path, runs: Iterable[str]) -> tuple[str, ...]:
    """What lies in a group's folder beside its runs and what belongs to it; hidden things are left out."""
    known = _OURS | set(runs)
    with os.scandir(group) as entries:
        return tuple(
            sorted(one.name for one in entries if one.name not in known and not one.name.startswith("."))
        )


def fuller(one: RunDir, other: RunDir) -> RunDir | None:
    """Of two copies of one run, the one with more rows of annotations; None when they are no copies of each other.

    Rows are only ever appended: of two copies of which one was graded further, it holds all that the other holds.
    """
    names = set(files_in(one.path))
    if names - {ANNOTATIONS} != set(files_in(other.path)) - {ANNOTATIONS}:
        return None
    if not all(_is_same(one.path / name, other.path / name) for name in names - {ANNOTATIONS}):
        return None
    ours, theirs = (list(rows.lines(f"{run.path}/{ANNOTATIONS}")) for run in (one, other))
    if ours[: len(theirs)] == theirs:
        return one
    return other if theirs[: len(ours)] == ours else None


class MergingGroup:
    """The new group, while it is not there yet.

    Attributes:
        path: where it is put together.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._shared = Shared()

    def keep_store(self, group: Path) -> None:
        """Take along what the runs of a group share, before its runs.

        Raises:
            StoreError: it cannot be copied; something of it is a link, which could lead to any file of this machine;
                or another group has something else under the same digest.
        """
        store = group / STORE
        _refuse_links([store])
        if not store.is_dir():
            return
        with _writing(self.path):
            (self.path / STORE).mkdir(exist_ok=True)
        with os.scandir(store) as listing:
            entries = sorted(listing, key=lambda entry: entry.name)
        _refuse_links(store / entry.name for entry in entries)
        for entry in entries:
            kept = self.path / STORE / entry.name
            if entry.is_dir() and not kept.exists():
                self._copy(store / entry.name, kept)
            elif not kept.exists():
                self._copy_file(entry, kept)
            elif not self._is_kept(store / entry.name, kept):
                raise StoreError(
                    "it is not what another of the groups has under the same digest: one of them was changed",
                    where=entry.path,
                    fix="`proctor verify` says which one; leave that group out, or restore it.",
                )

    def take(self, run: RunDir) -> None:
        """Copy a run directory, every file as it is.

        Raises:
            StoreError: it cannot be copied whole.
        """
        self._copy(run.path, self.path / run.name)

    def log_attempts(self, groups: Iterable[Path]) -> None:
        """Take along the rows of `attempts.jsonl`, each once, also those of a newer format.

        Raises:
            StoreError: one cannot be read, or is a link; or they cannot be written.
        """
        files = [group / ATTEMPTS for group in groups]
        _refuse_links(files)
        lines = dict.fromkeys(line for file in files for line in rows.lines(str(file)))
        if lines:
            rows.append(f"{self.path}/{ATTEMPTS}", b"".join(line + b"\n" for line in lines))

    def appear(self, plan: GroupPlan, out: Path) -> None:
        """Write the plan, and have the group at `out`: all of it, on the disk, or nothing.

        Raises:
            StoreError: it cannot be written.
            UsageError: something came to lie at `out` meanwhile.
        """
        with _writing(self.path):
            content = msgspec.json.format(msgspec.json.encode(plan), indent=1) + b"\n"
            (self.path / PLAN).write_bytes(content)
        sync(self.path)
        try:
            self.path.rename(out)
        except OSError as error:
            raise _taken(out) from error
        sync(out.parent)

    def _is_kept(self, source: Path, kept: Path) -> bool:
        """True when the copy is the same; then the files of `source` are known to be those of the copy."""
        if source.is_file():
            if not _is_same(source, kept):
                return False
            self._shared.note(source, kept)
            return True
        names = set(files_in(source))
        if names != set(files_in(kept)) or not all(_is_same(source / name, kept / name) for name in names):
            return False
        for name in names:
            if not (source / name).is_symlink():
                self._shared.note(source / name, kept / name)
        return True

    def _copy_file(self, source: os.DirEntry[str], target: Path) -> None:
        with _writing(Path(source.path)):
            if not self._shared.link(source, target):
                shutil.copy2(source.path, target)

    def _copy(self, source: Path, target: Path) -> None:
        with _writing(source):
            left_out = copy_tree(source, target, self._shared)
        if left_out:
            raise StoreError(
                f"it cannot be copied whole: {', '.join(map(storable, left_out[:5]))}",
                where=str(source),
                fix="Make it readable, or take away what is no file; then repeat the command.",
            )


@contextmanager
def merging_into(out: Path) -> Generator[MergingGroup]:
    """A new group that will lie at `out`: a hidden folder beside it, which is gone at the end.

    What a killed merge into the same place left behind is taken away first.

    Raises:
        UsageError: there is something at `out` already, or its folder cannot be made.
        StoreError: another process is merging into it.
    """
    staging = out.with_name(f".{out.name}.merging")
    try:
        if out.is_symlink() or (out.exists() and (not out.is_dir() or any(out.iterdir()))):
            raise _taken(out)
        out.parent.mkdir(parents=True, exist_ok=True)
        descriptor = _claimed(staging)
    except OSError as error:
        raise UsageError(
            f"the group {str(out)!r} cannot be made: {error.strerror}", fix="Name another folder with --out."
        ) from error
    try:
        for entry in sorted(staging.iterdir()):
            remove_tree(entry)
        yield MergingGroup(staging)
    finally:
        remove_tree(staging)
        os.close(descriptor)


def _claimed(staging: Path) -> int:
    """The folder, made and locked; the lock dies with this process."""
    while True:
        staging.mkdir(exist_ok=True)
        descriptor = os.open(staging, os.O_RDONLY | os.O_CLOEXEC)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(descriptor)
            raise StoreError(
                "another `proctor merge` is putting this group together",
                where=str(staging),
                fix="Wait for it to end, or name another folder with --out.",
            ) from error
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(descriptor), staging.stat()):
                return descriptor
        os.close(descriptor)  # whoever had it has finished, and it lies where it was to be


def _refuse_links(paths: Iterable[Path]) -> None:
    """What a group consists of is files and folders: what a link leads to is not copied into the merged group."""
    for path in paths:
        if path.is_symlink():
            raise StoreError(
                "it is a link, and proctor makes none here",
                where=str(path),
                fix="Put what it leads to in its place, or leave that group out.",
            )


def _is_same(one: Path, other: Path) -> bool:
    """True for two files of the same bytes that may both be run or not, and for two links that say the same."""
    if one.is_symlink() or other.is_symlink():
        return one.is_symlink() and other.is_symlink() and one.readlink() == other.readlink()
    try:
        if (one.stat().st_mode ^ other.stat().st_mode) & 0o100:
            return False
        return filecmp.cmp(one, other, shallow=False)
    except OSError:
        return False


def _taken(out: Path) -> UsageError:
    return UsageError(
        f"there is something at {str(out)!r} already",
        fix="Name another folder with --out, or take that one away; nothing was changed.",
    )


@contextmanager
def _writing(where: Path) -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"it cannot be copied: {error.strerror or error}", where=str(where), fix=_MAKE_ROOM
        ) from error
