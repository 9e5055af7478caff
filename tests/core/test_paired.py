"""Paired differences: worked by hand, checked against scipy, and true to their laws."""

from __future__ import annotations

import math
import random
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats

from proctor.core.paired import (
    agreeing_interval,
    agreeing_tests,
    corrected,
    detectable,
    detectable_share,
    mcnemar,
    sign_flips,
    student_interval,
    tango_interval,
    wanted_variance,
)

differences = st.lists(st.floats(-1, 1), min_size=2, max_size=9)
pairs = st.tuples(st.integers(0, 20), st.integers(0, 20), st.integers(1, 20)).map(
    lambda case: (case[0], case[1], sum(case))
)
chances = st.lists(st.one_of(st.none(), st.floats(0, 1)), max_size=8)


def test_students_interval_by_hand() -> None:
    """0.2, 0.4, 0.6: mean 0.4, deviation 0.2, t(2) = 4.3027: 0.4 +- 4.3027 * 0.2/sqrt(3) = 0.4 +- 0.4968."""
    found = student_interval([0.2, 0.4, 0.6], 0.95)

    assert found is not None
    assert (-0.0968, 0.8968) == pytest.approx((found.low, found.high), abs=1e-4)


@given(differences)
def test_students_interval_is_that_of_scipy(values: list[float]) -> None:
    """Cut off at -1 and 1, which no difference passes."""
    found = student_interval(values, 0.9)
    if found is None or found.method != "student":
        return
    wanted = stats.ttest_1samp(values, 0).confidence_interval(0.9)

    assert (max(-1, wanted.low), min(1, wanted.high)) == pytest.approx((found.low, found.high), abs=1e-6)


def test_three_tests_that_agree_prove_little() -> None:
    """q = 3.8415/(3 + 3.8415) = 0.5615: from -0.56 to 0.56."""
    found = student_interval([0.0, 0.0, 0.0], 0.95)

    assert found is not None
    assert (-0.5615, 0.5615) == pytest.approx((found.low, found.high), abs=1e-4)


def test_one_test_has_no_interval() -> None:
    """Nothing shows how tests differ."""
    assert student_interval([0.5], 0.95) is None


@pytest.mark.parametrize(("gained", "lost", "n"), [(12, 2, 50), (1, 5, 44), (3, 3, 20)])
def test_the_ends_of_tangos_interval_are_just_not_contradicted(gained: int, lost: int, n: int) -> None:
    """There the score is z, its variance taken at the likeliest share of pairs that lose, found by search."""
    interval = tango_interval(gained, lost, n, 0.95)
    for d, z in ((interval.low, 1.959964), (interval.high, -1.959964)):

        def unlikely(q: float, d: float = d) -> float:
            rest = n - gained - lost
            return -(gained * math.log(q + d) + lost * math.log(q) + rest * math.log(1 - 2 * q - d))

        lowest, highest = max(0.0, -d) + 1e-12, (1 - d) / 2 - 1e-12
        q = optimize.minimize_scalar(
            unlikely, bounds=(lowest, highest), method="bounded", options={"xatol": 1e-10}
        ).x

        assert z == pytest.approx((gained - lost - n * d) / math.sqrt(n * (2 * q + d * (1 - d))), abs=1e-3)


@given(pairs)
def test_tangos_interval_is_symmetric_and_holds_what_was_seen(case: tuple[int, int, int]) -> None:
    """Sides change, and so does the sign."""
    gained, lost, n = case
    one, other = tango_interval(gained, lost, n, 0.95), tango_interval(lost, gained, n, 0.95)

    assert (-other.high, -other.low) == pytest.approx((one.low, one.high), abs=1e-6)
    assert -1 <= one.low <= (gained - lost) / n <= one.high <= 1


@given(st.integers(1, 60), st.sampled_from([-1, 0, 1]))
def test_where_all_agree_it_is_tangos(n: int, difference: int) -> None:
    """The interval for tests that all differ by the same is his, carried on to any difference."""
    wanted = tango_interval(n if difference > 0 else 0, n if difference < 0 else 0, n, 0.95)
    found = agreeing_interval(difference, n, 0.95)

    assert (wanted.low, wanted.high) == pytest.approx((found.low, found.high), abs=1e-6)


@pytest.mark.parametrize(
    ("gained", "lost", "p"),
    [(0, 0, 1.0), (5, 0, 0.0625), (8, 1, 0.0390625), (3, 3, 1.0)],  # 2/32; 2 (1 + 9)/512
)
def test_mcnemar_by_hand(gained: int, lost: int, p: float) -> None:
    """Both tails of the binomial distribution."""
    assert p == pytest.approx(mcnemar(gained, lost))


def test_sign_flips_by_hand() -> None:
    """1, 1, 1: of 8 flips two are as far from 0, so 2/8. With 0 beside them it is the same."""
    assert 0.25 == sign_flips([1, 1, 1]) == sign_flips([1, 0, 1, 1, 0])
    assert 1.0 == sign_flips([0, 0]) == sign_flips([0.3, -0.3])


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=8))
def test_sign_flips_are_those_that_are_counted_out(values: list[int]) -> None:
    """Every flip by itself."""
    sums = [
        abs(sum(sign * value for sign, value in zip(signs, values, strict=True)))
        for signs in product((1, -1), repeat=len(values))
    ]

    assert sum(one >= abs(sum(values)) for one in sums) / len(sums) == pytest.approx(sign_flips(values))


def test_many_differences_are_flipped_at_random_and_the_same_each_time() -> None:
    """Against scipy's permutation test with draws of its own."""
    chance = random.Random(3)
    values = [chance.gauss(0.1, 0.3) for _ in range(40)]
    wanted = stats.permutation_test(
        (np.array(values),),
        np.mean,
        permutation_type="samples",
        n_resamples=20_000,
        rng=np.random.default_rng(5),
    ).pvalue

    assert sign_flips(values) == sign_flips(values)
    assert wanted == pytest.approx(sign_flips(values), abs=0.01)


def test_corrections_by_hand() -> None:
    """0.01, 0.04, 0.03: Holm 3 x 0.01, then 2 x 0.03, then at least that; BH 3 x 0.01, 3/2 x 0.03, 3/3 x 0.04."""
    assert [0.03, 0.06, 0.06] == pytest.approx(corrected([0.01, 0.04, 0.03]))
    assert [0.03, 0.04, 0.04] == pytest.approx(corrected([0.01, 0.04, 0.03], "bh"))
    assert [0.02, None, 0.02] == pytest.approx(corrected([0.01, None, 0.02], "bh"))


@given(chances)
def test_benjamini_and_hochberg_is_that_of_scipy(values: list[float | None]) -> None:
    """Over what is known."""
    known = [value for value in values if value is not None]
    found = [value for value in corrected(values, "bh") if value is not None]

    assert (list(stats.false_discovery_control(known)) if known else []) == pytest.approx(found)


@given(chances)
def test_a_correction_never_makes_chance_less_likely(values: list[float | None]) -> None:
    """And Holm's is never the smaller one."""
    for plain, holm, bh in zip(values, corrected(values), corrected(values, "bh"), strict=True):
        if plain is not None:
            assert holm is not None
            assert bh is not None
            assert plain <= bh + 1e-12
            assert bh <= holm + 1e-12


def test_the_detectable_effect_is_that_of_the_tables() -> None:
    """34 pairs find half a deviation four times of five at 5 % (Cohen 1988, table 2.4.1 for one sample)."""
    found = detectable(1.0, 34, 0.05)

    assert found is not None
    assert 0.495 == pytest.approx(found, abs=0.005)
    assert detectable(0.0, 34, 0.05) is None
    assert detectable(1.0, 1, 0.05) is None


def test_what_settles_a_difference_is_the_easier_of_two_ways() -> None:
    """0.1 with margin 0.02: (0.1/(1.96 + 0.8416))^2; 0 with margin 0.02: (0.02/1.645)^2."""
    assert (0.1 / 2.8016) ** 2 == pytest.approx(wanted_variance(0.1, 0.02, 0.05), rel=1e-3)
    assert (0.02 / 1.6449) ** 2 == pytest.approx(wanted_variance(0.0, 0.02, 0.05), rel=1e-3)


def test_tests_that_agree_settle_it_when_there_are_enough() -> None:
    """Margin 0.02, no difference: 2.7055 x 49 = 132.6, so 133; all gained at 5 %: 2/2^6 = 0.031."""
    assert (133, 6) == (agreeing_tests(0.0, 0.02, 0.05), agreeing_tests(1.0, 0.02, 0.05))
    for n, holds in ((132, False), (133, True)):
        found = student_interval([0.0] * n, 0.9)
        assert found is not None
        assert holds is (found.high <= 0.02)


def test_the_detectable_share_is_that_which_is_found_four_times_of_five() -> None:
    """30 % of 40 pairs differ: drawn 4,000 times with a fixed seed, McNemar's test finds it in 0.8 of them."""
    found = detectable_share(0.3, 40, 0.05)
    assert found is not None
    share = max(0.3, found)
    gain, lose = (share + found) / 2, (share - found) / 2
    draws = np.random.default_rng(11).multinomial(40, [gain, lose, 1 - gain - lose], size=4000)

    assert 0.8 == pytest.approx(np.mean([mcnemar(int(b), int(c)) < 0.05 for b, c, _ in draws]), abs=0.02)


def test_five_pairs_can_find_nothing() -> None:
    """2/32 is more than 5 %, even if all of them gain; six can."""
    assert detectable_share(1.0, 5, 0.05) is None
    assert detectable_share(1.0, 6, 0.05) is not None
