"""What judging costs, and what it need not cost again."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.core.noise import noise_of
from proctor.judges.answers import AnswerCache, key_of
from proctor.judges.budget import Budget, OverBudget
from proctor.models.question import Message, Question, Reply
from proctor.records.judging import Judging, add_up

REPLY = Reply(text="x", model="m", provider="p", tokens_in=1, tokens_out=None, cost_usd=None, latency_s=0.1)


@given(st.lists(st.floats(0, 1), max_size=50), st.floats(0, 3))
def test_no_more_is_spent_than_the_limit_and_what_one_question_is_dearer(
    costs: list[float], most: float
) -> None:
    """Asked one after another, the limit is passed by less than the last question costs."""
    budget, spent = Budget(most), 0.0
    for cost in costs:
        try:
            with budget.one_question():
                budget.paid(cost)
                spent += cost
        except OverBudget:
            break

    assert spent <= most + max(costs, default=0.0) + 1e-9


def test_questions_of_one_price_never_pass_the_limit_however_many_ask() -> None:
    budget, asked = Budget(1.0), 0
    lock = threading.Lock()

    def ask(_: int) -> None:
        nonlocal asked
        try:
            with budget.one_question():
                threading.Event().wait(0.002)
                budget.paid(0.1)
                with lock:
                    asked += 1
        except OverBudget:
            pass

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(ask, range(100)))

    assert 10 == asked
    assert 90 == budget.refused


def test_a_budget_of_nothing_asks_nothing() -> None:
    with pytest.raises(OverBudget), Budget(0.0).one_question():
        pass


def question(text: str = "q", **more: object) -> Question:
    return Question(messages=(Message("user", text),), **more)  # type: ignore[arg-type]


def test_an_answer_is_found_for_the_very_same_question_only() -> None:
    """Message, model, address, sample, settings, schema, temperature; a time limit makes no other question."""
    one = key_of(question(), model="m", base_url="u", sample=0)
    others = [
        key_of(question("r"), model="m", base_url="u", sample=0),
        key_of(question(), model="n", base_url="u", sample=0),
        key_of(question(), model="m", base_url="v", sample=0),
        key_of(question(), model="m", base_url="u", sample=1),
        key_of(question(temperature=0.0), model="m", base_url="u", sample=0),
        key_of(question(settings={"a": 1}), model="m", base_url="u", sample=0),
        key_of(question(schema={}), model="m", base_url="u", sample=0),
    ]

    assert 8 == len({one, *others})
    assert one == key_of(question(timeout_s=5.0), model="m", base_url="u", sample=0)


def test_answers_are_kept_and_a_damaged_one_is_no_answer(tmp_path: Path) -> None:
    cache = AnswerCache(tmp_path / "answers")
    key = "ab" * 32
    assert None is cache.find(key)
    cache.keep(key, REPLY)

    assert REPLY == cache.find(key)
    file = next((tmp_path / "answers").rglob("*.json"))
    assert 0o600 == file.stat().st_mode & 0o777
    file.write_text("{")
    assert None is cache.find(key)


def test_a_folder_that_cannot_be_written_costs_no_grade(tmp_path: Path) -> None:
    (tmp_path / "answers").write_text("a file")
    cache = AnswerCache(tmp_path / "answers")
    cache.keep("ab" * 32, REPLY)

    assert None is cache.find("ab" * 32)


def test_of_several_that_ask_the_same_one_asks() -> None:
    cache, asked = AnswerCache(Path("/nowhere")), 0
    found: dict[str, Reply] = {}

    def ask(_: int) -> None:
        nonlocal asked
        with cache.one_at_a_time("k"):
            if "k" not in found:
                threading.Event().wait(0.01)
                asked += 1
                found["k"] = REPLY

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(ask, range(20)))

    assert 1 == asked


def test_what_is_unknown_of_one_question_is_unknown_of_all() -> None:
    known = Judging(judge="j", calls=1, tokens_in=5, tokens_out=1, cost_usd=0.5, latency_s=1.0)
    unknown = Judging(judge="j", calls=1, tokens_in=None, tokens_out=2, cost_usd=None, latency_s=1.0)
    (both,) = add_up([known, unknown])

    assert (2, None, 3, None, 2.0) == (
        both.calls,
        both.tokens_in,
        both.tokens_out,
        both.cost_usd,
        both.latency_s,
    )


def test_noise_is_nothing_where_nothing_was_repeated() -> None:
    assert () == noise_of([])
