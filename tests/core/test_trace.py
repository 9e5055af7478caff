"""What a trace says: model calls, tool calls, and their sums."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from proctor.records.trace import LlmCall, Metrics, ModelUse, ToolCall, Trace
from proctor.stores.tracefile import read_trace

TRACE = "5b8efff798038103d269b633813fc60c"
SECOND = 1_000_000_000


def value(said: Any) -> dict[str, Any]:
    """A value as OTLP/JSON wraps it."""
    match said:
        case bool():
            return {"boolValue": said}
        case int():
            return {"intValue": str(said)}
        case float():
            return {"doubleValue": said}
        case dict():
            return {
                "kvlistValue": {"values": [{"key": key, "value": value(one)} for key, one in said.items()]}
            }
        case list():
            return {"arrayValue": {"values": [value(one) for one in said]}}
        case _:
            return {"stringValue": said}


def span(
    number: int, *, parent: int = 0, start: float = 0.0, lasts: float = 1.0, **said: Any
) -> dict[str, Any]:
    """A span that starts `start` seconds after noon; the attributes are `said` with `__` for dots."""
    begin = 1_764_500_000 * SECOND + round(start * SECOND)
    attributes = said.pop("attributes", {})
    return {
        "traceId": TRACE,
        "spanId": f"{number:016x}",
        "parentSpanId": f"{parent:016x}" if parent else "",
        "name": "a span",
        "startTimeUnixNano": str(begin),
        "endTimeUnixNano": begin + round(lasts * SECOND),
        "attributes": [{"key": key, "value": value(one)} for key, one in attributes.items()],
        **said,
    }


def document(*spans: dict[str, Any]) -> str:
    """A TracesData document on one line."""
    scope = {"scope": {"name": "test"}, "spans": list(spans), "aField": "of a newer format"}
    resource = {"attributes": [{"key": "service.name", "value": value("agent")}]}
    return json.dumps({"resourceSpans": [{"resource": resource, "scopeSpans": [scope]}]})


def chat(number: int, **said: Any) -> dict[str, Any]:
    """A model call by the current names, which cost a cent."""
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "small",
        "gen_ai.usage.input_tokens": 10,
        "gen_ai.usage.output_tokens": 5,
        "gen_ai.usage.cost": 0.01,
    } | said.pop("attributes", {})
    return span(number, attributes=attributes, **said)


def read(folder: Path, text: str | bytes) -> Trace:
    """The trace of a run directory whose trace.jsonl has this text."""
    (folder / "trace.jsonl").write_bytes(text if isinstance(text, bytes) else text.encode())
    trace = read_trace(str(folder))
    assert trace is not None
    return trace


def test_a_whole_trace_without_model_calls_costs_0(tmp_path: Path) -> None:
    """Nothing was called, so nothing was paid: 0 is known."""
    trace = read(tmp_path, document(span(1)) + "\n")

    assert (
        Metrics(
            llm_calls=0,
            tool_calls=0,
            retries=0,
            errors=0,
            tokens_in_total=0,
            tokens_out_total=0,
            cost_usd_total=0.0,
        ),
        (),
    ) == (
        trace.metrics,
        trace.events,
    )


def test_no_trace_says_nothing(tmp_path: Path) -> None:
    """Neither a run without the file nor one with an empty file has a trace."""
    before = read_trace(str(tmp_path))
    (tmp_path / "trace.jsonl").touch()

    assert (None, None) == (before, read_trace(str(tmp_path)))


@pytest.mark.parametrize(
    "text",
    [
        document(chat(1)) + "\n" + document(chat(2))[:-20],
        document(chat(1)) + "\nnot json\n" + document(chat(2)) + "\n",
        document(chat(1)) + "\n" + "[" * 100_000 + "\n",
    ],
    ids=["torn", "a line that is no JSON", "a line that is nested too deep"],
)
def test_a_trace_that_is_not_whole_adds_up_to_nothing(tmp_path: Path, text: str) -> None:
    """What can be read is there; sums are None, since more may have happened."""
    trace = read(tmp_path, text)

    assert Metrics(models=("small",), cost_unknown="the trace is not whole") == trace.metrics
    assert (trace.at_least.llm_calls or 0) >= 1
    assert (trace.at_least.cost_usd_total or 0.0) >= 0.01
    assert "small" == trace.events[0].model  # type: ignore[union-attr]


def test_a_last_line_that_only_lacks_its_end_is_whole(tmp_path: Path) -> None:
    """A JSON document says itself where it ends."""
    assert 0.01 == read(tmp_path, document(chat(1))).metrics.cost_usd_total


def test_sums_are_over_all_calls(tmp_path: Path) -> None:
    """cost 0.01 + 0.01 = 0.02, tokens 10 + 10 in and 5 + 5 out."""
    trace = read(tmp_path, f"{document(chat(1), chat(2))}\n{document(span(3))}\n")

    assert (
        Metrics(
            llm_calls=2,
            tool_calls=0,
            retries=0,
            errors=0,
            tokens_in_total=20,
            tokens_out_total=10,
            cost_usd_total=0.02,
            cost_source="trace",
            models=("small",),
            by_model=(ModelUse(model="small", calls=2, tokens_in=20, tokens_out=10, cost_usd=0.02),),
        )
        == trace.metrics
    )


def test_one_call_without_a_price_makes_the_cost_unknown(tmp_path: Path) -> None:
    """The other numbers are known all the same, and why it is unknown is said."""
    unpriced = {
        "gen_ai.operation.name": "chat",
        "gen_ai.usage.input_tokens": 1,
        "gen_ai.usage.output_tokens": 1,
    }
    metrics = read(tmp_path, document(chat(1), span(2, attributes=unpriced)) + "\n").metrics

    assert (None, 2, 11) == (metrics.cost_usd_total, metrics.llm_calls, metrics.tokens_in_total)
    assert "1 of 2 model calls: the trace does not say it" == metrics.cost_unknown


@pytest.mark.parametrize(
    "attributes",
    [
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": "acme",
            "gen_ai.response.model": "m-1",
            "gen_ai.request.model": "m",
            "gen_ai.usage.input_tokens": 7,
            "gen_ai.usage.output_tokens": 3,
            "gen_ai.usage.cost": 0.5,
        },
        {
            "gen_ai.system": "acme",
            "gen_ai.request.model": "m-1",
            "gen_ai.usage.prompt_tokens": 7,
            "gen_ai.usage.completion_tokens": 3,
            "gen_ai.usage.cost": "0.5",
        },
        {
            "openinference.span.kind": "LLM",
            "llm.provider": "acme",
            "llm.model_name": "m-1",
            "llm.token_count.prompt": 7,
            "llm.token_count.completion": 3,
            "llm.cost.total": 0.5,
        },
    ],
    ids=["current", "older", "OpenInference"],
)
def test_a_model_call_is_known_by_every_name(tmp_path: Path, attributes: dict[str, Any]) -> None:
    """Whoever wrote the span, the same call is read."""
    trace = read(tmp_path, document(span(1, attributes=attributes, lasts=2.5)) + "\n")

    assert (
        LlmCall(
            model="m-1",
            provider="acme",
            tokens_in=7,
            tokens_out=3,
            cost_usd=0.5,
            cost_source="trace",
            duration_s=2.5,
        ),
    ) == trace.events


@pytest.mark.parametrize(
    "attributes",
    [
        {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "weather",
            "gen_ai.tool.call.arguments": {"city": "Oslo", "days": [1, 2]},
            "gen_ai.tool.call.result": "rain",
        },
        {
            "gen_ai.tool.name": "weather",
            "gen_ai.tool.call.arguments": '{"city": "Oslo", "days": [1, 2]}',
            "gen_ai.tool.call.result": "rain",
        },
        {
            "openinference.span.kind": "TOOL",
            "tool.name": "weather",
            "input.value": '{"city": "Oslo", "days": [1, 2]}',
            "output.value": "rain",
        },
    ],
    ids=["current", "arguments as text", "OpenInference"],
)
def test_a_tool_call_is_known_by_every_name(tmp_path: Path, attributes: dict[str, Any]) -> None:
    """Name, arguments and result; arguments that are JSON in a text are read."""
    trace = read(tmp_path, document(span(1, attributes=attributes)) + "\n")

    assert (
        ToolCall(name="weather", arguments={"city": "Oslo", "days": [1, 2]}, result="rain", duration_s=1.0),
    ) == trace.events


def test_events_are_in_the_order_of_their_start(tmp_path: Path) -> None:
    """However they were exported: a parent ends after its children and is written last."""
    tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "t"}
    text = document(chat(3, start=2.0)) + "\n" + document(span(2, start=1.0, attributes=tool), span(1)) + "\n"
    trace = read(tmp_path, text)

    assert [("ToolCall", 1.0), ("LlmCall", 2.0)] == [
        (type(event).__name__, event.start_s) for event in trace.events
    ]


def test_a_span_around_calls_is_no_call(tmp_path: Path) -> None:
    """An agent's span repeats the sums of the calls in it."""
    sums = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.request.model": "small",
        "gen_ai.usage.input_tokens": 10,
    }

    assert 1 == read(tmp_path, document(span(1, attributes=sums), chat(2, parent=1)) + "\n").metrics.llm_calls


def test_a_call_that_two_instrumentations_saw_counts_once(tmp_path: Path) -> None:
    """A framework's span directly around the client's, and a span that was exported twice."""
    text = document(chat(1), chat(2, parent=1)) + "\n" + document(chat(2, parent=1)) + "\n"

    assert (1, 0.01) == (
        (metrics := read(tmp_path, text).metrics).llm_calls,
        metrics.cost_usd_total,
    )


def test_an_error_is_the_status_or_the_exception(tmp_path: Path) -> None:
    """The status' message comes first, then that of a recorded exception."""
    raised = [{"name": "exception", "attributes": [{"key": "exception.message", "value": value("no route")}]}]
    trace = read(
        tmp_path,
        document(
            chat(1, status={"code": 2, "message": "too long"}),
            chat(2, status={"code": "STATUS_CODE_ERROR"}, events=raised),
            chat(3, attributes={"error.type": "429"}),
            chat(4, status={"code": 1}),
        )
        + "\n",
    )

    assert ["too long", "no route", "429", None] == [event.error for event in trace.events]


@pytest.mark.parametrize("wrong", [-1, True, "NaN", "1e999", 1.5, [1], {"a": 1}])
def test_a_number_that_is_none_is_unknown(tmp_path: Path, wrong: Any) -> None:
    """It is never read as 0."""
    trace = read(tmp_path, document(chat(1, attributes={"gen_ai.usage.input_tokens": wrong})) + "\n")

    assert (None, 5) == (trace.metrics.tokens_in_total, trace.metrics.tokens_out_total)


def test_lines_end_in_a_line_feed_only(tmp_path: Path) -> None:
    """NEL, U+2028, a half surrogate, and bytes that are no UTF-8 inside a text do not end or spoil the line."""
    tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "a\u0085b\u2028c"}
    text = document(span(1, attributes=tool)).encode().replace(b"a span", b"\xff \\ud83d")
    escaped = json.dumps(json.loads(document(span(2, start=1, attributes=tool))), ensure_ascii=False).encode()
    trace = read(tmp_path, b"\xef\xbb\xbf" + text + b"\r\n\n" + escaped + b"\n")

    assert (True, ["a\u0085b\u2028c"] * 2) == (trace.is_whole, [event.name for event in trace.events])  # type: ignore[union-attr]


def test_a_huge_value_is_cut(tmp_path: Path) -> None:
    """The first 100,000 characters, and a mark that says how many there were."""
    tool = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "t",
        "gen_ai.tool.call.result": "x" * 100_001,
    }
    (event,) = read(tmp_path, document(span(1, attributes=tool)) + "\n").events

    assert "x" * 100_000 + "… (100001 characters)" == event.result  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "text",
    [
        '{"resourceSpans": null}',
        '{"resourceLogs": []}',
        '{"resourceSpans": [{"scopeSpans": [{"spans": null}]}]}',
    ],
)
def test_a_document_without_spans_is_no_fault(tmp_path: Path, text: str) -> None:
    """The Collector writes logs and empty batches as well."""
    assert 0 == read(tmp_path, text + "\n").metrics.llm_calls


def test_shapes_that_no_exporter_writes_do_no_harm(tmp_path: Path) -> None:
    """Fields of other types than they should be are as if they were not there."""
    odd = {
        "traceId": 3,
        "spanId": None,
        "startTimeUnixNano": "soon",
        "status": [],
        "events": {},
        "attributes": [
            7,
            {"key": 1},
            {"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}},
            {"key": "gen_ai.request.model", "value": {"arrayValue": None}},
            {"key": "gen_ai.usage.input_tokens", "value": {"intValue": "9" * 10_000}},
        ],
    }

    assert (LlmCall(),) == read(tmp_path, document(odd, odd) + "\n").events[:1]
