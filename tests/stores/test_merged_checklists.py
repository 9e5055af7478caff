"""Checklists of several groups in one: what is published, what is not signed off, what was drawn."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from proctor.errors import UsageError
from proctor.records.annotation import ROW_VERSION, Annotator, LabelRow
from proctor.records.checklist import CHECKLIST_SCHEMA, Checklist, Question, checklist_hash
from proctor.records.label import DRAFT_SCHEMA, SAMPLE_SCHEMA, Draft, DraftEntry, Pending, Sample
from proctor.stores.checklists import IMPORTS, ChecklistStore, DraftFile
from proctor.stores.merged_checklists import merge_checklists

LINEAGE = "cl_0123456789"
AT = "2026-01-01T00:00:00.000+00:00"


def revision(version: int, text: str = "Is it right?", parent: int | None = None) -> Checklist:
    """One revision of a checklist with one question."""
    questions = (Question(id="q_0123456789", text=text),)
    return Checklist(
        schema=CHECKLIST_SCHEMA,
        checklist=LINEAGE,
        version=version,
        name="good",
        questions=questions,
        hash=checklist_hash(LINEAGE, version, "good", questions),
        parent=parent,
        created_at=AT,
    )


def draft(group: Path, *runs: str, at: str = AT, **fields: object) -> None:
    """What ada has not signed off of some runs of a group."""
    made = Draft(
        schema=DRAFT_SCHEMA,
        checklist=LINEAGE,
        annotator="ada",
        current=runs[-1],
        at=at,
        entries={run: DraftEntry(note=f"of {run}") for run in runs},
    )
    file = DraftFile(ChecklistStore(group).draft_path(LINEAGE, "ada"))
    file.write(msgspec.structs.replace(made, **fields))


@pytest.fixture
def groups(tmp_path: Path) -> tuple[Path, Path, Path]:
    """Two groups, and the one that they become."""
    return tmp_path / "one", tmp_path / "two", tmp_path / "whole"


def test_a_revision_that_both_have_is_there_once_and_in_line(groups: tuple[Path, Path, Path]) -> None:
    """The second group began with version 2, and did not know of a version before it."""
    one, two, whole = groups
    ChecklistStore(one).publish(revision(1))
    ChecklistStore(one).publish(revision(2, "Is it good?", parent=1))
    ChecklistStore(two).publish(revision(2, "Is it good?"))
    merge_checklists([one, two], whole)

    assert [(1, None), (2, 1)] == [
        (made.version, made.parent) for made in ChecklistStore(whole).revisions(LINEAGE)
    ]


def test_one_version_with_two_contents_is_refused(groups: tuple[Path, Path, Path]) -> None:
    """Labels name the version: nobody could say which questions they answer."""
    one, two, whole = groups
    ChecklistStore(one).publish(revision(1))
    ChecklistStore(two).publish(revision(1, "Is it wrong?"))

    with pytest.raises(UsageError, match="version 1 of the checklist 'good' is not the same"):
        merge_checklists([one, two], whole)


def test_what_is_not_signed_off_is_put_together(groups: tuple[Path, Path, Path]) -> None:
    """One person labelled in both; where they were last is where they go on. Imports on their way stay on it."""
    one, two, whole = groups
    draft(one, "a", "b", at="2026-01-02")
    draft(two, "c", at="2026-01-01")
    first = revision(1)
    row = LabelRow(
        v=ROW_VERSION,
        id="row_1",
        run="a",
        at=AT,
        annotator=Annotator(kind="human", id="ada"),
        checklist=LINEAGE,
        version=1,
        hash=first.hash,
        questions=first.questions,
        answers={},
    )
    pending = (Pending(run_dir="a", row=row),)
    for group in (one, two):
        DraftFile(ChecklistStore(group).path / f"{IMPORTS}.json").write(
            Draft(schema=DRAFT_SCHEMA, checklist="", annotator="ada", pending=pending)
        )
    merge_checklists([one, two], whole)
    store = ChecklistStore(whole)
    kept, imports = (
        DraftFile(store.draft_path(LINEAGE, "ada")).read(),
        DraftFile(store.path / "imports.json").read(),
    )

    assert kept is not None
    assert imports is not None
    assert ("b", {"a", "b", "c"}) == (kept.current, set(kept.entries))
    assert pending == imports.pending


def test_two_drafts_of_one_run_are_refused(groups: tuple[Path, Path, Path]) -> None:
    """Nothing that somebody typed is dropped without a word."""
    one, two, whole = groups
    draft(one, "a")
    draft(two, "a", entries={"a": DraftEntry(note="another note")})

    with pytest.raises(UsageError, match="what is not signed off of the run a is not the same"):
        merge_checklists([one, two], whole)


def test_samples_of_both_are_kept(groups: tuple[Path, Path, Path]) -> None:
    """Each is the design of what was labelled with it."""
    one, two, whole = groups
    for group, run in ((one, "a"), (two, "b")):
        ChecklistStore(group).publish(revision(1))
        ChecklistStore(group).keep_sample(
            Sample(
                schema=SAMPLE_SCHEMA, id=f"s-{run}", checklist=LINEAGE, seed=0, size=1, population=(run,), runs=(run,), at=AT
            )
        )  # fmt: skip
    merge_checklists([one, two], whole)

    assert ["s-a", "s-b"] == sorted(sample.id for sample in ChecklistStore(whole).samples(LINEAGE))
