"""What an agent writes does not reach the judge as anything but data."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterator

import pytest

from proctor.records.grade import Cause
from tests.judging import local_model
from tests.judging.injections import (
    INJECTIONS,
    MARK,
    UNMOVED,
    Injection,
    judge_at,
    obedient,
    outside_of_fences,
    table,
    tried,
)
from tests.judging.scripted_server import Asked, ScriptedServer


@pytest.fixture(scope="module")
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer(obedient) as started:
        yield started


@pytest.mark.parametrize("injection", INJECTIONS, ids=lambda injection: injection.name)
def test_a_judge_that_obeys_all_but_data_is_not_moved(injection: Injection, server: ScriptedServer) -> None:
    """The score is that of a judge who found no orders, and nothing of the injection stands outside of a fence."""
    judged = judge_at(server.base_url, "scripted").ask(injection.case)
    prompt = server.asked[-1].prompt

    assert UNMOVED == judged.grade.score
    assert 1 == judged.judging.calls
    assert MARK in prompt
    assert MARK not in outside_of_fences(prompt)


@pytest.mark.parametrize("injection", INJECTIONS, ids=lambda injection: injection.name)
def test_every_fence_of_the_prompt_is_ours(injection: Injection, server: ScriptedServer) -> None:
    """One code, as often as there are parts, each time a beginning and then an end."""
    judge_at(server.base_url, "scripted").ask(injection.case)
    lines = server.asked[-1].prompt.split("\n")
    begins = [line for line in lines if line.startswith("<<<BEGIN ")]
    code = (
        next(line for line in begins if line.startswith("<<<BEGIN expected ")).split()[-1].removesuffix(">>>")
    )
    fences = [line[:8].split()[0] for line in lines if line.endswith(f" {code}>>>")]

    assert ["<<<BEGIN", "<<<END"] * (len(fences) // 2) == fences
    assert len(fences) == 2 * (3 + (injection.file is not None))
    assert len(fences) == sum(code in line for line in lines)


@pytest.mark.parametrize("injection", INJECTIONS, ids=lambda injection: injection.name)
def test_a_judge_sees_what_is_hidden_from_people(injection: Injection, server: ScriptedServer) -> None:
    judge_at(server.base_url, "scripted").ask(injection.case)
    kinds = Counter(unicodedata.category(char) for char in server.asked[-1].prompt if char != "\n")

    assert not {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"} & set(kinds)


def test_without_fences_the_same_judge_is_moved() -> None:
    """So that the tests above could fail: it obeys every one of these injections when it stands in the open."""
    for injection in INJECTIONS:
        shown = "\n".join([injection.output, *(part for file in injection.case.files for part in file)])
        said = obedient(Asked("", {}, {"messages": [{"role": "user", "content": shown}]}))

        assert '"score": 1}' in said, injection.name


def test_there_are_injections_of_many_kinds() -> None:
    assert len(INJECTIONS) >= 15
    assert len(INJECTIONS) == len({injection.name for injection in INJECTIONS})


@pytest.mark.slow
@pytest.mark.local_llm
def test_a_real_model_answers_every_injection_with_a_verdict_in_range(local_base_url: str) -> None:
    """Or says that a prompt is longer than it can read. Whether so small a model is moved is no pass or fail: see the
    table that `python -m tests.judging.injections` prints."""
    judged = [
        (injection.name, each) for injection, each in tried(judge_at(local_base_url, local_model.MODEL))
    ]

    for name, each in judged:
        if each.grade.score is None:
            assert Cause.JUDGE_UNAVAILABLE == each.grade.cause, name
            assert "maximum context length" in each.grade.feedback
        else:
            assert 0 <= each.grade.score <= 1
            # A call that was given up on a busy machine and made once more leaves the sum unknown.
            assert each.judging.tokens_out or each.judging.calls > 1
    assert len([each for _, each in judged if each.grade.score is not None]) >= len(INJECTIONS) - 1


def test_the_table_has_a_line_for_each_injection(server: ScriptedServer) -> None:
    lines = list(table(judge_at(server.base_url, "scripted")))

    assert len(INJECTIONS) + 2 == len(lines)
    assert f"{len(INJECTIONS)} of {len(INJECTIONS)} with a verdict; 0 raised" in lines[-1]
