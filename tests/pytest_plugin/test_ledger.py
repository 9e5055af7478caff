"""The budget of an invocation is one for all of its processes."""

from __future__ import annotations

from pathlib import Path

import pytest

from proctor.pytesting.ledger import Ledger


def test_what_one_process_spends_another_has_no_longer(tmp_path: Path) -> None:
    """Worked by hand: 1.00 - 0.25 - 0.50 leaves 0.25, and nothing is left once more than that is spent."""
    one, two = Ledger(tmp_path, 1.0, None), Ledger(tmp_path, 1.0, None)

    assert (1.0, None) == (one.left_usd(), one.used_up())
    one.spend(0.25)
    two.spend(0.5)
    assert (0.25, 0.25) == (one.left_usd(), two.left_usd())
    one.spend(0.5)
    assert (0.0, "max-cost") == (two.left_usd(), two.used_up())


def test_without_a_limit_nothing_is_written(tmp_path: Path) -> None:
    """And nothing is ever used up."""
    ledger = Ledger(tmp_path, None, None)
    ledger.spend(1_000_000.0)

    assert (None, None, None) == (ledger.left_usd(), ledger.left_s(), ledger.used_up())
    assert [] == list(tmp_path.iterdir())


def test_time_is_used_up_too(tmp_path: Path) -> None:
    """Of all processes alike, since they start together."""
    assert "max-time" == Ledger(tmp_path, None, 0.0).used_up()
    left = Ledger(tmp_path, None, 1000.0).left_s()

    assert left == pytest.approx(1000.0, abs=100.0)
