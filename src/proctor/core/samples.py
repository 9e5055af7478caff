"""How the samples of one grader become one grade."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Literal

import msgspec

from proctor.ports import GraderOptions
from proctor.records.grade import Cause, Defect, Grade, Outcome
from proctor.records.json_value import Json


class Folded(msgspec.Struct, frozen=True, kw_only=True):
    """One grader's finding, with its bar applied.

    Attributes:
        scale: `scalar` when at least one sample is a number.
        score: 0 to 1; None when inconclusive.
        samples: value of each sample, None for an inconclusive one; empty for a single sample.
        mean: of the samples that have a value; None for a single sample.
        spread: their standard deviation, with n - 1 in its denominator; None for fewer than two.
        count: how many they are; None for a single sample.
    """

    scale: Literal["binary", "scalar"]
    score: float | None
    outcome: Outcome
    samples: tuple[float | None, ...] = ()
    feedback: str = ""
    cause: Cause | None = None
    evidence: Json = None
    defect: Defect | None = None
    mean: float | None = None
    spread: float | None = None
    count: int | None = None


def fold_samples(grades: Sequence[Grade], options: GraderOptions) -> Folded:
    """The grade that some samples come to.

    Scalars average, and a binary sample among them counts 0 or 1. Binary samples alone pass when `all` or
    `any` of them do. An inconclusive sample makes the whole inconclusive, unless the others decide it anyhow.

    Args:
        grades: one or more samples, in order.
        options: of the grader; `aggregate` and `threshold` are read.
    """
    if len(grades) == 1:
        return _of_one(grades[0], options)
    values = tuple(_value(grade) for grade in grades)
    known = [value for value in values if value is not None]
    scale: Literal["binary", "scalar"] = (
        "scalar" if any(grade.score is not None for grade in grades) else "binary"
    )
    if scale == "scalar":
        score = sum(known) / len(known) if len(known) == len(values) else None
        outcome = _bar(score, options.threshold)
    else:
        outcome = _combined(values, options.aggregate)
        score = {Outcome.PASS: 1.0, Outcome.FAIL: 0.0, Outcome.INCONCLUSIVE: None}[outcome]
    unclear = next((grade for grade in grades if grade.outcome is Outcome.INCONCLUSIVE), None)
    evidence = [grade.evidence for grade in grades if grade.evidence is not None]
    return Folded(
        scale=scale,
        score=score,
        outcome=outcome,
        samples=values if len(values) > 1 else (),
        feedback="\n".join(grade.feedback for grade in grades if grade.feedback),
        cause=unclear.cause if unclear is not None and outcome is Outcome.INCONCLUSIVE else None,
        evidence=evidence[0] if len(evidence) == 1 else evidence or None,
        defect=next((grade.defect for grade in grades if grade.defect is not None), None),
        mean=statistics.fmean(known) if known else None,
        spread=statistics.stdev(known) if len(known) > 1 else None,
        count=len(known),
    )


def _of_one(grade: Grade, options: GraderOptions) -> Folded:
    """The same for a single sample, which is nearly every grade of nearly every run."""
    score = _value(grade)
    is_scalar = grade.score is not None
    outcome = _bar(score, options.threshold) if is_scalar else (grade.outcome or Outcome.INCONCLUSIVE)
    return Folded(
        scale="scalar" if is_scalar else "binary",
        score=score,
        outcome=outcome,
        feedback=grade.feedback,
        cause=grade.cause if outcome is Outcome.INCONCLUSIVE else None,
        evidence=grade.evidence,
        defect=grade.defect,
    )


def _value(grade: Grade) -> float | None:
    if grade.score is not None:
        return float(grade.score)
    return None if grade.outcome is Outcome.INCONCLUSIVE else float(grade.outcome is Outcome.PASS)


def _bar(score: float | None, threshold: float) -> Outcome:
    if score is None:
        return Outcome.INCONCLUSIVE
    return Outcome.PASS if score >= threshold else Outcome.FAIL


def _combined(values: Sequence[float | None], aggregate: str) -> Outcome:
    decisive, otherwise = (1.0, Outcome.FAIL) if aggregate == "any" else (0.0, Outcome.PASS)
    if decisive in values:
        return Outcome.PASS if aggregate == "any" else Outcome.FAIL
    return Outcome.INCONCLUSIVE if None in values else otherwise
