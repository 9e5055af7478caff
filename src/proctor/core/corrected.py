"""A grader's number, corrected for the grader's errors by what people say of a random sample."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from proctor.core.intervals import LEVEL, normal_quantile, score_interval, student_quantile
from proctor.records.agreement import Measured
from proctor.records.estimate import Interval


class Scored(msgspec.Struct, frozen=True):
    """One run that a grader scored.

    Attributes:
        cluster: what it belongs to: the runs of one test are no independent evidence.
        grader: the grader's score, 0 to 1.
        person: what people say, 0 to 1; None for a run that was not drawn.
    """

    cluster: str
    grader: float
    person: float | None = None


class Powered(msgspec.Struct, frozen=True, kw_only=True):
    """A prediction-powered mean.

    Attributes:
        mean: with its interval.
        se: its standard error; None when it is undefined.
        reliance: how much the grader was relied on: 0 is people alone.
    """

    mean: Measured
    se: float | None
    reliance: float


def prediction_powered(scored: Sequence[Scored], *, reliance: float | None = None) -> Powered:
    """The mean of what people would say of all runs, from what they say of some and the grader of all.

    mean(person - r * grader) over the labelled runs + r * mean(grader) over the others, r being the reliance that
    makes the error least: cov(person, grader) / ((1 + n / N) var(grader)), kept between 0 and 1. The labelled runs
    are a random sample. The standard error takes the runs of one test together. The interval is Wilson's for as many
    independent runs as would have that error, with Student's quantile for as many degrees of freedom as there are
    labelled tests, less one. Where grader and people never differ on the sample, one
    error in each direction is added to those that were seen, as none seen does not say that there are none.

    Source: Angelopoulos, Duchi, Zrnic, PPI++: Efficient prediction-powered inference, 2023 (arXiv 2311.01453),
    example 1 and section 6.

    Args:
        scored: all runs with a score.
        reliance: in place of the best one; 1 is prediction-powered inference as first published, 0 is people alone.
    """
    labelled = [one for one in scored if one.person is not None]
    others = [one for one in scored if one.person is None]
    n, rest = len(labelled), len(others)
    if n < 2:
        return Powered(
            mean=Measured(value=None, n=n, undefined="fewer than two runs of the sample are labelled"),
            se=None,
            reliance=0.0,
        )
    people = [one.person or 0.0 for one in labelled]
    by_grader = [one.grader for one in labelled]
    if reliance is None:
        reliance = _best_reliance(people, by_grader, [one.grader for one in others])
    if not rest:
        reliance = 0.0
    residuals = [person - reliance * grader for person, grader in zip(people, by_grader, strict=True)]
    middle = math.fsum(residuals) / n
    of_others = math.fsum(one.grader for one in others) / rest if rest else 0.0
    value = middle + reliance * of_others
    sums: dict[str, float] = {}
    for one, residual in zip(labelled, residuals, strict=True):
        sums[one.cluster] = sums.get(one.cluster, 0.0) + (residual - middle) / n
    for one in others:
        sums[one.cluster] = sums.get(one.cluster, 0.0) + reliance * (one.grader - of_others) / rest
    is_plain = len(sums) == n + rest
    factor = 1.0 if is_plain else len(sums) / (len(sums) - 1)
    square = factor * math.fsum(part * part for part in sums.values())
    if all(abs(person - grader) < 1e-12 for person, grader in zip(people, by_grader, strict=True)):
        square += 2 / (n + 2) ** 2
    se = math.sqrt(square)
    clusters = len({one.cluster for one in labelled})
    if clusters < 2:
        return Powered(mean=Measured(value=_share(value), n=n), se=se, reliance=reliance)
    # So many independent runs would have this error; near 0 and 1 Student's interval around the mean is too short.
    spread = value * (1 - value)
    effective = spread / square if square > 0 and spread > 0 else float(clusters)
    low, high = score_interval(_share(value), effective, student_quantile(LEVEL, clusters - 1))
    method = "prediction-powered" if is_plain else "prediction-powered, clustered"
    interval = Interval(low=low, high=high, level=LEVEL, method=method)
    return Powered(mean=Measured(value=_share(value), n=n, interval=interval), se=se, reliance=reliance)


def rogan_gladen(passed: int, n: int, *, hits: tuple[int, int], rejections: tuple[int, int]) -> Measured:
    """The pass rate that people would find, from the grader's pass rate and its two kinds of error.

    (rate + specificity - 1) / (sensitivity + specificity - 1), kept between 0 and 1. Undefined for a grader that is
    no better than chance. Source: Rogan and Gladen, Estimating prevalence from the results of a screening test,
    1978; the interval: Lang and Reiczigel, Confidence limits for prevalence of disease adjusted for estimated
    sensitivity and specificity, Preventive Veterinary Medicine 113, 2014.

    Args:
        passed: runs that the grader passes.
        n: runs that it graded.
        hits: of the runs that people pass, those that it passes, and how many there are.
        rejections: of the runs that people fail, those that it fails, and how many there are.
    """
    if not n or not hits[1] or not rejections[1]:
        return Measured(
            value=None, n=n, undefined="the sample has no run that people pass, or none that they fail"
        )
    youden = hits[0] / hits[1] + rejections[0] / rejections[1] - 1
    if youden <= 0:
        return Measured(value=None, n=n, undefined="the grader is no better than chance")
    value = (passed / n + rejections[0] / rejections[1] - 1) / youden
    z = normal_quantile(LEVEL)
    n_rate, n_hits, n_rejections = n + z * z, hits[1] + 2, rejections[1] + 2
    rate = (passed + z * z / 2) / n_rate
    sensitivity, specificity = (hits[0] + 1) / n_hits, (rejections[0] + 1) / n_rejections
    youden = sensitivity + specificity - 1
    if youden <= 0:
        return Measured(value=_share(value), n=n)
    middle = (rate + specificity - 1) / youden
    of_hits = sensitivity * (1 - sensitivity) / n_hits
    of_rejections = specificity * (1 - specificity) / n_rejections
    se = (
        math.sqrt(rate * (1 - rate) / n_rate + of_hits * middle**2 + of_rejections * (1 - middle) ** 2)
        / youden
    )
    middle += 2 * z * z * (middle * of_hits - (1 - middle) * of_rejections)
    interval = Interval(
        low=_share(middle - z * se), high=_share(middle + z * se), level=LEVEL, method="lang-reiczigel"
    )
    return Measured(value=_share(value), n=n, interval=interval)


def _best_reliance(people: Sequence[float], graded: Sequence[float], others: Sequence[float]) -> float:
    n, rest = len(people), len(others)
    everything = [*graded, *others]
    mean = math.fsum(everything) / len(everything)
    spread = math.fsum((one - mean) ** 2 for one in everything) / (len(everything) - 1)
    if not rest or spread <= 0:
        return 0.0
    mean_people, mean_graded = math.fsum(people) / n, math.fsum(graded) / n
    together = (
        math.fsum((a - mean_people) * (b - mean_graded) for a, b in zip(people, graded, strict=True)) / n
    )
    return min(1.0, max(0.0, together / ((1 + n / rest) * spread)))


def _share(value: float) -> float:
    return min(1.0, max(0.0, value))
