"""Which groups and runs a path names."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from proctor.errors import StoreError
from proctor.stores.group import PLAN, run_dirs
from proctor.stores.rundir import FACTS, RunDir

DEEPEST = 3
"""How many folders below a named one a group may lie."""


class FoundGroup(msgspec.Struct, frozen=True, kw_only=True):
    """A group that a path named.

    Attributes:
        path: as the user named it, or below that.
        is_group: False for a loose run directory, which is a group of one.
        runs: the run directories in it, by name.
    """

    path: Path
    is_group: bool
    runs: tuple[RunDir, ...]


def discover(paths: Iterable[Path]) -> Sequence[FoundGroup]:
    """The groups that the paths name, in the order of naming; a folder that is named twice counts once.

    A path is a run directory, a group of them, or a folder of groups.

    Raises:
        StoreError: a path does not exist, or there is no run in it.
    """
    found: list[FoundGroup] = []
    seen: set[str] = set()
    for path in paths:
        here = _below(path, DEEPEST)
        if not here:
            raise _nothing_at(path)
        for group in here:
            real = os.path.realpath(group.path)
            if real not in seen:
                seen.add(real)
                found.append(group)
    return found


def find_run(path: Path) -> RunDir:
    """The one run directory at `path`.

    Raises:
        StoreError: there is none; a group says how to name one of its runs.
    """
    if (path / FACTS).is_file():
        return RunDir(path)
    runs = list(run_dirs(path)) if path.is_dir() else []
    if runs:
        raise StoreError(
            f"{str(path)!r} is a group of {len(runs)} runs, and one run was asked for",
            fix=f"Name one of them, such as {str(runs[0].path)!r}; `proctor list {path}` shows all.",
        )
    raise _nothing_at(path)


def _below(path: Path, depth: int) -> list[FoundGroup]:
    if (path / FACTS).is_file():
        return [FoundGroup(path=path, is_group=False, runs=(RunDir(path),))]
    if not path.is_dir():
        return []
    runs = tuple(run_dirs(path))
    if runs or (path / PLAN).is_file():
        return [FoundGroup(path=path, is_group=True, runs=runs)]
    if depth == 0:
        return []
    children = sorted(child for child in path.iterdir() if child.is_dir() and not child.name.startswith("."))
    return [group for child in children for group in _below(child, depth - 1)]


def _nothing_at(path: Path) -> StoreError:
    if not path.exists():
        return StoreError(
            f"{str(path)!r} does not exist", fix="Name a run directory, a group, or a folder of groups."
        )
    return StoreError(
        f"there is no run in {str(path)!r}",
        fix="A run directory holds a run.json; `proctor run` makes them, by default in the folder runs/.",
    )
