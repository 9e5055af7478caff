"""How far two raters or many agree: counts, Cohen's kappa, Krippendorff's alpha, sensitivity and specificity."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import msgspec

from proctor.core.intervals import (
    LEVEL,
    incomplete_beta,
    normal_quantile,
    score_interval,
    student_quantile,
    wilson,
)
from proctor.records.agreement import Measured, Weighting
from proctor.records.estimate import Interval

DRAWS: Final = 2_000
"""Draws of a bootstrap."""


class Rated(msgspec.Struct, frozen=True):
    """One run that two raters rated.

    Attributes:
        cluster: what it belongs to: the runs of one test are no independent evidence.
        left: category of the one rater, from 0.
        right: category of the other.
    """

    cluster: str
    left: int
    right: int


def confusion(rated: Sequence[Rated], categories: int) -> tuple[tuple[int, ...], ...]:
    """How often each answer of the left one met each of the right one."""
    counts = [[0] * categories for _ in range(categories)]
    for one in rated:
        counts[one.left][one.right] += 1
    return tuple(tuple(row) for row in counts)


def raw_agreement(rated: Sequence[Rated]) -> Measured:
    """The share of runs on which both say the same.

    The interval is Wilson's; where tests have several runs, for the number of independent runs that would have the
    error that shows between tests.
    """
    n = len(rated)
    if not n:
        return Measured(value=None, n=0, undefined="no run was rated by both")
    same = sum(one.left == one.right for one in rated)
    value = same / n
    clusters = {one.cluster for one in rated}
    if len(clusters) == n or not 0 < value < 1 or len(clusters) < 2:
        return Measured(value=value, n=n, interval=wilson(same, n))
    se = _clustered_error([(one.cluster, float(one.left == one.right) - value) for one in rated])
    effective = min(float(n), value * (1 - value) / (se * se)) if se > 0 else float(len(clusters))
    low, high = score_interval(value, effective, student_quantile(LEVEL, len(clusters) - 1))
    return Measured(
        value=value, n=n, interval=Interval(low=low, high=high, level=LEVEL, method="wilson, clustered")
    )


def cohen_kappa(rated: Sequence[Rated], categories: int, weighting: Weighting = "none") -> Measured:
    """Cohen's kappa: the agreement beyond that of two raters who answer by chance, each as often as they do.

    kappa = (po - pe) / (1 - pe). Undefined when 1 - pe is 0: both always say the same one thing. With `quadratic`
    weights, answers that lie (i - j) apart of k agree by 1 - (i - j)^2 / (k - 1)^2.

    The interval is from the asymptotic standard error; the runs of one test are taken together. Source: Cohen, A
    coefficient of agreement for nominal scales, 1960, and Weighted kappa, 1968; Fleiss, Cohen, Everitt, Large sample
    standard errors of kappa and weighted kappa, Psychological Bulletin 72, 1969, formula 13. Where that error is 0,
    as for raters who never differ, it is Wilson's interval of the agreement, chance being as observed. Where one
    rater always gives the same answer, kappa is 0 whatever the other one does, and has no interval.
    """
    n = len(rated)
    if not n:
        return Measured(value=None, n=0, undefined="no run was rated by both")
    counts = confusion(rated, categories)
    weights = agreement_weights(categories, weighting)
    left = [sum(row) / n for row in counts]
    right = [sum(row[j] for row in counts) / n for j in range(categories)]
    every = [(i, j) for i in range(categories) for j in range(categories)]
    observed = sum(weights[i][j] * counts[i][j] for i, j in every) / n
    chance = sum(weights[i][j] * left[i] * right[j] for i, j in every)
    if 1 - chance < 1e-12:
        return Measured(value=None, n=n, undefined="both always give the same one answer")
    kappa = (observed - chance) / (1 - chance)
    of_left = [sum(right[j] * weights[i][j] for j in range(categories)) for i in range(categories)]
    of_right = [sum(left[i] * weights[i][j] for i in range(categories)) for j in range(categories)]

    def influence(one: Rated) -> float:
        i, j = one.left, one.right
        pull = weights[i][j] * (1 - chance) - (of_left[i] + of_right[j]) * (1 - observed)
        return (pull - (observed * chance - 2 * chance + observed)) / (1 - chance) ** 2

    clusters = {one.cluster for one in rated}
    se = _clustered_error([(one.cluster, influence(one)) for one in rated])
    if max(left) == 1 or max(right) == 1:
        return Measured(value=kappa, n=n, undefined="one of them always gives the same answer")
    if se < 1e-9 or len(clusters) < 2:
        low, high = score_interval(min(1.0, observed), len(clusters), normal_quantile(LEVEL))
        low, high = ((bound - chance) / (1 - chance) for bound in (low, high))
        method = "wilson of the agreement"
    else:
        is_plain = len(clusters) == n
        reach = se * (normal_quantile(LEVEL) if is_plain else student_quantile(LEVEL, len(clusters) - 1))
        low, high = kappa - reach, kappa + reach
        method = "asymptotic" if is_plain else "asymptotic, clustered"
    interval = Interval(low=max(-1.0, low), high=min(1.0, high), level=LEVEL, method=method)
    return Measured(value=kappa, n=n, interval=interval)


def agreement_weights(categories: int, weighting: Weighting) -> list[list[float]]:
    """How far two answers agree, 0 to 1."""
    if weighting == "none" or categories < 2:
        return [[float(i == j) for j in range(categories)] for i in range(categories)]
    far = (categories - 1) ** 2
    return [[1 - (i - j) ** 2 / far for j in range(categories)] for i in range(categories)]


def krippendorff_alpha(
    ratings: Mapping[str, Mapping[str, int]],
    clusters: Mapping[str, str],
    categories: int,
    *,
    is_ordinal: bool,
    draws: int = DRAWS,
) -> Measured:
    """Krippendorff's alpha over any number of raters, with gaps.

    The interval is a bootstrap's over tests, percentiles of `draws` draws with a fixed seed. Source: Hayes and
    Krippendorff, Answering the call for a standard reliability measure for coding data, 2007.

    Args:
        ratings: of each run the category that each rater gave.
        clusters: what each run belongs to.
        categories: how many there are.
        is_ordinal: they have an order.
        draws: of the bootstrap.

    Raises:
        ModuleNotFoundError: the library krippendorff is not installed.
    """
    pairable = {run: list(given.values()) for run, given in ratings.items() if len(given) > 1}
    if not pairable:
        return Measured(value=None, n=0, undefined="no run was rated by two people")
    if len({value for values in pairable.values() for value in values}) == 1:
        return Measured(value=None, n=len(pairable), undefined="all always give the same one answer")
    by_cluster: dict[str, list[list[int]]] = {}
    for run, values in pairable.items():
        row = [values.count(category) for category in range(categories)]
        by_cluster.setdefault(clusters[run], []).append(row)
    alpha = _alpha_of(categories, is_ordinal)
    rows = [row for of_cluster in by_cluster.values() for row in of_cluster]
    value = alpha(rows)
    interval = None
    if len(by_cluster) > 1:
        chance = random.Random(0)
        groups = list(by_cluster.values())
        found = sorted(
            drawn
            for _ in range(draws)
            if (drawn := alpha([row for group in chance.choices(groups, k=len(groups)) for row in group]))
            is not None
        )
        if found:
            low, high = (
                found[round(share * (len(found) - 1))] for share in ((1 - LEVEL) / 2, (1 + LEVEL) / 2)
            )
            interval = Interval(low=low, high=high, level=LEVEL, method="bootstrap over tests")
    return Measured(value=value, n=len(pairable), interval=interval)


def sensitivity(rated: Sequence[Rated], positive: int) -> Measured:
    """Of the runs to which the right one gives `positive`, the share to which the left one does too."""
    return _hit_rate([one for one in rated if one.right == positive], positive, "passes")


def specificity(rated: Sequence[Rated], positive: int) -> Measured:
    """Of the runs to which the right one gives another answer, the share to which the left one does not either."""
    wrong = [one for one in rated if one.right != positive]
    found = _hit_rate(wrong, positive, "fails")
    if found.value is None:
        return found
    return clopper_pearson(sum(one.left != positive for one in wrong), len(wrong))


def clopper_pearson(hits: int, n: int) -> Measured:
    """A share with its exact interval. Source: Clopper and Pearson, Biometrika 26, 1934."""
    tail = (1 - LEVEL) / 2
    low = 0.0 if hits == 0 else _quantile_of_beta(tail, hits, n - hits + 1)
    high = 1.0 if hits == n else _quantile_of_beta(1 - tail, hits + 1, n - hits)
    return Measured(
        value=hits / n, n=n, interval=Interval(low=low, high=high, level=LEVEL, method="clopper-pearson")
    )


def _hit_rate(rated: Sequence[Rated], positive: int, what: str) -> Measured:
    if not rated:
        return Measured(value=None, n=0, undefined=f"there is no run that the other one {what}")
    return clopper_pearson(sum(one.left == positive for one in rated), len(rated))


def _quantile_of_beta(share: float, a: float, b: float) -> float:
    low, high = 0.0, 1.0
    while high - low > 1e-12:
        middle = (low + high) / 2
        low, high = (middle, high) if incomplete_beta(a, b, middle) < share else (low, middle)
    return (low + high) / 2


def _clustered_error(influences: Sequence[tuple[str, float]]) -> float:
    """The standard error of a mean of influences that are dependent within clusters only."""
    sums: dict[str, float] = {}
    for cluster, influence in influences:
        sums[cluster] = sums.get(cluster, 0.0) + influence
    n, clusters = len(influences), len(sums)
    # For runs that are all independent it is the textbook's error, without the factor for few clusters.
    factor = clusters / (clusters - 1) if 1 < clusters < n else 1.0
    return math.sqrt(factor * math.fsum(one * one for one in sums.values())) / n


def _alpha_of(categories: int, is_ordinal: bool) -> Callable[[list[list[int]]], float | None]:
    import krippendorff
    import numpy as np

    domain = list(range(categories))

    def alpha(rows: list[list[int]]) -> float | None:
        counts: Any = np.array(rows)
        if int((counts.sum(axis=0) > 0).sum()) < 2:
            return None
        found = krippendorff.alpha(
            value_counts=counts,
            value_domain=domain,
            level_of_measurement="ordinal" if is_ordinal else "nominal",
        )
        return None if math.isnan(found) else float(found)

    return alpha
