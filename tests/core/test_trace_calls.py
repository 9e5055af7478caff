"""What a call says beside its sums: messages, cached tokens, why it ended, which attempt it was, and who says so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from proctor.records.trace import LlmCall, ToolCall
from tests.core.test_trace import chat, document, read, span, value

ASKED = [{"role": "user", "parts": [{"type": "text", "content": "Weather in Oslo?"}]}]
ANSWERED = [{"role": "assistant", "parts": [{"type": "text", "content": "Rain."}], "finish_reason": "stop"}]


def llm(folder: Path, **said: Any) -> LlmCall:
    """The one model call of a trace."""
    (event,) = read(folder, document(chat(1, **said)) + "\n").events
    assert isinstance(event, LlmCall)
    return event


def moment(name: str, **said: Any) -> dict[str, Any]:
    """An event of a span."""
    return {"name": name, "attributes": [{"key": key, "value": value(one)} for key, one in said.items()]}


@pytest.mark.parametrize(
    ("said", "asked", "answered"),
    [
        (
            {"attributes": {"gen_ai.input.messages": ASKED, "gen_ai.output.messages": ANSWERED}},
            ASKED,
            ANSWERED,
        ),
        (
            {
                "attributes": {
                    "gen_ai.input.messages": json.dumps(ASKED),
                    "gen_ai.output.messages": json.dumps(ANSWERED),
                }
            },
            ASKED,
            ANSWERED,
        ),
        (
            {
                "events": [
                    moment(
                        "gen_ai.client.inference.operation.details",
                        **{"gen_ai.input.messages": ASKED, "gen_ai.output.messages": ANSWERED},
                    )
                ]
            },
            ASKED,
            ANSWERED,
        ),
        (
            {
                "events": [
                    moment("gen_ai.system.message", content="Be brief."),
                    moment("gen_ai.user.message", content="Weather in Oslo?"),
                    moment("gen_ai.choice", index=0, message={"content": "Rain."}),
                ]
            },
            [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Weather in Oslo?"}],
            [{"index": 0, "message": {"content": "Rain."}}],
        ),
        (
            {
                "events": [
                    moment("gen_ai.content.prompt", **{"gen_ai.prompt": "Weather in Oslo?"}),
                    moment("gen_ai.content.completion", **{"gen_ai.completion": "Rain."}),
                ]
            },
            "Weather in Oslo?",
            "Rain.",
        ),
        (
            {
                "attributes": {
                    "gen_ai.prompt.0.role": "user",
                    "gen_ai.prompt.0.content": "Weather in Oslo?",
                    "gen_ai.completion.0.content": "Rain.",
                }
            },
            [{"role": "user", "content": "Weather in Oslo?"}],
            [{"content": "Rain."}],
        ),
        (
            {
                "attributes": {
                    "llm.input_messages.0.message.role": "user",
                    "llm.input_messages.0.message.content": "Weather in Oslo?",
                    "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "weather",
                    "input.value": "the same again",
                }
            },
            [{"message": {"role": "user", "content": "Weather in Oslo?"}}],
            [{"message": {"tool_calls": [{"tool_call": {"function": {"name": "weather"}}}]}}],
        ),
        ({"attributes": {"input.value": "Weather?", "output.value": '{"a": 1}'}}, "Weather?", {"a": 1}),
        ({}, None, None),
    ],
    ids=[
        "current", "as text", "in an event", "an event each", "older events", "numbered", "OpenInference", "values",
        "nothing",
    ],
)  # fmt: skip
def test_messages_are_found_wherever_they_stand(tmp_path: Path, said: Any, asked: Any, answered: Any) -> None:
    """Attributes or events, current or older names."""
    call = llm(tmp_path, **said)

    assert (asked, answered) == (call.messages_in, call.messages_out)


def test_messages_with_numbers_do_no_harm(tmp_path: Path) -> None:
    """Names that contradict each other, go very deep, or are very many."""
    attributes = {
        "llm.input_messages.0": "a text",
        "llm.input_messages.0.message": "and members",
        "llm.input_messages." + ".".join("x" * 500): 1,
        "llm.input_messages.99999999999999": 2,
        **{f"llm.output_messages.{number}.message.content": "x" for number in range(20_000)},
    }
    call = llm(tmp_path, attributes=attributes)

    assert isinstance(call.messages_in, dict)
    assert isinstance(call.messages_out, str)
    assert call.messages_out.endswith(" characters)")


def test_a_huge_conversation_is_cut(tmp_path: Path) -> None:
    """As arguments and results are."""
    call = llm(tmp_path, attributes={"gen_ai.input.messages": [{"content": "x" * 100_001}]})

    assert isinstance(call.messages_in, str)
    assert call.messages_in.endswith(" characters)")
    assert 100_050 > len(call.messages_in)


def test_a_long_talk_that_repeats_itself_does_not_fill_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first messages are there; what there is no room for says so, and its numbers are there."""
    monkeypatch.setattr("proctor.core.trace.MOST_MESSAGES", 250)
    said = {"gen_ai.input.messages": [{"role": "user", "content": "x" * 80}]}
    trace = read(tmp_path, document(*(chat(number, attributes=said) for number in range(1, 5))) + "\n")
    messages = [event.messages_in for event in trace.events if isinstance(event, LlmCall)]

    assert said["gen_ai.input.messages"] == messages[0] == messages[1]
    assert ["(left out", "(left out"] == [str(message)[:9] for message in messages[2:]]
    assert 40 == trace.metrics.tokens_in_total


@pytest.mark.parametrize(
    "name",
    [
        "gen_ai.usage.cache_read.input_tokens",
        "gen_ai.usage.cache_read_input_tokens",
        "llm.token_count.prompt_details.cache_read",
    ],
)
def test_cached_tokens_are_known_by_every_name(tmp_path: Path, name: str) -> None:
    """They are among the tokens sent, and are summed over the calls that say them."""
    trace = read(tmp_path, document(chat(1, attributes={name: 4}), chat(2)) + "\n")

    assert (20, 4) == (trace.metrics.tokens_in_total, trace.metrics.tokens_cached_total)


def test_finish_reasons_are_the_providers(tmp_path: Path) -> None:
    """A list, or what an older instrumentation says."""
    assert ("stop", "length") == llm(
        tmp_path, attributes={"gen_ai.response.finish_reasons": ["stop", 3, "length"]}
    ).finish_reasons
    assert ("stop",) == llm(tmp_path, attributes={"gen_ai.completion.0.finish_reason": "stop"}).finish_reasons


def test_a_call_that_repeats_a_failed_one_is_an_attempt(tmp_path: Path) -> None:
    """429, 503, then an answer: attempts 1, 2 and 3; a fourth call after the answer is a first again."""
    failed = {"status": {"code": 2}, "lasts": 0.5}
    trace = read(
        tmp_path,
        document(
            span(9, lasts=99),
            *(chat(number, parent=9, start=number, **failed) for number in (1, 2)),
            chat(3, parent=9, start=3),
            chat(4, parent=9, start=4.5),
        )
        + "\n",
    )

    assert [1, 2, 3, 1] == [event.attempt for event in trace.events]
    assert (2, 2) == (trace.metrics.retries, trace.metrics.errors)


@pytest.mark.parametrize(
    "said",
    [
        {"parent": 8},
        {"start": 1.2},
        {"attributes": {"gen_ai.request.model": "another"}},
    ],
    ids=["elsewhere", "at the same time", "another model"],
)
def test_a_call_beside_a_failed_one_is_no_retry(tmp_path: Path, said: dict[str, Any]) -> None:
    """It is below another span, began before the other had failed, or asks another model."""
    first = chat(1, parent=9, start=1, status={"code": 2})
    trace = read(tmp_path, document(first, chat(2, **{"parent": 9, "start": 3} | said)) + "\n")

    assert [1, 1] == [event.attempt for event in trace.events]


def test_a_tool_is_retried_with_the_same_arguments(tmp_path: Path) -> None:
    """Other arguments are another call."""

    def tool(number: int, city: str, **said: Any) -> dict[str, Any]:
        attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "weather",
            "gen_ai.tool.call.arguments": {"city": city},
        }
        return span(number, start=number * 2, attributes=attributes, **said)

    trace = read(
        tmp_path, document(tool(1, "Oslo", status={"code": 2}), tool(2, "Rome"), tool(3, "Oslo")) + "\n"
    )

    assert [("Oslo", 1), ("Rome", 1), ("Oslo", 2)] == [
        (event.arguments["city"], event.attempt) for event in trace.events if isinstance(event, ToolCall)
    ]


@pytest.mark.parametrize(
    ("kind", "cost"),
    [("429", 0.01), ("503", 0.01), ("openai.RateLimitError", 0.01), ("TimeoutError", None), ("999", None)],
)
def test_a_call_that_the_provider_refused_costs_nothing(
    tmp_path: Path, kind: str, cost: float | None
) -> None:
    """One that broke off in another way may have been paid for, so that the sum is unknown."""
    refused = span(1, attributes={"gen_ai.operation.name": "chat", "error.type": kind})
    metrics = read(tmp_path, document(refused, chat(2, start=5)) + "\n").metrics

    assert (cost, None if cost is None else 10, 1) == (
        metrics.cost_usd_total,
        metrics.tokens_in_total,
        metrics.errors,
    )


def test_models_are_listed_the_dearest_first(tmp_path: Path) -> None:
    """0.01 + 0.01 for the small one; 0.50 for the large one."""
    large = {"gen_ai.request.model": "large", "gen_ai.provider.name": "acme", "gen_ai.usage.cost": 0.5}
    metrics = read(tmp_path, document(chat(1), chat(2), chat(3, attributes=large)) + "\n").metrics

    assert [("large", "acme", 1, 10, 0.5), ("small", None, 2, 20, 0.02)] == [
        (use.model, use.provider, use.calls, use.tokens_in, use.cost_usd) for use in metrics.by_model
    ]


@pytest.mark.parametrize(
    "attributes",
    [
        {"ai.toolCall.name": "weather", "ai.toolCall.args": '{"city":"Oslo"}', "ai.toolCall.result": "rain"},
        {"gen_ai.tool.name": "weather", "tool_arguments": '{"city":"Oslo"}', "tool_response": "rain"},
    ],
)
def test_tools_of_frameworks_with_names_of_their_own(tmp_path: Path, attributes: dict[str, Any]) -> None:
    """They are widespread, and older than the conventions."""
    trace = read(tmp_path, document(span(1, attributes=attributes)) + "\n")

    assert (
        ToolCall(name="weather", arguments={"city": "Oslo"}, result="rain", duration_s=1.0),
    ) == trace.events


def test_a_brought_trace_is_the_word_of_whoever_brings_it(tmp_path: Path) -> None:
    """A mark that says observed, or that something is lost, is true in the run that proctor made, and there alone."""
    from proctor.core.trace_otlp import Document, split_by_trace

    said = json.loads(document(chat(1)))
    marks = {"proctor.evidence": "observed", "proctor.trace.lost": "something"}
    said["resourceSpans"][0]["resource"]["attributes"] += [
        {"key": key, "value": value(one)} for key, one in marks.items()
    ]
    text = json.dumps(said).encode()
    (brought,) = split_by_trace(text).values()

    assert [("observed", "something"), ("inferred", None)] == [
        (next(one.spans()).evidence, one.lost) for one in (Document(text), Document(brought))
    ]
    assert b"service.name" in brought
