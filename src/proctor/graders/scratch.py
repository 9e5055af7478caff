"""The scratch copy of a workdir that a check runs in: what the agent may not decide is the author's again."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Final

import msgspec

from proctor.host.tree import copy_tree, files_in, remove_tree

PROTECTED: Final = (
    "tests/**",
    "test/**",
    "test_*.py",
    "*_test.py",
    "conftest.py",
    "sitecustomize.py",
    "usercustomize.py",
    "pytest.ini",
    ".pytest.ini",
    "pyproject.toml",
    "setup.cfg",
    "tox.ini",
    "noxfile.py",
    "*.pth",
)
"""Files that say what is checked and how, as globs: without a slash a name at any depth, else from the top."""

_CACHES: Final = ("__pycache__", ".pytest_cache")


class Changes(msgspec.Struct, frozen=True, kw_only=True):
    """What a scratch copy does not have from the agent.

    Attributes:
        removed: paths that the agent left and that are not in it.
        restored: protected paths that the agent had changed or removed.
    """

    removed: tuple[str, ...] = ()
    restored: tuple[str, ...] = ()


def make_scratch(
    workdir: Path, scratch: Path, *, fixture: Path | None, holdout: Path | None, protect: Sequence[str]
) -> Changes:
    """Copy a workdir to `scratch`, which does not exist, and take what decides the check out of the agent's hands.

    1. Everything that matches `protect` goes, and so do compiled Python files and caches of tests.
    2. What matches `protect` in the fixture comes back as it was.
    3. The held-out files are laid over; a folder that only they have holds nothing else.
    4. What the agent added under the name of a module that the check imports goes: beside a file of 2 or 3, and
       at the top where it would hide a module of Python or one that is installed.

    Raises:
        OSError: the copy cannot be written.
    """
    copy_tree(workdir, scratch)
    seeded = set(files_in(fixture)) if fixture is not None else set[str]()
    held = set(files_in(holdout)) if holdout is not None else set[str]()
    theirs = {path for path in seeded if matches_any(path, protect)}
    removed = list(_clear(scratch, protect))
    for folder in _folders_of(held) - _folders_of(seeded):
        removed += _take_away(scratch, folder)
    restored: list[str] = []
    for source, paths in ((fixture, theirs - held), (holdout, held)):
        for path in sorted(paths):
            assert source is not None
            _put(source / path, scratch, path)
            if source is fixture and not _same(source / path, workdir / path):
                restored.append(path)
    removed += _hiding(scratch, seeded | held, theirs | held)
    gone = sorted({path for path in removed if path not in theirs | held})
    return Changes(removed=tuple(gone), restored=tuple(sorted(restored)))


def _clear(scratch: Path, protect: Sequence[str]) -> Iterator[str]:
    """Remove what is protected and what is compiled; the paths of what went."""
    waiting = [""]
    while waiting:  # an agent can nest folders deeper than Python nests calls
        inside = waiting.pop()
        folder = scratch / inside
        folder.chmod(folder.stat().st_mode | 0o700)
        with os.scandir(folder) as listing:
            entries = list(listing)
        for entry in entries:
            path = f"{inside}{entry.name}"
            is_folder = entry.is_dir(follow_symlinks=False)
            if entry.name in _CACHES or entry.name.endswith((".pyc", ".pyo")):
                _remove(Path(entry.path))
                yield path
            elif is_folder and not any("/" not in one and fnmatchcase(entry.name, one) for one in protect):
                waiting.append(f"{path}/")
            elif is_folder or matches_any(path, protect):
                _remove(Path(entry.path))
                yield path


def _hiding(scratch: Path, given: set[str], checked: set[str]) -> Iterator[str]:
    """Remove what the agent added under a name that an import would find first."""
    own_folders = _folders_of(given)
    modules = {(os.path.dirname(path), _module(path)) for path in checked if path.endswith(".py")}  # noqa: PTH120
    for parent in {"", *(parent for parent, _ in modules)}:
        folder = scratch / parent
        for name in sorted(os.listdir(folder)) if folder.is_dir() else ():  # noqa: PTH208
            path = f"{parent}/{name}" if parent else name
            if path in given or path in own_folders:
                continue
            hides = (parent, _module(name)) in modules or (not parent and _module(name) in _importable())
            if hides and (name.endswith((".py", ".so")) or (folder / name).is_dir()):
                _remove(folder / name)
                yield path


@cache
def _importable() -> frozenset[str]:
    """Names of the modules that Python has, and of those that are installed."""
    names = set(sys.stdlib_module_names)
    for folder in {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}:
        if os.path.isdir(folder):  # noqa: PTH112
            names.update(_module(name) for name in os.listdir(folder) if "-" not in name)  # noqa: PTH208
    return frozenset(names)


def _module(path: str) -> str:
    return os.path.basename(path).partition(".")[0]  # noqa: PTH119


def _take_away(scratch: Path, path: str) -> list[str]:
    if not os.path.lexists(scratch / path):
        return []
    _remove(scratch / path)
    return [path]


def _put(source: Path, scratch: Path, path: str) -> None:
    """Copy a file or link into the scratch copy, whatever stands in its way; nothing is written through a link."""
    target = scratch
    for part in Path(path).parent.parts:
        target = target / part
        if target.is_symlink() or not target.is_dir():
            _remove(target)
            target.mkdir()
        target.chmod(target.stat().st_mode | 0o700)
    target = target / Path(path).name
    _remove(target)
    if source.is_symlink():
        target.symlink_to(os.readlink(source))  # noqa: PTH115  as text, not as a Path made tidy
        return
    shutil.copyfile(source, target)
    target.chmod(0o755 if source.stat().st_mode & 0o100 else 0o644)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        remove_tree(path)
    else:
        path.unlink(missing_ok=True)


def _same(one: Path, other: Path) -> bool:
    if one.is_symlink() or other.is_symlink():
        return one.is_symlink() and other.is_symlink() and os.readlink(one) == os.readlink(other)  # noqa: PTH115
    try:
        return one.read_bytes() == other.read_bytes()
    except OSError:
        return False


def _folders_of(paths: set[str]) -> set[str]:
    return {parent.as_posix() for path in paths for parent in Path(path).parents if parent.parts}


def matches_any(path: str, protect: Sequence[str]) -> bool:
    """True when one of these globs matches a path: without a slash a name at any depth, else all of it from the top."""
    parts = path.split("/")
    return any(
        _matches(parts, pattern.split("/"))
        if "/" in pattern
        else any(fnmatchcase(part, pattern) for part in parts)
        for pattern in protect
    )


def _matches(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    """True when the whole path matches; `**` stands for any number of folders, none included."""
    if not pattern:
        return not parts
    if pattern[0] == "**":
        return any(_matches(parts[start:], pattern[1:]) for start in range(len(parts) + 1))
    return bool(parts) and fnmatchcase(parts[0], pattern[0]) and _matches(parts[1:], pattern[1:])
