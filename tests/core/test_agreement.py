"""Agreement, held against what others published or computed."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.core.agreement import (
    Rated,
    clopper_pearson,
    cohen_kappa,
    confusion,
    krippendorff_alpha,
    raw_agreement,
    sensitivity,
    specificity,
)

COHEN = ((20, 5), (10, 15))
"""50 applications, two readers: the example of the English Wikipedia's article on Cohen's kappa; kappa is 0.4."""

PSYCHIATRISTS = ((53, 5, 2), (11, 14, 5), (1, 6, 3))
"""100 patients, two psychiatrists, three diagnoses: Fleiss, Levin, Paik, Statistical methods for rates and proportions,
3rd edition, table 18.1 in cases."""


def rated(table: tuple[tuple[int, ...], ...], per_cluster: int = 1) -> list[Rated]:
    cells = [(i, j) for i, row in enumerate(table) for j, count in enumerate(row) for _ in range(count)]
    return [Rated(str(place // per_cluster), i, j) for place, (i, j) in enumerate(cells)]


def test_cohens_kappa_of_the_textbook() -> None:
    """po = 35/50, pe = 0.5: (0.7 - 0.5) / 0.5. The interval is that of statsmodels 0.15, `cohens_kappa`."""
    found = cohen_kappa(rated(COHEN), 2)

    assert COHEN == confusion(rated(COHEN), 2)
    assert pytest.approx(0.4) == found.value
    assert found.interval is not None
    assert (0.151092290476661, 0.6489077095233388) == pytest.approx((found.interval.low, found.interval.high))


@pytest.mark.parametrize(
    ("weighting", "expected"),
    [
        ("none", (0.4285714285714285, 0.27969485445574205, 0.5774480026871148)),
        ("quadratic", (0.5666666666666667, 0.412370279240984, 0.7209630540923493)),
    ],
)
def test_kappa_with_and_without_weights_is_what_statsmodels_computes(weighting, expected) -> None:
    """`cohens_kappa(table)` and `cohens_kappa(table, wt="quadratic")` of statsmodels 0.15: value, lower, upper."""
    found = cohen_kappa(rated(PSYCHIATRISTS), 3, weighting)

    assert found.interval is not None
    assert expected == pytest.approx((found.value, found.interval.low, found.interval.high))


def test_runs_of_one_test_are_taken_together() -> None:
    """Every rating four times over, in one cluster, is no more evidence than it was once."""
    once = cohen_kappa(rated(COHEN), 2)
    four = cohen_kappa([one for one in rated(COHEN) for _ in range(4)], 2)

    assert once.value == pytest.approx(four.value)
    assert once.interval is not None
    assert four.interval is not None
    assert "asymptotic, clustered" == four.interval.method
    assert once.interval.low == pytest.approx(four.interval.low, abs=0.015)
    assert once.interval.high == pytest.approx(four.interval.high, abs=0.015)


def test_kappa_of_two_who_always_say_the_same_one_thing_is_undefined() -> None:
    found = cohen_kappa(rated(((9, 0), (0, 0))), 2)

    assert (None, "both always give the same one answer") == (found.value, found.undefined)


def test_kappa_of_one_who_always_says_the_same_is_0_without_an_interval() -> None:
    found = cohen_kappa(rated(((7, 2), (0, 0))), 2)

    assert pytest.approx(0.0) == found.value
    assert found.interval is None
    assert "always gives the same answer" in found.undefined


def test_two_who_never_differ_are_not_certain_never_to() -> None:
    """The asymptotic error is 0 then, and an interval of no length would promise too much."""
    found = cohen_kappa(rated(((5, 0), (0, 5))), 2)

    assert 1.0 == found.value
    assert found.interval is not None
    assert found.interval.low < 0.5
    assert 1.0 == found.interval.high


def test_nothing_rated_by_both_is_undefined() -> None:
    assert (None, None) == (cohen_kappa([], 2).value, raw_agreement([]).value)


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=2, max_size=40), st.booleans())
def test_kappa_is_the_same_whoever_comes_first(pairs: list[tuple[int, int]], is_weighted: bool) -> None:
    """And never above 1; its interval holds it."""
    weighting = "quadratic" if is_weighted else "none"
    there = cohen_kappa([Rated(str(n), i, j) for n, (i, j) in enumerate(pairs)], 3, weighting)
    back = cohen_kappa([Rated(str(n), j, i) for n, (i, j) in enumerate(pairs)], 3, weighting)

    assert (there.value is None) == (back.value is None)
    if there.value is not None and back.value is not None:
        assert there.value == pytest.approx(back.value)
        assert there.value <= 1 + 1e-9
    if there.interval is not None and there.value is not None:
        assert there.interval.low - 1e-9 <= there.value <= there.interval.high + 1e-9


def test_a_made_data_set_of_known_kappa_is_measured_as_such() -> None:
    """Two who are right with probability 0.9 on a fair coin: po = 0.82, pe = 0.5, kappa = 0.64."""
    chance = random.Random(4)
    made: list[Rated] = []
    for n in range(4000):
        truth = chance.randrange(2)
        left, right = (truth if chance.random() < 0.9 else 1 - truth for _ in range(2))
        made.append(Rated(str(n), left, right))
    found = cohen_kappa(made, 2)

    assert found.interval is not None
    assert found.interval.low < 0.64 < found.interval.high
    assert pytest.approx(0.64, abs=0.03) == found.value


_ = None
OBSERVERS = (
    (1, 2, 3, 3, 2, 1, 4, 1, 2, _, _, _),
    (1, 2, 3, 3, 2, 2, 4, 1, 2, 5, _, 3),
    (_, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, _),
    (1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, _),
)
"""Four observers, twelve units, gaps: Krippendorff, Computing Krippendorff's alpha-reliability, 2011, part C."""


@pytest.mark.parametrize(("is_ordinal", "expected"), [(False, 0.743), (True, 0.815)])
def test_krippendorffs_alpha_is_the_published_one(is_ordinal: bool, expected: float) -> None:
    """Nominal 0.743, ordinal 0.815, as printed there; the twelfth unit has one rating and is left out."""
    ratings = {
        str(unit): {str(who): said[unit] - 1 for who, said in enumerate(OBSERVERS) if said[unit] is not None}
        for unit in range(12)
    }
    found = krippendorff_alpha(ratings, {unit: unit for unit in ratings}, 5, is_ordinal=is_ordinal, draws=200)

    assert (pytest.approx(expected, abs=0.0005), 11) == (found.value, found.n)
    assert found.interval is not None
    assert found.value is not None
    assert found.interval.low < found.value < found.interval.high


def test_alpha_without_a_second_rater_or_a_second_answer_is_undefined() -> None:
    alone = krippendorff_alpha({"a": {"ada": 0}}, {"a": "a"}, 2, is_ordinal=False)
    agreed = krippendorff_alpha({"a": {"ada": 0, "bo": 0}}, {"a": "a"}, 2, is_ordinal=False)

    assert (None, "no run was rated by two people") == (alone.value, alone.undefined)
    assert (None, "all always give the same one answer") == (agreed.value, agreed.undefined)


def test_sensitivity_and_specificity_are_shares_of_what_people_said() -> None:
    """Of 30 that people pass 20 are passed, of 20 that they fail 15 are failed (columns are people)."""
    table = rated(COHEN)

    assert (pytest.approx(20 / 30), 30) == (sensitivity(table, 0).value, sensitivity(table, 0).n)
    assert (pytest.approx(15 / 20), 20) == (specificity(table, 0).value, specificity(table, 0).n)
    assert specificity(rated(((3, 0), (1, 0))), 0).value is None


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    [
        (8, 10, 0.4439045, 0.9747893),
        (0, 10, 0.0, 0.3084971),
        (10, 10, 0.6915029, 1.0),
        (81, 263, 0.2526973, 0.3676704),
    ],
)
def test_the_exact_interval_is_clopper_and_pearsons(hits: int, n: int, low: float, high: float) -> None:
    """As R's `binom.test` gives it; the last is 81 of 263."""
    found = clopper_pearson(hits, n).interval

    assert found is not None
    assert (low, high) == pytest.approx((found.low, found.high), abs=2e-4)


def test_the_share_of_agreement_has_wilsons_interval() -> None:
    """8 of 10: 0.490 to 0.943."""
    found = raw_agreement(rated(((4, 1), (1, 4)))).interval

    assert found is not None
    assert (0.4901625, 0.9433178) == pytest.approx((found.low, found.high), abs=1e-6)
