"""Comparing two groups pair by pair: who is compared with whom, who wins a pair, and what all pairs say together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from proctor.core.intervals import clustered
from proctor.records.estimate import Estimate
from proctor.records.json_value import Json, json_equal
from proctor.records.run import Ending
from proctor.records.suite import Test
from proctor.records.verdict import PairAnswer, PairRow, PositionBias, Side, Unpaired, Winner

POINTS: Final[Mapping[Winner, float]] = {"A": 1.0, "tie": 0.5, "B": 0.0}
"""What an answer is worth to A."""


class Contender(msgspec.Struct, frozen=True, kw_only=True):
    """A run as one side of a pair.

    Attributes:
        run: name of its directory.
        test: the test.
        trial: number of the trial.
        ending: how it ended.
        is_evidence: False where it says nothing about its agent: interrupted, or the fault of somebody else.
        input_digest: of what the agent was given.
        output: what it answered.
        trouble: why its record cannot be read; empty when it can.
    """

    run: str
    test: Test
    trial: int
    ending: Ending
    is_evidence: bool = True
    input_digest: str
    output: Json = None
    trouble: str = ""


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    """Two runs that are to be compared."""

    a: Contender
    b: Contender
    goal: str


class Aligned(msgspec.Struct, frozen=True, kw_only=True):
    """Who is compared with whom, and who with nobody."""

    pairs: tuple[Pair, ...]
    unpaired: tuple[Unpaired, ...]


def align(
    a: Sequence[Contender], b: Sequence[Contender], *, goal: str | None, are_single: bool = False
) -> Aligned:
    """Pair the runs of two groups by test and trial.

    Args:
        a: the runs of the first group that count, one a trial.
        b: those of the second.
        goal: holds where a test has none of its own.
        are_single: both are one run that was named by itself: they are a pair whatever their tests are called.
    """
    theirs = {(one.test.id, one.trial): one for one in b}
    if are_single and len(a) == len(b) == 1:
        theirs = {(a[0].test.id, a[0].trial): b[0]}
    pairs: list[Pair] = []
    unpaired: list[Unpaired] = []
    for ours in a:
        other = theirs.pop((ours.test.id, ours.trial), None)
        wanted = ours.test.goal or (other.test.goal if are_single and other is not None else None) or goal
        why = "only A holds it" if other is None else _obstacle(ours, other, wanted, are_single=are_single)
        if other is None or why:
            held_by = "A" if other is None else "both"
            unpaired.append(Unpaired(test=ours.test.id, trial=ours.trial, held_by=held_by, reason=why))
        else:
            pairs.append(Pair(a=ours, b=other, goal=wanted or ""))
    unpaired += [
        Unpaired(test=one.test.id, trial=one.trial, held_by="B", reason="only B holds it")
        for one in theirs.values()
    ]
    return Aligned(pairs=tuple(pairs), unpaired=tuple(unpaired))


def _obstacle(a: Contender, b: Contender, goal: str | None, *, are_single: bool) -> str:
    """Why two runs of one trial cannot be compared; empty when they can."""
    for side, one in (("A", a), ("B", b)):
        if one.trouble:
            return f"the run in {side} cannot be read: {one.trouble}"
        if not one.is_evidence:
            return f"the run in {side} says nothing about its agent: it ended {one.ending.value}"
    if a.input_digest != b.input_digest:
        return "the two agents were given different inputs"
    if not are_single and (a.test.goal or None) != (b.test.goal or None):
        return "the goal of the test differs between A and B"
    if not (goal or "").strip():
        return "the test has no goal; --goal gives one"
    return ""


def without_judge(pair: Pair, *, sees_files: bool) -> PairRow | None:
    """The row of a pair that needs no judge; None for one that does.

    An agent that did not end well loses to one that did, and two of them tie. Equal outputs tie, unless the judge
    sees files beside them.
    """
    ok_a, ok_b = (one.ending is Ending.OK for one in (pair.a, pair.b))
    if not (ok_a and ok_b):
        ended = [
            f"{side} ended {one.ending.value}"
            for side, one, is_ok in (("A", pair.a, ok_a), ("B", pair.b, ok_b))
            if not is_ok
        ]
        winner: Winner = "tie" if ok_a == ok_b else "A" if ok_a else "B"
        return msgspec.structs.replace(
            row_of(pair), winner=winner, share=POINTS[winner], decided_by="ending", reason="; ".join(ended)
        )
    if not sees_files and pair.a.output is not None and json_equal(pair.a.output, pair.b.output):
        return msgspec.structs.replace(
            row_of(pair), winner="tie", share=0.5, decided_by="same", reason="both outputs are equal"
        )
    return None


def row_of(pair: Pair) -> PairRow:
    """The row of a pair about which nothing is known yet."""
    return PairRow(
        test=pair.a.test.id,
        trial=pair.a.trial,
        run_a=pair.a.run,
        run_b=pair.b.run,
        goal=pair.goal,
        winner=None,
        share=None,
    )


def decided(row: PairRow, answers: Sequence[PairAnswer]) -> PairRow:
    """The row with what the judge said.

    Only samples with an answer in both orders count, so that a judge who prefers a place gives neither side an
    advantage. The side with more than half of their points wins.
    """
    both = list(_in_both_orders(answers).values())
    said = msgspec.structs.replace(row, answers=tuple(answers))
    if not both:
        why = next(
            (answer.reasoning for answer in answers if answer.winner is None), "the judge was not asked"
        )
        return msgspec.structs.replace(said, reason=why)
    share = sum(POINTS[first] + POINTS[second] for first, second in both) / (2 * len(both))
    winner: Winner = "tie" if share == 0.5 else "A" if share > 0.5 else "B"
    return msgspec.structs.replace(said, winner=winner, share=share)


def win_rate(rows: Sequence[PairRow]) -> Estimate:
    """The win rate of A over tests: 1 for a pair that it wins, half of one for a tie."""
    by_test: dict[str, list[float]] = {}
    for row in rows:
        if row.winner is not None:
            by_test.setdefault(row.test, []).append(POINTS[row.winner])
    return clustered(list(by_test.values()))


def clear_winner(rate: Estimate) -> Side | None:
    """The side that the interval of the rate leaves no doubt about."""
    if rate.interval is None:
        return None
    return "A" if rate.interval.low > 0.5 else "B" if rate.interval.high < 0.5 else None


def position_bias(rows: Sequence[PairRow]) -> PositionBias | None:
    """How often the judge preferred what stood first; None when no sample has an answer in both orders."""
    counts = {"first": 0, "second": 0, "tie": 0}
    by_test: dict[str, list[float]] = {}
    agreed = samples = 0
    for row in rows:
        for shown_first_a, shown_first_b in _in_both_orders(row.answers).values():
            places = (_place(shown_first_a, "A"), _place(shown_first_b, "B"))
            for place in places:
                counts[place] += 1
            points = [{"first": 1.0, "second": 0.0, "tie": 0.5}[place] for place in places]
            by_test.setdefault(row.test, []).append(sum(points) / 2)
            agreed += shown_first_a == shown_first_b
            samples += 1
    if not samples:
        return None
    return PositionBias(
        first=counts["first"],
        second=counts["second"],
        ties=counts["tie"],
        share=clustered(list(by_test.values())),
        agreed=agreed,
        samples=samples,
    )


def _in_both_orders(answers: Sequence[PairAnswer]) -> dict[int, tuple[Winner, Winner]]:
    """By sample: the winner when A stood first, and when B did; only where both are known."""
    found: dict[tuple[int, Side], Winner] = {
        (answer.sample, answer.shown_first): answer.winner for answer in answers if answer.winner is not None
    }
    return {
        sample: (first, found[sample, "B"])
        for (sample, side), first in found.items()
        if side == "A" and (sample, "B") in found
    }


def _place(winner: Winner, shown_first: Side) -> str:
    if winner == "tie":
        return "tie"
    return "first" if winner == shown_first else "second"
