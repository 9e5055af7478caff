"""Choosing tests of a suite."""

from __future__ import annotations

from pathlib import Path

import pytest

from proctor.errors import UsageError
from proctor.loading import Selection, select, split_tags
from proctor.records.suite import Suite, SuiteTest, Test

SUITE = Suite(
    name="refunds",
    source="refunds",
    root=Path(),
    tests=tuple(
        SuiteTest(test=Test(id=test_id, tags=tags), where="")
        for test_id, tags in (("late", ("smoke", "eu")), ("early", ("us",)), ("Late-2", ("eu",)), ("ä", ()))
    ),
)
KNOWN = "Tests: late, early, Late-2, ä. Tags: smoke, eu, us."
MANY = Suite(
    name="many",
    source="many",
    root=Path(),
    tests=tuple(SuiteTest(test=Test(id=f"t{number}"), where="") for number in range(200)),
)


def ids(suite: Suite) -> list[str]:
    return [entry.test.id for entry in suite.tests]


@pytest.mark.parametrize(
    ("selection", "chosen"),
    [
        (Selection(), ["late", "early", "Late-2", "ä"]),
        (Selection(tests=("late",)), ["late"]),
        (Selection(tests=("L*",)), ["Late-2"]),
        (Selection(tests=("*ly", "[Ll]ate*")), ["late", "early", "Late-2"]),
        (Selection(tests=("a\u0308",)), ["ä"]),
        (Selection(tags=("eu",)), ["late", "Late-2"]),
        (Selection(tags=("eu", "smoke")), ["late"]),
        (Selection(tests=("L*",), tags=("eu",)), ["Late-2"]),
        (Selection(limit=2), ["late", "early"]),
        (Selection(tags=("eu",), limit=1), ["late"]),
        (Selection(sample=9), ["late", "early", "Late-2", "ä"]),
    ],
)
def test_a_test_is_taken_when_any_glob_and_all_tags_match(selection: Selection, chosen: list[str]) -> None:
    """Globs are case-sensitive and match whole ids; tags must all be there; the limit comes last."""
    assert chosen == ids(select(SUITE, selection))


def test_a_sample_keeps_order_and_repeats_with_its_seed() -> None:
    """The same seed draws the same tests, another seed others, always in the suite's order."""
    first = ids(select(MANY, Selection(sample=20, seed=1)))
    order = ids(MANY)

    assert first == ids(select(MANY, Selection(sample=20, seed=1)))
    assert first != ids(select(MANY, Selection(sample=20, seed=2)))
    assert (20, sorted(first, key=order.index)) == (len(first), first)


def test_a_longer_sample_contains_the_shorter_one() -> None:
    """Raising the number of a sample adds tests and drops none."""
    assert set(ids(select(MANY, Selection(sample=20)))) < set(ids(select(MANY, Selection(sample=30))))


@pytest.mark.parametrize(
    ("selection", "message"),
    [
        (
            Selection(tests=("late", "erly")),
            f"refunds  No test matches --test erly.\n    Did you mean early? {KNOWN}",
        ),
        (
            Selection(tags=("eu", "usa")),
            f"refunds  No test has the tag usa.\n    Did you mean us? {KNOWN}",
        ),
        (
            Selection(tags=("smoke", "us")),
            f"refunds  No test has all of the tags smoke, us.\n    {KNOWN}",
        ),
        (
            Selection(tests=("early",), tags=("eu",)),
            f"refunds  No test matches both --test and --tags.\n    {KNOWN}",
        ),
        (Selection(limit=0), "--limit  --limit is 0.\n    Give a whole number from 1."),
    ],
)
def test_a_filter_that_takes_nothing_says_what_there_is(selection: Selection, message: str) -> None:
    """Every glob and every tag must match something; the message lists ids, and tags as they first appear."""
    with pytest.raises(UsageError) as caught:
        select(SUITE, selection)

    assert message == str(caught.value)


def test_a_long_list_of_ids_is_cut_with_a_count() -> None:
    """Twenty ids are listed, the others counted."""
    with pytest.raises(UsageError, match=r"t19 and 180 more\. Tags: none\."):
        select(MANY, Selection(tests=("nope",)))


def test_tags_are_split_at_commas() -> None:
    """Tags may be given together and one by one, with blanks."""
    assert split_tags(["a, b", "", "c,"]) == ("a", "b", "c")
