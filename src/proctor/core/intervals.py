"""Intervals for means of numbers from 0 to 1 that come in clusters: the trials of each test.

Means, pass rates included, average over tests, each test being the average of its trials. What is uncertain
about such a mean is which tests were in the suite, and how each trial came out; both show in how the tests'
averages differ, so that the standard error is that of the averages and needs no model of the trials. Never is an
interval of Wald's form made (estimate plus and minus some errors): near 0 and 1 it promises far too much.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import Final

from proctor.records.estimate import Estimate, Interval

LEVEL: Final = 0.95
"""How often an interval holds what it is an interval for."""


def score_interval(mean: float, n: float, quantile: float) -> tuple[float, float]:
    """The means that `n` independent trials with this observed mean do not contradict.

    It solves (mean - m)^2 = quantile^2 * m(1 - m) / n for m. Source: Wilson, Probable inference, the law of
    succession, and statistical inference, JASA 22 (1927).

    Args:
        mean: from 0 to 1.
        n: above 0, and not necessarily a whole number.
        quantile: of the normal distribution, or of Student's where the variance is estimated.
    """
    square = quantile * quantile
    middle = (mean + square / (2 * n)) / (1 + square / n)
    reach = quantile / (1 + square / n) * math.sqrt(mean * (1 - mean) / n + square / (4 * n * n))
    return max(0.0, middle - reach), min(1.0, middle + reach)


def wilson(passed: int, n: int, *, level: float = LEVEL) -> Interval | None:
    """The interval of a share of independent trials; None for none of them."""
    if n < 1:
        return None
    low, high = score_interval(passed / n, n, normal_quantile(level))
    return Interval(low=low, high=high, level=level, method="wilson")


def clustered(tests: Sequence[Sequence[float]], *, level: float = LEVEL) -> Estimate:
    """The mean over tests of the means of their trials, with its standard error and interval.

    The interval is Wilson's, for the number of independent trials that would have the standard error that was
    observed (the effective sample size of Korn and Graubard, Confidence intervals for proportions with small
    expected number of positive counts estimated from survey data, Survey Methodology 24, 1998), with Student's
    quantile where that error is estimated. Where all tests average to the same, the tests count as trials.

    Args:
        tests: of each test the values of its trials, each from 0 to 1; tests without any are left out.
        level: how often the interval is to hold the true mean.

    Returns:
        Without a standard error where there is one test with one trial, and without any number where there is
        nothing. For a single test the interval is about that test alone: its trials are what varies.
    """
    known = [list(values) for values in tests if values]
    trials = sum(map(len, known))
    if not known:
        return Estimate(value=None, tests=0, trials=0)
    means = [math.fsum(values) / len(values) for values in known]
    value = math.fsum(means) / len(means)
    units = known[0] if len(known) == 1 else means
    n = len(units)
    se = math.sqrt(variance(units) / n) if n > 1 else None
    is_plain = all(one in (0.0, 1.0) for one in units) and (len(known) == 1 or trials == n)
    if n == 1 and not is_plain:
        return Estimate(value=value, tests=len(known), trials=trials)
    quantile = normal_quantile(level) if is_plain else student_quantile(level, n - 1)
    low, high = score_interval(min(1.0, value), _effective(value, se, n), quantile)
    method = "wilson" if is_plain else "wilson, clustered"
    return Estimate(
        value=value,
        tests=len(known),
        trials=trials,
        se=se,
        interval=Interval(low=min(low, value), high=max(high, value), level=level, method=method),
    )


def _effective(value: float, se: float | None, n: int) -> float:
    """How many independent passes and fails would have this standard error."""
    spread = value * (1 - value)
    if se is None or se <= 1e-12 or spread <= 0:
        return n
    # The factor makes it n itself for passes and fails with one trial a test.
    return spread / (se * se * (n - 1) / n)


def variance(values: Sequence[float]) -> float:
    """The variance of a sample of two or more, the same in whatever order.

    That of the standard library works with fractions, and takes ten times as long.
    """
    middle = math.fsum(values) / len(values)
    return math.fsum((value - middle) ** 2 for value in values) / (len(values) - 1)


def normal_quantile(level: float) -> float:
    """How many standard deviations around the mean of a normal distribution hold this share of it."""
    return NormalDist().inv_cdf((1 + level) / 2)


def student_quantile(level: float, freedom: float) -> float:
    """How far around 0 this share of Student's distribution reaches; `freedom` is its degrees of freedom.

    The light core does without scipy, whose import takes longer than a grading; its values are checked against
    scipy's in the tests.
    """
    if freedom == math.inf:
        return normal_quantile(level)
    low, high = 0.0, 1.0
    while _student_within(high, freedom) < level:
        low, high = high, high * 2
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if _student_within(middle, freedom) < level else (low, middle)
    return (low + high) / 2


def _student_within(reach: float, freedom: float) -> float:
    """The share of Student's distribution within `reach` of 0."""
    return 1 - incomplete_beta(freedom / 2, 0.5, freedom / (freedom + reach * reach))


def incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function I_x(a, b), from 0 to 1.

    By its continued fraction, evaluated as Lentz does. Source: DLMF 8.17.22.
    """
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - incomplete_beta(b, a, 1 - x)
    front = math.exp(
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    )
    return front * _continued(a, b, x) / a


def _continued(a: float, b: float, x: float) -> float:
    numerator, denominator = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    value = denominator
    for step in range(1, 10_000):
        before = value
        for term in (
            step * (b - step) * x / ((a + 2 * step - 1) * (a + 2 * step)),
            -(a + step) * (a + b + step) * x / ((a + 2 * step) * (a + 2 * step + 1)),
        ):
            denominator = 1 / (1 + term * denominator)
            numerator = 1 + term / numerator
            value *= numerator * denominator
        if abs(value - before) <= 1e-15 * abs(value):
            break
    return value
