"""How often the corrected intervals of `proctor agree` hold the truth: a simulation with a judge that errs.

    python benchmarks/corrected_intervals.py [REPETITIONS]

Each repetition draws runs from a world in which people pass a known share of them, lets a judge err, draws a random
sample for people, and asks whether the interval holds that share. Nominal is 95 %. `raw` is the judge's own rate
with its interval, as if it never erred.
"""

from __future__ import annotations

import math
import random
import sys
from typing import NamedTuple

from proctor.core.corrected import Scored, prediction_powered, rogan_gladen
from proctor.core.intervals import wilson


class World(NamedTuple):
    """What is true.

    Attributes:
        rate: share of runs that people pass.
        hit: of those, the share that the judge passes.
        rejection: of the others, the share that the judge fails.
        runs: how many there are.
        sample: how many people look at.
        trials: runs of each test; more than one are alike.
    """

    rate: float
    hit: float
    rejection: float
    runs: int
    sample: int
    trials: int = 1


WORLDS = (
    World(0.7, 0.9, 0.7, 1000, 100),
    World(0.7, 0.9, 0.7, 400, 50),
    World(0.5, 0.75, 0.75, 1000, 200),
    World(0.9, 0.95, 0.6, 1000, 100),
    World(0.8, 0.98, 0.95, 1000, 60),
    World(0.6, 0.6, 0.6, 500, 100),
    World(0.7, 0.9, 0.7, 600, 120, 3),
)


class Result(NamedTuple):
    """What an estimator did: how often its interval held the truth, its mean width, its mean error."""

    held: float
    width: float
    bias: float


def simulate(world: World, repetitions: int, seed: int = 0) -> dict[str, Result]:
    """The estimators' results in one world."""
    chance = random.Random(seed)
    found: dict[str, list[tuple[bool, float, float]]] = {}
    for _ in range(repetitions):
        for name, value, low, high in _estimates(world, chance):
            found.setdefault(name, []).append((low <= world.rate <= high, high - low, value - world.rate))
    return {
        name: Result(*(math.fsum(float(one[part]) for one in all_of) / len(all_of) for part in range(3)))
        for name, all_of in found.items()
    }


def _estimates(world: World, chance: random.Random) -> list[tuple[str, float, float, float]]:
    people, judge, tests = [], [], []
    for test in range(world.runs // world.trials):
        # The trials of a test are alike: with several, each passes with the test's own rate.
        own = world.rate if world.trials == 1 else chance.betavariate(2 * world.rate, 2 * (1 - world.rate))
        for _ in range(world.trials):
            person = chance.random() < own
            people.append(person)
            judge.append(chance.random() < (world.hit if person else 1 - world.rejection))
            tests.append(str(test))
    drawn = set(chance.sample(range(len(people)), world.sample))
    scored = [
        Scored(tests[run], float(judge[run]), float(people[run]) if run in drawn else None)
        for run in range(len(people))
    ]
    passed = [run for run in drawn if people[run]]
    failed = [run for run in drawn if not people[run]]
    raw = wilson(sum(judge), len(judge))
    alone = wilson(len(passed), len(drawn))
    powered = prediction_powered(scored).mean
    gladen = rogan_gladen(
        sum(judge),
        len(judge),
        hits=(sum(judge[run] for run in passed), len(passed)),
        rejections=(sum(not judge[run] for run in failed), len(failed)),
    )
    assert raw is not None
    assert alone is not None
    found = [
        ("raw", sum(judge) / len(judge), raw.low, raw.high),
        ("people alone", len(passed) / len(drawn), alone.low, alone.high),
    ]
    for name, one in (("corrected", powered), ("rogan-gladen", gladen)):
        if one.interval is not None and one.value is not None:
            found.append((name, one.value, one.interval.low, one.interval.high))
    return found


def main() -> None:
    """Print a table."""
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    print(f"{repetitions} repetitions; nominal 0.950")
    print("rate  hits  rejects   runs  sample  trials  estimator      held   width   bias")
    for world in WORLDS:
        for name, result in simulate(world, repetitions).items():
            print(
                f"{world.rate:.2f}  {world.hit:.2f}  {world.rejection:.2f}    {world.runs:>6}  {world.sample:>6}"
                f"  {world.trials:>6}  {name:<13} {result.held:.3f}   {result.width:.3f}  {result.bias:+.3f}"
            )


if __name__ == "__main__":
    main()
