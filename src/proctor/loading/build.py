"""A test as it is written becomes a test as it is run: checked, with defaults, files and graders."""

from __future__ import annotations

import os.path
import re
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec import UNSET

from proctor.loading import ids
from proctor.loading.check import checked
from proctor.loading.disk import is_there
from proctor.loading.entries import Context, Entry, Gathered
from proctor.loading.faults import Faults, Spot, shown
from proctor.loading.fields import DEFAULT_FIELDS, RENAMED_TEST_FIELDS, SUITE_FIELDS, TEST_FIELDS
from proctor.loading.parts import parts_of
from proctor.loading.paths import GitFixtures, LocatedFixture, fixture_of, graders_source
from proctor.loading.secrets import note_secrets
from proctor.records.json_value import Json
from proctor.records.suite import GradersSource, SuiteTest, Test

_MODULE = "graders.py"
_FIXTURE = "files"


class _Defaults(NamedTuple):
    fields: dict[str, Json]
    graders: GradersSource | None


def tests_of(gathered: Gathered, context: Context, faults: Faults) -> list[SuiteTest]:
    """The tests of a suite, those left out that have faults, which are then noted."""
    defaults = _defaults_of(gathered, context, faults)
    taken: dict[str, str] = {}
    git = GitFixtures(context)
    built: list[SuiteTest] = []
    nameless: list[Entry] = []
    for entry in gathered.entries:
        test_id = _id_of(entry, taken, faults)
        if test_id is None and "id" not in entry.fields and entry.own_id is None:
            nameless.append(entry)
        made = _test_of(entry, test_id, _Maker(gathered.root, defaults, git, context, faults))
        if made is not None:
            built.append(made)
    for number, entry in enumerate(nameless, start=1):
        proposed = ids.proposal(entry.fields.get("input"), taken, number=number)
        taken[proposed.casefold()] = entry.where
        faults.note(
            entry.spot,
            f"{entry.spot.field or 'The test'} has no id.",
            f'Write "id": "{proposed}": a test is known by its id, which must not depend on the order.',
        )
    return built


class _Maker(NamedTuple):
    root: Path
    defaults: _Defaults
    git: GitFixtures
    context: Context
    faults: Faults


def _test_of(entry: Entry, test_id: str | None, maker: _Maker) -> SuiteTest | None:
    before = len(maker.faults)
    faults, spot = maker.faults, entry.spot
    good = checked(entry.fields, TEST_FIELDS, spot, faults, renamed=RENAMED_TEST_FIELDS)
    note_secrets(entry.fields, spot, faults, named=test_id, allowed=maker.context.allowed)
    fixture = _fixture(entry, good, maker)
    graders = _graders(entry, good, maker)
    parts = parts_of(entry, maker.context, faults)
    if test_id is None or len(faults) > before:
        return None
    defaults = maker.defaults.fields
    given = good.get("input", UNSET)
    trials: float | None = good.get("trials", defaults.get("trials"))
    tags: list[str] = [*defaults.get("tags", ()), *good.get("tags", ())]
    test = Test(
        id=test_id,
        input=UNSET if given == {} else given,
        expected=good.get("expected", UNSET),
        goal=good.get("goal"),
        files=None if fixture is None else fixture.named,
        graders=None if graders is None else _relative(graders.module, maker.root),
        timeout=good.get("timeout", defaults.get("timeout")),
        trials=None if trials is None else int(trials),
        tags=tuple(dict.fromkeys(tags)),
        description=good.get("description"),
        metadata=good.get("metadata", {}),
    )
    return SuiteTest(
        test=test,
        where=entry.where,
        fixture=None if fixture is None else fixture.folder,
        graders=graders,
        fixture_commit=None if fixture is None else fixture.commit,
        holdout=parts.holdout,
        solution=parts.solution,
        wrong=parts.wrong,
    )


def _id_of(entry: Entry, taken: dict[str, str], faults: Faults) -> str | None:
    """The test's id when it has a good one that is still free."""
    written = entry.fields.get("id", entry.own_id)
    if not isinstance(written, str) or ("id" in entry.fields and not written):
        return None
    spot = entry.spot.at("id") if "id" in entry.fields else entry.spot
    test_id = ids.normal(written)
    if wrong := ids.complaint(test_id):
        what, fix = wrong
        name = f"{spot.field} {shown(written)}" if "id" in entry.fields else f"The name {shown(written)}"
        aside = "" if "id" in entry.fields else ", and an id is made of it"
        more = "" if "id" in entry.fields else ' Rename it, or write an "id" into the test.'
        faults.note(spot, f"{name} {what}{aside}.", fix + more)
        return None
    folded = test_id.casefold()
    if folded in taken:
        faults.note(
            spot,
            f'The id "{test_id}" is taken: {taken[folded]} has it as well.',
            "Give each test an id of its own; case makes no difference.",
        )
        return None
    taken[folded] = entry.where
    return test_id


def _fixture(entry: Entry, good: dict[str, Json], maker: _Maker) -> LocatedFixture | None:
    if "files" in good:
        return fixture_of(
            good["files"], entry.spot.at("files"), entry.folder, maker.root, maker.git, maker.faults
        )
    if (
        entry.test_folder is not None
        and "files" not in entry.fields
        and is_there(entry.test_folder / _FIXTURE)
    ):
        return fixture_of(_FIXTURE, entry.spot, entry.folder, maker.root, maker.git, maker.faults)
    return None


def _graders(entry: Entry, good: dict[str, Json], maker: _Maker) -> GradersSource | None:
    if "graders" in good:
        return graders_source(
            good["graders"], entry.spot.at("graders"), entry, maker.root, maker.context, maker.faults
        )
    if entry.test_folder is not None and is_there(entry.test_folder / _MODULE):
        return graders_source(_MODULE, entry.spot, entry, maker.root, maker.context, maker.faults)
    if maker.defaults.graders is not None:
        return msgspec.structs.replace(maker.defaults.graders, folder=entry.test_folder)
    return None


def _defaults_of(gathered: Gathered, context: Context, faults: Faults) -> _Defaults:
    common = gathered.common
    if common is None or "defaults" not in common.fields:
        return _Defaults({}, None)
    spot = common.spot.at("defaults")
    fields: dict[str, Json] = common.fields["defaults"]
    good = checked(fields, DEFAULT_FIELDS, spot, faults, of="`defaults`", renamed=RENAMED_TEST_FIELDS)
    note_secrets(fields, spot, faults, named="defaults", allowed=context.allowed)
    graders = None
    if "graders" in good:
        stand_in = Entry(spot, fields, common.folder, spot.document.label)
        graders = graders_source(
            good["graders"], spot.at("graders"), stand_in, gathered.root, context, faults
        )
    return _Defaults(good, graders)


def checked_suite_fields(raw: dict[str, Json], spot: Spot, faults: Faults) -> dict[str, Json]:
    """The fields of a whole suite that are known and hold what they may."""
    good = checked(raw, SUITE_FIELDS, spot, faults, of="a suite")
    for name in good.get("pass_env", ()):
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
            fix = "Write each variable's name in full, without its value; --pass-env takes patterns."
            faults.note(spot.at("pass_env"), f"{shown(name)} is no name of a variable.", fix)
    open_text = {key: good[key] for key in ("name", "description") if key in good}
    note_secrets(open_text, spot, faults, named=None, allowed=frozenset())
    if "inputs" in raw and "tests" in raw:
        faults.note(
            spot.at("tests"), "The suite has both `inputs` and `tests`, which are the same.", "Keep one."
        )
    return good


def _relative(module: Path, root: Path) -> str:
    """The path as text that can be stored: a name that is not UTF-8 keeps its readable part."""
    return encodable(Path(os.path.relpath(module, root)).as_posix())


def encodable(name: str) -> str:
    """A file's name with a question mark for each byte that is not text."""
    return name.encode("utf-8", "replace").decode("utf-8")
