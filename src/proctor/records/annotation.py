"""Somebody's opinion of a run: the rows of `annotations.jsonl`."""

from __future__ import annotations

import hashlib
from typing import Literal, TypeAlias

import msgspec

from proctor.records.grade import Cause, Defect, Outcome
from proctor.records.json_value import Json

ROW_VERSION = 1


class Annotator(msgspec.Struct, frozen=True, kw_only=True):
    """Who holds the opinion, by revision: `graders.py@sha256:...`, a judge with its model, a person."""

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
        duration_s: how long the grader took; not part of the content.
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

    def with_id(self) -> ScoreRow:
        """The same row, with the id that follows from its content."""
        content = msgspec.structs.replace(self, id="", at="", duration_s=None)
        return msgspec.structs.replace(self, id=row_id(content))

    def stamped(self, at: str, duration_s: float) -> ScoreRow:
        """A row that has neither id, time nor duration yet, with all three."""
        return msgspec.structs.replace(self, id=row_id(self), at=at, duration_s=duration_s)


Row: TypeAlias = ScoreRow | RetractRow


def row_id(content: Row) -> str:
    """The id of a row: the digest of its JSON, once what is no part of its content is taken out."""
    return "row_" + hashlib.sha256(msgspec.json.encode(content)).hexdigest()[:40]


class Annotations(msgspec.Struct, frozen=True, kw_only=True):
    """The rows of one run, in the order of appending.

    Attributes:
        scores: what graders said.
        retractions: rounds that were withdrawn.
        unread: rows that this version does not understand: of a newer format, of a kind that it does not know, or
            damaged. They stay where they are.
    """

    scores: tuple[ScoreRow, ...] = ()
    retractions: tuple[RetractRow, ...] = ()
    unread: int = 0
