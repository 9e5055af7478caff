"""Two groups before a judge: reads them, asks about each pair in both orders, and draws up the verdict."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, TypeVar, cast

import msgspec

from proctor.core.pairwise import (
    align,
    clear_winner,
    decided,
    position_bias,
    row_of,
    win_rate,
    without_judge,
)
from proctor.engine.contenders import PairCases, compared_group, pair_cases
from proctor.errors import ModelError, UsageError
from proctor.judges.answers import AnswerCache
from proctor.judges.asking import Means
from proctor.judges.budget import Budget
from proctor.judges.pair_judge import FIRST, SECOND, PairJudge
from proctor.judges.setup import NO_MODEL, NO_MODEL_FIX, JudgeSetup
from proctor.models.open import open_model
from proctor.models.providers import address_of
from proctor.records.json_value import Json, storable
from proctor.records.judging import Judged, Judging, total
from proctor.records.verdict import PairAnswer, PairRow, PairVerdict, Side, Unpaired, Winner

MOST_AT_ONCE: Final = 16
"""Questions under way; a provider's own limit is kept below that where it is lower."""

ORDERS: Final[tuple[Side, Side]] = ("A", "B")
"""Which side stands first: each pair is asked in both orders."""

Work = TypeVar("Work")
Result = TypeVar("Result")


class Asking(msgspec.Struct, frozen=True, kw_only=True):
    """How pairs are judged.

    Attributes:
        setup: model, cache, budget, keys.
        goal: holds where a test has none of its own.
        samples: how often each pair is asked in each order.
        include: globs of workdir files that the judge is shown too, or `@tool-calls`.
        at: now, ISO 8601 in UTC.
    """

    setup: JudgeSetup
    goal: str | None = None
    samples: int = 1
    include: tuple[str, ...] = ()
    at: str


def compare_pairs(
    a: Path,
    b: Path,
    asking: Asking,
    *,
    on_start: Callable[[int], None] = lambda _: None,
    on_done: Callable[[str], None] = lambda _: None,
) -> PairVerdict:
    """The judge's verdict on two groups, or on two runs.

    Args:
        a: a group, or a run directory.
        b: the other one.
        asking: how it is judged.
        on_start: called with the number of questions.
        on_done: called from any thread with the test of each question that was answered.

    Raises:
        UsageError: both are the same, or one of them is a folder of several groups.
        StoreError: one of them does not exist, or holds no run.
        ModelError: the model cannot be asked at all.
    """
    if a.resolve() == b.resolve():
        raise UsageError("A and B are the same folder", fix="Name two groups, or two runs.")
    budget = Budget(asking.setup.max_cost_usd)
    judge = _judge(asking, budget)
    sides = compared_group(a), compared_group(b)
    aligned = align(
        sides[0].contenders,
        sides[1].contenders,
        goal=asking.goal,
        are_single=sides[0].is_single and sides[1].is_single,
    )
    unpaired = list(aligned.unpaired)
    rows: dict[int, PairRow] = {}
    to_judge: dict[int, PairCases] = {}
    for number, pair in enumerate(aligned.pairs):
        row = without_judge(pair, sees_files=bool(asking.include))
        if row is not None:
            rows[number] = row
            continue
        shown = pair_cases(pair, sides, asking.include)
        if shown.lacking:
            unpaired.append(
                Unpaired(test=pair.a.test.id, trial=pair.a.trial, held_by="both", reason=shown.lacking)
            )
        else:
            to_judge[number] = shown
    questions: list[tuple[int, int, Side]] = [
        (number, sample, first)
        for number in to_judge
        for sample in range(1, asking.samples + 1)
        for first in ORDERS
    ]
    on_start(len(questions))

    def ask(question: tuple[int, int, Side]) -> PairAnswer:
        number, sample, first = question
        shown = to_judge[number]
        cases = (shown.a, shown.b) if first == "A" else (shown.b, shown.a)
        judged = judge.ask(*cases, sample=sample - 1)
        on_done(shown.pair.a.test.id)
        return _answer(judged, sample, first)

    answers = _all_at_once(ask, questions)
    for number, shown in to_judge.items():
        said = [answer for question, answer in zip(questions, answers, strict=True) if question[0] == number]
        row = msgspec.structs.replace(row_of(shown.pair), left_out=shown.left_out)
        rows[number] = decided(row, said)
    return _verdict(
        [rows[number] for number in sorted(rows)],
        unpaired,
        a,
        b,
        judge.identity,
        asking,
        ran_out=budget.refused > 0,
    )


def _verdict(
    rows: Sequence[PairRow],
    unpaired: Sequence[Unpaired],
    a: Path,
    b: Path,
    judge: str,
    asking: Asking,
    *,
    ran_out: bool,
) -> PairVerdict:
    winners = [row.winner for row in rows]
    rate = win_rate(rows)
    judging: Judging | None = None
    for answer in (answer for row in rows for answer in row.answers):
        if answer.judging is not None:
            judging = answer.judging if judging is None else total(judging, answer.judging)
    return PairVerdict(
        at=asking.at,
        a=storable(str(a)),
        b=storable(str(b)),
        judge=judge,
        samples=asking.samples,
        goal=asking.goal,
        include=asking.include,
        rows=tuple(rows),
        unpaired=tuple(unpaired),
        wins_a=winners.count("A"),
        wins_b=winners.count("B"),
        ties=winners.count("tie"),
        undecided=winners.count(None),
        by_ending=sum(row.decided_by == "ending" for row in rows),
        rate=rate,
        winner=clear_winner(rate),
        position=position_bias(rows),
        judging=None if judging is None else msgspec.structs.replace(judging, goal=""),
        ran_out=ran_out,
    )


def _judge(asking: Asking, budget: Budget) -> PairJudge:
    environment, folder = asking.setup.environment, asking.setup.answers
    if asking.setup.model is None:
        raise ModelError(NO_MODEL, fix=NO_MODEL_FIX, kind="no_key")
    means = Means(budget=budget, answers=AnswerCache(folder) if folder is not None else None)
    base_url = address_of(asking.setup.model, environment).base_url
    return PairJudge(
        open_model(asking.setup.model, environment), base_url=base_url, means=means, samples=asking.samples
    )


def _answer(judged: Judged, sample: int, first: Side) -> PairAnswer:
    """What the judge says, as a statement about A and B."""
    evidence = cast("dict[str, Json]", judged.grade.evidence or {})
    choice = evidence.get("choice")
    second: Side = "B" if first == "A" else "A"
    winner: Winner | None = None
    if judged.grade.cause is None:
        winner = first if choice == FIRST else second if choice == SECOND else "tie"
    return PairAnswer(
        sample=sample,
        shown_first=first,
        winner=winner,
        reasoning=judged.grade.feedback,
        cause=judged.grade.cause,
        judging=None if judged.judging is None else msgspec.structs.replace(judged.judging, goal=""),
    )


def _all_at_once(work: Callable[[Work], Result], given: Sequence[Work]) -> list[Result]:
    """The results in the order of what was given. The threads do not keep an interrupted process alive."""
    waiting: queue.SimpleQueue[tuple[int, Work] | None] = queue.SimpleQueue()
    done: queue.SimpleQueue[tuple[int, Result] | BaseException] = queue.SimpleQueue()

    def serve() -> None:
        while (entry := waiting.get()) is not None:
            try:
                done.put((entry[0], work(entry[1])))
            except BaseException as error:  # noqa: BLE001  # raised where it is waited for
                done.put(error)

    threads = min(MOST_AT_ONCE, len(given))
    for entry in enumerate(given):
        waiting.put(entry)
    for _ in range(threads):
        waiting.put(None)
        threading.Thread(target=serve, name="judge", daemon=True).start()
    return [result for _, result in sorted(_results(done, len(given)), key=lambda entry: entry[0])]


def _results(
    done: queue.SimpleQueue[tuple[int, Result] | BaseException], count: int
) -> Iterator[tuple[int, Result]]:
    for _ in range(count):
        result = done.get()
        if isinstance(result, BaseException):
            raise result
        yield result
