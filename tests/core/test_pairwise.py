"""Who is compared with whom, who wins, and what all pairs say together: numbers worked by hand."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proctor.core.pairwise import (
    POINTS,
    Contender,
    Pair,
    align,
    clear_winner,
    decided,
    position_bias,
    row_of,
    win_rate,
    without_judge,
)
from proctor.records.run import Ending
from proctor.records.suite import Test
from proctor.records.verdict import PairAnswer, PairRow, Side, Winner

OTHER: dict[str, str] = {"A": "B", "B": "A", "tie": "tie"}


def contender(test: str = "t", trial: int = 1, *, goal: str | None = "g", **more: Any) -> Contender:
    given = {"run": f"{test}--{trial}", "ending": Ending.OK, "input_digest": "d", "output": "x", **more}
    return Contender(test=Test(id=test, goal=goal), trial=trial, **given)


def row(*answers: Winner | None, test: str = "t") -> PairRow:
    """A row with answers in the order A first, B first, A first, ..."""
    said = [
        PairAnswer(sample=1 + at // 2, shown_first="BA"[at % 2 == 0], winner=winner, reasoning=f"reason {at}")  # type: ignore[arg-type]
        for at, winner in enumerate(answers)
    ]
    pair = Pair(a=contender(test), b=contender(test), goal="g")
    return decided(row_of(pair), said)


def test_what_both_groups_hold_is_paired_and_the_rest_is_named() -> None:
    a = [contender("one"), contender("two", 1), contender("two", 2), contender("only-a")]
    b = [contender("two", 2), contender("two", 1), contender("only-b"), contender("one"), contender("one", 2)]
    found = align(a, b, goal=None)

    assert [("one", 1), ("two", 1), ("two", 2)] == [(pair.a.test.id, pair.a.trial) for pair in found.pairs]
    assert [
        ("only-a", "A", "only A holds it"),
        ("only-b", "B", "only B holds it"),
        ("one", "B", "only B holds it"),
    ] == [(one.test, one.held_by, one.reason) for one in found.unpaired]


@pytest.mark.parametrize(
    ("a", "b", "reason"),
    [
        (contender(goal=None), contender(goal=None), "the test has no goal; --goal gives one"),
        (contender(goal="x"), contender(goal="y"), "the goal of the test differs between A and B"),
        (contender(), contender(input_digest="e"), "the two agents were given different inputs"),
        (contender(), contender(ending=Ending.INTERRUPTED, is_evidence=False), "the run in B says nothing about its agent: it ended interrupted"),
        (contender(trouble="torn"), contender(), "the run in A cannot be read: torn"),
    ],
)  # fmt: skip
def test_what_cannot_be_compared_says_why(a: Contender, b: Contender, reason: str) -> None:
    found = align([a], [b], goal=None)

    assert () == found.pairs
    assert [(reason, "both")] == [(one.reason, one.held_by) for one in found.unpaired]


def test_the_goal_of_the_test_comes_before_the_goal_of_the_command() -> None:
    own, none = (
        align([contender(goal=goal)], [contender(goal=goal)], goal="asked") for goal in ("own", None)
    )

    assert ["own", "asked"] == [found.pairs[0].goal for found in (own, none)]


def test_two_single_runs_are_a_pair_whatever_their_names() -> None:
    a, b = [contender("left", 2)], [contender("right", 1, goal=None)]

    assert 1 == len(align(a, b, goal=None, are_single=True).pairs)
    assert () == align(a, b, goal=None).pairs


@pytest.mark.parametrize(
    ("ending_a", "ending_b", "winner"),
    [(Ending.OK, Ending.TIMEOUT, "A"), (Ending.ERROR, Ending.OK, "B"), (Ending.ERROR, Ending.TIMEOUT, "tie")],
)
def test_an_agent_that_did_not_end_well_loses_without_a_judge(
    ending_a: Ending, ending_b: Ending, winner: Winner
) -> None:
    pair = Pair(a=contender(ending=ending_a), b=contender(ending=ending_b), goal="g")
    found = without_judge(pair, sees_files=False)

    assert found is not None
    assert (winner, POINTS[winner], "ending") == (found.winner, found.share, found.decided_by)
    assert "ended " in found.reason


def test_equal_outputs_tie_without_a_judge_unless_it_sees_files() -> None:
    same = Pair(a=contender(output={"a": 1}), b=contender(output={"a": 1.0}), goal="g")
    nothing = Pair(a=contender(output=None), b=contender(output=None), goal="g")

    assert "same" == without_judge(same, sees_files=False).decided_by  # type: ignore[union-attr]
    assert None is without_judge(same, sees_files=True)
    assert None is without_judge(nothing, sees_files=False)


@pytest.mark.parametrize(
    ("answers", "winner", "share"),
    [
        (("A", "A"), "A", 1.0),
        (("B", "B"), "B", 0.0),
        (("A", "B"), "tie", 0.5),  # prefers what stands first
        (("B", "A"), "tie", 0.5),  # prefers what stands second
        (("A", "tie"), "A", 0.75),
        (("tie", "tie"), "tie", 0.5),
        (("A", "A", "B", "A"), "A", 0.75),
        (("A", None), None, None),
        (("A", None, "B", "B"), "B", 0.0),  # only the whole sample counts
    ],
)
def test_a_pair_is_won_with_more_than_half_of_the_points(
    answers: tuple[Winner | None, ...], winner: Winner | None, share: float | None
) -> None:
    found = row(*answers)

    assert (winner, share) == (found.winner, found.share)
    assert len(answers) == len(found.answers)


def test_a_judge_who_prefers_a_place_is_found_out() -> None:
    """4 of 6 answers for the first, 1 for the second, 1 tie: (4 + 0.5) / 6 = 0.75, if each test weighs the same."""
    found = position_bias([row("A", "B", test="x"), row("A", "B", test="y"), row("B", "tie", test="z")])

    assert found is not None
    assert (4, 1, 1) == (found.first, found.second, found.ties)
    # x and y: 1 each. z: the second was preferred once, and once nobody: (0 + 0.5) / 2.
    assert (1 + 1 + 0.25) / 3 == found.share.value
    assert (0, 3) == (found.agreed, found.samples)


def test_a_judge_without_a_preference_has_none() -> None:
    found = position_bias([row("A", "A"), row("B", "B", test="u")])

    assert found is not None
    assert (0.5, 2, 2) == (found.share.value, found.agreed, found.samples)
    assert None is position_bias([row("A", None)])


def test_the_win_rate_averages_over_tests_and_has_an_interval() -> None:
    """Test x was tried three times (1, 1, 0), y once (0.5): (2/3 + 1/2) / 2."""
    rows = [
        row("A", "A", test="x"),
        row("A", "A", test="x"),
        row("B", "B", test="x"),
        row("A", "B", test="y"),
    ]
    rate = win_rate([*rows, row("A", None, test="z")])

    assert ((2 / 3 + 1 / 2) / 2, 2, 4) == (rate.value, rate.tests, rate.trials)
    assert rate.interval is not None
    assert None is clear_winner(rate)
    assert None is win_rate([]).value


def test_a_winner_is_named_only_beyond_doubt() -> None:
    sweep = win_rate([row("B", "B", test=f"t{number}") for number in range(8)])
    close = win_rate(
        [row(*side, test=f"t{at}") for at, side in enumerate([("A", "A")] * 5 + [("B", "B")] * 3)]
    )

    assert "B" == clear_winner(sweep)
    assert None is clear_winner(close)


ANSWERS = st.lists(st.sampled_from(["A", "B", "tie", None]), min_size=2, max_size=8).filter(
    lambda a: len(a) % 2 == 0
)


@settings(deadline=None)
@given(st.lists(ANSWERS, min_size=1, max_size=6))
def test_swapping_the_groups_swaps_the_verdict(drawn: list[list[Winner | None]]) -> None:
    """Nothing depends upon which group is called A."""

    def swapped(said: PairAnswer) -> PairAnswer:
        other: Side = "B" if said.shown_first == "A" else "A"
        winner = None if said.winner is None else OTHER[said.winner]
        return PairAnswer(sample=said.sample, shown_first=other, winner=winner)  # type: ignore[arg-type]

    rows = [row(*answers, test=f"t{at}") for at, answers in enumerate(drawn)]
    other = [decided(one, [swapped(said) for said in one.answers]) for one in rows]

    assert [None if one.winner is None else OTHER[one.winner] for one in rows] == [
        one.winner for one in other
    ]
    ours, theirs = win_rate(rows), win_rate(other)
    assert ours.value is None or pytest.approx(1 - ours.value) == theirs.value
    before, after = position_bias(rows), position_bias(other)
    assert (before is None) == (after is None)
    if before is not None and after is not None:
        assert (before.first, before.second, before.agreed) == (after.first, after.second, after.agreed)
