"""Which groups and runs a path names."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from proctor.errors import StoreError
from proctor.stores.foreign import StatelogRun, is_statelog_run
from proctor.stores.group import PLAN
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
    run = _run_at(path)
    if run is not None:
        return run
    runs = _runs_below(path) if path.is_dir() else ()
    if runs:
        raise StoreError(
            f"{str(path)!r} is a group of {len(runs)} runs, and one run was asked for",
            fix=f"Name one of them, such as {str(runs[0].path)!r}; `proctor list {path}` shows all.",
        )
    raise _nothing_at(path)


def _below(path: Path, depth: int) -> list[FoundGroup]:
    run = _run_at(path)
    if run is not None:
        return [FoundGroup(path=path, is_group=False, runs=(run,))]
    if not path.is_dir():
        return []
    runs = _runs_below(path)
    if runs or (path / PLAN).is_file():
        return [FoundGroup(path=path, is_group=True, runs=runs)]
    if depth == 0:
        return []
    return [group for name in _folders(path) for group in _below(path / name, depth - 1)]


def _run_at(path: Path | str) -> RunDir | None:
    # Texts and not Paths: this is asked of every folder of a group.
    if os.path.isfile(f"{path}/{FACTS}"):  # noqa: PTH113
        return RunDir(path)
    return StatelogRun(Path(path)) if is_statelog_run(os.fspath(path)) else None


def _runs_below(path: Path) -> tuple[RunDir, ...]:
    """The runs of a group: those directly in the folder, or those in the folders that it has for each test."""
    names = _folders(path)
    runs = [run for name in names if (run := _run_at(f"{path}/{name}")) is not None]
    if runs or not names:
        return tuple(runs)
    trials: list[RunDir] = []
    for name in names:
        of_test = _trials_in(path / name)
        if of_test is None:
            return ()
        trials += of_test
    return tuple(trials)


def _trials_in(folder: Path) -> list[RunDir] | None:
    """The trials in a folder that is named for a test and holds one folder for each: `good/1`, `good/2`.

    None for a folder of another kind; a folder without runs has no trial.
    """
    trials: list[RunDir] = []
    for name in sorted(_folders(folder), key=lambda name: (len(name), name)):
        here = folder / name
        if (here / FACTS).is_file():
            return None
        if is_statelog_run(os.fspath(here)):
            run = StatelogRun(here, f"{folder.name}/{name}")
            if not name.isdecimal() or run.test_id != folder.name:
                return None
            trials.append(run)
    return trials


def _folders(path: Path) -> list[str]:
    try:
        with os.scandir(path) as entries:
            return sorted(
                entry.name for entry in entries if entry.is_dir() and not entry.name.startswith(".")
            )
    except PermissionError:
        return []  # nobody's runs are to be found in a folder that may not be read


def _nothing_at(path: Path) -> StoreError:
    if not path.exists():
        return StoreError(
            f"{str(path)!r} does not exist", fix="Name a run directory, a group, or a folder of groups."
        )
    return StoreError(
        f"there is no run in {str(path)!r}",
        fix="A run directory holds a run.json or a statelog.jsonl; `proctor run` makes them, by default in the "
        "folder runs/, and `proctor add` does from what other programs recorded.",
    )
