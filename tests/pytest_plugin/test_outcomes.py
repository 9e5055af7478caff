"""What several trials of a test come to together."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.core.report import never_ended
from proctor.pytesting.evaluated import needed, outcome_of
from proctor.pytesting.tags import RESERVED, as_markers
from proctor.records.grade import Outcome
from proctor.records.report import RunReport
from proctor.records.run import Cell

OUTCOMES = st.lists(st.sampled_from(list(Outcome)), min_size=1, max_size=12)
RATES = st.integers(0, 20).map(lambda twentieths: twentieths / 20)


def runs_with(outcomes: list[Outcome]) -> list[RunReport]:
    import msgspec

    planned = never_ended(Cell(test="t", trial=1, run_dir="t", test_digest=""))
    return [msgspec.structs.replace(planned, outcome=outcome) for outcome in outcomes]


@given(st.integers(1, 100), st.integers(0, 100))
def test_as_many_must_pass_as_the_share_says_exactly(trials: int, percent: int) -> None:
    """Whatever a share is in binary: 0.07 of 100 is 7, and not 8."""
    exact = Fraction(percent, 100) * trials

    assert needed(trials, percent / 100) == -(-exact.numerator // exact.denominator)


@given(OUTCOMES, RATES)
def test_what_cannot_be_told_decides_nothing(outcomes: list[Outcome], rate: float) -> None:
    """A pass or a fail stays what it is however the inconclusive trials might have ended."""
    found = outcome_of(runs_with(outcomes), rate)
    for instead in (Outcome.PASS, Outcome.FAIL):
        known = [instead if one is Outcome.INCONCLUSIVE else one for one in outcomes]

        assert found in (Outcome.INCONCLUSIVE, outcome_of(runs_with(known), rate))


@given(OUTCOMES, RATES)
def test_the_order_of_trials_is_nothing_and_a_better_trial_never_makes_it_worse(
    outcomes: list[Outcome], rate: float
) -> None:
    """Fail, inconclusive, pass: each trial that moves up moves the whole up, or leaves it."""
    order = [Outcome.FAIL, Outcome.INCONCLUSIVE, Outcome.PASS]
    found = outcome_of(runs_with(outcomes), rate)

    assert found is outcome_of(runs_with(outcomes[::-1]), rate)
    if rate > 0:
        for position, one in enumerate(outcomes):
            better = [*outcomes]
            better[position] = order[min(order.index(one) + 1, 2)]
            assert order.index(outcome_of(runs_with(better), rate)) >= order.index(found)


@pytest.mark.parametrize("tag", ["slow", "places", "名前", "two-words", "v1.2"])
def test_a_tag_becomes_a_marker(
    tag: str, pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the same name, and known to strict markers."""
    [marker] = as_markers(pytestconfig, [tag])

    assert tag == marker.name


@pytest.mark.parametrize("tag", [*sorted(RESERVED), "_private", "a:b", "two words", ""])
def test_a_tag_that_can_be_no_marker_is_none(tag: str, pytestconfig: pytest.Config) -> None:
    """Among them those that pytest would act on."""
    assert [] == list(as_markers(pytestconfig, [tag]))
