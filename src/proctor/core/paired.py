"""Statistics of paired differences: two sides over the same tests.

What is uncertain is which tests are in the suite and how each trial came out. Both show in how the tests' differences
differ, so that each test gives one difference, of the means over its trials, and the trials of a test are never taken
for independent evidence.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from proctor.core.intervals import normal_quantile, student_quantile
from proctor.records.estimate import Interval

if TYPE_CHECKING:
    from proctor.records.comparison import Correction

DRAWS: Final = 10_000
"""Random flips of signs, where there are too many to try all."""

MOST_EXACT: Final = 14
"""Differences other than 0 up to which all flips are tried."""

SEED: Final = 20260301
"""The same differences give the same p."""

POWER: Final = 0.8
"""How often a difference as large as the detectable one is found."""


def student_interval(differences: Sequence[float], level: float) -> Interval | None:
    """Student's interval of the mean of some differences from -1 to 1; None for fewer than two.

    Where all are the same they have no spread, which does not mean that there is none: then `agreeing_interval`.
    """
    n = len(differences)
    if n < 2:
        return None
    if statistics.stdev(differences) < 1e-9:
        return agreeing_interval(differences[0], n, level)
    found = mean_interval(differences, level)
    if found is None:
        return None
    return Interval(low=max(-1.0, found.low), high=min(1.0, found.high), level=level, method=found.method)


def mean_interval(values: Sequence[float], level: float) -> Interval | None:
    """Student's interval of the mean of any numbers; None for fewer than two."""
    n = len(values)
    if n < 2:
        return None
    middle = math.fsum(values) / n
    reach = student_quantile(level, n - 1) * statistics.stdev(values) / math.sqrt(n)
    return Interval(low=middle - reach, high=middle + reach, level=level, method="student")


def agreeing_interval(difference: float, n: int, level: float) -> Interval:
    """What `n` tests that all differ by the same say about the mean difference of all tests.

    A share q = z^2 / (n + z^2) of all tests, Wilson's upper bound for 0 of n, may be otherwise, by anything from -1 to
    1. For passes and fails with one trial each it is Tango's interval.
    """
    square = normal_quantile(level) ** 2
    share = square / (n + square)
    known = (1 - share) * difference
    return Interval(
        low=max(-1.0, known - share),
        high=min(1.0, known + share),
        level=level,
        method="all differ by the same",
    )


def tango_interval(gained: int, lost: int, n: int, level: float) -> Interval:
    """The score interval of the difference of two paired proportions, (gained - lost) / n.

    It holds every d with |gained - lost - n d| <= z sqrt(n (2 q + d (1 - d))), where q is the likeliest share of
    pairs that lose, given d. Source: Tango, Equivalence test and confidence interval for the difference in
    proportions for the paired-sample design, Statistics in Medicine 17 (1998), equations 4 and 5.

    Args:
        gained: pairs in which the base fails and the candidate passes.
        lost: pairs in which it is the other way round.
        n: all pairs, at least 1.
        level: how often the interval is to hold the true difference.
    """
    z = normal_quantile(level)
    observed = (gained - lost) / n

    def score(d: float) -> float:
        b = -gained - lost + (2 * n - gained + lost) * d
        c = -lost * d * (1 - d)
        q = (math.sqrt(max(0.0, b * b - 8 * n * c)) - b) / (4 * n)
        variance = n * (2 * q + d * (1 - d))
        away = gained - lost - n * d
        return (
            away / math.sqrt(variance) if variance > 1e-15 else math.copysign(math.inf, away) if away else 0.0
        )

    low = _root(lambda d: score(d) - z, -1.0, observed)
    high = _root(lambda d: score(d) + z, observed, 1.0)
    return Interval(low=low, high=high, level=level, method="tango")


def _root(falling: Callable[[float], float], low: float, high: float) -> float:
    """Where a falling function crosses 0; an end where it does not."""
    if falling(low) <= 0:
        return low
    if falling(high) >= 0:
        return high
    optimize: Any = import_module("scipy.optimize")
    return float(optimize.brentq(falling, low, high, xtol=1e-10))


def mcnemar(gained: int, lost: int) -> float:
    """How likely a split as uneven as this is when gaining and losing are equally likely, on both sides of even.

    The exact test, binomial. Source: McNemar, Note on the sampling error of the difference between correlated
    proportions or percentages, Psychometrika 12 (1947).
    """
    if not gained + lost:
        return 1.0
    stats: Any = import_module("scipy.stats")
    return float(stats.binomtest(gained, gained + lost).pvalue)


def sign_flips(differences: Sequence[float]) -> float:
    """How likely a mean as far from 0 as this is when each difference is as likely as its opposite.

    All flips of signs are tried, or 10,000 random ones, seeded. Differences of 0 have no sign to flip and change
    nothing. Source: Fisher, The Design of Experiments (1935), section 21.
    """
    moved = [one for one in differences if abs(one) > 1e-12]
    if not moved:
        return 1.0
    np: Any = import_module("numpy")
    sizes = np.abs(np.asarray(moved, dtype=float))
    observed = abs(math.fsum(moved)) - 1e-9
    n = len(moved)
    if n <= MOST_EXACT:
        flips = np.arange(2**n)[:, None] >> np.arange(n) & 1
        sums = np.abs((1 - 2 * flips) @ sizes)
        return float(np.count_nonzero(sums >= observed)) / 2**n
    chance = np.random.default_rng(SEED)
    extreme = 0
    for _ in range(10):
        flips = chance.integers(0, 2, size=(DRAWS // 10, n), dtype=np.int8)
        extreme += int(np.count_nonzero(np.abs((1 - 2 * flips) @ sizes) >= observed))
    # What was seen is one of the flips (Phipson and Smyth, 2010): p is never 0.
    return (extreme + 1) / (DRAWS + 1)


def corrected(chances: Sequence[float | None], how: Correction = "holm") -> list[float | None]:
    """The chances, corrected for their number; what is None is left out of it.

    `holm` bounds how often any of them misleads; `bh` the expected share of misleading ones among those that count
    as found. Sources: Holm, A simple sequentially rejective multiple test procedure (1979); Benjamini and Hochberg,
    Controlling the false discovery rate (1995).
    """
    known = sorted((p, place) for place, p in enumerate(chances) if p is not None)
    found: list[float | None] = [None] * len(chances)
    if how == "holm":
        reached = 0.0
        for rank, (p, place) in enumerate(known):
            reached = max(reached, min(1.0, p * (len(known) - rank)))
            found[place] = reached
        return found
    reached = 1.0
    for rank, (p, place) in reversed(list(enumerate(known, start=1))):
        reached = min(reached, p * len(known) / rank)
        found[place] = reached
    return found


def detectable(sd: float, n: int, alpha: float) -> float | None:
    """The smallest true mean difference that `n` tests whose differences have this deviation find four times of five.

    That at which the noncentral t distribution has a power of 0.8. Source: Cohen, Statistical Power Analysis for the
    Behavioral Sciences (1988), chapter 2. None where there is no spread to go by.
    """
    if n < 2 or sd < 1e-9:
        return None
    # scipy's own types are unknown to the type checker, and its import takes longer than most commands.
    optimize: Any = import_module("scipy.optimize")
    nct: Any = import_module("scipy.stats").nct
    bar = student_quantile(1 - alpha, n - 1)

    def missing(effect: float) -> float:
        shift = effect * math.sqrt(n)
        power = float(nct.sf(bar, n - 1, shift) + nct.cdf(-bar, n - 1, shift))
        return (power if math.isfinite(power) else 1.0) - POWER

    highest = (bar + 6) / math.sqrt(n) * 2
    return float(optimize.brentq(missing, 0.0, highest, xtol=1e-6)) * sd


def detectable_share(discordant: float, n: int, alpha: float) -> float | None:
    """The same for passes and fails with one trial a side, as McNemar's exact test finds them.

    Sums its power over how many of the `n` pairs differ, and how many of those gain. Source: Connor, Sample size for
    testing differences in proportions for the paired-sample design, Biometrics 43 (1987).

    Args:
        discordant: the share of pairs that differ; where the difference itself is larger, all that differ gain.
        n: all pairs.
        alpha: of the test.

    Returns:
        None where not even a difference of 1 is found that often.
    """
    np: Any = import_module("numpy")
    optimize: Any = import_module("scipy.optimize")
    binom: Any = import_module("scipy.stats").binom
    differing = np.arange(1, n + 1)
    # The most that may lose for the test to find something: the largest c with 2 P(X <= c) < alpha.
    most = binom.ppf(alpha / 2, differing, 0.5) - 1

    def missing(difference: float) -> float:
        share = min(1.0, max(discordant, difference))
        gain = (share + difference) / (2 * share)
        found = np.where(most >= 0, binom.cdf(most, differing, 1 - gain), 0.0)
        return float((binom.pmf(differing, n, share) * found).sum()) - POWER

    if missing(1.0) < 0:
        return None
    return float(optimize.brentq(missing, 1e-9, 1.0, xtol=1e-6))


def wanted_variance(value: float, margin: float, alpha: float) -> float:
    """How small the squared error of a mean difference must be to settle it, if the true one is what was seen.

    Within the margin it is settled once the interval of level 1 - 2 alpha lies within it; outside, once it is found
    four times of five; of the two the easier one counts. By the normal distribution.
    """
    one_sided = normal_quantile(1 - 2 * alpha)
    same = (margin - abs(value)) / one_sided if abs(value) < margin else 0.0
    other = abs(value) / (normal_quantile(1 - alpha) + statistics.NormalDist().inv_cdf(POWER))
    return max(same, other) ** 2


def agreeing_tests(difference: float, margin: float, alpha: float) -> int:
    """How many tests that all differ by the same settle it.

    Within the margin as many as make the interval of level 1 - 2 alpha lie within it; outside as many as make 2 of
    their 2^n flips less likely than alpha.
    """
    if abs(difference) >= margin:
        return math.floor(math.log2(2 / alpha)) + 1
    share = (margin - abs(difference)) / (1 + abs(difference))
    return math.ceil(normal_quantile(1 - 2 * alpha) ** 2 * (1 / share - 1))
