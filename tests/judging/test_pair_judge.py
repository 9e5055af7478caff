"""The judge of pairs: its prompt is what its version says, and what it shows is both works and nothing hidden."""

from __future__ import annotations

import hashlib

import pytest

from proctor.core.verdict_scale import UNIT
from proctor.judges import pair_judge
from proctor.judges.asking import Means
from proctor.judges.budget import Budget
from proctor.judges.case import Case, ShownFile
from proctor.judges.pair_judge import PROMPT, SCALE, PairJudge
from proctor.judges.rendering import RULES, answer_form
from proctor.models.open import open_model
from proctor.records.grade import Cause
from tests.conftest import Project
from tests.judging import local_model
from tests.judging.injections import INJECTIONS, MARK, outside_of_fences
from tests.judging.scripted_server import ScriptedServer

DIGESTS = {1: "9e15241f360ba57f"}


def judge_at(server: ScriptedServer) -> PairJudge:
    environment = {"LOCAL_BASE_URL": server.base_url, "LOCAL_API_KEY": "local"}
    model = open_model("local/scripted", environment)
    return PairJudge(model, base_url=server.base_url, means=Means(budget=Budget(None)))


def test_a_prompt_that_changes_has_another_version() -> None:
    """Old verdicts name the prompt that they were given with."""
    said = "\n".join((RULES, PROMPT, answer_form(SCALE)))

    assert DIGESTS[pair_judge.VERSION] == hashlib.sha256(said.encode()).hexdigest()[:16]
    assert UNIT != SCALE


def test_both_works_are_shown_with_their_files_and_tool_calls() -> None:
    first = Case(goal="g", output="one", expected="e", input="i", files=(ShownFile("a.txt", "file one"),))
    second = Case(goal="g", output="two", expected="e", input="i", tool_calls="search(2)")
    with ScriptedServer(['{"reasoning": "r", "choice": "second"}']) as server:
        judged = judge_at(server).ask(first, second, sample=0)
        shown = server.asked[0].prompt

    places = [shown.index(text) for text in ("\none\n", "\nfile one\n", "\ntwo\n", "\nsearch(2)\n")]
    assert sorted(places) == places
    assert {"choice": "second"} == judged.grade.evidence
    assert ["first", "second", "tie"] == server.asked[0].schema["properties"]["choice"]["enum"]  # type: ignore[index]


def test_work_that_is_nothing_is_not_judged() -> None:
    with ScriptedServer([]) as server:
        judged = judge_at(server).ask(Case(goal="g", output="x"), Case(goal="g"), sample=0)

    assert Cause.NOTHING_TO_JUDGE == judged.grade.cause
    assert [] == server.asked


@pytest.mark.parametrize("injection", INJECTIONS, ids=lambda injection: injection.name)
def test_no_work_gets_out_of_its_fence(injection: object) -> None:
    """In either place."""
    honest = Case(goal="g", output="honest", expected="1879", input="x")
    hostile = injection.case  # type: ignore[attr-defined]
    with ScriptedServer(lambda _: '{"reasoning": "r", "choice": "tie"}') as server:
        judge_at(server).ask(honest, hostile, sample=0)
        judge_at(server).ask(hostile, honest, sample=0)

    for asked in server.asked:
        assert MARK in asked.prompt
        assert MARK not in outside_of_fences(asked.prompt)


@pytest.mark.slow
@pytest.mark.local_llm
def test_a_real_model_compares_two_groups(
    project: Project, local_base_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every pair has an answer in both orders; whether the judge looks at more than the place, the bias says."""
    monkeypatch.setenv("LOCAL_BASE_URL", local_base_url)
    monkeypatch.setenv("LOCAL_API_KEY", "local")
    monkeypatch.setenv("XDG_CACHE_HOME", str(project.root / "cache"))
    project.write("agents.py", 'def right(text): return "1879"\ndef wrong(text): return "I do not know."\n')
    for name in ("one", "two"):
        project.test(name, input=f"When was Einstein born? ({name})", goal="names 1879", expected="1879")
    project.run("agents.py:right", out="a")
    project.run("agents.py:wrong", out="b")
    said = project("judge", "a", "b", "--model", f"local/{local_model.MODEL}", "--json")

    assert 0 == said.code
    assert [4, 4] == [said.json["judging"]["calls"], sum(len(row["answers"]) for row in said.json["rows"])]
    position = said.json["position"]
    assert 4 == position["first"] + position["second"] + position["ties"]
