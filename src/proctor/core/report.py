"""The Report of some groups: the only place where grades become numbers.

`grade`, `list`, `show` and every page call `report_group` and `report`; none of them computes anything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import msgspec

from proctor.core.attempts import tell_apart
from proctor.core.evidence import failure_of
from proctor.core.faults import Count, row_of
from proctor.core.figures import by_test, figures_of, pooled
from proctor.core.label_report import label_lines, mean_label, sum_labels
from proctor.core.noise import noise_of
from proctor.core.objective import EXACT_ZERO, UNKNOWN, fold
from proctor.core.rounds import complete_rounds
from proctor.records.annotation import Annotations, ScoreRow
from proctor.records.checklist import Checklist
from proctor.records.exits import ExitCode
from proctor.records.fault import Fault, Owner
from proctor.records.grade import Cause, Outcome
from proctor.records.judging import Judging, add_up
from proctor.records.report import Bounds, GradeLine, GroupReport, Report, RunReport
from proctor.records.run import Cell, Ending, RunFacts
from proctor.records.trace import Metrics


class RecordedRun(msgspec.Struct, frozen=True, kw_only=True):
    """What is on disk about one run: where it lies in its group, its facts, its rows.

    Attributes:
        run: name of the run directory.
        facts: from `run.json`.
        annotations: all rows, in the order of appending.
        metrics: what the trace adds up to; None for a run without one.
        checklists: the revision in force of each checklist of its group.
    """

    run: str
    facts: RunFacts
    annotations: Annotations = Annotations()
    metrics: Metrics | None = None
    checklists: Mapping[str, Checklist] = {}


def report_run(recorded: RecordedRun) -> RunReport:
    """One run's grades, folded.

    An ending of the agent other than `ok` scores 0 and fails every gate. A run that was interrupted, or that
    proctor itself failed to execute, says nothing about the agent: it is inconclusive.
    """
    found, facts = _folded(recorded), recorded.facts
    failure = failure_of(
        found.ending,
        found.outcome,
        [line.cause for line in found.grades],
        kind=facts.fault.kind if facts.fault is not None else None,
    )
    return msgspec.structs.replace(found, failure=failure) if failure is not None else found


def _folded(recorded: RecordedRun) -> RunReport:
    facts = recorded.facts
    annotations = recorded.annotations
    rounds = complete_rounds(annotations.scores, annotations.retractions)
    rows = rounds[-1].rows if rounds else ()
    labels = label_lines(annotations, recorded.checklists)
    common = RunReport(
        run=recorded.run,
        test=facts.test.id,
        trial=facts.trial,
        attempt=facts.attempt,
        ending=facts.ending,
        outcome=Outcome.INCONCLUSIVE,
        objective=None,
        bounds=UNKNOWN,
        gates_passed=None,
        has_gate=any(row.must_pass for row in rows),
        duration_s=facts.duration_s,
        description=facts.test.description,
        rounds=len(rounds),
        unread_rows=annotations.unread,
        supersedes=facts.supersedes,
        metrics=recorded.metrics,
        labels=labels,
        label_score=mean_label(labels),
    )
    kind = facts.defect.type if facts.defect is not None else None
    row = row_of(facts.ending, kind)
    if row.scored_by == "nobody":
        if row.counted == "interrupted":
            return msgspec.structs.replace(common, cause=Cause.INTERRUPTED, reason=reason_of(facts))
        # A run of a version that did not record whose fault it was has the table's answer.
        fault = facts.fault or Fault(owner=row.owner, kind=kind or row.ending.value)
        return msgspec.structs.replace(
            common, cause=Cause.HARNESS_FAILURE, reason=reason_of(facts), fault=fault
        )
    if row.scored_by == "zero":
        return msgspec.structs.replace(
            common,
            outcome=Outcome.FAIL,
            objective=0.0,
            bounds=EXACT_ZERO,
            gates_passed=False,
            has_gate=facts.has_gate,
            reason=reason_of(facts),
        )
    if not rows:
        return msgspec.structs.replace(
            common,
            has_gate=facts.has_gate,
            cause=Cause.NOT_GRADED,
            reason="no complete round of grades is recorded",
        )
    verdict = fold(rows)
    return msgspec.structs.replace(
        common,
        outcome=verdict.outcome,
        objective=verdict.objective,
        bounds=verdict.bounds,
        gates_passed=verdict.gates_passed,
        grades=tuple(_line(row) for row in rows),
        cause=_shared_cause(rows),
    )


def never_ended(cell: Cell) -> RunReport:
    """A planned trial that has no run directory: it never started, or it started and never ended."""
    return RunReport(
        run=cell.run_dir,
        test=cell.test,
        trial=cell.trial,
        attempt=1,
        ending=Ending.INTERRUPTED,
        outcome=Outcome.INCONCLUSIVE,
        objective=None,
        bounds=UNKNOWN,
        gates_passed=None,
        has_gate=False,
        cause=Cause.INTERRUPTED,
        reason="planned, and not recorded as ended",
    )


def unreadable(run: str, reason: str) -> RunReport:
    """A run directory whose facts cannot be read: counted, and never as the agent's fault."""
    return RunReport(
        run=run,
        test=run.partition("--")[0],
        trial=1,
        attempt=1,
        ending=Ending.HARNESS_FAILURE,
        outcome=Outcome.INCONCLUSIVE,
        objective=None,
        bounds=UNKNOWN,
        gates_passed=None,
        has_gate=False,
        cause=Cause.HARNESS_FAILURE,
        reason=reason,
        fault=Fault(owner=Owner.HARNESS, kind="unreadable"),
    )


def report_group(path: str, runs: Iterable[RunReport]) -> GroupReport:
    """A group's numbers: trials average within a test, tests average in the group.

    Of several attempts at one trial, the one in force counts, and the others are named.

    `mean` is over the tests of which at least one trial has an objective; `bounds` is over all of them.
    """
    attempts = tell_apart(runs)
    members = attempts.in_force
    figures = figures_of(members)
    states = [state_of(run) for run in members]
    group = GroupReport(
        path=path,
        n=figures.objective.tests,
        mean=figures.objective.value,
        bounds=_mean_bounds(
            [_mean_bounds([trial.bounds for trial in trials]) for trials in by_test(members).values()]
        ),
        figures=figures,
        planned=len(members),
        graded=states.count("graded"),
        inconclusive=states.count("inconclusive"),
        errored=states.count("errored"),
        harness_failures=states.count("harness_failures"),
        interrupted=states.count("interrupted"),
        runs=members,
        owners=dict(Counter(run.fault.owner for run in members if run.fault is not None)),
        set_aside=tuple(run.run for run in attempts.set_aside),
        judging=judging_of(members),
        labels=sum_labels(members),
        noise=noise_of(members),
    )
    parts = group.graded + group.inconclusive + group.errored + group.harness_failures + group.interrupted
    assert group.planned == parts, f"{group.planned} planned runs fell into {parts} states"
    return group


def report(groups: Sequence[GroupReport], warnings: Sequence[str] = ()) -> Report:
    """All groups, and the mean over all tests of all of them, each test with the same weight."""
    objective, pass_rate = pooled([group.runs for group in groups])
    tests = [(group.bounds, len({run.test for run in group.runs})) for group in groups]
    weight = sum(count for _, count in tests)
    bounds = (
        Bounds(
            sum(bound.low * count for bound, count in tests) / weight,
            sum(bound.high * count for bound, count in tests) / weight,
        )
        if weight
        else UNKNOWN
    )
    return Report(
        groups=tuple(groups),
        n=objective.tests,
        mean=objective.value,
        bounds=bounds,
        objective=objective,
        pass_rate=pass_rate,
        warnings=tuple(warnings),
    )


def exit_code_of_grading(whole: Report) -> ExitCode:
    """What `grade` tells the shell: a failed gate before an agent that did not end well, before "cannot tell".

    A run that did not end well is a failed gate where its test has a gate, else an agent failure. Grades that were
    not recorded are a job that was not done, whatever the numbers say.
    """
    if whole.unrecorded:
        return ExitCode.CANNOT
    codes = {_exit_code(run) for run in whole.runs}
    for code in (ExitCode.GATE_FAILED, ExitCode.AGENT_FAILED, ExitCode.INCONCLUSIVE):
        if code in codes:
            return code
    return ExitCode.OK if codes else ExitCode.INCONCLUSIVE


def _exit_code(run: RunReport) -> ExitCode:
    state = state_of(run)
    if state == "errored":
        return ExitCode.GATE_FAILED if run.has_gate else ExitCode.AGENT_FAILED
    if run.has_gate and run.gates_passed is False:
        return ExitCode.GATE_FAILED
    if state != "graded" or run.outcome is Outcome.INCONCLUSIVE:
        return ExitCode.INCONCLUSIVE
    return ExitCode.OK


def state_of(run: RunReport) -> Count | Literal["inconclusive"]:
    """The one state that a run counts in; of a group they add up to what was planned."""
    counted = row_of(run.ending, run.fault.kind if run.fault else None).counted
    return "inconclusive" if counted == "graded" and run.objective is None else counted


def _line(row: ScoreRow) -> GradeLine:
    return GradeLine(
        grader=row.name,
        score=row.score,
        outcome=row.outcome,
        scale=row.scale,
        weight=row.weight,
        must_pass=row.must_pass,
        threshold=row.threshold,
        feedback=row.feedback,
        cause=row.cause,
        defect=row.defect,
        samples=row.samples,
        mean=row.mean,
        spread=row.spread,
        count=row.count,
        judging=row.judging,
    )


def judging_of(runs: Iterable[RunReport]) -> tuple[Judging, ...]:
    """What judging some runs took, by judge, whatever the goals were."""
    lines = (line for run in runs for line in run.grades)
    return add_up(msgspec.structs.replace(one, goal="") for line in lines for one in line.judging)


def reason_of(facts: RunFacts) -> str:
    """Why a run did not end well, in a sentence; empty for one that did."""
    if facts.defect is not None and facts.defect.message:
        return facts.defect.message
    if facts.ending is Ending.OK:
        return ""
    if facts.ending is Ending.TIMEOUT:
        return f"It was ended after its limit of {facts.limits.timeout_s:g} s."
    return f"It ended with {facts.ending.value}."


def _shared_cause(rows: Sequence[ScoreRow]) -> Cause | None:
    causes = {row.cause for row in rows}
    return causes.pop() if len(causes) == 1 else None


def _mean_bounds(bounds: Sequence[Bounds]) -> Bounds:
    if not bounds:
        return UNKNOWN
    return Bounds(
        sum(bound.low for bound in bounds) / len(bounds), sum(bound.high for bound in bounds) / len(bounds)
    )
