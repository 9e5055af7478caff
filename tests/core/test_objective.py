"""How grades become one number and one outcome; worked by hand, and as laws."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.core.objective import fold
from proctor.records.annotation import Annotator, ScoreRow
from proctor.records.grade import Outcome
from proctor.records.report import Bounds


def row(
    score: float | None,
    *,
    weight: float = 1.0,
    must_pass: bool = False,
    threshold: float = 0.0,
    name: str = "g",
) -> ScoreRow:
    if score is None:
        outcome = Outcome.INCONCLUSIVE
    else:
        outcome = Outcome.PASS if score >= threshold else Outcome.FAIL
    return ScoreRow(
        v=1,
        run="r",
        at="",
        annotator=Annotator(kind="grader", id="g"),
        round_id="1",
        round_size=1,
        name=name,
        score=score,
        outcome=outcome,
        weight=weight,
        must_pass=must_pass,
        threshold=threshold,
    )


def binary(passes: bool | None, **options: float | bool) -> ScoreRow:
    score = None if passes is None else float(passes)
    return row(score, threshold=1.0, **options)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("rows", "objective"),
    [
        ([row(1, weight=1), row(0, weight=3)], 0.25),  # 1*1 + 3*0 = 1 of 4
        ([binary(True, must_pass=True), row(0.5)], 0.75),  # (1 + 0.5) / 2
        ([row(0.4, must_pass=True), row(0.8)], 0.6),  # (0.4 + 0.8) / 2
        ([row(0.3, weight=0), row(0.9)], 0.9),  # a weight of 0 counts for nothing
        ([binary(False, must_pass=True, weight=0.05), row(1.0)], 0.0),  # a gate is a gate at any weight
        ([binary(False, must_pass=True), row(None)], 0.0),  # what is missing cannot mend a failed gate
    ],
)
def test_objective_is_the_weighted_mean_unless_a_gate_failed(rows: list[ScoreRow], objective: float) -> None:
    """sum(weight x score) / sum(weight), gates included, and 0 when a gate failed."""
    verdict = fold(rows)

    assert objective == pytest.approx(verdict.objective)
    assert verdict.bounds.is_exact


def test_a_missing_grade_leaves_bounds_instead_of_an_objective() -> None:
    """With weights 3 and 1 and the second missing: from 3*1/4 with it as 0, to (3*1 + 1)/4 with it as 1."""
    verdict = fold([row(1.0, weight=3), row(None)])

    assert None is verdict.objective
    assert Bounds(0.75, 1.0) == verdict.bounds


def test_a_missing_gate_may_still_fail_everything() -> None:
    """The least is 0, since the gate could fail; the most is with it passed."""
    verdict = fold([row(None, must_pass=True), row(0.5)])

    assert Bounds(0.0, 0.75) == verdict.bounds
    assert (None, Outcome.INCONCLUSIVE) == (verdict.gates_passed, verdict.outcome)


def test_a_missing_grade_of_no_weight_changes_no_number() -> None:
    """Weight 0 cannot move the objective, so the run keeps it."""
    assert 0.5 == fold([row(0.5), row(None, weight=0)]).objective


@pytest.mark.parametrize(
    ("rows", "outcome"),
    [
        ([binary(True, must_pass=True), binary(False)], Outcome.PASS),  # gates decide where there are gates
        ([binary(True), row(0.5, threshold=0.5)], Outcome.PASS),
        ([binary(True), row(0.49, threshold=0.5)], Outcome.FAIL),
        ([binary(True), binary(None)], Outcome.INCONCLUSIVE),
        ([binary(True), binary(False), binary(None)], Outcome.FAIL),  # the missing one cannot change it
        ([binary(True, must_pass=True), binary(None)], Outcome.PASS),
    ],
)
def test_outcome_follows_the_gates_or_else_every_bar(rows: list[ScoreRow], outcome: Outcome) -> None:
    """All gates pass; without a gate, every grade meets its bar; inconclusive when the missing could change it."""
    assert outcome is fold(rows).outcome


graded = st.builds(
    row,
    st.one_of(st.none(), st.floats(0, 1)),
    weight=st.floats(0, 100),
    must_pass=st.booleans(),
    threshold=st.floats(0, 1),
)


@given(st.lists(graded, min_size=1, max_size=8).filter(lambda rows: sum(r.weight for r in rows) > 0.001))
def test_every_number_stays_between_0_and_1(rows: list[ScoreRow]) -> None:
    """Bounds are ordered and within 0 to 1, and an objective is there exactly when they meet."""
    verdict = fold(rows)

    assert 0 <= verdict.bounds.low <= verdict.bounds.high <= 1 + 1e-12
    assert verdict.bounds.is_exact == (verdict.objective is not None)


@given(
    st.lists(graded, min_size=1, max_size=6).filter(lambda rows: sum(r.weight for r in rows) > 0.001),
    st.lists(st.floats(0, 1), min_size=6, max_size=6),
)
def test_whatever_the_missing_turn_out_to_be_the_objective_lies_within_the_bounds(
    rows: list[ScoreRow], values: list[float]
) -> None:
    """Bounds are a promise: no way of filling the gaps leaves them."""
    filled = [
        r if r.score is not None else row(v, weight=r.weight, must_pass=r.must_pass, threshold=r.threshold)
        for r, v in zip(rows, values, strict=False)
    ]
    bounds, objective = fold(rows).bounds, fold(filled).objective

    assert objective is not None
    assert bounds.low - 1e-9 <= objective <= bounds.high + 1e-9


@given(st.lists(graded, min_size=2, max_size=6).filter(lambda rows: sum(r.weight for r in rows) > 0.001))
def test_the_order_of_graders_is_nothing(rows: list[ScoreRow]) -> None:
    """A round read backwards comes to the same verdict."""
    forth, back = fold(rows), fold(rows[::-1])

    assert (forth.outcome, forth.gates_passed) == (back.outcome, back.gates_passed)
    assert forth.bounds.low == pytest.approx(back.bounds.low)
