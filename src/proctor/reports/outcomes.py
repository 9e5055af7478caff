"""What is said of a run, of a test with its trials, and of the whole: the same in every form of a report."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

from proctor.core.report import state_of
from proctor.records.details import Details
from proctor.records.estimate import TestFigures
from proctor.records.exits import ExitCode
from proctor.records.grade import Outcome
from proctor.records.report import Decision, Demand, GradeLine, GroupReport, Report, RunReport
from proctor.reports.phrases import counted, demanded, ended, estimated, finding

Status: TypeAlias = Literal["fail", "error", "inconclusive", "pass"]
"""Of a run, the gravest first; `error`: the agent did not end well."""

STATUSES: Final[tuple[Status, ...]] = ("fail", "error", "inconclusive", "pass")

_OF_OUTCOME: Final[dict[Outcome, Status]] = {
    Outcome.PASS: "pass",
    Outcome.FAIL: "fail",
    Outcome.INCONCLUSIVE: "inconclusive",
}


class TestLine(NamedTuple):
    """A test of a group with its trials, and the status of the gravest of them."""

    __test__ = False

    group: GroupReport
    test: str
    runs: tuple[RunReport, ...]
    status: Status
    figures: TestFigures


class Why(NamedTuple):
    """A reason why a run did not pass: who says so, which is nobody where the run itself does, and what."""

    grader: str
    text: str


def status_of(run: RunReport) -> Status:
    """How a run is shown."""
    return "error" if state_of(run) == "errored" else _OF_OUTCOME[run.outcome]


def test_lines(report: Report) -> list[TestLine]:
    """All tests of all groups; those that need a look first, else in the order of the report."""
    found: list[TestLine] = []
    for group in report.groups:
        trials: dict[str, list[RunReport]] = {}
        for run in group.runs:
            trials.setdefault(run.test, []).append(run)
        for figures in group.figures.tests:
            runs = trials[figures.test]
            theirs = set(map(status_of, runs))
            status: Status = next(one for one in STATUSES if one in theirs)
            found.append(TestLine(group, figures.test, tuple(runs), status, figures))
    return sorted(found, key=lambda line: STATUSES.index(line.status))


def culprits(run: RunReport) -> Sequence[GradeLine]:
    """The grades because of which a run did not pass: of a test with gates, gates alone."""
    status = status_of(run)
    if status in ("pass", "error"):
        return ()
    wanted = Outcome.FAIL if status == "fail" else Outcome.INCONCLUSIVE
    deciding = [grade for grade in run.grades if grade.must_pass] or run.grades
    return [grade for grade in deciding if grade.outcome is wanted]


def reasons(run: RunReport) -> list[Why]:
    """Why a run did not pass; none for one that did."""
    if status_of(run) == "pass":
        return []
    found = [Why(_named(grade), _said(grade)) for grade in culprits(run)]
    if run.reason or not found:
        ending = "" if run.ending == "ok" else f"ended with {ended(run)}"
        said = [part for part in (ending, run.reason) if part]
        found.insert(0, Why("", ": ".join(said) or "its grades do not tell"))
    return found


def verdict_line(decision: Decision) -> str:
    """`failed, exit code 2`."""
    return f"{decision.verdict}, exit code {decision.exit_code}"


def verdict_reasons(report: Report, name: Callable[[str], str] = str) -> Iterator[str]:
    """What the verdict comes from, a sentence without a full stop each; `name` draws the names in them."""
    runs = report.runs
    if report.unrecorded:
        yield f"the grades of {counted(len(report.unrecorded), 'run')} could not be written"
    if report.over_budget:
        yield "the budget ran out: a judge was not asked, since it could have cost too much"
    gates = [state_of(run) for run in runs if run.has_gate and run.gates_passed is False]
    if gates:
        errored = gates.count("errored")
        why = f", {errored} of which did not end well" if errored else ""
        yield f"a gate failed in {len(gates)} of {counted(len(runs), 'run')}{why}"
    for one in _demands(report):
        yield f"{demanded(one, name(base_of(report)))}: {demand_reason(one, report)}"
    states = [state_of(run) for run in runs]
    if errored := states.count("errored"):
        yield f"the agent did not end well in {counted(errored, 'run')}"
    unclear = sum(run.outcome is Outcome.INCONCLUSIVE for run in runs)
    if runs and unclear == len(runs):
        yield "nothing was measured: every run is inconclusive"
    elif unclear:
        yield f"{counted(unclear, 'run')} cannot be told"
    if not runs:
        yield "nothing was measured: there is no run"
    if report.decision is not None and report.decision.exit_code == ExitCode.OK:
        yield _asked(report)


def demand_reason(demand: Demand, report: Report) -> str:
    """What became of a demand: `missed: 0.500 over 12 tests, 95% from 0.254 to 0.746`."""
    because = demand_because(demand, report)
    return f"{demand.outcome}: {because}" if because else demand.outcome


def demand_because(demand: Demand, report: Report) -> str:
    """The number that decided, or what the comparison says; empty where that is the outcome itself."""
    if demand.estimate is not None:
        return estimated(demand.estimate)
    if report.comparison is None or report.comparison.verdict.value == demand.outcome:
        return ""
    return f"it is {report.comparison.verdict.value}"


def base_of(report: Report) -> str:
    """The path of the baseline; empty where there is none."""
    return "" if report.comparison is None else report.comparison.base


def _demands(report: Report) -> Sequence[Demand]:
    return () if report.decision is None else report.decision.demands


def _asked(report: Report) -> str:
    """What was asked for, where all of it was reached: a pass is worth what was asked."""
    gated = sum(run.has_gate for run in report.runs)
    if gated:
        return f"every gate passed, in {counted(gated, 'run')} that {'has' if gated == 1 else 'have'} one"
    if _demands(report):
        return "no test has a gate"
    return "nothing was asked for: no test has a gate, and no least number was demanded"


def shown_path(group: GroupReport, run: RunReport, details: Details) -> str:
    """The run directory as it is to be named on a command line."""
    known = details.get((group.path, run.run))
    return shlex.quote(known.path if known is not None else f"{group.path}/{run.run}")


def _named(grade: GradeLine) -> str:
    return f"{grade.grader} (gate)" if grade.must_pass else grade.grader


def _said(grade: GradeLine) -> str:
    if grade.outcome is Outcome.INCONCLUSIVE:
        cause = f"[{grade.cause.value}] " if grade.cause is not None else ""
        return f"{cause}{grade.feedback}" or finding(grade)
    if grade.scale == "binary":
        return grade.feedback or finding(grade)
    found = finding(grade)
    if grade.threshold > 0:
        found = f"{found}, below its bar of {grade.threshold:g}"
    return f"{found}: {grade.feedback}" if grade.feedback else found
