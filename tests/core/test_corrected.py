"""A grader's number corrected by people's: held against the published formulas' own code, and against the truth."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.core.corrected import Scored, prediction_powered, rogan_gladen

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

from corrected_intervals import WORLDS, simulate  # pyright: ignore

PEOPLE = (1, 0, 1, 1, 0, 1, 0, 0, 1, 1, 1, 0)
GRADER = (1, 0, 1, 0, 0, 1, 1, 0, 1, 1, 1, 0)
OTHERS = (1,) * 13 + (0,) * 7
SHARES = (0.1, 0.4, 0.35, 0.8, 0.95, 0.6, 0.2)
GUESSES = (0.2, 0.5, 0.3, 0.7, 1, 0.4, 0.3)
REST = (0.1, 0.9, 0.8, 0.4, 0.5, 0.55, 0.2, 0.3, 0.7, 0.65)


def scored(people: Sequence[float], grader: Sequence[float], others: Sequence[float]) -> list[Scored]:
    labelled = [
        Scored(f"l{n}", float(f), float(y)) for n, (y, f) in enumerate(zip(people, grader, strict=True))
    ]
    return labelled + [Scored(f"o{n}", float(f)) for n, f in enumerate(others)]


@pytest.mark.parametrize(
    ("runs", "reliance", "mean", "low", "high"),
    [
        ((PEOPLE, GRADER, OTHERS), None, 0.61084105, 0.37356682, 0.84811528),
        ((PEOPLE, GRADER, OTHERS), 1.0, 0.65, 0.33847121, 0.96152879),
        ((PEOPLE, GRADER, OTHERS), 0.0, 0.58333333, 0.30439369, 0.86227298),
        ((SHARES, GUESSES, REST), None, 0.50026736, 0.3520248, 0.64850992),
        ((SHARES, GUESSES, REST), 1.0, 0.51, 0.33607383, 0.68392617),
    ],
)
def test_the_mean_and_its_error_are_those_of_the_authors_code(runs, reliance, mean, low, high) -> None:
    """`ppi_mean_pointestimate` and `ppi_mean_ci` (normal, 95 %) of ppi-python, by the authors of the method."""
    found = prediction_powered(scored(*runs), reliance=reliance)

    assert found.se is not None
    assert found.mean.value is not None
    assert mean == pytest.approx(found.mean.value, abs=1e-7)
    normal = (found.mean.value - 1.959963985 * found.se, found.mean.value + 1.959963985 * found.se)
    assert (low, high) == pytest.approx(normal, abs=1e-7)


def test_with_every_run_labelled_it_is_what_people_say() -> None:
    found = prediction_powered(scored(PEOPLE, GRADER, ()))

    assert (pytest.approx(7 / 12), 0.0) == (found.mean.value, found.reliance)


def test_a_grader_that_says_the_same_of_all_is_not_relied_on() -> None:
    found = prediction_powered(scored(PEOPLE, [1.0] * 12, [1.0] * 20))

    assert (pytest.approx(7 / 12), 0.0) == (found.mean.value, found.reliance)


def test_one_label_is_no_sample() -> None:
    found = prediction_powered(scored([1], [1], [1, 0]))

    assert found.mean.value is None
    assert "fewer than two" in found.mean.undefined


def test_a_grader_that_never_erred_on_the_sample_may_err_elsewhere() -> None:
    """The interval is longer than that of the grader's own mean."""
    few = prediction_powered(scored((1, 0, 1, 0), (1, 0, 1, 0), (1, 0) * 500))

    assert few.mean.interval is not None
    assert few.mean.interval.high - few.mean.interval.low > 0.2


def test_runs_of_one_test_are_taken_together() -> None:
    """Every run four times over, in one cluster, is no more evidence than it was once."""
    once = scored(PEOPLE, GRADER, OTHERS)
    errors = [
        prediction_powered(runs, reliance=0.5).se for runs in (once, [one for one in once for _ in range(4)])
    ]

    assert errors[0] == pytest.approx(errors[1], rel=0.02)


def test_rogan_and_gladens_estimate() -> None:
    """(0.3 + 0.8 - 1) / (0.9 + 0.8 - 1) = 1/7."""
    found = rogan_gladen(30, 100, hits=(45, 50), rejections=(40, 50))

    assert pytest.approx(1 / 7) == found.value


def test_the_interval_is_lang_and_reiczigels() -> None:
    """Worked by hand for 30 of 100, 45 of 50, 40 of 50, z = 1.95996.

    rate' = 31.9207 / 103.8415 = 0.307399, sensitivity' = 46/52, specificity' = 41/52, youden' = 35/52;
    middle = (0.307399 + 0.788462 - 1) / 0.673077 = 0.142422;
    of hits 0.884615 x 0.115385 / 52 = 0.00196290, of rejections 0.788462 x 0.211538 / 52 = 0.00320750;
    se = sqrt(0.00205024 + 0.00196290 x 0.0202840 + 0.00320750 x 0.735440) / 0.673077 = 0.0991748;
    shift = 2 x 3.84146 x (0.142422 x 0.00196290 - 0.857578 x 0.00320750) = -0.0189853.
    """
    found = rogan_gladen(30, 100, hits=(45, 50), rejections=(40, 50)).interval

    assert found is not None
    assert (0.0, 0.142422 - 0.0189853 + 1.959964 * 0.0991748) == pytest.approx(
        (found.low, found.high), abs=2e-4
    )


def test_a_grader_no_better_than_chance_corrects_nothing() -> None:
    assert rogan_gladen(30, 100, hits=(25, 50), rejections=(25, 50)).value is None
    assert rogan_gladen(30, 100, hits=(0, 0), rejections=(25, 50)).value is None


@given(
    st.lists(st.tuples(st.booleans(), st.booleans()), min_size=2, max_size=30),
    st.lists(st.booleans(), max_size=30),
)
def test_the_interval_is_within_0_and_1_and_holds_the_mean(
    labelled: list[tuple[bool, bool]], others: list[bool]
) -> None:
    people, grader = zip(*labelled, strict=True)
    found = prediction_powered(scored(people, grader, others)).mean

    assert found.interval is not None
    assert found.value is not None
    assert 0 <= found.interval.low <= found.value + 1e-9
    assert found.value - 1e-9 <= found.interval.high <= 1


def test_the_corrected_interval_holds_the_truth_about_as_often_as_it_says() -> None:
    """150 repetitions in one world, with a fixed seed; the slow test has a thousand in each of seven."""
    held = simulate(WORLDS[1], 150)["corrected"].held

    assert 0.90 <= held <= 1.0


@pytest.mark.slow
@pytest.mark.parametrize("world", WORLDS, ids=str)
def test_the_corrected_interval_holds_the_truth_in_every_world(world) -> None:
    """1,000 repetitions: near 95 %, and narrower than people alone where the judge is any good."""
    found = simulate(world, 1000)

    assert 0.93 <= found["corrected"].held <= 0.98
    assert found["rogan-gladen"].held >= 0.93
    assert found["corrected"].width <= found["people alone"].width * 1.05
