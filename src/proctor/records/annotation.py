"""Somebody's opinion of a run: the rows of `annotations.jsonl`."""

from __future__ import annotations

from typing import Literal

import msgspec

from proctor.records.grade import Cause, Defect, Outcome
from proctor.records.json_value import Json, digest_of

ROW_VERSION = 1


class Annotator(msgspec.Struct, frozen=True, kw_only=True):
    """Who holds the opinion, by revision: `graders.py@sha256:...`, a judge with its model, a person."""

    kind: Literal["grader", "judge", "human"]
    id: str


class ScoreRow(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="kind", tag="score"):
    """What one grader said of one run, in one round.

    Attributes:
        v: version of the row's format.
        id: digest of the content; the same content has the same id.
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
    at: str
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
        content = msgspec.to_builtins(msgspec.structs.replace(self, id="", at="", duration_s=None))
        return msgspec.structs.replace(self, id="row_" + digest_of(content).removeprefix("sha256:")[:40])
