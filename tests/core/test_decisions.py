"""The decision of `compare`, tried on worlds of which the truth is known, with fixed seeds."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

from decisions import World, simulate  # pyright: ignore


def test_equal_sides_are_rarely_told_apart_where_a_test_over_trials_is_often_fooled() -> None:
    """8 tests with 10 trials, that a change moves by 0.3 up or down: at most 5 % by design, and one in five."""
    found = simulate(World(8, 10, 0.3), 150)

    assert found.alarms <= 0.09
    assert found.naive >= 0.12
    assert found.difference_held >= 0.9
    assert found.mean_held >= 0.9


def test_the_promised_difference_is_found_about_four_times_of_five() -> None:
    """Scores of 12 tests with one trial each; a candidate at the margin is hardly ever called the same."""
    found = simulate(World(12, 1, 0.1, False), 150)

    assert 0.68 <= found.power <= 0.92
    assert found.alarms <= 0.09
    assert found.wrongly_same <= 0.09
