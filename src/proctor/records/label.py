"""Labels: what a person answered about a run, what is not signed off yet, and which runs were drawn by chance."""

from __future__ import annotations

from typing import Final

import msgspec

from proctor.records.annotation import LabelRow
from proctor.records.checklist import Answer, Question
from proctor.records.report import Bounds

DRAFT_SCHEMA: Final = "proctor.draft/1"
SAMPLE_SCHEMA: Final = "proctor.sample/1"


class Label(msgspec.Struct, frozen=True, kw_only=True):
    """What one person says of one run by one checklist: all of their rows, folded.

    Attributes:
        checklist: id of the lineage.
        annotator: who.
        version: the revision that they answered last.
        questions: that revision's, deleted ones included.
        answers: by question id; a later row replaces an earlier answer to the same question.
        note: the latest row's.
        at: when the latest row was written.
        row_id: of the latest row.
        saw_grades: they had looked at the grades before one of the rows was signed off.
        sample: id of the random sample that the run was labelled for; None for none.
    """

    checklist: str
    annotator: str
    version: int
    questions: tuple[Question, ...]
    answers: dict[str, Answer]
    note: str
    at: str
    row_id: str
    saw_grades: bool = False
    sample: str | None = None


class LabelScore(msgspec.Struct, frozen=True, kw_only=True):
    """What a label comes to.

    Attributes:
        score: 0 to 1, the weighted share of what is good; None while a live question is unanswered, or when a
            "cannot tell" could change it.
        bounds: the score with everything that cannot be told as worst, and as best.
        unanswered: ids of live questions without an answer; a label that has some is stale.
    """

    score: float | None
    bounds: Bounds
    unanswered: tuple[str, ...] = ()


class DraftEntry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is not signed off of one run.

    Attributes:
        answers: those that were given or changed since the last sign-off.
        note: the note as it is now; None where it was not touched.
        active_ms: time that was spent on it, without pauses.
        skipped: passed over, to come back to.
        saw_grades: the grades were shown.
    """

    answers: dict[str, Answer] = {}
    note: str | None = None
    active_ms: int = 0
    skipped: bool = False
    saw_grades: bool = False

    @property
    def is_touched(self) -> bool:
        """True when there is something to sign off."""
        return bool(self.answers) or self.note is not None


class Pending(msgspec.Struct, frozen=True, kw_only=True):
    """A row that was signed off, and may or may not have reached its run.

    Attributes:
        run_dir: where the run lies in its group.
        row: the whole row.
    """

    run_dir: str
    row: LabelRow


class Draft(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where one person stands with one checklist in one group: kept by run, so that new runs change nothing.

    Attributes:
        schema: format of the file.
        checklist: id of the lineage; empty for rows that were imported.
        annotator: whose it is.
        current: id of the run that they were at.
        at: when they were there, ISO 8601 in UTC.
        entries: by run id.
        staged: questions that will be published with the next sign-off.
        pending: rows on their way.
    """

    schema: str
    checklist: str
    annotator: str
    current: str | None = None
    at: str = ""
    entries: dict[str, DraftEntry] = {}
    staged: tuple[Question, ...] = ()
    pending: tuple[Pending, ...] = ()


class Sample(msgspec.Struct, frozen=True, kw_only=True):
    """A random sample as it was drawn: the design that later estimates need.

    Attributes:
        schema: format of the file.
        id: digest of all else but the time.
        checklist: what it was drawn for.
        seed: of the draw.
        size: how many were asked for.
        population: ids of all runs that could have been drawn, sorted.
        runs: ids of those that were, in the order of the draw.
        at: when, ISO 8601 in UTC.
    """

    schema: str
    id: str
    checklist: str
    seed: int
    size: int
    population: tuple[str, ...]
    runs: tuple[str, ...]
    at: str
