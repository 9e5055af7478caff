"""What two sides used: cost, tokens and time, as paired differences and ratios. There is no verdict on it."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence

import msgspec

from proctor.core.paired import mean_interval
from proctor.records.comparison import Change
from proctor.records.report import RunReport


def changes(
    pairs: Sequence[tuple[Sequence[RunReport], Sequence[RunReport]]], level: float
) -> tuple[Change, ...]:
    """Cost, tokens and time of one trial.

    Args:
        pairs: of each test the runs of the base and those of the candidate.
        level: of the intervals.
    """
    return tuple(_change(what, measure, pairs, level) for what, measure in MEASURES.items())


def _cost(run: RunReport) -> float | None:
    return run.metrics.cost_usd_total if run.metrics is not None else None


def _tokens(run: RunReport) -> float | None:
    known = run.metrics
    if known is None or known.tokens_in_total is None or known.tokens_out_total is None:
        return None
    return known.tokens_in_total + known.tokens_out_total


def _duration(run: RunReport) -> float | None:
    return run.duration_s


MEASURES: Mapping[str, Callable[[RunReport], float | None]] = {
    "cost_usd": _cost,
    "tokens": _tokens,
    "duration_s": _duration,
}
"""What a trial used; None where that cannot be told."""


def _change(
    what: str,
    measure: Callable[[RunReport], float | None],
    pairs: Sequence[tuple[Sequence[RunReport], Sequence[RunReport]]],
    level: float,
) -> Change:
    both: list[tuple[float, float]] = []
    for pair in pairs:
        base, candidate = ([value for run in side if (value := measure(run)) is not None] for side in pair)
        if base and candidate:
            both.append((statistics.fmean(base), statistics.fmean(candidate)))
    if not both:
        return Change(what=what, n=0, base=None, candidate=None, value=None)
    differences = [candidate - base for base, candidate in both]
    logs = [math.log(candidate / base) for base, candidate in both if base > 0 and candidate > 0]
    is_positive = len(logs) == len(both)
    ratios = mean_interval(logs, level) if is_positive else None
    return Change(
        what=what,
        n=len(both),
        base=statistics.fmean(base for base, _ in both),
        candidate=statistics.fmean(candidate for _, candidate in both),
        value=statistics.fmean(differences),
        interval=mean_interval(differences, level),
        ratio=math.exp(statistics.fmean(logs)) if is_positive else None,
        ratio_interval=msgspec.structs.replace(ratios, low=math.exp(ratios.low), high=math.exp(ratios.high))
        if ratios is not None
        else None,
    )
