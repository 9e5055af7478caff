"""The built-in judge and what it is shown."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from proctor.core.include import globs_of, matching
from proctor.core.judge_file import PLACEHOLDERS
from proctor.core.verdict_scale import BINARY, UNIT, Scale
from proctor.core.verdicts import Verdict, read_verdict
from proctor.judges import goal_judge
from proctor.judges.case import Case, JudgedRun, case_of
from proctor.judges.rendering import RULES, answer_form, messages_for, schema_of
from proctor.records.judging import TOOL_CALLS, JudgeQuestion
from proctor.records.suite import Test
from proctor.records.trace import LlmCall, ToolCall

DIGESTS = {1: "0ce3caf4a3c45c22"}
"""Of every version of the prompt that there was. A new version gets a line; no line ever changes."""


def test_a_prompt_that_changes_has_another_version() -> None:
    """Old scores name the prompt that they were given with."""
    prompts = (goal_judge.SCORE_PROMPT, goal_judge.BINARY_PROMPT)
    said = "\n".join((RULES, *(prompt.text for prompt in prompts), answer_form(UNIT), answer_form(BINARY)))

    assert DIGESTS[goal_judge.VERSION] == hashlib.sha256(said.encode()).hexdigest()[:16]


def test_the_built_in_prompt_shows_everything() -> None:
    assert frozenset(PLACEHOLDERS) == goal_judge.SCORE_PROMPT.placeholders


def test_the_goal_may_hold_what_looks_like_a_placeholder() -> None:
    """Values are put in all at once; none is read as a template."""
    case = Case(goal="Prints {{output}} and {{expected}}", output="{{goal}}")
    user = messages_for(goal_judge.SCORE_PROMPT, UNIT, case)[1].content

    assert "Prints {{output}} and {{expected}}" in user
    assert "\n{{goal}}\n" in user


def test_the_same_case_is_the_same_question() -> None:
    """Or no answer could be found in the cache again; another output has another nonce."""
    one, same, other = (
        messages_for(goal_judge.SCORE_PROMPT, UNIT, Case(goal="g", output=output))
        for output in ("a", "a", "b")
    )

    assert one == same
    assert one != other


@pytest.mark.parametrize(
    ("scale", "text"),
    [
        (UNIT, '{"reasoning": "r", "score": 0.5}'),
        (BINARY, '{"reasoning": "r", "pass": true}'),
        (Scale(kind="choices", choices={"a": 1, "b": 0}), '{"reasoning": "r", "choice": "a"}'),
    ],
)
def test_what_the_schema_asks_for_is_what_the_reader_reads(scale: Scale, text: str) -> None:
    import json

    import jsonschema

    jsonschema.validate(json.loads(text), schema_of(scale))
    assert isinstance(read_verdict(text, scale), Verdict)


def run_of(workdir: Path, output: object = "out", **fields: object) -> JudgedRun:
    return JudgedRun(output=output, test=Test(id="t", **fields), workdir=workdir)  # type: ignore[arg-type]


def test_what_is_asked_comes_before_what_the_run_holds(tmp_path: Path) -> None:
    run = run_of(tmp_path, goal="own", expected={"b": 1, "a": None})
    own = case_of(JudgeQuestion(), run)
    other = case_of(JudgeQuestion(goal="another", output=[1], expected=None), run)

    assert ("own", "out", '{"a":null,"b":1}') == (own.goal, own.output, own.expected)
    assert ("another", "[1]", None) == (other.goal, other.output, other.expected)


def test_an_empty_case_lacks_what_it_lacks(tmp_path: Path) -> None:
    """A goal; an output, or a file; null in the test is nothing expected."""
    (tmp_path / "a.md").write_text("here")
    nothing = case_of(JudgeQuestion(goal="g"), run_of(tmp_path, None, expected=None))
    with_file = case_of(JudgeQuestion(goal="g", include=("a.md",)), run_of(tmp_path, None))
    with_nothing = case_of(JudgeQuestion(goal="g", include=("b.md",)), run_of(tmp_path, None))

    assert (None, None) == (nothing.output, nothing.expected)
    assert "no output" in str(nothing.lacks)
    assert None is with_file.lacks
    assert "no output" in str(with_nothing.lacks)
    assert "no goal" in str(case_of(JudgeQuestion(), run_of(tmp_path)).lacks)


def test_tool_calls_are_shown_a_line_each(tmp_path: Path) -> None:
    events = (
        LlmCall(model="m"),
        ToolCall(name="search", arguments={"q": "a\nb"}, result=[1]),
        ToolCall(name="write", error="denied"),
    )
    run = JudgedRun(output="x", test=Test(id="t"), workdir=tmp_path, events=events)
    case = case_of(JudgeQuestion(goal="g", include=(TOOL_CALLS,)), run)

    assert 'search({"q":"a\\nb"}) -> [1]\nwrite() ->  failed: denied' == case.tool_calls
    assert None is case_of(JudgeQuestion(goal="g"), run).tool_calls


def test_no_file_outside_of_the_workdir_is_ever_read(tmp_path: Path) -> None:
    """Links to files and folders, pipes, and folders that are links."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("secret")
    workdir = tmp_path / "workdir"
    workdir.mkdir()
    (workdir / "link.md").symlink_to(outside / "secret.md")
    (workdir / "folder").symlink_to(outside)
    (workdir / "up.md").symlink_to("../outside/secret.md")
    os.mkfifo(workdir / "pipe.md")
    case = case_of(JudgeQuestion(goal="g", include=("**",)), run_of(workdir))

    assert () == case.files


@pytest.mark.parametrize("pattern", ["../x", "a/../b", "/etc/passwd", "", "@trace"])
def test_a_pattern_that_leads_elsewhere_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match="include"):
        globs_of([pattern])


@pytest.mark.parametrize(
    ("pattern", "matched"),
    [
        ("*.md", ["a.md"]),
        ("**/*.md", ["a.md", "b/c.md", "b/d/e.md"]),
        ("b/**", ["b/c.md", "b/d/e.md"]),
        ("**", ["a.md", "b/c.md", "b/d/e.md", "x"]),
        ("b/*", ["b/c.md"]),
        ("**/d/**/e.md", ["b/d/e.md"]),
    ],
)
def test_patterns_match_whole_paths(pattern: str, matched: list[str]) -> None:
    assert matched == matching(["x", "b/d/e.md", "b/c.md", "a.md"], [pattern])


@given(st.lists(st.sampled_from("ab"), min_size=1, max_size=40))
def test_many_stars_take_no_longer_than_few(folders: list[str]) -> None:
    """A path of forty folders against a pattern of twenty `**` is matched at once."""
    pattern = "/".join(["**", "a"] * 20 + ["nowhere"])

    assert [] == matching(["/".join(folders)], [pattern])


def test_a_lone_surrogate_in_a_name_costs_no_grade(tmp_path: Path) -> None:
    """An agent may leave files whose names are no text."""
    (tmp_path / os.fsdecode(b"caf\xe9.md")).write_text("x")
    case = case_of(JudgeQuestion(goal="g", include=("*.md",)), run_of(tmp_path, UNSET))
    user = messages_for(goal_judge.SCORE_PROMPT, UNIT, case)[1].content

    user.encode("utf-8")
    assert 1 == len(case.files)
