"""Intervals: worked by hand, checked against scipy, and true to their laws."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from proctor.core.intervals import clustered, incomplete_beta, normal_quantile, student_quantile, wilson

values = st.lists(st.floats(0, 1), min_size=1, max_size=4)
suites = st.lists(values, min_size=1, max_size=8)


def test_wilson_by_hand() -> None:
    """8 of 10, z = 1.96: middle (0.8 + 3.8416/20)/1.38416 = 0.7167, reach 1.96/1.38416 * sqrt(0.016 + 0.0096)."""
    found = wilson(8, 10)

    assert found is not None
    assert (0.490, 0.943) == (round(found.low, 3), round(found.high, 3))


@pytest.mark.parametrize(("passed", "n"), [(0, 1), (1, 1), (0, 7), (3, 7), (50, 50), (499, 1000)])
def test_wilson_is_that_of_scipy(passed: int, n: int) -> None:
    """Without its correction for continuity."""
    found = wilson(passed, n)
    wanted = stats.binomtest(passed, n).proportion_ci(method="wilson")

    assert found is not None
    assert (wanted.low, wanted.high) == pytest.approx((found.low, found.high), abs=1e-9)


def test_nothing_has_no_interval() -> None:
    """Undefined is None, never 0 to 1."""
    nothing = clustered([[], []])

    assert wilson(0, 0) is None
    assert (None, 0, 0, None, None) == (
        nothing.value,
        nothing.tests,
        nothing.trials,
        nothing.se,
        nothing.interval,
    )


@pytest.mark.parametrize("freedom", [1, 2, 3, 9, 30, 1000, math.inf])
@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
def test_quantiles_are_those_of_scipy(level: float, freedom: float) -> None:
    """The light core works them out without it."""
    wanted = stats.norm.ppf((1 + level) / 2) if freedom == math.inf else stats.t.ppf((1 + level) / 2, freedom)

    assert wanted == pytest.approx(student_quantile(level, freedom), rel=1e-7)


@given(st.floats(0.1, 200), st.floats(0.1, 200), st.floats(0, 1))
def test_the_incomplete_beta_is_that_of_scipy(a: float, b: float, x: float) -> None:
    """Over all that an interval asks of it."""
    assert special.betainc(a, b, x) == pytest.approx(incomplete_beta(a, b, x), abs=1e-10)


def test_the_error_of_a_mean_is_that_of_the_averages_of_its_tests() -> None:
    """Averages 0.5, 1 and 0: mean 0.5, variance (0 + 0.25 + 0.25)/2 = 0.25, error sqrt(0.25/3) = 0.289."""
    found = clustered([[1, 0], [1, 1], [0, 0]])

    assert (0.5, 3, 6) == (found.value, found.tests, found.trials)
    assert math.sqrt(0.25 / 3) == pytest.approx(found.se)


def test_more_trials_of_the_same_tests_do_not_make_more_tests() -> None:
    """Ten equal trials of each test say as much about other tests as one of each does, and no more."""
    once, often = clustered([[1], [0], [1], [1]]), clustered([[1] * 10, [0] * 10, [1] * 10, [1] * 10])

    assert once.se == often.se
    assert once.interval is not None
    assert often.interval is not None
    assert often.interval.high - often.interval.low >= once.interval.high - once.interval.low


def test_one_trial_a_test_gives_the_plain_interval() -> None:
    """3 of 4 passed: Wilson's own, 0.301 to 0.954."""
    found, wanted = clustered([[1], [0], [1], [1]]).interval, wilson(3, 4)

    assert found is not None
    assert wanted is not None
    assert (wanted.low, wanted.high, "wilson") == (
        pytest.approx(found.low),
        pytest.approx(found.high),
        found.method,
    )


def test_a_score_that_was_seen_once_has_no_interval() -> None:
    """Nothing shows how much it varies."""
    found = clustered([[0.375]])

    assert (0.375, None, None) == (found.value, found.se, found.interval)


@given(suites, st.randoms(use_true_random=False))
def test_the_order_of_tests_and_trials_changes_nothing(
    tests: list[list[float]], chance: random.Random
) -> None:
    """Sums are exact."""
    mixed = [chance.sample(trials, len(trials)) for trials in chance.sample(tests, len(tests))]

    if len(tests) > 1:
        assert clustered(tests) == clustered(mixed)


@given(suites)
def test_an_interval_holds_the_mean_and_lies_within_0_and_1(tests: list[list[float]]) -> None:
    """Whatever was seen."""
    found = clustered(tests)

    assert found.value is not None
    if found.interval is not None:
        assert -1e-12 <= found.interval.low <= found.value <= found.interval.high <= 1 + 1e-12


@given(suites)
def test_more_confidence_takes_a_wider_interval(tests: list[list[float]]) -> None:
    """80 % lies within 99 %."""
    narrow, wide = clustered(tests, level=0.8).interval, clustered(tests, level=0.99).interval

    if narrow is not None and wide is not None:
        assert wide.low <= narrow.low + 1e-9
        assert narrow.high <= wide.high + 1e-9


def test_an_interval_holds_the_true_mean_about_as_often_as_it_says() -> None:
    """20 tests of differing difficulty, 3 trials each, 400 suites: within 0.91 and 1 of them, with a fixed seed."""
    chance = random.Random(7)
    held = 0
    for _ in range(400):
        rates = [chance.betavariate(2, 1) for _ in range(20)]
        found = clustered([[float(chance.random() < rate) for _ in range(3)] for rate in rates]).interval
        assert found is not None
        held += found.low <= 2 / 3 <= found.high

    assert 0.91 <= held / 400


def test_the_normal_quantile_is_1_96() -> None:
    """At 95 %."""
    assert 1.959964 == pytest.approx(normal_quantile(0.95), abs=1e-6)
