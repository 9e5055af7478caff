"""The Report: the one record that every command, file and page draws."""

from __future__ import annotations

from typing import Literal

import msgspec

from proctor.records.checklist import Answer
from proctor.records.comparison import Comparison
from proctor.records.estimate import Bounds, Estimate, Figures
from proctor.records.evidence import Failure
from proctor.records.fault import Fault, Owner
from proctor.records.grade import Cause, Defect, Outcome
from proctor.records.judging import Judging
from proctor.records.run import Ending
from proctor.records.trace import Metrics

REPORT_SCHEMA = "proctor.report/1"


class Noise(msgspec.Struct, frozen=True, kw_only=True):
    """How much of what one grader says is chance, as standard deviations of a score from 0 to 1.

    Attributes:
        grader: its name.
        judge_sd: between samples of one run: the judge's own; None when no run has several.
        repeated: the number of runs with several samples.
        between_trials_sd: between runs of one test; None when no test has several.
        agent_sd: what is left of that when the judge's share is taken off; None when that share is not known.
        tests: the number of tests with several runs.
    """

    grader: str
    judge_sd: float | None
    repeated: int
    between_trials_sd: float | None
    agent_sd: float | None
    tests: int


class GradeLine(msgspec.Struct, frozen=True, kw_only=True):
    """One grade of one run.

    Attributes:
        grader: its name.
        score: 0 to 1, a binary one as 0 or 1; None when inconclusive.
        outcome: whether it met its bar.
        scale: `binary` (passes or not) or `scalar` (0 to 1).
        weight: its share in the objective.
        must_pass: it is a gate.
        threshold: the bar of a scalar.
        feedback: what the grader said, in a sentence; empty where it said nothing.
        cause: why it is inconclusive; None when it is not.
        defect: what went wrong, when code did.
        samples: the value of each sample, None for an inconclusive one; empty when there was one.
        mean: of those that have a value.
        spread: their standard deviation.
        count: how many they are.
        judging: what each judge took that the grader asked; nothing of it is the agent's.
    """

    grader: str
    score: float | None
    outcome: Outcome
    scale: str
    weight: float
    must_pass: bool
    threshold: float
    feedback: str
    cause: Cause | None
    defect: Defect | None = None
    samples: tuple[float | None, ...] = ()
    mean: float | None = None
    spread: float | None = None
    count: int | None = None
    judging: tuple[Judging, ...] = ()


class AnswerLine(msgspec.Struct, frozen=True, kw_only=True):
    """What one person answered to one question; an `answer` of null says "cannot tell" where it `is_answered`.

    Attributes:
        question: its id.
        text: what it asks.
        answer: None for "cannot tell", and for a question that was left out.
        is_answered: it was not left out.
    """

    question: str
    text: str
    answer: Answer
    is_answered: bool


class LabelLine(msgspec.Struct, frozen=True, kw_only=True):
    """What one person says of a run, by one checklist.

    Attributes:
        checklist: id of the lineage.
        name: what the checklist is called; its id where the group does not have it.
        annotator: who.
        version: the revision that was answered.
        score: weighted share of what is good, 0 to 1; None while it is stale, or when "cannot tell" could change it.
        bounds: the score with all that cannot be told as worst, and as best.
        is_stale: a live question is unanswered.
        answers: one for each live question, answered or not.
        note: a remark; empty for none.
        at: when it was signed off last, ISO 8601 in UTC.
        saw_grades: it was signed off after a look at the grades.
        row: id of the row that was signed off last.
    """

    checklist: str
    name: str
    annotator: str
    version: int
    score: float | None
    bounds: Bounds
    is_stale: bool
    answers: tuple[AnswerLine, ...]
    note: str
    at: str
    saw_grades: bool
    row: str


class LabelSum(msgspec.Struct, frozen=True, kw_only=True):
    """How far labelling is in a group.

    Attributes:
        runs: runs with a label.
        annotators: people who labelled.
        n: runs that the mean is over.
        mean: of the runs' label scores; None when there is none.
        stale: labels in which a live question is unanswered.
    """

    runs: int
    annotators: int
    n: int
    mean: float | None
    stale: int


class RunReport(msgspec.Struct, frozen=True, kw_only=True):
    """One run and what its grades come to.

    Attributes:
        run: name of the run directory.
        test: id of its test.
        trial: 1 for the first.
        attempt: 1 for the first at this trial.
        ending: how it ended; `interrupted` also for a trial that was planned and never ended.
        outcome: what its grades come to; `fail` when the agent did not end well.
        objective: 0 to 1; None when missing grades could change it.
        bounds: the objective with everything missing as worst, and as best.
        gates_passed: None when missing grades could change it.
        has_gate: one of its graders is a gate.
        grades: those of the latest complete round; empty where the ending decides, or there is no round.
        cause: why the run as a whole is inconclusive, when that has one reason.
        reason: that cause in a sentence, or why the agent did not end well.
        duration_s: wall-clock time in seconds; None for a trial that never ended, or whose run cannot be read.
        description: the test's, for people; None where it has none.
        rounds: number of complete rounds of grades.
        unread_rows: rows that this version does not understand.
        supersedes: this attempt was made to replace an earlier one that did not end well.
        metrics: what the trace adds up to; None for a run without one.
        fault: whose fault it is, where the ending says nothing about the agent and nobody stopped it.
        failure: whose failure it is that it did not pass, the agent's or a harness failure; None for neither.
        labels: what people say of it.
        label_score: the mean of their scores; None when there is none.
    """

    run: str
    test: str
    trial: int
    attempt: int
    ending: Ending
    outcome: Outcome
    objective: float | None
    bounds: Bounds
    gates_passed: bool | None
    has_gate: bool
    grades: tuple[GradeLine, ...] = ()
    cause: Cause | None = None
    reason: str = ""
    duration_s: float | None = None
    description: str | None = None
    rounds: int = 0
    unread_rows: int = 0
    supersedes: bool = False
    metrics: Metrics | None = None
    fault: Fault | None = None
    failure: Failure | None = None
    labels: tuple[LabelLine, ...] = ()
    label_score: float | None = None


class GroupReport(msgspec.Struct, frozen=True, kw_only=True):
    """A group: trials average within a test, tests average in the group.

    Attributes:
        path: as it was named.
        n: number of tests that the mean is over.
        mean: mean objective over tests; None when nothing was measured.
        bounds: the mean with everything missing as worst, and as best.
        figures: the mean and the pass rate with their errors and intervals, and how reliable the agent is.
        planned: graded + inconclusive + errored + harness_failures + interrupted.
        graded: trials that have an objective from their grades.
        inconclusive: trials that ended well, and whose objective cannot be told.
        errored: trials in which the agent did not end well; each counts as 0.
        harness_failures: trials that say nothing about the agent, since something else failed.
        interrupted: trials that the operator stopped, or that never ran to their end.
        runs: one for each planned trial: the attempt that counts.
        owners: whose fault the harness failures are: their number by owner.
        set_aside: names of runs that do not count, since another attempt at their trial does.
        judging: what judging took, by judge; an answer from the cache took nothing.
        noise: how much of what judges say is chance.
        labels: how far people are with labelling; None where nobody labels.
    """

    path: str
    n: int
    mean: float | None
    bounds: Bounds
    figures: Figures
    planned: int
    graded: int
    inconclusive: int
    errored: int
    harness_failures: int
    interrupted: int
    runs: tuple[RunReport, ...]
    owners: dict[Owner, int] = {}
    set_aside: tuple[str, ...] = ()
    judging: tuple[Judging, ...] = ()
    noise: tuple[Noise, ...] = ()
    labels: LabelSum | None = None


class Move(msgspec.Struct, frozen=True, kw_only=True):
    """One grader whose finding is another than in the round before.

    Attributes:
        run: name of the run directory.
        grader: its name.
        before: what it said then; None when it was not in that round.
        after: what it says now; None when it is not in this round.
        why: what differs between the two: the grader's revision, its options, or nothing but chance.
    """

    run: str
    grader: str
    before: str | None
    after: str | None
    why: str


class Demand(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that a grading must reach.

    Attributes:
        what: `objective`, `pass rate`, or `baseline`: not to be worse than that.
        at_least: None for a baseline.
        estimate: what decided; None for a baseline, whose comparison stands in the report.
        outcome: `cannot tell` where the interval lies on both sides, or there is none.
    """

    what: str
    outcome: Literal["reached", "missed", "cannot tell"]
    at_least: float | None = None
    estimate: Estimate | None = None


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """What a grading comes to.

    Attributes:
        verdict: `not done` where grades could not be written.
        exit_code: what the shell is told.
        demands: what was asked for beside the gates.
    """

    verdict: str
    exit_code: int
    demands: tuple[Demand, ...] = ()


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """All groups that a command was given, and the mean over all their tests.

    Attributes:
        groups: each by itself.
        n: number of tests that the mean is over; one that several groups have counts in each.
        mean: mean objective over these tests, each with the same weight; None when nothing was measured.
        bounds: the mean with everything missing as worst, and as best.
        objective: that mean with its error and interval; without them where groups share tests.
        pass_rate: the share of trials that passed, averaged likewise; likewise.
        warnings: what a reader should know before the numbers, a sentence each.
        moved: after a grading, the verdicts that are others than in the round before.
        unrecorded: after a grading, the runs whose grades could not be written; their numbers are of a round before.
        over_budget: after a grading, that a judge was not asked since it could have cost too much.
        decision: after a grading, what it comes to.
        comparison: after a grading with a baseline, how it compares with that.
    """

    schema: str = REPORT_SCHEMA
    groups: tuple[GroupReport, ...]
    n: int
    mean: float | None
    bounds: Bounds
    objective: Estimate
    pass_rate: Estimate
    warnings: tuple[str, ...] = ()
    moved: tuple[Move, ...] = ()
    unrecorded: tuple[str, ...] = ()
    over_budget: bool = False
    decision: Decision | None = None
    comparison: Comparison | None = None

    @property
    def runs(self) -> tuple[RunReport, ...]:
        """The runs of all groups."""
        return tuple(run for group in self.groups for run in group.runs)
