"""What moved between two rounds of grades of one run, and why."""

from __future__ import annotations

from collections.abc import Iterable

from proctor.core.rounds import Round
from proctor.records.annotation import ScoreRow
from proctor.records.report import Move

NOISE = 1e-9
"""Scores that differ by less did not move."""


def moves(run: str, before: Round, after: Round) -> Iterable[Move]:
    """The graders whose outcome, score or presence differs, in the order of the later round."""
    then = {row.name: row for row in before.rows}
    now = {row.name: row for row in after.rows}
    for name in [*now, *(name for name in then if name not in now)]:
        old, new = then.get(name), now.get(name)
        if old is not None and new is not None and _same(old, new):
            continue
        yield Move(
            run=run,
            grader=name,
            before=_said(old) if old else None,
            after=_said(new) if new else None,
            why=_why(old, new),
        )


def _same(old: ScoreRow, new: ScoreRow) -> bool:
    if old.outcome is not new.outcome or (old.score is None) != (new.score is None):
        return False
    return old.score is None or new.score is None or abs(old.score - new.score) < NOISE


def _said(row: ScoreRow) -> str:
    return row.outcome.value if row.score is None or row.scale == "binary" else f"{row.score:.3f}"


def _why(old: ScoreRow | None, new: ScoreRow | None) -> str:
    if old is None:
        return "the grader is new"
    if new is None:
        return "the grader is gone"
    if old.annotator != new.annotator:
        return f"the grader's revision: {_short(old)} -> {_short(new)}"
    for option in ("threshold", "weight", "must_pass", "aggregate"):
        if getattr(old, option) != getattr(new, option):
            return f"its {option}: {getattr(old, option)} -> {getattr(new, option)}"
    if old.cause is not new.cause:
        return "what went wrong in grading"
    return "chance: the same grader, over the same run, says something else"


def _short(row: ScoreRow) -> str:
    module, _, digest = row.annotator.id.partition("@sha256:")
    return f"{module}@{digest[:12]}" if digest else row.annotator.id
