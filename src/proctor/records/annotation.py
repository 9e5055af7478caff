"""Somebody's opinion of a run: the rows of `annotations.jsonl`."""

from __future__ import annotations

import hashlib
from typing import Literal, TypeAlias

import msgspec

from proctor.records.checklist import Answer, Question
from proctor.records.grade import Cause, Defect, Outcome
from proctor.records.json_value import Json
from proctor.records.judging import Judging

ROW_VERSION = 1


class Annotator(msgspec.Struct, frozen=True, kw_only=True):
    """Who holds the opinion, by revision: `graders.py@sha256:...`, a judge with its model, a person.

    Attributes:
        kind: a `grader` in code, a `judge`, or a person (`human`).
        id: module and digest of a grader; name, version or digest, and model of a judge; name of a person.
    """

    kind: Literal["grader", "judge", "human"]
    id: str


class RetractRow(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="kind", tag="retract"
):
    """A whole round is withdrawn by a later row; nothing is ever rewritten, and no single score is taken out.

    Attributes:
        v: version of the row's format.
        id: digest of the row's own JSON less id and time.
        run: id of the run.
        at: when, ISO 8601 in UTC; not part of the content.
        annotator: who withdraws it.
        round_id: the round that is withdrawn.
        why: the reason, in a sentence.
    """

    v: int
    id: str = ""
    run: str
    at: str
    annotator: Annotator
    round_id: str
    why: str

    def with_id(self) -> RetractRow:
        """The same row, with the id that follows from its content."""
        return msgspec.structs.replace(self, id=row_id(msgspec.structs.replace(self, id="", at="")))


class ScoreRow(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="kind", tag="score"):
    """What one grader said of one run, in one round.

    Attributes:
        v: version of the row's format.
        id: digest of the row's own JSON less id, time and duration; the same content has the same id.
        run: id of the run.
        at: when, ISO 8601 in UTC; not part of the content.
        annotator: who says it: the grading module, or the judge that the grader asked.
        round_id: the grading that this row belongs to.
        round_size: number of rows in that round; a round with fewer counts for nothing.
        name: the grader's name in its module.
        scale: `binary` (passes or not) or `scalar` (0 to 1).
        score: 0 to 1, a binary one as 0 or 1; None when inconclusive.
        outcome: whether it met its bar.
        weight: its share in the objective.
        must_pass: it is a gate.
        threshold: the bar of a scalar.
        samples: the value of each sample, None for an inconclusive one; empty when there was one sample.
        aggregate: how binary samples were combined.
        feedback: a sentence for whoever reads the report; empty where there is none.
        cause: why it is inconclusive; None when it is not.
        evidence: any JSON that backs the finding; null where there is none.
        defect: what went wrong, when code did.
        duration_s: how long the grader took; not part of the content.
        mean: of the samples that have a value, where there were several.
        spread: their standard deviation, with n - 1; None for fewer than two.
        count: how many they are; None when there was one sample.
        module: the grading module's revision, where the annotator is a judge of it.
        judging: what each judge took that the grader asked.
    """

    v: int
    id: str = ""
    run: str
    at: str = ""
    annotator: Annotator
    round_id: str
    round_size: int
    name: str
    scale: Literal["binary", "scalar"] = "binary"
    score: float | None = None
    outcome: Outcome
    weight: float = 1.0
    must_pass: bool = False
    threshold: float = 0.0
    samples: tuple[float | None, ...] = ()
    aggregate: str = "all"
    feedback: str = ""
    cause: Cause | None = None
    evidence: Json = None
    defect: Defect | None = None
    duration_s: float | None = None
    mean: float | None = None
    spread: float | None = None
    count: int | None = None
    module: str | None = None
    judging: tuple[Judging, ...] = ()

    def with_id(self) -> ScoreRow:
        """The same row, with the id that follows from its content."""
        content = msgspec.structs.replace(self, id="", at="", duration_s=None)
        return msgspec.structs.replace(self, id=row_id(content))

    def stamped(self, at: str, duration_s: float) -> ScoreRow:
        """A row that has neither id, time nor duration yet, with all three."""
        return msgspec.structs.replace(self, id=row_id(self), at=at, duration_s=duration_s)


class LabelRow(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="kind", tag="label"):
    """What one person answered about one run, signed off.

    Attributes:
        v: version of the row's format.
        id: digest of the row's own JSON less id and time.
        run: id of the run.
        at: when, ISO 8601 in UTC; not part of the content.
        annotator: who.
        checklist: id of the checklist's lineage.
        version: the revision that was answered.
        hash: that revision's.
        questions: that revision's questions, so that a copy of the run can be read by itself.
        answers: by question id; null says "cannot tell", and an absent one was not answered.
        note: a remark.
        active_ms: time that was spent on it, without pauses.
        saw_grades: the grades had been shown before.
        sample: id of the random sample that it was labelled for.
        replaces: id of the same person's row before this one; empty for the first.
    """

    v: int
    id: str = ""
    run: str
    at: str
    annotator: Annotator
    checklist: str
    version: int
    hash: str
    questions: tuple[Question, ...]
    answers: dict[str, Answer]
    note: str = ""
    active_ms: int | None = None
    saw_grades: bool = False
    sample: str | None = None
    replaces: str = ""

    def with_id(self) -> LabelRow:
        """The same row, with the id that follows from its content."""
        return msgspec.structs.replace(self, id=row_id(msgspec.structs.replace(self, id="", at="")))


Row: TypeAlias = ScoreRow | RetractRow | LabelRow


def row_id(content: Row) -> str:
    """The id of a row: the digest of its JSON, once what is no part of its content is taken out."""
    return "row_" + hashlib.sha256(msgspec.json.encode(content)).hexdigest()[:40]


class Annotations(msgspec.Struct, frozen=True, kw_only=True):
    """The rows of one run, in the order of appending.

    Attributes:
        scores: what graders said.
        retractions: rounds and labels that were withdrawn.
        labels: what people answered.
        unread: rows that this version does not understand: of a newer format, of a kind that it does not know, or
            damaged. They stay where they are.
    """

    scores: tuple[ScoreRow, ...] = ()
    retractions: tuple[RetractRow, ...] = ()
    labels: tuple[LabelRow, ...] = ()
    unread: int = 0
