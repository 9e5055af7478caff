"""A verdict is read wherever a person would read the same one, and nowhere else."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from proctor.core.verdicts import BINARY, MAX_LENGTH, UNIT, Scale, Unreadable, Verdict, read_verdict
from tests.judging.corpus import SCALES, corpus, faults

CORPUS = corpus()
KINDS = ("empty", "refused", "cut", "no_verdict", "off_list", "out_of_range", "contradiction")
# What replies are made of, so that chance makes replies that nearly are one.
PIECES = st.sampled_from(
    ['{', '}', '[', ']', '"', "'", ":", ",", " ", "\n", "score", "Score: ", "8/10", "0,8", "0.5", "1", "-", "verdict",
     "pass", "fail", "not ", "yes, ", "**", "`", "|", "<think>", "</think>", "<score>", "</score>", "\\", "//", "/*",
     "I give ", " is ", "reasoning", '{"score": 1', '"pass": true', "八分", "百分之", "满分", "[[", "]]", "\\boxed{", "NaN",
     "I'm sorry", "“", "”", "，", "：", "tie", "A", "good", "%", "```json\n", "\ud83d", "\u200b", "out of ", "1e999"]
)  # fmt: skip
REPLIES = st.lists(st.one_of(PIECES, st.text(max_size=4)), max_size=24).map("".join)


@pytest.mark.parametrize("entry", CORPUS, ids=lambda entry: entry["name"])
def test_a_reply_is_read_as_a_person_would(entry: dict[str, Any]) -> None:
    assert [] == faults(entry, read_verdict(entry["reply"], SCALES[entry["scale"]]))


def test_the_corpus_is_wide() -> None:
    """Each reason to read nothing, and each scale, with verdicts and without."""
    assert len(CORPUS) >= 150
    assert set(KINDS) == {entry["kind"] for entry in CORPUS if "kind" in entry}
    assert set(SCALES) == {entry["scale"] for entry in CORPUS}
    assert len(CORPUS) == len({entry["name"] for entry in CORPUS})


@settings(deadline=None)
@given(REPLIES, st.sampled_from(sorted(SCALES)), st.booleans())
@example('{"a":' * 30 + "1", "unit", False)
def test_whatever_the_reply_there_is_a_verdict_in_range_or_a_reason(
    reply: str, name: str, is_cut: bool
) -> None:
    scale = SCALES[name]
    read = read_verdict(reply, scale, is_cut=is_cut)

    if isinstance(read, Unreadable):
        assert read.kind in KINDS
        assert read.reason
    else:
        assert 0 <= read.value <= 1
        assert (read.passed is None) == (scale.kind != "binary")
        assert scale.kind != "choices" or scale.choices[read.label] == read.value
        assert scale.kind != "binary" or (read.passed, read.label) in ((True, "pass"), (False, "fail"))


@settings(deadline=None)
@given(REPLIES, REPLIES)
def test_two_verdicts_that_differ_are_none(before: str, after: str) -> None:
    """Whatever stands around two plain objects that disagree, no verdict is made of them."""
    if any(mark in before + after for mark in "{\"'“<[`◁\\/"):
        return
    reply = f'{before}\n\n{{"score": 0.25}}\n\n{{"score": 0.75}}\n\n{after}'

    assert isinstance(read_verdict(reply, UNIT), Unreadable)


@settings(deadline=None)
@given(st.floats(min_value=0, max_value=1), st.text())
def test_json_as_asked_for_says_exactly_what_it_says(score: float, reasoning: str) -> None:
    """Nothing that the reasons mention changes the score, whatever the dress."""
    plain = json.dumps({"reasoning": reasoning, "score": score})
    for reply in (
        plain,
        f"```json\n{plain}\n```",
        f"Here it is:\n{plain}\nDone.",
        f"<think>0.5?</think>\n{plain}",
    ):
        read = read_verdict(reply, UNIT)

        assert isinstance(read, Verdict)
        assert score == read.value
        assert not reasoning.strip() or reasoning.strip() == read.reasoning


@settings(deadline=None)
@given(REPLIES, st.integers(min_value=0, max_value=100))
def test_a_reply_that_lost_its_end_does_not_say_something_else(reasoning: str, score: int) -> None:
    """Cut anywhere, a reply has the verdict that it had, or none."""
    whole = json.dumps({"reasoning": reasoning, "score": score})
    for end in range(len(whole)):
        read = read_verdict(whole[:end], Scale(high=100), is_cut=True)

        assert isinstance(read, Unreadable) or read.value == score / 100


@settings(deadline=None)
@given(st.floats(), st.floats(min_value=-1e6, max_value=1e6), st.floats(min_value=1e-3, max_value=1e6))
def test_a_number_outside_the_scale_is_no_verdict(score: float, low: float, width: float) -> None:
    scale = Scale(low=low, high=low + width)
    read = read_verdict(json.dumps({"score": score}), scale)

    assert isinstance(read, Verdict) == (scale.low <= score <= scale.high)


def test_a_last_line_that_was_cut_is_not_believed() -> None:
    """`Score: 1` may have been going to be `Score: 10`."""
    scale = Scale(high=10)

    assert 0.1 == read_verdict("Fine.\nScore: 1", scale).value  # type: ignore[union-attr]
    assert "cut" == read_verdict("Fine.\nScore: 1", scale, is_cut=True).kind  # type: ignore[union-attr]
    assert 0.1 == read_verdict("Score: 1\nSince the", scale, is_cut=True).value  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "unit",
    ["{", "[{", '{"', '{"a":', '{"score":', "{'a", "/*", "{/*", "//", "\\", '\\"', '"', "score ", "score \n", "Score: ",
     "I give ", "1,", "-", " ", "<think>", "<score>", "\\boxed{", "[[", "not ", "verdict is ", "百", "{}", "a=", "| ",
     '{"score": 1, "', "score of ", "1/"],
)  # fmt: skip
def test_no_reply_takes_long(unit: str) -> None:
    """The longest reply that is read, made of what makes readers start over: seconds at the very most."""
    reply = (unit * (MAX_LENGTH // len(unit)))[:MAX_LENGTH]
    started = time.monotonic()
    for scale in (UNIT, BINARY):
        read_verdict(reply, scale)

    assert time.monotonic() - started < 60


def test_a_reply_of_any_length_is_answered() -> None:
    read = read_verdict("x" * (MAX_LENGTH + 1), UNIT)

    assert isinstance(read, Unreadable)
    assert "100,001 characters" in read.reason


@pytest.mark.parametrize(
    "wrong",
    [{"low": 1.0, "high": 1.0}, {"low": float("nan")}, {"high": float("inf")}, {"kind": "choices"},
     {"choices": {"a": 1.0}}, {"kind": "choices", "choices": {"a": 2.0}}, {"kind": "choices", "choices": {" ": 1.0}}],
)  # fmt: skip
def test_a_scale_that_is_none_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        Scale(**wrong)
