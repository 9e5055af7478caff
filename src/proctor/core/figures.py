"""What the trials of some tests come to: means with errors and intervals, pass rates, reliability, noise."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from proctor.core.faults import row_of
from proctor.core.intervals import LEVEL, clustered, variance
from proctor.core.reliability import flaky, reliability
from proctor.records.estimate import Bounds, Estimate, Figures, Reliability, TestFigures
from proctor.records.grade import Cause, Outcome
from proctor.records.report import RunReport


def figures_of(members: Iterable[RunReport]) -> Figures:
    """All of them, each test with the same weight.

    Args:
        members: the runs in force, one for each trial. Those that say nothing about the agent, as after a failure
            of the harness, are in no mean and in no rate; the bounds hold them.
    """
    runs = by_test(members)
    seen = {test: [run for run in trials if says_something(run)] for test, trials in runs.items()}
    outcomes = {test: [run.outcome for run in trials] for test, trials in seen.items()}
    flat = [outcome for trials in outcomes.values() for outcome in trials]
    reliable = reliability({test: graded_of(trials) for test, trials in seen.items()})
    sd, repeated = _trials_sd([objectives_of(trials) for trials in seen.values()])
    return Figures(
        objective=clustered([objectives_of(trials) for trials in seen.values()]),
        pass_rate=clustered([passes_of(trials) for trials in seen.values()]),
        pass_bounds=_pass_bounds(runs.values()),
        passed=flat.count(Outcome.PASS),
        conclusive=len(flat) - flat.count(Outcome.INCONCLUSIVE),
        evidence="smoke" if reliable is None else "reliability",
        reliability=reliable,
        trials_sd=sd,
        repeated=repeated,
        flaky=flaky(outcomes),
        tests=tuple(_of_test(test, trials, seen[test]) for test, trials in runs.items()),
    )


def pooled(groups: Sequence[Iterable[RunReport]], *, level: float = LEVEL) -> tuple[Estimate, Estimate]:
    """The objective and the pass rate over all tests of some groups, each test of each group with one weight.

    Where groups share a test their means depend on each other in a way that nobody knows: then there is a mean, and
    neither an error nor an interval.
    """
    tests = [by_test(filter(says_something, members)) for members in groups]
    names = [name for group in tests for name in group]
    found = (
        clustered([objectives_of(trials) for group in tests for trials in group.values()], level=level),
        clustered([passes_of(trials) for group in tests for trials in group.values()], level=level),
    )
    if len(set(names)) == len(names):
        return found
    bare = [Estimate(value=one.value, tests=one.tests, trials=one.trials) for one in found]
    return bare[0], bare[1]


def by_test(members: Iterable[RunReport]) -> dict[str, list[RunReport]]:
    """The runs of each test, in order."""
    tests: dict[str, list[RunReport]] = {}
    for run in members:
        tests.setdefault(run.test, []).append(run)
    return tests


def says_something(run: RunReport) -> bool:
    """True for a run that tells about the agent: it was not interrupted, and nothing but the agent failed."""
    kind = run.fault.kind if run.fault is not None else None
    return row_of(run.ending, kind).counted in ("graded", "errored")


def graded_of(trials: Iterable[RunReport]) -> list[Outcome]:
    """The outcomes of those that somebody graded, or that did not end well."""
    return [run.outcome for run in trials if run.cause is not Cause.NOT_GRADED]


def objectives_of(trials: Iterable[RunReport]) -> list[float]:
    """The objectives that are known."""
    return [run.objective for run in trials if run.objective is not None]


def passes_of(trials: Iterable[RunReport]) -> list[float]:
    """1 for a trial that passed, 0 for one that failed; those of which nobody can tell are left out."""
    return [float(run.outcome is Outcome.PASS) for run in trials if run.outcome is not Outcome.INCONCLUSIVE]


def _of_test(test: str, trials: Sequence[RunReport], seen: Sequence[RunReport]) -> TestFigures:
    outcomes = [run.outcome for run in seen]
    alone: Mapping[str, Sequence[Outcome]] = {test: outcomes}
    found: Reliability | None = reliability({test: graded_of(seen)})
    known = objectives_of(seen)
    return TestFigures(
        test=test,
        planned=len(trials),
        passed=outcomes.count(Outcome.PASS),
        failed=outcomes.count(Outcome.FAIL),
        inconclusive=outcomes.count(Outcome.INCONCLUSIVE),
        mean=math.fsum(known) / len(known) if known else None,
        reliability=found,
        is_flaky=bool(flaky(alone)),
    )


def _pass_bounds(tests: Iterable[Sequence[RunReport]]) -> Bounds:
    lows: list[float] = []
    highs: list[float] = []
    for trials in tests:
        outcomes = [run.outcome for run in trials]
        lows.append(outcomes.count(Outcome.PASS) / len(outcomes))
        highs.append((len(outcomes) - outcomes.count(Outcome.FAIL)) / len(outcomes))
    if not lows:
        return Bounds(0.0, 1.0)
    return Bounds(math.fsum(lows) / len(lows), math.fsum(highs) / len(highs))


def _trials_sd(tests: Iterable[Sequence[float]]) -> tuple[float | None, int]:
    """The root of the mean of the variances, each weighted with its degrees of freedom, and their number."""
    several = [values for values in tests if len(values) > 1]
    freedom = sum(len(values) - 1 for values in several)
    if not freedom:
        return None, 0
    total = math.fsum((len(values) - 1) * variance(values) for values in several)
    return math.sqrt(total / freedom), len(several)
