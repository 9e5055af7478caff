"""How often the decision of `proctor compare` is wrong, and how often it finds what it promises: a simulation.

    python benchmarks/decisions.py [REPETITIONS]

Each repetition draws tests from a world, runs both sides over them, and decides. Seeds are fixed.

* false alarms: the two sides are equal on average, though not on each test: a change helps some tests and hurts
  others. Nominal is 5 %. `naive` is McNemar's test over trials (for scores: the paired t test over trials), which
  takes the trials of one test for independent evidence.
* power: the candidate is better by the difference that `detectable` promises to find four times of five.
* same: the candidate is worse by exactly the margin; to call it the same is wrong, and may happen in 5 %.
* intervals: how often that of a mean over tests, and that of a difference, hold the truth. Nominal is 95 %.
"""

from __future__ import annotations

import random
import statistics
import sys
from typing import NamedTuple

from scipy import stats

from proctor.core.comparison import Rules, difference
from proctor.core.intervals import clustered
from proctor.core.paired import detectable, detectable_share, mcnemar
from proctor.records.comparison import Verdict

RULES = Rules(margin=0.02)
Pair = tuple[list[float], list[float]]


class World(NamedTuple):
    """What is true.

    Attributes:
        tests: how many there are.
        trials: of each test on each side.
        effect: how far the sides differ on a test, as a standard deviation; on average they do by `shift`.
        is_binary: a trial passes or fails; else it has a score around the test's.
    """

    tests: int
    trials: int
    effect: float
    is_binary: bool = True


WORLDS = (
    World(20, 1, 0.0),
    World(20, 1, 0.2),
    World(20, 5, 0.2),
    World(50, 1, 0.2),
    World(50, 5, 0.2),
    World(50, 10, 0.3),
    World(8, 10, 0.3),
    World(12, 1, 0.1, False),
    World(30, 5, 0.1, False),
)


class Result(NamedTuple):
    """Shares of the repetitions."""

    alarms: float
    naive: float
    promised: float
    power: float
    wrongly_same: float
    mean_held: float
    difference_held: float


def draw(world: World, chance: random.Random, shift: float = 0.0) -> list[Pair]:
    """Both sides' values of each test. Rates stay within 0 and 1, so that the shift is what was asked for."""
    pairs: list[Pair] = []
    for _ in range(world.tests):
        effect = world.effect if chance.random() < 0.5 else -world.effect
        reach = (world.effect + abs(shift)) / 2
        middle = chance.uniform(reach, 1 - reach)
        rates = (middle - (effect + shift) / 2, middle + (effect + shift) / 2)
        base, candidate = ([value(rate, world, chance) for _ in range(world.trials)] for rate in rates)
        pairs.append((base, candidate))
    return pairs


def value(rate: float, world: World, chance: random.Random) -> float:
    """One trial, with this mean."""
    if world.is_binary:
        return float(chance.random() < rate)
    reach = min(rate, 1 - rate, 0.15)
    return rate + chance.uniform(-reach, reach)


def naive(pairs: list[Pair], world: World) -> float:
    """How likely chance is, for somebody who takes each trial for a test."""
    differences = [
        after - before for base, candidate in pairs for before, after in zip(base, candidate, strict=True)
    ]
    if world.is_binary:
        return mcnemar(sum(one > 0 for one in differences), sum(one < 0 for one in differences))
    return float(stats.ttest_1samp(differences, 0).pvalue)


def promised(world: World, chance: random.Random) -> float:
    """The detectable difference of this world, from the spread that many tests show when there is that difference."""
    effect = 0.0
    for _ in range(5):
        large = draw(world._replace(tests=4000), chance, effect)
        differences = [statistics.fmean(after) - statistics.fmean(before) for before, after in large]
        if world.is_binary and world.trials == 1:
            discordant = sum(map(bool, differences)) / len(differences)
            found = detectable_share(discordant, world.tests, RULES.alpha)
        else:
            found = detectable(statistics.stdev(differences), world.tests, RULES.alpha)
        assert found is not None
        effect = min(found, 0.99 - world.effect)
    return effect


def simulate(world: World, repetitions: int, seed: int = 1) -> Result:
    """All figures of one world."""
    chance = random.Random(f"{seed} {world}")
    effect = promised(world, chance)
    alarms = fooled = found = same = held = difference_held = 0
    for _ in range(repetitions):
        equal = draw(world, chance)
        decided = difference("objective", equal, RULES)
        alarms += decided.verdict in (Verdict.BETTER, Verdict.WORSE)
        fooled += naive(equal, world) < RULES.alpha
        interval = decided.interval
        difference_held += interval is not None and interval.low <= 0 <= interval.high
        mean = clustered([base for base, _ in equal]).interval
        held += mean is not None and mean.low <= 0.5 <= mean.high
        better = draw(world, chance, effect)
        found += difference("objective", better, RULES).verdict is Verdict.BETTER
        worse = draw(world, chance, -RULES.margin)
        same += difference("objective", worse, RULES).verdict is Verdict.SAME
    shares = [count / repetitions for count in (alarms, fooled, found, same, held, difference_held)]
    return Result(
        alarms=shares[0],
        naive=shares[1],
        promised=effect,
        power=shares[2],
        wrongly_same=shares[3],
        mean_held=shares[4],
        difference_held=shares[5],
    )


def main(repetitions: int = 1000) -> None:
    """Print the table."""
    print(f"{repetitions} repetitions; in percent")
    print(
        "tests trials effect values  false alarms  naive  promised  power  wrongly same  mean held  difference held"
    )
    for world in WORLDS:
        one = simulate(world, repetitions)
        kind = "binary" if world.is_binary else "scores"
        print(
            f"{world.tests:5} {world.trials:6} {world.effect:6.2f} {kind}  {one.alarms:12.1%}  {one.naive:5.1%}  "
            f"{one.promised:8.3f}  {one.power:5.1%}  {one.wrongly_same:12.1%}  {one.mean_held:9.1%}  "
            f"{one.difference_held:15.1%}"
        )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
