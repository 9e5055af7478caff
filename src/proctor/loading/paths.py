"""The folders and files that a test names: where they lie, and that they lie where they may."""

from __future__ import annotations

import os.path
from pathlib import Path
from typing import NamedTuple, cast

from proctor.core.relative import has_control, is_plain_relative
from proctor.errors import SuiteError, did_you_mean
from proctor.loading.check import checked
from proctor.loading.disk import is_file, is_folder, is_there, is_within, names_in, real
from proctor.loading.entries import Context, Entry
from proctor.loading.faults import Faults, Spot, shown
from proctor.loading.fields import FIXTURE_FIELDS
from proctor.records.json_value import Json
from proctor.records.suite import Fixture, GradersSource
from proctor.sources import GitSource, checkout, git_source_of


class LocatedFixture(NamedTuple):
    """A test's files: as it names them, where they lie, and the commit when they come from git."""

    named: Fixture
    folder: Path
    commit: str | None = None


class GitFixtures:
    """The fixtures from git that one suite names, each source fetched once."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self._known: dict[GitSource, tuple[Path, str] | SuiteError] = {}

    def folder(self, source: GitSource) -> tuple[Path, str]:
        """The folder that a source names, and the commit it is from.

        Raises:
            SuiteError: it cannot be had.
        """
        if source not in self._known:
            try:
                self._known[source] = checkout(source, cache=self.context.git_cache)[:2]
            except SuiteError as error:
                self._known[source] = error
        found = self._known[source]
        if isinstance(found, SuiteError):
            raise found
        return found


def fixture_of(
    written: Json, spot: Spot, folder: Path, root: Path, git: GitFixtures, faults: Faults
) -> LocatedFixture | None:
    """The files that a test names; None, with a fault, when they are not there or not where they may be.

    written: text, or an object with `path`, `include` and `git`.
    folder: what the path is relative to.
    root: the folder of the suite, which it must not leave.
    """
    before = len(faults)
    if isinstance(written, str):
        named = Fixture(path=written)
        place = spot
    else:
        good = checked(cast("dict[str, Json]", written), FIXTURE_FIELDS, spot, faults, of="`files`")
        if "path" not in cast("dict[str, Json]", written):
            faults.note(spot, f"{spot.field} has no `path`.", 'Name the folder: {"path": "files"}.')
        if "path" not in good:
            return None
        named = Fixture(path=good["path"], include=tuple(good.get("include", ())), git=good.get("git", False))
        place = spot.at("path")
        _check_patterns(named, spot.at("include"), faults)
    located = _located(named, place, folder, root, git, faults)
    return None if len(faults) > before else located


def _located(
    named: Fixture, spot: Spot, folder: Path, root: Path, git: GitFixtures, faults: Faults
) -> LocatedFixture | None:
    try:
        source = git_source_of(named.path, base=folder)
    except SuiteError as error:
        faults.include(error, spot)
        return None
    if source is not None:
        if git.context.checkout is not None:
            faults.note(
                spot,
                f"{spot.field} is {shown(named.path)}: a suite from git names files from git.",
                "Keep the files in the suite's own repository, and name their folder.",
            )
            return None
        try:
            found, commit = git.folder(source)
        except SuiteError as error:
            faults.include(error, spot)
            return None
        if not is_folder(found):
            faults.note(
                spot, f"{spot.field} is {shown(named.path)}, which is not a folder.", "Name a folder."
            )
            return None
        return LocatedFixture(named, found, commit)
    if not is_plain_relative(named.path):
        faults.note(
            spot,
            f"{spot.field or 'The path'} is {shown(named.path)}, which can leave the suite's folder.",
            "Write the path of a folder below the file that names it: no `..`, no drive, no `/` in front.",
        )
        return None
    place = folder / named.path
    return (
        LocatedFixture(named, real(place))
        if _is_folder_within(place, root, spot, named.path, faults)
        else None
    )


def _is_folder_within(place: Path, root: Path, spot: Spot, written: str, faults: Faults) -> bool:
    name = f"{spot.field or '`files`'} is {shown(written)}"
    if not is_folder(place):
        if is_there(place):
            faults.note(spot, f"{name}, which is not a folder.", "Name the folder that holds the files.")
        else:
            faults.note(spot, f"{name}, and there is no such folder.", _near(place))
        return False
    if not is_within(place, root):
        faults.note(
            spot,
            f"{name}, a link that leaves the suite's folder.",
            "Put the files themselves there, so that the suite can be copied.",
        )
        return False
    return True


def _check_patterns(named: Fixture, spot: Spot, faults: Faults) -> None:
    for index, pattern in enumerate(named.include):
        if not is_plain_relative(pattern):
            faults.note(
                spot.at(index),
                f"{spot.at(index).field} is {shown(pattern)}, which can leave the folder.",
                'Patterns are relative to the folder: "src/**".',
            )


def graders_source(
    written: str, spot: Spot, entry: Entry, root: Path, context: Context, faults: Faults
) -> GradersSource | None:
    """The grading module that a test names; None, with a fault, when there is no such file."""
    name = (
        f"{spot.field} is {shown(written)}"
        if spot.path[-1:] == ("graders",)
        else f"There is {shown(written)}"
    )
    if has_control(written):
        faults.note(
            spot, f"{name}, which no file can be called.", "Name the Python file that defines `graders`."
        )
        return None
    module = Path(os.path.normpath(entry.folder / written))
    if not is_file(module):
        if is_there(module):
            fix = f"Name the file in it: {(Path(written) / 'graders.py').as_posix()}."
            faults.note(spot, f"{name}, which is not a file.", fix)
        else:
            faults.note(spot, f"{name}, and there is no such file.", _near(module))
        return None
    if module.suffix != ".py":
        fix = f"Graders are written in Python: {Path(written).stem}.py, with `graders = [...]` in it."
        faults.note(spot, f"{name}, which is not a Python file.", fix)
        return None
    if context.leaves_checkout(module):
        faults.note(
            spot,
            f"{name}, which leaves the repository that the suite is from.",
            "Keep the graders of a suite from git in its repository.",
        )
        return None
    within = root if module.is_relative_to(root) else module.parent
    return GradersSource(root=within, module=module, folder=entry.test_folder)


def _near(place: Path) -> str:
    """What to do about a name that is not there: the nearest one that is."""
    if not is_folder(place.parent):
        return f"There is no folder {shown(place.parent.name)} either; paths are relative to the file that names them."
    near = did_you_mean(place.name, names_in(place.parent))
    return f"Did you mean {near!r}?" if near else "Paths are relative to the file that names them."
