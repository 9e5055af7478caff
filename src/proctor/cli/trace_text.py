"""A trace as text: what it adds up to, what each model took, and its calls, in a line each or with all they said."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

from proctor.cli.output import clean, clean_lines, counted, money, seconds, shorten, table
from proctor.records.json_value import Json, text_of
from proctor.records.trace import Event, LlmCall, Metrics, Trace

MOST_EVENTS = 40
MOST_OF_EVENT = 160
MOST_CHARACTERS = 4000


def sums_line(trace: Trace) -> str:
    """What a trace adds up to, in words; the least that it can be, where it is not whole."""
    if trace.is_whole:
        return clean(_sums(trace.metrics))
    return clean(
        f"not whole ({trace.lost or 'a part of it cannot be read'}); at least {_sums(trace.at_least)}"
    )


def model_lines(trace: Trace) -> Iterator[str]:
    """A line for each model, where there are several."""
    uses = trace.at_least.by_model
    if len(uses) < 2:
        return
    yield "models"
    rows = [
        [
            clean(use.model or "(no name)"),
            clean(use.provider or ""),
            counted(use.calls, "call"),
            f"{_number(use.tokens_in)} in",
            f"{_number(use.tokens_out)} out",
            money(use.cost_usd) or "cost unknown",
        ]
        for use in uses
    ]
    for line in table(rows):
        yield f"  {line}"


def event_lines(events: Sequence[Event]) -> Iterator[str]:
    """The first calls, a line each."""
    if not events:
        return
    yield "events"
    for event in events[:MOST_EVENTS]:
        line = clean(shorten(f"{_called(event, with_content=True)}{_error(event)}", MOST_OF_EVENT))
        yield f"  {_when(event)}  {line}"
    if len(events) > MOST_EVENTS:
        yield f"  and {len(events) - MOST_EVENTS} more; --trace has them all"


def trace_lines(trace: Trace) -> Iterator[str]:
    """The whole trace: every call, with what was said and answered."""
    yield sums_line(trace)
    yield from model_lines(trace)
    for event in trace.events:
        yield f"{_when(event)}  {clean(_called(event, with_content=False))}"
        for title, text in _content(event):
            yield f"    {title}"
            cut = (
                text
                if len(text) <= MOST_CHARACTERS
                else f"{text[:MOST_CHARACTERS]}… ({len(text)} characters)"
            )
            yield from (f"      {line}" for line in clean_lines(cut.rstrip("\n")).split("\n"))


def _sums(metrics: Metrics) -> str:
    tokens = [
        f"{_number(metrics.tokens_in_total)} tokens in{_cached(metrics)}",
        f"{_number(metrics.tokens_out_total)} tokens out",
    ]
    cost = money(metrics.cost_usd_total)
    if not cost:
        cost = f"cost unknown ({metrics.cost_unknown})" if metrics.cost_unknown else "cost unknown"
    elif metrics.cost_source == "prices":
        cost += " by list prices"
    parts = [
        counted(metrics.llm_calls or 0, "model call"),
        counted(metrics.tool_calls or 0, "tool call"),
        *([_several(metrics.retries, "retry", "retries")] if metrics.retries else []),
        *([_several(metrics.errors, "failed", "failed")] if metrics.errors else []),
        *(tokens if metrics.llm_calls else []),
        cost,
        *metrics.models,
    ]
    return ", ".join(parts)


def _several(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"


def _number(count: int | None) -> str:
    return "unknown" if count is None else str(count)


def _cached(metrics: Metrics) -> str:
    return f" ({metrics.tokens_cached_total} cached)" if metrics.tokens_cached_total else ""


def _when(event: Event) -> str:
    return f"+{event.start_s:.1f}s {seconds(event.duration_s):>6}"


def _called(event: Event, *, with_content: bool) -> str:
    """Kind, name and numbers of a call."""
    marks = [f"attempt {event.attempt}"] if event.attempt > 1 else []
    if event.evidence == "observed":
        marks.append("observed")
    if isinstance(event, LlmCall):
        tokens = [
            f"{count} {way}"
            for count, way in ((event.tokens_in, "in"), (event.tokens_out, "out"))
            if count is not None
        ]
        parts = ["llm ", event.model or "(no name)", *tokens, money(event.cost_usd), *marks]
    else:
        told = [text_of(value) for value in (event.arguments, event.result) if value is not None]
        parts = ["tool", event.name, *([" -> ".join(told)] if with_content else []), *marks]
    return "  ".join(part for part in parts if part)


def _error(event: Event) -> str:
    return f"  error: {event.error}" if event.error else ""


def _content(event: Event) -> Iterator[tuple[str, str]]:
    """What was said in a call, each with a title."""
    if isinstance(event, LlmCall):
        if event.provider:
            yield "provider", event.provider
        said = (("asked", event.messages_in), ("answered", event.messages_out))
        yield from ((title, _talk(value)) for title, value in said if value is not None)
        if event.finish_reasons:
            yield "finished", ", ".join(event.finish_reasons)
        if event.cost_usd is None:
            yield "cost unknown", event.cost_unknown or "the trace does not say it"
    else:
        given = (("arguments", event.arguments), ("result", event.result))
        yield from ((title, text_of(value)) for title, value in given if value is not None)
    if event.error:
        yield "error", event.error


def _talk(messages: Json) -> str:
    """Messages as a talk, `role: text`; as JSON where they have another form."""
    if isinstance(messages, list):
        listed = cast("list[Json]", messages)
        told = [_message(one) for one in listed]
        if all(one is not None for one in told):
            return "\n".join(cast("list[str]", told))
    return text_of(messages)


def _message(said: Any) -> str | None:
    """A message as a text; None where it is something else."""
    if not isinstance(said, dict):
        return None
    message = cast("dict[str, Any]", said)
    if isinstance(inner := message.get("message"), dict):
        message = {"role": message.get("role"), **cast("dict[str, Any]", inner)}
    parts = message.get("parts", message.get("content"))
    listed: list[Any] = cast("list[Any]", parts) if isinstance(parts, list) else [parts]
    texts = [_part(one) for one in listed]
    if not texts or any(text is None for text in texts):
        return None
    return f"{message.get('role') or 'assistant'}: {' '.join(cast('list[str]', texts))}"


def _part(said: Any) -> str | None:
    if isinstance(said, str):
        return said
    if not isinstance(said, dict):
        return None
    part = cast("dict[str, Any]", said)
    text = part.get("content", part.get("text"))
    return text if isinstance(text, str) else text_of(part)
