"""What `grade` tells the shell, and why: gates, the demands of the command line, and a baseline, in one order."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from proctor.core.figures import pooled
from proctor.core.report import exit_code_of_grading
from proctor.records.comparison import Comparison, Verdict
from proctor.records.estimate import Estimate
from proctor.records.exits import ExitCode, worse
from proctor.records.report import Decision, Demand, Report


class Demands(msgspec.Struct, frozen=True, kw_only=True):
    """What a grading must reach.

    Attributes:
        min_objective: of the mean over tests, 0 to 1; None for no such demand.
        min_pass_rate: of the pass rate over tests, 0 to 1; None for no such demand.
        confidence: of the interval that decides.
    """

    min_objective: float | None = None
    min_pass_rate: float | None = None
    confidence: float = 0.95


def decide(whole: Report, demands: Demands, comparison: Comparison | None = None) -> Report:
    """The report, with its decision.

    Of everything that was found the first of these counts: grades that could not be written (1), a budget that ran
    out (5), a failed gate, a demand that was missed or a candidate that is worse (2), an agent that did not end well
    (4), anything that cannot be told (3), and else 0. A demand is reached when the whole interval lies at or above
    it, and missed when the whole interval lies below.
    """
    found = _demands(whole, demands)
    code = exit_code_of_grading(whole)
    if whole.over_budget:
        code = worse(code, ExitCode.OUT_OF_BUDGET)
    if comparison is not None:
        found = (*found, _baseline(comparison))
    for one in found:
        code = worse(code, _code(one))
    verdict = {ExitCode.OK: "passed", ExitCode.INCONCLUSIVE: "cannot tell", ExitCode.CANNOT: "not done"}
    decision = Decision(verdict=verdict.get(code, "failed"), exit_code=code, demands=found)
    return msgspec.structs.replace(whole, decision=decision, comparison=comparison)


def _demands(whole: Report, demands: Demands) -> tuple[Demand, ...]:
    objective, pass_rate = pooled([group.runs for group in whole.groups], level=demands.confidence)
    wanted: Sequence[tuple[str, float | None, Estimate]] = (
        ("objective", demands.min_objective, objective),
        ("pass rate", demands.min_pass_rate, pass_rate),
    )
    return tuple(
        _demand(what, at_least, estimate) for what, at_least, estimate in wanted if at_least is not None
    )


def _demand(what: str, at_least: float, estimate: Estimate) -> Demand:
    interval = estimate.interval
    if interval is None:
        outcome = "cannot tell"
    elif interval.low >= at_least:
        outcome = "reached"
    else:
        outcome = "missed" if interval.high < at_least else "cannot tell"
    return Demand(what=what, at_least=at_least, estimate=estimate, outcome=outcome)


def _baseline(comparison: Comparison) -> Demand:
    """A candidate that cannot be told is let pass where the comparison lets it."""
    if comparison.exit_code == ExitCode.OK:
        outcome = "reached"
    else:
        outcome = "missed" if comparison.verdict is Verdict.WORSE else "cannot tell"
    return Demand(what="baseline", outcome=outcome)


def _code(one: Demand) -> ExitCode:
    return {"reached": ExitCode.OK, "missed": ExitCode.GATE_FAILED}.get(one.outcome, ExitCode.INCONCLUSIVE)
