"""What a judge is asked, and what asking it took."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from msgspec import UNSET, UnsetType

from proctor.records.grade import Grade
from proctor.records.json_value import Json

TOOL_CALLS = "@tool-calls"
"""In `include`: the tool calls that the run's trace tells of."""


class JudgeOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What a user says of judges for one grading. What is None is decided by the environment, then by the settings.

    Attributes:
        model: PROVIDER/NAME of the model that judges ask, where neither grader nor judge file name one.
        max_cost_usd: what all judging may cost, in US dollars; no limit when None.
        use_cache: an answer that was given to the same question is used again.
    """

    model: str | None = None
    max_cost_usd: float | None = None
    use_cache: bool = True


class JudgeQuestion(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a grader asks a judge about its run.

    Attributes:
        goal: what to look for; the test's own goal when None.
        output: what to judge instead of the run's output.
        expected: what to compare with instead of the test's `expected`; None for nothing
            at all, which is also what a null in the test means.
        include: globs of workdir files that the judge is shown too, or `@tool-calls`.
        judge_file: the judge, relative to the grading module; the built-in goal judge when None.
        binary: the verdict is pass or fail, where the judge file does not say what it is.
        model: PROVIDER/NAME; the one that the judge file names, or the configured one, when None.
    """

    goal: str | None = None
    output: Json | UnsetType = UNSET
    expected: Json | UnsetType = UNSET
    include: tuple[str, ...] = ()
    judge_file: str | None = None
    binary: bool = False
    model: str | None = None


class Judging(msgspec.Struct, frozen=True, kw_only=True):
    """What one judge took for a grade. It has nothing to do with what the agent took.

    Attributes:
        judge: the judge by revision: prompt, its digest or version, and model.
        goal: what it looked for.
        model: the one that answered, as the provider names it; None for a judge that is a program.
        calls: how often a model was asked, those included whose answer could not be used.
        hits: how many answers came from the cache of answers, and cost nothing.
        tokens_in: of all calls; None when it is not known of one.
        tokens_out: likewise.
        cost_usd: likewise, in US dollars.
        latency_s: seconds of waiting for the answers, added up.
    """

    judge: str
    goal: str = ""
    model: str | None = None
    calls: int = 0
    hits: int = 0
    tokens_in: int | None = 0
    tokens_out: int | None = 0
    cost_usd: float | None = 0.0
    latency_s: float = 0.0


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """What a judge said of one question.

    Attributes:
        grade: its verdict, or why there is none.
        judging: what it took; None when no judge could be asked.
    """

    grade: Grade
    judging: Judging | None = None


def add_up(judgings: Iterable[Judging]) -> tuple[Judging, ...]:
    """One for each judge and goal, in the order of their first question; what is unknown of one is unknown of all.

    >>> add_up([Judging(judge="a", calls=1), Judging(judge="b", hits=1), Judging(judge="a", calls=2)])[0].calls
    3
    """
    sums: dict[tuple[str, str], Judging] = {}
    for one in judgings:
        key = (one.judge, one.goal)
        before = sums.get(key)
        sums[key] = one if before is None else total(before, one)
    return tuple(sums.values())


def total(one: Judging, other: Judging) -> Judging:
    """Both together, under the name of the first."""
    return msgspec.structs.replace(
        one,
        model=one.model or other.model,
        calls=one.calls + other.calls,
        hits=one.hits + other.hits,
        tokens_in=_sum(one.tokens_in, other.tokens_in),
        tokens_out=_sum(one.tokens_out, other.tokens_out),
        cost_usd=None if one.cost_usd is None or other.cost_usd is None else one.cost_usd + other.cost_usd,
        latency_s=round(one.latency_s + other.latency_s, 6),
    )


def _sum(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other
