"""How much of what judges say is chance: their own, between samples of one run, and the agent's, between trials."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence

from proctor.records.report import GradeLine, Noise, RunReport


def noise_of(runs: Iterable[RunReport]) -> tuple[Noise, ...]:
    """One for each grader that asks judges, in the order in which they are met; none where nothing was repeated.

    judge_sd: the pooled standard deviation of the samples of one run.
    between_trials_sd: the pooled standard deviation of the runs of one test, each the mean of its samples.
    agent_sd: the root of what is left of the second variance when the judge's share is taken off, which is its
        variance times the mean of 1/k over the runs, k samples each: the method of moments of a one-way random
        effects model (Searle, Casella and McCulloch, Variance Components, 1992, section 3.5). None where a judge was
        asked once, so that nobody can tell its share.
    """
    runs = list(runs)
    judged = dict.fromkeys(line.grader for run in runs for line in run.grades if line.judging)
    lines: dict[str, dict[str, list[GradeLine]]] = {name: {} for name in judged}
    for run in runs if judged else ():
        for line in run.grades:
            if line.grader in judged and value_of(line) is not None:
                lines[line.grader].setdefault(run.test, []).append(line)
    found = (_noise(name, list(by_test.values())) for name, by_test in lines.items())
    return tuple(one for one in found if one.repeated or one.tests)


def value_of(line: GradeLine) -> float | None:
    """The run's value: the mean of its samples, else its score."""
    return line.score if line.mean is None else line.mean


def _noise(grader: str, tests: Sequence[Sequence[GradeLine]]) -> Noise:
    within = [
        (line.count - 1, line.spread**2)
        for trials in tests
        for line in trials
        if line.spread is not None and line.count is not None
    ]
    between = [
        (
            len(trials) - 1,
            statistics.variance([value for line in trials if (value := value_of(line)) is not None]),
        )
        for trials in tests
        if len(trials) > 1
    ]
    judge, trials = _pooled(within), _pooled(between)
    agent = None
    if judge is not None and trials is not None:
        shares = [1 / (line.count or 1) for trials in tests if len(trials) > 1 for line in trials]
        agent = max(0.0, trials - judge * statistics.fmean(shares))
    return Noise(
        grader=grader,
        judge_sd=_root(judge),
        repeated=len(within),
        between_trials_sd=_root(trials),
        agent_sd=_root(agent),
        tests=len(between),
    )


def _pooled(variances: Sequence[tuple[int, float]]) -> float | None:
    """The mean of variances, each weighted with its degrees of freedom."""
    degrees = sum(degree for degree, _ in variances)
    return sum(degree * variance for degree, variance in variances) / degrees if degrees else None


def _root(variance: float | None) -> float | None:
    return None if variance is None else math.sqrt(variance)
