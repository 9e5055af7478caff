"""What the trials of some tests come to: what counts, what is left out, what is said to be unknown."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.cli.figure_lines import group_lines, reliability_lines, report_lines
from proctor.core.figures import figures_of
from proctor.core.report import report, report_group
from proctor.records.estimate import Bounds
from proctor.records.report import RunReport
from proctor.records.run import Ending
from tests.core.test_objective import row
from tests.core.test_report import run, some_run


def trials(test: str, *scores: float | None) -> list[RunReport]:
    """One run for each score, with a bar at 0.5; None is a grade of which nobody can tell."""
    return [
        run(test, row(score, threshold=0.5), trial=number) for number, score in enumerate(scores, start=1)
    ]


def test_a_rate_is_over_the_trials_that_say_something() -> None:
    """a passed 1 of 2, b 1 of 1: (0.5 + 1)/2. What is unclear, interrupted or the harness's fault is in the bounds."""
    found = figures_of(
        [
            *trials("a", 1.0, 0.0, None),
            *trials("b", 1.0),
            run("b", ending=Ending.INTERRUPTED, trial=2),
            run("c", ending=Ending.HARNESS_FAILURE),
        ]
    )

    assert (0.75, 2, 2, 3) == (found.pass_rate.value, found.pass_rate.tests, found.passed, found.conclusive)
    # lowest: (1/3 + 1/2 + 0)/3; highest: (2/3 + 1 + 1)/3
    assert (5 / 18, 8 / 9) == pytest.approx((found.pass_bounds.low, found.pass_bounds.high))


def test_an_agent_that_did_not_end_well_failed() -> None:
    """It lowers the rate, and counts as a trial."""
    found = figures_of([*trials("a", 1.0, 1.0), run("a", ending=Ending.TIMEOUT, trial=3)])

    assert 2 / 3 == pytest.approx(found.pass_rate.value)
    assert ("reliability", ("a",)) == (found.evidence, found.flaky)


def test_noise_between_trials_is_pooled_over_tests() -> None:
    """a: variance of 0 and 1 is 0.5; b: of 0.5, 0.5, 0.5 it is 0; (1 x 0.5 + 2 x 0)/3 = 1/6."""
    found = figures_of([*trials("a", 0.0, 1.0), *trials("b", 0.5, 0.5, 0.5), *trials("c", 1.0)])

    assert ((1 / 6) ** 0.5, 2) == (pytest.approx(found.trials_sd), found.repeated)


def test_groups_that_share_tests_have_no_common_interval() -> None:
    """Their means depend on each other."""
    one, two = report_group("one", trials("a", 1.0)), report_group("two", trials("a", 0.0))
    apart = report([one, report_group("three", trials("b", 0.0))])
    shared = report([one, two])

    assert (0.5, None) == (shared.objective.value, shared.objective.interval)
    assert apart.objective.interval is not None
    assert [
        "all groups  mean 0.500 over 2 tests, no interval",
        "all groups  pass rate 0.500 over 2 tests, no interval",
    ] == list(report_lines(shared))


def test_the_lines_say_everything() -> None:
    """Means, intervals, errors, bounds, reliability, noise, flaky tests, and a row for each test."""
    group = report_group("g", [*trials("a", 1.0, 0.0, 1.0), *trials("b", 1.0, 1.0, None)])

    assert [
        "mean 0.833 over 2 tests, 95% from 0.041 to 0.998 (error 0.167); with what is missing, from 0.667 to 0.833",
        "pass rate 0.833 over 2 tests, 95% from 0.041 to 0.998 (error 0.167); 4 of 5 trials passed; with what is missing, from 0.667 to 0.833",
        "reliability over 2 tests: pass@3 1.000 pass^3 0.000..0.500",
        "noise between trials of a test: standard deviation 0.471 over 2 tests",
        "flaky: a",
        "TEST  PASSED  UNCLEAR  MEAN   PASS@3  PASS^3",
        "a     2/3     0        0.667  1.000   0.000",
        "b     2/2     1        1.000  1.000   0.000..1.000",
    ] == [*group_lines(group), *reliability_lines(group.figures)]


def test_undefined_is_said_and_is_no_number() -> None:
    """Nothing was measured: `-`, over 0 tests, with bounds."""
    group = report_group("g", [run("a")])

    assert [
        "mean - over 0 tests; with what is missing, from 0.000 to 1.000",
        "pass rate - over 0 tests; with what is missing, from 0.000 to 1.000",
    ] == [*group_lines(group), *reliability_lines(group.figures)]


@given(
    st.lists(some_run, max_size=9, unique_by=lambda made: (made.test, made.trial)),
    st.randoms(use_true_random=False),
)
def test_the_order_of_runs_changes_no_number(runs: list[RunReport], chance: random.Random) -> None:
    """Only the order in which tests are named."""
    one, other = figures_of(runs), figures_of(chance.sample(runs, len(runs)))

    assert (one.objective, one.pass_rate.value) == (other.objective, other.pass_rate.value)
    assert (one.trials_sd, sorted(one.flaky)) == (other.trials_sd, sorted(other.flaky))
    assert sorted(test.test for test in one.tests) == sorted(test.test for test in other.tests)


@given(st.lists(some_run, max_size=9, unique_by=lambda made: (made.test, made.trial)))
def test_the_trials_of_the_tests_add_up(runs: list[RunReport]) -> None:
    """What passed, failed and is unclear is not more than was planned, and a rate lies in its bounds' reach."""
    found = figures_of(runs)

    assert len(runs) == sum(test.planned for test in found.tests)
    assert found.passed == sum(test.passed for test in found.tests)
    assert found.conclusive == sum(test.passed + test.failed for test in found.tests)
    assert found.pass_bounds.low <= found.pass_bounds.high
    assert not runs or found.pass_bounds != Bounds(1.0, 0.0)


def test_runs_that_nobody_graded_say_nothing_about_reliability() -> None:
    """Three of them are a smoke test, and print nothing about it."""
    found = figures_of([run("a", trial=trial) for trial in (1, 2, 3)])

    assert ("smoke", None, 0) == (found.evidence, found.reliability, found.conclusive)
    assert [] == list(reliability_lines(found))
