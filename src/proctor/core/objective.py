"""How the grades of one run become one number and one outcome."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from proctor.records.annotation import ScoreRow
from proctor.records.grade import Outcome
from proctor.records.report import Bounds

EXACT_ZERO = Bounds(0.0, 0.0)
UNKNOWN = Bounds(0.0, 1.0)


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What the grades of one run come to.

    Attributes:
        objective: 0 to 1; None when missing grades could change it.
        bounds: the objective with every missing grade as 0 or failed, and as 1 or passed.
        outcome: whether the run passes.
        gates_passed: None when missing grades could change it; True when there is no gate.
    """

    objective: float | None
    bounds: Bounds
    outcome: Outcome
    gates_passed: bool | None


def fold(rows: Sequence[ScoreRow]) -> Verdict:
    """The verdict of one complete round.

    objective = sum(weight x score) / sum(weight) over all graders, gates included; binary counts 0 or 1; a
    failed gate makes it 0. Missing (inconclusive) grades give bounds. The run passes when all gates pass;
    without a gate, when every grade meets its bar.

    Args:
        rows: one row a grader; at least one has a weight above 0 (weights of 0 alone are refused before a run).
    """
    gates = [row for row in rows if row.must_pass]
    gates_passed = _all(row.outcome for row in gates)
    outcome = _named(gates_passed if gates else _all(row.outcome for row in rows))
    bounds = _bounds(rows, gates_passed)
    objective = bounds.low if bounds.is_exact else None
    return Verdict(objective=objective, bounds=bounds, outcome=outcome, gates_passed=gates_passed)


def _bounds(rows: Sequence[ScoreRow], gates_passed: bool | None) -> Bounds:
    if gates_passed is False:
        return EXACT_ZERO
    total = sum(row.weight for row in rows)
    if total <= 0:
        return UNKNOWN
    known = sum(row.weight * row.score for row in rows if row.score is not None)
    missing = sum(row.weight for row in rows if row.score is None)
    # With a gate missing, the least is what it is when that gate fails.
    low = 0.0 if gates_passed is None else known / total
    high = (known + missing) / total
    return Bounds(low, max(low, min(high, 1.0)))


def _all(outcomes: Iterable[Outcome]) -> bool | None:
    seen = set(outcomes)
    if Outcome.FAIL in seen:
        return False
    return None if Outcome.INCONCLUSIVE in seen else True


def _named(passed: bool | None) -> Outcome:
    if passed is None:
        return Outcome.INCONCLUSIVE
    return Outcome.PASS if passed else Outcome.FAIL
