"""pass@k and pass^k: worked by hand, counted out, and true to their laws."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.core.reliability import flaky, pass_at_k, pass_hat_k, reliability
from proctor.records.estimate import Bounds
from proctor.records.grade import Outcome

PASS, FAIL, UNCLEAR = Outcome.PASS, Outcome.FAIL, Outcome.INCONCLUSIVE
outcomes = st.lists(st.sampled_from(list(Outcome)), max_size=7)
suites = st.dictionaries(st.sampled_from("abcd"), outcomes, max_size=4)


@pytest.mark.parametrize(
    ("n", "passed", "k", "at", "hat"),
    [
        (5, 2, 3, 0.9, 0.0),  # 1 - C(3,3)/C(5,3) = 1 - 1/10; C(2,3) = 0
        (5, 4, 3, 1.0, 0.4),  # C(1,3) = 0; C(4,3)/C(5,3) = 4/10
        (3, 3, 3, 1.0, 1.0),
        (3, 0, 3, 0.0, 0.0),
        (10, 7, 3, 0.991667, 0.291667),  # 1 - 1/120; 35/120
    ],
)
def test_both_numbers_by_hand(n: int, passed: int, k: int, at: float, hat: float) -> None:
    """The sums stand beside them."""
    assert (at, hat) == pytest.approx((pass_at_k(n, passed, k), pass_hat_k(n, passed, k)), abs=1e-6)


@given(st.integers(1, 7).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n))))
def test_both_numbers_are_shares_of_all_draws(case: tuple[int, int, int]) -> None:
    """Of all ways to draw k of n, how many hold a pass, and how many hold passes alone."""
    n, passed, k = case
    draws = list(combinations([True] * passed + [False] * (n - passed), k))

    assert sum(map(any, draws)) / len(draws) == pytest.approx(pass_at_k(n, passed, k))
    assert sum(map(all, draws)) / len(draws) == pytest.approx(pass_hat_k(n, passed, k))


@given(st.integers(1, 30).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n))))
def test_a_further_trial_that_passes_never_lowers_either(case: tuple[int, int, int]) -> None:
    """And one that fails never raises them."""
    n, passed, k = case

    assert pass_at_k(n, passed, k) <= pass_at_k(n + 1, passed + 1, k) + 1e-12
    assert pass_hat_k(n, passed, k) <= pass_hat_k(n + 1, passed + 1, k) + 1e-12
    assert pass_at_k(n + 1, passed, k) <= pass_at_k(n, passed, k) + 1e-12


@pytest.mark.parametrize(("n", "passed", "k"), [(2, 3, 1), (2, -1, 1), (2, 1, 3), (2, 1, 0)])
def test_what_cannot_be_drawn_is_refused(n: int, passed: int, k: int) -> None:
    """It is a mistake of the programmer."""
    with pytest.raises(ValueError, match="cannot"):
        pass_at_k(n, passed, k)


def test_two_trials_say_nothing_about_reliability() -> None:
    """Such a run is a smoke test."""
    assert reliability({"a": [PASS, PASS]}) is None
    assert reliability({}) is None


def test_trials_of_which_nobody_can_tell_give_bounds() -> None:
    """3 trials, 1 passed, 1 unclear: all three pass in no case, or 0 of 1 draws; some pass anyhow."""
    found = reliability({"a": [PASS, UNCLEAR, FAIL], "b": [FAIL, FAIL, UNCLEAR], "c": [PASS]})

    assert found is not None
    assert (Bounds(0.5, 1.0), Bounds(0.0, 0.0)) == (found.pass_at_k, found.pass_hat_k)
    assert (2, 1) == (found.tests, found.left_out)


@given(suites)
def test_pooling_agrees_with_the_tests_by_themselves(tests: dict[str, list[Outcome]]) -> None:
    """The pooled number is the mean of the tests that have enough trials."""
    alone = [found for test, trials in tests.items() if (found := reliability({test: trials})) is not None]
    together = reliability(tests)

    assert (together is None) is (not alone)
    if together is not None:
        assert len(alone) == together.tests
        assert sum(one.pass_at_k.low for one in alone) / len(alone) == pytest.approx(together.pass_at_k.low)
        assert together.pass_at_k.low <= together.pass_at_k.high
        assert together.pass_hat_k.high <= together.pass_at_k.high + 1e-12


def test_a_flaky_test_passed_once_and_failed_once() -> None:
    """A trial of which nobody can tell makes no test flaky."""
    assert ("b",) == flaky({"a": [PASS, UNCLEAR], "b": [FAIL, PASS, PASS], "c": [FAIL, FAIL]})
