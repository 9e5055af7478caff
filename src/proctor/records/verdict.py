"""What a judge says of two groups of runs, pair by pair: the verdict file."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from proctor.records.estimate import Estimate
from proctor.records.grade import Cause
from proctor.records.judging import Judging

VERDICT_SCHEMA = "proctor.verdict/1"

Side: TypeAlias = Literal["A", "B"]
Winner: TypeAlias = Literal["A", "B", "tie"]


class PairAnswer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One answer of the judge about a pair.

    Attributes:
        sample: 1 for the first.
        shown_first: which side stood first in the question.
        winner: which side it prefers, or a tie; None when there is no usable answer.
        reasoning: what it says for that, or why there is no answer.
        cause: why there is none.
        judging: what the answer took.
    """

    sample: int
    shown_first: Side
    winner: Winner | None
    reasoning: str = ""
    cause: Cause | None = None
    judging: Judging | None = None


class PairRow(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Two runs of one test, and which of them is better.

    Attributes:
        test: id of the test; that of A where two single runs are compared.
        trial: number of the trial; that of A where two single runs are compared.
        run_a: name of the run directory in A.
        run_b: name of the run directory in B.
        goal: what was looked for.
        winner: None when the judge gave no usable answer in both orders.
        share: A's share of the points of the answers that count: 1 for a win, half of one for a tie; None likewise.
        decided_by: the `judge`; an `ending`, where an agent did not end well; `same`, where both outputs are equal.
        reason: how an ending decided it, or why there is no winner.
        answers: all that the judge was asked, in both orders.
        left_out: number of characters that the judge was not shown, by side and part.
    """

    test: str
    trial: int
    run_a: str
    run_b: str
    goal: str
    winner: Winner | None
    share: float | None
    decided_by: Literal["judge", "ending", "same"] = "judge"
    reason: str = ""
    answers: tuple[PairAnswer, ...] = ()
    left_out: dict[str, int] = {}


class Unpaired(msgspec.Struct, frozen=True, kw_only=True):
    """A trial that could not be compared.

    Attributes:
        test: id of the test.
        trial: number of the trial.
        held_by: which side holds a run of it.
        reason: why it could not be compared.
    """

    test: str
    trial: int
    held_by: Literal["A", "B", "both"]
    reason: str


class PositionBias(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the judge prefers what stands first. Both orders were asked, so that without a preference it is half.

    Attributes:
        first: answers for what stood first.
        second: answers for what stood second.
        ties: answers for neither.
        share: the share of what stood first, a tie being half; 0.5 without bias. Over the samples that have an
            answer in both orders, clustered by test.
        agreed: samples in which both orders had the same winner.
        samples: samples that have an answer in both orders.
    """

    first: int
    second: int
    ties: int
    share: Estimate
    agreed: int
    samples: int


class PairVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict on two groups.

    Attributes:
        at: when, ISO 8601 in UTC.
        a: the first group or run, as it was named.
        b: the second.
        judge: the judge by revision: prompt version and model.
        samples: how often each pair was asked in each order.
        goal: what was looked for where a test has no goal.
        include: what the judge was shown beside the outputs.
        rows: one a pair, in the order of A.
        unpaired: trials that could not be compared.
        wins_a: pairs that A wins.
        wins_b: pairs that B wins.
        ties: pairs that nobody wins.
        undecided: pairs without a usable answer; they count nowhere else.
        by_ending: how many pairs were decided by an ending, and not by the judge.
        rate: the win rate of A: 1 for a win, half of one for a tie; over tests, clustered by test.
        winner: the side whose rate is above one half beyond doubt; None when it is too close to call.
        position: None when the judge was asked nothing, or had no answer.
        judging: what all answers took.
        ran_out: True when pairs were not judged since that could have cost too much.
    """

    schema: str = VERDICT_SCHEMA
    at: str
    a: str
    b: str
    judge: str
    samples: int
    goal: str | None = None
    include: tuple[str, ...] = ()
    rows: tuple[PairRow, ...]
    unpaired: tuple[Unpaired, ...]
    wins_a: int
    wins_b: int
    ties: int
    undecided: int
    by_ending: int
    rate: Estimate
    winner: Side | None
    position: PositionBias | None
    judging: Judging | None = None
    ran_out: bool = False
