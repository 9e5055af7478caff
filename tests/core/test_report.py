"""Denominators: planned runs are never lost and never invented; one function gives every number."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.core.report import (
    RecordedRun,
    exit_code_of_grading,
    never_ended,
    report,
    report_group,
    report_run,
)
from proctor.records.annotation import Annotations, ScoreRow
from proctor.records.exits import ExitCode
from proctor.records.grade import Cause, Outcome
from proctor.records.report import Bounds, RunReport
from proctor.records.run import AgentIdentity, Cell, Ending, Platform, RunFacts, SuiteRef
from proctor.records.suite import Test
from tests.core.test_objective import row


def run(
    test: str, *rows: ScoreRow, ending: Ending = Ending.OK, trial: int = 1, has_gate: bool = False
) -> RunReport:
    facts = RunFacts(
        schema="proctor.run/1",
        run=f"{test}-{trial}",
        test=Test(id=test),
        trial=trial,
        attempt=1,
        ending=ending,
        agent=AgentIdentity(kind="function", label="a"),
        suite=SuiteRef(name="s"),
        test_digest="",
        input_digest="",
        started_at="",
        ended_at="",
        duration_s=1.0,
        platform=Platform(proctor="", python="", system="", machine=""),
        has_gate=has_gate,
    )
    return report_run(RecordedRun(run=f"{test}--{trial}", facts=facts, annotations=Annotations(scores=rows)))


def test_trials_average_within_a_test_and_tests_average_in_the_group() -> None:
    """a: (1 + 0)/2 = 0.5, b: 1, so the group has (0.5 + 1)/2 = 0.75 over 2 tests, not 2/3 over 3 runs."""
    group = report_group("g", [run("a", row(1.0)), run("a", row(0.0), trial=2), run("b", row(1.0))])

    assert (0.75, 2, 3) == (group.mean, group.n, group.planned)


def test_an_agent_that_did_not_end_well_scores_0_and_is_counted() -> None:
    """It is evidence: (1 + 0)/2 = 0.5."""
    group = report_group("g", [run("a", row(1.0)), run("b", ending=Ending.TIMEOUT)])

    assert (0.5, 1, 1) == (group.mean, group.graded, group.errored)


@pytest.mark.parametrize(
    ("ending", "cause"),
    [(Ending.INTERRUPTED, Cause.INTERRUPTED), (Ending.HARNESS_FAILURE, Cause.HARNESS_FAILURE)],
)
def test_what_is_nobodys_evidence_leaves_the_mean_and_widens_the_bounds(ending: Ending, cause: Cause) -> None:
    """The mean is over what was measured; the bounds are over what was planned."""
    broken = run("b", row(1.0), ending=ending)
    group = report_group("g", [run("a", row(1.0)), broken])

    assert (1.0, 1, Bounds(0.5, 1.0)) == (group.mean, group.n, group.bounds)
    assert (Outcome.INCONCLUSIVE, cause, None) == (broken.outcome, broken.cause, broken.objective)


def test_a_planned_trial_without_a_run_directory_is_an_interruption() -> None:
    """It is neither left out nor scored."""
    cell = Cell(test="b", trial=1, run_dir="b", test_digest="")
    group = report_group("g", [run("a", row(1.0)), never_ended(cell)])

    assert (2, 1, 1) == (group.planned, group.graded, group.interrupted)


def test_a_group_in_which_nothing_was_measured_has_no_mean() -> None:
    """Undefined is said, not printed as 0, and never green."""
    whole = report([report_group("g", [run("a")])])

    assert (None, 0, Bounds(0.0, 1.0)) == (whole.mean, whole.n, whole.bounds)
    assert ExitCode.INCONCLUSIVE is exit_code_of_grading(whole)


def test_the_mean_over_groups_is_over_their_tests() -> None:
    """Group one has tests 1 and 1, group two has test 0: (1 + 1 + 0)/3, not (1 + 0)/2."""
    one = report_group("one", [run("a", row(1.0)), run("b", row(1.0))])
    two = report_group("two", [run("a", row(0.0))])

    assert 2 / 3 == pytest.approx(report([one, two]).mean)


GATE_FAILED = row(0.0, must_pass=True, threshold=1)
UNCLEAR = row(None)


@pytest.mark.parametrize(
    ("runs", "code"),
    [
        ([run("a", row(0.2))], ExitCode.OK),
        ([run("a", row(0.2, threshold=0.5))], ExitCode.OK),  # a bar that is no gate is no reason to stop CI
        ([run("a", GATE_FAILED)], ExitCode.GATE_FAILED),
        ([run("a", UNCLEAR)], ExitCode.INCONCLUSIVE),
        ([run("a", ending=Ending.ERROR)], ExitCode.AGENT_FAILED),
        ([run("a", ending=Ending.ERROR, has_gate=True)], ExitCode.GATE_FAILED),
        ([run("a", ending=Ending.HARNESS_FAILURE, has_gate=True)], ExitCode.INCONCLUSIVE),
        ([run("a", UNCLEAR), run("b", ending=Ending.ERROR)], ExitCode.AGENT_FAILED),
        ([run("a", UNCLEAR), run("b", ending=Ending.ERROR), run("c", GATE_FAILED)], ExitCode.GATE_FAILED),
        ([], ExitCode.INCONCLUSIVE),
    ],
)
def test_exit_code_is_the_worst_that_was_found(runs: list[RunReport], code: ExitCode) -> None:
    """A failed gate before an agent that did not end well, before what could not be told."""
    assert code is exit_code_of_grading(report([report_group("g", runs)]))


some_run = st.builds(
    run,
    st.sampled_from("abc"),
    st.builds(row, st.one_of(st.none(), st.floats(0, 1)), must_pass=st.booleans()),
    ending=st.sampled_from(list(Ending)),
    trial=st.integers(1, 3),
)


@given(st.lists(some_run, max_size=9, unique_by=lambda made: (made.test, made.trial)))
def test_the_states_add_up_to_what_was_planned(runs: list[RunReport]) -> None:
    """planned = graded + inconclusive + errored + harness failures + interrupted, and the mean lies in its bounds."""
    group = report_group("g", runs)
    parts = (group.graded, group.inconclusive, group.errored, group.harness_failures, group.interrupted)

    assert len(runs) == group.planned == sum(parts)
    assert 0 <= group.bounds.low <= group.bounds.high <= 1 + 1e-12


def attempt(number: int, ending: Ending, objective: float = 1.0, *, supersedes: bool = False) -> RunReport:
    made = run("t", row(objective), ending=ending)
    return msgspec.structs.replace(made, run=f"t--1.a{number}", attempt=number, supersedes=supersedes)


@pytest.mark.parametrize(
    ("first", "second", "supersedes", "counts"),
    [
        (Ending.HARNESS_FAILURE, Ending.OK, False, 2),
        (Ending.INTERRUPTED, Ending.ERROR, False, 2),
        (Ending.ERROR, Ending.OK, False, 1),  # an agent does not get better by being asked again
        (Ending.TIMEOUT, Ending.OK, False, 1),
        (Ending.OK, Ending.OK, False, 1),
        (Ending.ERROR, Ending.OK, True, 2),
    ],
)
def test_which_attempt_at_a_trial_counts(
    first: Ending, second: Ending, supersedes: bool, counts: int
) -> None:
    """The first one that is evidence, unless a later one was made to supersede it; the others are named."""
    attempts = [attempt(1, first), attempt(2, second, supersedes=supersedes)]
    group = report_group("g", attempts)

    assert [f"t--1.a{counts}"] == [one.run for one in group.runs]
    assert (f"t--1.a{3 - counts}",) == group.set_aside
    assert 1 == group.planned
    assert group.runs == report_group("g", attempts[::-1]).runs
