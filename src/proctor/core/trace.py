"""From spans to what they say: model calls and tool calls, in order, each counted once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from proctor.core import trace_names as names
from proctor.core.trace_messages import answered, asked
from proctor.core.trace_sums import traced
from proctor.records.json_value import Json, canonical_text
from proctor.records.trace import Event, Evidence, LlmCall, ToolCall, Trace

MOST_MESSAGES: Final = 32_000_000
"""Bytes of JSON that all messages of a trace may have, as they are given to graders."""
LEFT_OUT: Final = "(left out: the messages of this trace are more than 32 MB; they are in its trace.jsonl)"
_NS: Final = 1_000_000_000

Key = tuple[str, str]


class Span(msgspec.Struct, frozen=True, kw_only=True):
    """One span of a trace.

    Attributes:
        start_ns: nanoseconds since 1970; 0 when it is not said.
        end_ns: the same; 0 for a span without an end.
        moments: the events of the span, each a name and attributes.
        error: what went wrong; None when nothing did.
        evidence: who recorded it.
    """

    trace_id: str
    span_id: str
    parent_id: str = ""
    name: str = ""
    start_ns: int = 0
    end_ns: int = 0
    attributes: Mapping[str, Json] = {}
    moments: tuple[tuple[str, Mapping[str, Json]], ...] = ()
    error: str | None = None
    evidence: Evidence = "inferred"


class TraceReader:
    """Takes the spans of one run, in any order, and keeps what is a model call or a tool call.

    with_content: keep what was said to models and tools, and what they answered.
    """

    def __init__(self, *, with_content: bool = True) -> None:
        self._with_content = with_content
        self._room = MOST_MESSAGES
        self._calls: dict[Key, _Call] = {}
        self._first_ns = 0
        self._observes: set[str] = set()

    def add(self, span: Span) -> None:
        """Take one span. One that was exported twice counts once."""
        if span.start_ns and (not self._first_ns or span.start_ns < self._first_ns):
            self._first_ns = span.start_ns
        if span.evidence == "observed":
            self._observes.update(str(span.attributes.get(names.OBSERVES, "")).split())
        kind = names.kind_of(span.attributes)
        if kind is None:
            return
        key = (span.trace_id, span.span_id or f"#{len(self._calls)}")
        if key not in self._calls:
            self._calls[key] = _Call(
                start_ns=span.start_ns,
                end_ns=max(span.start_ns, span.end_ns),
                parent=(span.trace_id, span.parent_id),
                asked=names.text(span.attributes, names.REQUESTED) if kind == "llm" else None,
                event=self._llm(span) if kind == "llm" else _tool(span, self._with_content),
            )

    def _llm(self, span: Span) -> LlmCall:
        """The call, with its messages as long as there is room: each of a long talk repeats all before it."""
        call = _llm(span, self._with_content)
        said = [message for message in (call.messages_in, call.messages_out) if message is not None]
        if not said:
            return call
        size = len(msgspec.json.encode(said))
        if size <= self._room:
            self._room -= size
            return call
        return msgspec.structs.replace(call, messages_in=LEFT_OUT, messages_out=LEFT_OUT)

    def finish(self, *, is_whole: bool, lost: str | None = None) -> Trace:
        """What all spans said.

        Args:
            is_whole: False when some of them could not be read, or are known not to be there.
            lost: why it is not whole, where that is known.
        """
        calls = sorted(_seen_once(self._calls), key=lambda call: call.start_ns)
        trace = traced(
            [
                msgspec.structs.replace(
                    call.event,
                    start_s=round(max(0, call.start_ns - self._first_ns) / _NS, 6),
                    attempt=attempt,
                )
                for call, attempt in zip(calls, _attempts(calls), strict=True)
            ],
            is_whole=is_whole,
            lost=lost,
        )
        if not self._observes:
            return trace
        return msgspec.structs.replace(trace, observes=tuple(sorted(self._observes)))


class _Call(msgspec.Struct, frozen=True, kw_only=True):
    start_ns: int
    end_ns: int
    parent: Key
    asked: str | None
    event: Event


def _seen_once(calls: Mapping[Key, _Call]) -> Iterable[_Call]:
    """The calls, less those that two instrumentations saw: a span directly in another that stands for the same.

    Of model calls the inner ones count: the outer one is a framework's, which repeats their sums. Of calls of one
    tool the outer one counts.
    """
    repeated = {
        call.parent
        for call in calls.values()
        if isinstance(call.event, LlmCall)
        and (outer := calls.get(call.parent)) is not None
        and isinstance(outer.event, LlmCall)
    }
    for key, call in calls.items():
        if key in repeated:
            continue
        outer = calls.get(call.parent)
        if (
            isinstance(call.event, ToolCall)
            and outer is not None
            and isinstance(outer.event, ToolCall)
            and outer.event.name == call.event.name
        ):
            continue
        yield call


def _attempts(calls: Iterable[_Call]) -> Iterable[int]:
    """Which attempt each call is, in the order of their start.

    A call repeats the one before it below the same span, of the same model or of the same tool with the same
    arguments, when that one had failed before this one began.
    """
    before: dict[tuple[str, ...], tuple[_Call, int]] = {}
    for call in calls:
        trace_id, parent_id = call.parent
        place = (trace_id, parent_id) if parent_id else ("", "")
        event = call.event
        if isinstance(event, LlmCall):
            key = ("llm", *place, call.asked or event.model or "")
        else:
            key = ("tool", *place, event.name, _text(event.arguments))
        earlier = before.get(key)
        attempt = 1
        if earlier is not None and earlier[0].event.error is not None and earlier[0].end_ns <= call.start_ns:
            attempt = earlier[1] + 1
        before[key] = (call, attempt)
        yield attempt


def _text(value: Json) -> str:
    try:
        return canonical_text(value)
    except (ValueError, RecursionError):
        return repr(value)


def _llm(span: Span, with_content: bool) -> LlmCall:
    attributes = span.attributes
    cost_usd, cost_source = names.cost(attributes), "trace"
    if cost_usd is None:
        cost_usd, cost_source = names.amount(attributes.get(names.WORKED_OUT)), "prices"
    tokens_in = names.count(attributes, names.TOKENS_IN)
    tokens_out = names.count(attributes, names.TOKENS_OUT)
    if tokens_in is tokens_out is cost_usd is None and names.was_refused(attributes):
        tokens_in, tokens_out, cost_usd, cost_source = 0, 0, 0.0, "trace"
    return LlmCall(
        model=names.text(attributes, names.MODEL),
        provider=names.text(attributes, names.PROVIDER),
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        tokens_cached=names.count(attributes, names.TOKENS_CACHED),
        cost_usd=cost_usd,
        cost_source=None if cost_usd is None else cost_source,
        cost_unknown=names.text(attributes, (names.NOT_WORKED_OUT,)) if cost_usd is None else None,
        finish_reasons=names.finish_reasons(attributes),
        messages_in=asked(attributes, span.moments) if with_content else None,
        messages_out=answered(attributes, span.moments) if with_content else None,
        duration_s=_duration(span),
        error=span.error,
        evidence=span.evidence,
    )


def _tool(span: Span, with_content: bool) -> ToolCall:
    attributes = span.attributes
    return ToolCall(
        name=names.text(attributes, names.TOOL_NAME) or span.name.removeprefix("execute_tool "),
        arguments=names.content(attributes, names.ARGUMENTS) if with_content else None,
        result=names.content(attributes, names.RESULT) if with_content else None,
        duration_s=_duration(span),
        error=span.error,
        evidence=span.evidence,
    )


def _duration(span: Span) -> float | None:
    if not span.start_ns or span.end_ns < span.start_ns:
        return None
    return round((span.end_ns - span.start_ns) / _NS, 6)
