"""From spans to what they say: model calls, tool calls, and their sums."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

from proctor.core import trace_names as names
from proctor.records.json_value import Json
from proctor.records.trace import Event, LlmCall, Metrics, ToolCall, Trace

_NS: Final = 1_000_000_000


class Span(msgspec.Struct, frozen=True, kw_only=True):
    """One span of a trace.

    Attributes:
        start_ns: nanoseconds since 1970; 0 when it is not said.
        end_ns: the same; 0 for a span without an end.
        error: what went wrong; None when nothing did.
    """

    trace_id: str
    span_id: str
    parent_id: str = ""
    name: str = ""
    start_ns: int = 0
    end_ns: int = 0
    attributes: Mapping[str, Json] = {}
    error: str | None = None


class TraceReader:
    """Takes the spans of one run, in any order, and keeps what is a model call or a tool call."""

    def __init__(self) -> None:
        self._calls: dict[tuple[str, str], _Call] = {}
        self._first_ns = 0

    def add(self, span: Span) -> None:
        """Take one span. One that was exported twice counts once."""
        if span.start_ns and (not self._first_ns or span.start_ns < self._first_ns):
            self._first_ns = span.start_ns
        kind = names.kind_of(span.attributes)
        if kind is None:
            return
        key = (span.trace_id, span.span_id or f"#{len(self._calls)}")
        if key not in self._calls:
            event = _llm(span) if kind == "llm" else _tool(span)
            self._calls[key] = _Call(span.start_ns, (span.trace_id, span.parent_id), event)

    def finish(self, *, is_whole: bool) -> Trace:
        """What all spans said.

        is_whole: False when some of them could not be read.
        """
        calls = sorted(_seen_once(self._calls), key=lambda call: call.start_ns)
        return traced(
            [
                msgspec.structs.replace(
                    call.event, start_s=round(max(0, call.start_ns - self._first_ns) / _NS, 6)
                )
                for call in calls
            ],
            is_whole=is_whole,
        )


class _Call(msgspec.Struct, frozen=True):
    start_ns: int
    parent: tuple[str, str]
    event: Event


def traced(events: Sequence[Event], *, is_whole: bool) -> Trace:
    """The trace of some events: a whole one adds up, one that breaks off does not, since more may have happened.

    A whole trace without model calls cost 0. One call of which the trace does not say what it cost makes the sum
    unknown.

    >>> traced([], is_whole=True).metrics.cost_usd_total, traced([], is_whole=False).metrics.cost_usd_total
    (0.0, None)
    """
    calls = [event for event in events if isinstance(event, LlmCall)]
    models = tuple(sorted({call.model for call in calls if call.model}))
    if not is_whole:
        return Trace(events=tuple(events), metrics=Metrics(models=models))
    cost = _sum(call.cost_usd for call in calls)
    metrics = Metrics(
        llm_calls=len(calls),
        tool_calls=len(events) - len(calls),
        tokens_in_total=_whole(_sum(call.tokens_in for call in calls)),
        tokens_out_total=_whole(_sum(call.tokens_out for call in calls)),
        cost_usd_total=None if cost is None else float(cost),
        models=models,
    )
    return Trace(events=tuple(events), metrics=metrics, is_whole=True)


def _seen_once(calls: Mapping[tuple[str, str], _Call]) -> Iterable[_Call]:
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


def _llm(span: Span) -> LlmCall:
    attributes = span.attributes
    return LlmCall(
        model=names.text(attributes, names.MODEL),
        provider=names.text(attributes, names.PROVIDER),
        tokens_in=names.count(attributes, names.TOKENS_IN),
        tokens_out=names.count(attributes, names.TOKENS_OUT),
        cost_usd=names.cost(attributes),
        duration_s=_duration(span),
        error=span.error,
    )


def _tool(span: Span) -> ToolCall:
    attributes = span.attributes
    return ToolCall(
        name=names.text(attributes, names.TOOL_NAME) or span.name.removeprefix("execute_tool "),
        arguments=names.content(attributes, names.ARGUMENTS),
        result=names.content(attributes, names.RESULT),
        duration_s=_duration(span),
        error=span.error,
    )


def _duration(span: Span) -> float | None:
    if not span.start_ns or span.end_ns < span.start_ns:
        return None
    return round((span.end_ns - span.start_ns) / _NS, 6)


def _sum(amounts: Iterable[float | None]) -> float | None:
    total = 0.0
    for amount in amounts:
        if amount is None:
            return None
        total += amount
    return total


def _whole(number: float | None) -> int | None:
    return None if number is None else int(number)
