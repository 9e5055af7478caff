"""From what an agent sent to the trace of its run: nothing is lost, nothing is forged, and what is missing is said."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from google.protobuf.json_format import ParseDict
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from proctor.core.trace_protobuf import document_of
from proctor.host.receiver import Receiver, Tap, Written, write_trace
from proctor.records.trace import LlmCall, Trace
from proctor.stores.tracefile import read_trace
from tests.tracing.sending import JSON, as_json, chat, lines, post, protobuf, span_names


@pytest.fixture
def tap(tmp_path: Path) -> Iterator[Tap]:
    """A way in for one trial."""
    with Receiver() as receiver:
        yield receiver.open(tmp_path / "spool")


def send(tap: Tap, body: bytes, **said: str) -> None:
    """Send a body, which is accepted."""
    port = urlsplit(tap.environment()["OTEL_EXPORTER_OTLP_ENDPOINT"]).port
    assert port is not None
    assert 200 == post(port, body, tap.token, **said).status


def written(tap: Tap, **said: Any) -> tuple[Written, Trace | None]:
    """The trace of the trial, and what it says."""
    tap.close()
    done = write_trace(tap.spool, tap.spool.parent / "trace.jsonl", **said)
    return done, read_trace(str(tap.spool.parent))


values = st.recursive(
    st.one_of(
        st.builds(lambda value: AnyValue(string_value=value), st.text(max_size=20)),
        st.builds(lambda value: AnyValue(int_value=value), st.integers(-(2**63), 2**63 - 1)),
        st.builds(lambda value: AnyValue(double_value=value), st.floats()),
        st.builds(lambda value: AnyValue(bool_value=value), st.booleans()),
        st.builds(lambda value: AnyValue(bytes_value=value), st.binary(max_size=20)),
        st.just(AnyValue()),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda entries: AnyValue(array_value={"values": entries})),
        st.lists(inner, max_size=3).map(
            lambda entries: AnyValue(kvlist_value={"values": [{"key": "k", "value": one} for one in entries]})
        ),
    ),
    max_leaves=6,
)
fixed64 = st.integers(0, 2**64 - 1)
spans = st.builds(
    Span,
    trace_id=st.binary(min_size=16, max_size=16),
    span_id=st.binary(min_size=8, max_size=8),
    parent_span_id=st.one_of(st.just(b""), st.binary(min_size=8, max_size=8)),
    trace_state=st.text(max_size=5),
    flags=st.integers(0, 2**32 - 1),
    name=st.text(max_size=20),
    kind=st.integers(0, 5),
    start_time_unix_nano=fixed64,
    end_time_unix_nano=fixed64,
    attributes=st.lists(st.builds(lambda value: {"key": "a", "value": value}, values), max_size=3),
    events=st.lists(
        st.builds(lambda name, at: {"name": name, "time_unix_nano": at}, st.text(max_size=9), fixed64),
        max_size=2,
    ),
    links=st.lists(
        st.builds(lambda trace_id: {"trace_id": trace_id}, st.binary(min_size=16, max_size=16)), max_size=2
    ),
    status=st.builds(
        lambda code, message: {"code": code, "message": message}, st.integers(0, 2), st.text(max_size=9)
    ),
    dropped_attributes_count=st.integers(0, 9),
)


def bytes_for_protobuf(document: Any, key: str = "") -> Any:
    """OTLP/JSON with base64 for its hexadecimal identifiers, as the JSON of protobuf wants it."""
    from base64 import b64encode

    if isinstance(document, dict):
        return {name: bytes_for_protobuf(value, name) for name, value in document.items()}
    if isinstance(document, list):
        return [bytes_for_protobuf(value) for value in document]
    return (
        b64encode(bytes.fromhex(document)).decode()
        if key in ("traceId", "spanId", "parentSpanId")
        else document
    )


@given(st.lists(spans, max_size=3))
def test_protobuf_becomes_the_json_that_says_the_same(made: list[Span]) -> None:
    """The library's own reader of JSON makes the request of it again: identifiers, big numbers, NaN, bytes, nesting."""
    request = ExportTraceServiceRequest()
    request.resource_spans.add().scope_spans.add(spans=made)
    document = json.loads(json.dumps(document_of(request.SerializeToString())))
    again = ParseDict(bytes_for_protobuf(document), ExportTraceServiceRequest())
    # A status that says nothing is none.
    for span in request.resource_spans[0].scope_spans[0].spans:
        if not span.status.ByteSize():
            span.ClearField("status")

    assert request.SerializeToString(deterministic=True) == again.SerializeToString(deterministic=True)


def test_a_trial_that_sent_nothing_has_no_trace(tap: Tap) -> None:
    """Also where it was ended: nothing says that there was something to send."""
    done, trace = written(tap, was_cut=True)

    assert (Written(), None) == (done, trace)


def test_a_request_without_spans_is_no_trace(tap: Tap) -> None:
    """Some exporters send one when they end."""
    send(tap, protobuf())
    send(tap, b"")

    assert (Written(), None) == written(tap)


def test_what_the_spans_say_stays_as_it_is(tap: Tap) -> None:
    """JSON comes out as it went in, fields that nobody knows among it, on one line."""
    said = json.loads(as_json("one"))
    said["resourceSpans"][0]["scopeSpans"][0]["spans"][0] |= {"aNewField": {"x": [1, None]}, "links": []}
    send(tap, json.dumps(said, indent=2).encode(), kind=JSON)
    done, _ = written(tap)

    assert (1, True) == (done.spans, done.is_whole)
    assert [said] == lines(tap.spool.parent / "trace.jsonl")


def test_an_agent_cannot_say_that_proctor_saw_it(tap: Tap) -> None:
    """Attributes of proctor's are taken out of resource, scope and span, in whatever way their names are written."""
    mark = {"key": "proctor.evidence", "value": {"stringValue": "observed"}}
    said = json.loads(as_json("one", attributes=chat()))
    resource = said["resourceSpans"][0]
    resource["resource"]["attributes"].append(mark)
    resource["scopeSpans"][0]["scope"]["attributes"] = [mark]
    resource["scopeSpans"][0]["spans"][0]["attributes"] += [
        mark,
        {"key": "proctor.cost.usd", "value": {"doubleValue": 0.0}},
    ]
    send(tap, json.dumps(said).replace("proctor.", "\\u0070roctor\\u002e").encode(), kind=JSON)
    _, trace = written(tap)

    assert b"observed" not in (tap.spool.parent / "trace.jsonl").read_bytes()
    assert trace is not None
    assert [("inferred", pytest.approx(0.0035), "prices")] == [
        (event.evidence, event.cost_usd, event.cost_source)
        for event in trace.events
        if isinstance(event, LlmCall)
    ]


def test_what_proctor_saw_counts_and_what_the_agent_says_of_the_same_kind_does_not(tap: Tap) -> None:
    """Both are events; the sums are over the observed ones."""
    own = tap.spool.parent / "own.jsonl"
    own.write_bytes(
        as_json("seen", attributes=chat(gen_ai__usage__input_tokens=7, gen_ai__usage__cost="0.5")) + b"\n\n"
    )
    send(tap, protobuf("said", attributes=chat()))
    tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "weather"}
    send(tap, protobuf("weather", attributes=tool))
    done, trace = written(tap, own=own)

    assert (2, True) == (done.spans, done.is_whole)
    assert trace is not None
    assert {"observed": 1, "inferred": 2} == {
        kind: sum(event.evidence == kind for event in trace.events) for kind in ("observed", "inferred")
    }
    assert (1, 7, 0.5, 1) == (
        trace.metrics.llm_calls,
        trace.metrics.tokens_in_total,
        trace.metrics.cost_usd_total,
        trace.metrics.tool_calls,
    )


def test_a_torn_line_of_our_own_makes_the_trace_one_that_is_not_whole(tap: Tap) -> None:
    """proctor, or the machine, went down while it was written."""
    own = tap.spool.parent / "own.jsonl"
    own.write_bytes(as_json("seen") + b"\n" + as_json("torn")[:-30])
    done, trace = written(tap, own=own)

    assert ("The trace is not whole: a call that proctor saw was not recorded as a whole.",) == done.notes
    assert trace is not None
    assert not trace.is_whole


@pytest.mark.parametrize(
    ("body", "said", "why"),
    [
        (b"\xff\xff\xff", {}, "it is no protobuf of spans"),
        (b'{"resourceLogs": []}', {"kind": JSON}, "it has no resourceSpans"),
        (b"[1]", {"kind": JSON}, "Expected `object`, got `array`"),
        (
            b'{"resourceSpans":[{"a":' + b"[" * 200_000 + b"]" * 200_000 + b"}]}",
            {"kind": JSON},
            "it is nested too deep",
        ),
        (b"not packed", {"content_encoding": "gzip"}, "it cannot be unpacked"),
        (gzip.compress(protobuf("x"))[:-12], {"content_encoding": "gzip"}, "what was packed breaks off"),
        (gzip.compress(bytes(70_000_000)), {"content_encoding": "gzip"}, "it unpacks to more than 64 MiB"),
    ],
    ids=["protobuf", "logs", "a list", "deep", "not gzip", "torn gzip", "a bomb"],
)
def test_a_body_that_cannot_be_read_is_said_and_the_others_are_kept(
    tap: Tap, body: bytes, said: dict[str, str], why: str
) -> None:
    """It was answered with 200, since it is looked at only now; the sums are unknown."""
    send(tap, protobuf("before", attributes=chat()))
    send(tap, body, **said)
    send(tap, protobuf("after", attributes=chat()))
    done, trace = written(tap)

    assert ["before", "after"] == span_names(tap.spool.parent / "trace.jsonl")
    assert not done.is_whole
    assert f"The trace is not whole: a body could not be read: {why}" in done.notes[0]
    assert trace is not None
    assert (None, 2, False) == (trace.metrics.llm_calls, trace.at_least.llm_calls, trace.is_whole)
    assert why in (trace.lost or "")
    assert trace.lost == trace.metrics.cost_unknown


def test_odd_shapes_in_json_do_no_harm(tap: Tap) -> None:
    """What should be a list, an object or a text, and is none, is kept as it is."""
    odd: dict[str, Any] = {
        "resourceSpans": [
            7,
            {"resource": [], "scopeSpans": {}},
            {
                "resource": {"attributes": "x"},
                "scopeSpans": [
                    None,
                    {"scope": 1, "spans": [[], {"spanId": 5, "attributes": [1, {"key": 2}, {}]}]},
                ],
            },
        ]
    }
    send(tap, json.dumps(odd).encode(), kind=JSON)
    done, _ = written(tap)

    assert 1 == done.spans
    assert [odd] == lines(tap.spool.parent / "trace.jsonl")


def test_an_agent_that_was_ended_leaves_a_trace_that_is_not_whole(tap: Tap) -> None:
    """What it had not sent is lost, and may have cost something: at least what is there was spent."""
    send(tap, protobuf("one", parent=tap.span_id, attributes=chat()))
    done, trace = written(tap, was_cut=True)

    assert (
        "The trace is not whole: the agent was ended before it could send what it had left.",
    ) == done.notes
    assert trace is not None
    assert (None, pytest.approx(0.0035)) == (trace.metrics.cost_usd_total, trace.at_least.cost_usd_total)


@pytest.mark.parametrize(("parent", "is_whole"), [("", True), ("given", True), ("00000000000000aa", False)])
def test_a_span_below_one_that_never_came_shows_that_the_end_is_missing(
    tap: Tap, parent: str, is_whole: bool
) -> None:
    """What ends last is sent last; an agent that leaves without it has lost it. proctor's own span is no loss."""
    send(tap, protobuf("one", parent=tap.span_id if parent == "given" else parent))
    done, trace = written(tap)

    assert is_whole is done.is_whole
    assert trace is not None
    assert is_whole is trace.is_whole


def test_a_spool_that_breaks_off_is_read_as_far_as_it_goes(tap: Tap) -> None:
    """proctor was killed while it wrote."""
    send(tap, protobuf("one"))
    send(tap, protobuf("two"))
    tap.close()
    spool = tap.spool / "bodies"
    spool.write_bytes(spool.read_bytes()[:-3])
    done, _ = written(tap)

    assert (1, False) == (done.spans, done.is_whole)
    assert ["one"] == span_names(tap.spool.parent / "trace.jsonl")


def test_prices_are_kept_with_the_run(tap: Tap, monkeypatch: pytest.MonkeyPatch) -> None:
    """A later list of prices, or none, changes nothing: the number stands in the trace, and whose it is."""
    send(tap, protobuf("one", attributes=chat()))
    before = written(tap)[1]
    monkeypatch.setitem(__import__("sys").modules, "genai_prices", None)
    after = read_trace(str(tap.spool.parent))

    assert before == after
    assert after is not None
    assert (pytest.approx(0.0035), "prices") == (after.metrics.cost_usd_total, after.metrics.cost_source)
    assert (
        b'"proctor.cost.prices","value":{"stringValue":"genai-prices '
        in (tap.spool.parent / "trace.jsonl").read_bytes()
    )


def test_what_the_trace_says_itself_wins(tap: Tap) -> None:
    """A provider knows its discounts."""
    send(tap, protobuf("one", attributes=chat(gen_ai__usage__cost="0.25")))
    _, trace = written(tap)

    assert trace is not None
    assert (0.25, "trace") == (trace.metrics.cost_usd_total, trace.metrics.cost_source)


def test_without_a_list_of_prices_the_reason_is_kept(tap: Tap, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is unknown, and not 0; the sentence says what to install."""
    monkeypatch.setitem(__import__("sys").modules, "genai_prices", None)
    send(tap, protobuf("one", attributes=chat()))
    _, trace = written(tap)

    assert trace is not None
    assert None is trace.metrics.cost_usd_total
    assert (
        "1 of 1 model calls: no list of prices is installed: pip install 'proctor[prices]' before the next run"
        == trace.metrics.cost_unknown
    )
