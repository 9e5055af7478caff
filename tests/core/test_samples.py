"""How the samples of one grader become one grade."""

from __future__ import annotations

import pytest

from proctor.core.samples import fold_samples
from proctor.ports import GraderOptions
from proctor.records.grade import Cause, Grade, Outcome, failed, inconclusive, passed, scalar

T, F, U = passed(), failed(), inconclusive("cannot see")


def test_scalar_samples_average() -> None:
    """(0.2 + 0.4 + 0.6) / 3 = 0.4, and each value is kept."""
    folded = fold_samples([scalar(0.2), scalar(0.4), scalar(0.6)], GraderOptions(name="g"))

    assert 0.4 == pytest.approx(folded.score)
    assert (0.2, 0.4, 0.6) == folded.samples


def test_a_binary_sample_among_scalars_counts_0_or_1() -> None:
    """(0.4 + 1) / 2 = 0.7."""
    assert 0.7 == pytest.approx(fold_samples([scalar(0.4), T], GraderOptions(name="g")).score)


@pytest.mark.parametrize(
    ("samples", "all_", "any_"),
    [
        ([T, F], Outcome.FAIL, Outcome.PASS),
        ([T, T], Outcome.PASS, Outcome.PASS),
        ([F, F], Outcome.FAIL, Outcome.FAIL),
        ([T, U], Outcome.INCONCLUSIVE, Outcome.PASS),
        ([F, U], Outcome.FAIL, Outcome.INCONCLUSIVE),
    ],
)
def test_binary_samples_combine_by_all_or_any(samples: list[Grade], all_: Outcome, any_: Outcome) -> None:
    """An inconclusive sample leaves it open, unless the others decide it anyhow."""
    assert all_ is fold_samples(samples, GraderOptions(name="g", aggregate="all")).outcome
    assert any_ is fold_samples(samples, GraderOptions(name="g", aggregate="any")).outcome


def test_an_inconclusive_sample_makes_a_mean_unknown() -> None:
    """A mean over fewer samples than were asked for would pretend to know more than it does."""
    folded = fold_samples([scalar(1.0), U], GraderOptions(name="g"))

    assert (None, Outcome.INCONCLUSIVE, Cause.UNDECIDED) == (folded.score, folded.outcome, folded.cause)


def test_feedback_of_samples_is_joined_by_lines() -> None:
    """Samples that say nothing leave no line."""
    folded = fold_samples([scalar(1, "good"), scalar(1, "bad"), scalar(1)], GraderOptions(name="g"))

    assert "good\nbad" == folded.feedback


@pytest.mark.parametrize(
    ("score", "outcome"), [(0.5, Outcome.PASS), (0.4999, Outcome.FAIL), (0.0, Outcome.FAIL)]
)
def test_the_bar_of_a_scalar_is_its_threshold(score: float, outcome: Outcome) -> None:
    """At the threshold it passes."""
    assert outcome is fold_samples([scalar(score)], GraderOptions(name="g", threshold=0.5)).outcome


def test_a_threshold_of_0_lets_every_score_pass() -> None:
    """Zero is a value: the bar is 0, and 0 meets it."""
    assert Outcome.PASS is fold_samples([scalar(0.0)], GraderOptions(name="g", threshold=0.0)).outcome
