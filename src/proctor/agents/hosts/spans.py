"""What a host's stream says, as spans of the trial's own trace."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from datetime import datetime
from typing import Final

import msgspec

from proctor.agents.hosts.told import ModelCall, Told, ToolUse
from proctor.agents.seen import Clock, pairs, trace_parent
from proctor.core import trace_names as names
from proctor.ports import Place
from proctor.records.json_value import Json

_FAILED: Final = 2
_LONGEST: Final = 200_000
NO_END: Final = "the stream of the coding agent breaks off"


def write_told(
    place: Place, told: Told, *, host: str, provider: str, asked: str | None, clock: Clock
) -> None:
    """Append what the stream says to the trial's own trace, as one whole line.

    Args:
        host: the coding agent.
        provider: whose models it asks.
        asked: the model that it was told to ask.
        clock: was started with the trial.

    Raises:
        OSError: it cannot be written.
    """
    started, ended = clock.span_ns()
    trace_id, parent_id = trace_parent(place)
    top = secrets.token_hex(8)
    agent: dict[str, Json] = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": host,
        names.OBSERVES: " ".join(told.observes),
    }
    spans = [_span(trace_id, parent_id, f"invoke_agent {host}", agent, started, ended) | {"spanId": top}]
    at = started
    for event in told.events:
        # A call has no start in the stream: it began when the one before it was over, at the latest.
        at = max(at, _nanoseconds(event.at, at))
        if isinstance(event, ModelCall):
            span = _span(trace_id, top, "chat", _model(event, provider, asked), at)
            failed, message = event.error, event.message
        else:
            span = _span(trace_id, top, f"execute_tool {event.name}", _tool(event), at)
            failed, message = event.error, event.error or ""
        spans.append(span | ({"status": {"code": _FAILED, "message": message}} if failed is not None else {}))
    said: dict[str, Json] = {"service.name": "proctor"}
    if not told.is_complete:
        said[names.LOST] = NO_END
    scope = {"scope": {"name": "proctor"}, "spans": spans}
    document = {"resourceSpans": [{"resource": {"attributes": pairs(said)}, "scopeSpans": [scope]}]}
    descriptor = os.open(place.own_trace, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "ab") as trace:
        trace.write(msgspec.json.encode(document) + b"\n")


def _span(
    trace_id: str,
    parent_id: str | None,
    name: str,
    attributes: Mapping[str, Json],
    start_ns: int,
    end_ns: int = 0,
) -> dict[str, Json]:
    span: dict[str, Json] = {
        "traceId": trace_id,
        "spanId": secrets.token_hex(8),
        "name": name,
        "startTimeUnixNano": str(start_ns),
        "endTimeUnixNano": str(end_ns),
        "attributes": list(pairs({key: value for key, value in attributes.items() if value is not None})),
    }
    return span | ({"parentSpanId": parent_id} if parent_id is not None else {})


def _model(call: ModelCall, provider: str, asked: str | None) -> dict[str, Json]:
    answered: list[Json] = [{"role": "assistant", "parts": [{"type": "text", "content": call.said}]}]
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": provider,
        "gen_ai.request.model": asked,
        "gen_ai.response.model": call.model,
        "gen_ai.response.finish_reasons": [call.finish] if call.finish else None,
        "gen_ai.usage.input_tokens": call.tokens_in,
        "gen_ai.usage.cache_read.input_tokens": call.tokens_cached,
        "gen_ai.usage.cache_creation.input_tokens": call.tokens_written,
        "gen_ai.usage.output_tokens": call.tokens_out,
        "gen_ai.usage.cost": call.cost_usd,
        "gen_ai.output.messages": _json(answered) if call.said else None,
        "error.type": call.error,
    }


def _tool(call: ToolUse) -> dict[str, Json]:
    return {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": call.name,
        "gen_ai.tool.call.arguments": None if call.arguments is None else _json(call.arguments),
        "gen_ai.tool.call.result": call.result if isinstance(call.result, str | None) else _json(call.result),
        "proctor.host.tool.name": call.own_name,
        names.EVIDENCE: "inferred" if call.evidence == "inferred" else None,
    }


def _json(value: Json) -> str:
    return msgspec.json.encode(value).decode()[:_LONGEST]


def _nanoseconds(text: str | None, otherwise: int) -> int:
    if text is None:
        return otherwise
    try:
        return int(datetime.fromisoformat(text).timestamp() * 1e9)
    except (ValueError, OverflowError, OSError):
        return otherwise
