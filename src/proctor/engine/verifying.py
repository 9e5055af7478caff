"""Checking recorded runs against their own digests: what was changed after the fact. Nothing is repaired."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import msgspec

from proctor.engine.inputs import KeptInput, recorded_inputs
from proctor.errors import StoreError
from proctor.records.annotation import ScoreRow, row_id
from proctor.records.json_value import digest_of_bytes, storable
from proctor.records.run import RunFacts
from proctor.stores.discover import FoundGroup, discover
from proctor.stores.foreign import StatelogRun
from proctor.stores.group import GroupDir
from proctor.stores.manifest import MANIFEST, FileEntry, Manifest, list_workdir
from proctor.stores.rundir import FACTS, INPUTS, RunDir

VERIFY_SCHEMA = "proctor.verify/1"


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is not as it was recorded.

    Attributes:
        run: path of the run directory.
        file: what was changed, relative to it.
        what: changed, added, missing, or a sentence.
    """

    run: str
    file: str
    what: str


class Verification(msgspec.Struct, frozen=True, kw_only=True):
    """What `proctor verify` found.

    Attributes:
        runs: number of runs that were looked at.
        unrecorded: runs without a record of their facts' digest: a loose copy, or a run that was not made by
            `proctor run`. Everything that the facts themselves name was checked.
        findings: everything that is not as it was recorded.
    """

    schema: str = VERIFY_SCHEMA
    runs: int
    unrecorded: int
    findings: tuple[Finding, ...]


def verify(paths: Iterable[Path]) -> Verification:
    """Check everything that the paths name.

    Raises:
        StoreError: a path does not exist, or holds no run.
    """
    findings: list[Finding] = []
    runs = unrecorded = 0
    for group in discover(paths):
        recorded = _recorded(group)
        for run in group.runs:
            runs += 1
            unrecorded += run.name not in recorded
            findings += [
                Finding(run=storable(str(run.path)), file=file, what=what)
                for file, what in _changes(run, recorded)
            ]
        missing = recorded.keys() - {run.name for run in group.runs}
        findings += [
            Finding(
                run=storable(str(group.path / name)), file="", what="missing: it ended, and is not there now"
            )
            for name in sorted(missing)
        ]
    return Verification(runs=runs, unrecorded=unrecorded, findings=tuple(findings))


def _recorded(group: FoundGroup) -> Mapping[str, str]:
    """Digests of the facts of each run that ended, from the group's rows; also for a loose run in its group."""
    folder = group.path if group.is_group else group.path.absolute().parent
    recorded = {
        row.run_dir: row.facts
        for row in GroupDir(folder).attempts()
        if row.event == "ended" and row.facts is not None
    }
    return (
        recorded if group.is_group else {name: recorded[name] for name in recorded if name == group.path.name}
    )


def _changes(run: RunDir, recorded: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    content = _read(run.path / FACTS)
    if content is not None and run.name in recorded and digest_of_bytes(content) != recorded[run.name]:
        yield FACTS, "changed"
    try:
        facts = run.facts()
    except StoreError as error:
        yield FACTS, error.what
        return
    for name, digest in facts.files.items():
        yield from _file(run.path / name, name, digest)
    if facts.graders is not None:
        archive = run.graders_archive(facts.graders)
        yield from _file(archive, f"graders/{archive.name}", facts.graders.digest)
    if facts.test.digest != facts.test_digest:
        yield FACTS, "its test is not the one that the run's digest names"
    if facts.workdir and not isinstance(run, StatelogRun):
        yield from _workdir(run)
    yield from _inputs(run, facts)
    yield from _rows(run)


def _file(path: Path, name: str, digest: str) -> Iterator[tuple[str, str]]:
    try:
        with path.open("rb") as content:  # what was printed may be larger than memory
            found = hashlib.file_digest(content, "sha256").hexdigest()
    except OSError:
        yield name, "missing"
        return
    if f"sha256:{found}" != digest:
        yield name, "changed"


def _workdir(run: RunDir) -> Iterator[tuple[str, str]]:
    content = _read(run.path / MANIFEST)
    try:
        then = msgspec.json.decode(content, type=Manifest).entries if content else ()
    except msgspec.DecodeError:
        return  # the manifest itself was found to be changed
    before = {entry.path: entry for entry in then}
    now = {entry.path: entry for entry in list_workdir(run.workdir).entries} if run.workdir.is_dir() else {}
    for path in sorted(before.keys() | now.keys()):
        what = _difference(before.get(path), now.get(path))
        if what:
            yield f"workdir/{path}", what


def _difference(before: FileEntry | None, now: FileEntry | None) -> str | None:
    if before is None:
        return "added"
    if now is None:
        return "missing"
    return None if before == now else "changed"


def _inputs(run: RunDir, facts: RunFacts) -> Iterator[tuple[str, str]]:
    fixture, holdout = recorded_inputs(run, facts)
    artifact = None if facts.artifact is None else KeptInput(path=run.artifact, digest=facts.artifact)
    for kept in (fixture, holdout, artifact):
        if kept is None or kept.is_intact:
            continue
        if kept.path.is_dir():
            yield f"{INPUTS}/{kept.path.name}", "changed"
        elif kept is not fixture:
            # The fixture is kept only where a grader reads it: that there is none is nothing to report.
            yield f"{INPUTS}/{kept.path.name}", "missing"


def _rows(run: RunDir) -> Iterator[tuple[str, str]]:
    annotations = run.annotations()
    for row in (*annotations.scores, *annotations.retractions, *annotations.labels):
        if isinstance(run, StatelogRun) and row.id.startswith("ann_"):
            continue  # a row of the tool that made the run, with an id by that tool's rule
        content = msgspec.structs.replace(row, id="", at="")
        if isinstance(content, ScoreRow):
            content = msgspec.structs.replace(content, duration_s=None)
        if row_id(content) != row.id:
            yield "annotations.jsonl", f"a row was changed: {row.id or '(without id)'}"


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None
