"""How many questions are under way at once."""

from __future__ import annotations

import email.utils

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.models.failures import retry_after
from proctor.models.limit import AdaptiveLimit
from proctor.models.patience import Patience


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


def test_the_limit_halves_once_for_questions_that_were_asked_together() -> None:
    """Eight that are turned away together halve it once; one that was asked afterwards halves it again."""
    limit = AdaptiveLimit(8, clock=Clock())
    with limit.place() as first, limit.place() as second:
        limit.halve(first)
        limit.halve(second)
    with limit.place() as later:
        limit.halve(later)

    assert 2 == limit.places


def test_the_limit_grows_by_one_for_each_round_that_went_well() -> None:
    """4 + 1/4 + 1/4.25 + 1/4.485 + 1/4.708 + 1/4.921 is the first sum of at least 5."""
    limit = AdaptiveLimit(4)
    grown: list[int] = []
    for _ in range(5):
        limit.grow()
        grown.append(limit.places)

    assert [4, 4, 4, 4, 5] == grown


@given(st.lists(st.booleans(), max_size=300))
def test_the_limit_stays_between_one_and_the_most(went_well: list[bool]) -> None:
    limit = AdaptiveLimit(8, 16, clock=Clock())
    for well in went_well:
        with limit.place() as at:
            limit.grow() if well else limit.halve(at)

        assert 1 <= limit.places <= 16


@given(st.integers(2, 12), st.floats(0, 1), st.none() | st.floats(0, 60))
def test_a_provider_is_never_asked_before_the_time_that_it_names(
    number: int, draw: float, asked_s: float | None
) -> None:
    wait_s = Patience(draw=lambda: draw).wait_before(number, asked_s)

    assert (asked_s or 0.0) <= wait_s <= (asked_s or 0.0) + 30


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "12"}, 12.0),
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25),
        ({"retry-after": email.utils.formatdate(1060, usegmt=True)}, 60.0),
        ({"retry-after": email.utils.formatdate(10, usegmt=True)}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-5"}, 0.0),
    ],
)
def test_retry_after_is_seconds_or_a_date(headers: dict[str, str], seconds: float | None) -> None:
    assert seconds == retry_after(headers, now=1000.0)
