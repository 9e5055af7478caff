"""The Report: the one record that every command, file and page draws."""

from __future__ import annotations

import msgspec

from proctor.records.grade import Cause, Defect, Outcome
from proctor.records.run import Ending
from proctor.records.trace import Metrics

REPORT_SCHEMA = "proctor.report/1"


class Bounds(msgspec.Struct, frozen=True):
    """The least and the most that a number can be, given what is missing."""

    low: float
    high: float

    @property
    def is_exact(self) -> bool:
        """True when nothing that is missing could change the number."""
        return self.low >= self.high


class GradeLine(msgspec.Struct, frozen=True, kw_only=True):
    """One grade of one run."""

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


class RunReport(msgspec.Struct, frozen=True, kw_only=True):
    """One run and what its grades come to.

    Attributes:
        run: name of the run directory.
        objective: 0 to 1; None when missing grades could change it.
        gates_passed: None when missing grades could change it.
        cause: why the run as a whole is inconclusive, when that has one reason.
        reason: that cause in a sentence, or why the agent did not end well.
        rounds: number of complete rounds of grades.
        unread_rows: rows that this version does not understand.
        supersedes: this attempt was made to replace an earlier one that did not end well.
        metrics: what the trace adds up to; None for a run without one.
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


class GroupReport(msgspec.Struct, frozen=True, kw_only=True):
    """A group: trials average within a test, tests average in the group.

    Attributes:
        path: as it was named.
        n: number of tests that the mean is over.
        mean: mean objective over tests; None when nothing was measured.
        bounds: the mean with everything missing as worst, and as best.
        planned: graded + inconclusive + errored + harness_failures + interrupted.
        set_aside: names of runs that do not count, since another attempt at their trial does.
    """

    path: str
    n: int
    mean: float | None
    bounds: Bounds
    planned: int
    graded: int
    inconclusive: int
    errored: int
    harness_failures: int
    interrupted: int
    runs: tuple[RunReport, ...]
    set_aside: tuple[str, ...] = ()


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


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """All groups that a command was given, and the mean over all their tests.

    Attributes:
        moved: after a grading, the verdicts that are others than in the round before.
        unrecorded: after a grading, the runs whose grades could not be written; their numbers are of a round before.
    """

    schema: str = REPORT_SCHEMA
    groups: tuple[GroupReport, ...]
    n: int
    mean: float | None
    bounds: Bounds
    warnings: tuple[str, ...] = ()
    moved: tuple[Move, ...] = ()
    unrecorded: tuple[str, ...] = ()

    @property
    def runs(self) -> tuple[RunReport, ...]:
        """The runs of all groups."""
        return tuple(run for group in self.groups for run in group.runs)
