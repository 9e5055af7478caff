"""What a kind of agent has itself seen of a model call, as a span of the trial's own trace.

The names are those of the GenAI semantic conventions of OpenTelemetry; the form is OTLP/JSON, one document a line.
"""

from __future__ import annotations

import os
import re
import secrets
import time
from collections.abc import Mapping, Sequence
from typing import cast

import msgspec

from proctor.models.question import Message
from proctor.ports import Place
from proctor.records.json_value import Json

_TRACEPARENT = re.compile(r"00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}")
_CLIENT = 3
_FAILED = 2


class SeenCall(msgspec.Struct, frozen=True, kw_only=True):
    """A model call as the one who made it saw it. None is what nobody said.

    Attributes:
        provider: who was asked.
        model: which model was asked for.
        answered_by: the model that the reply names.
        tokens_in: tokens of the question.
        cached_in: those of them that the provider had kept.
        tokens_out: tokens of the answer.
        cost_usd: what the provider says that it cost, in US dollars.
        finish: why the answer ended, in the provider's words.
        response_id: the provider's name for the reply.
        asked: the messages that were sent.
        answered: the text that came back.
        error: kind of what went wrong.
        message: what went wrong, in a sentence.
    """

    provider: str | None = None
    model: str | None = None
    answered_by: str | None = None
    tokens_in: int | None = None
    cached_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None
    finish: str | None = None
    response_id: str | None = None
    asked: Sequence[Message] = ()
    answered: str | None = None
    error: str | None = None
    message: str = ""

    def attributes(self) -> dict[str, Json]:
        """The span's attributes; what nobody said is not among them."""
        said: dict[str, Json] = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": self.provider,
            "gen_ai.request.model": self.model,
            "gen_ai.response.model": self.answered_by,
            "gen_ai.response.id": self.response_id,
            "gen_ai.response.finish_reasons": [self.finish] if self.finish else None,
            "gen_ai.usage.input_tokens": self.tokens_in,
            "gen_ai.usage.cache_read.input_tokens": self.cached_in,
            "gen_ai.usage.output_tokens": self.tokens_out,
            "gen_ai.usage.cost": self.cost_usd,
            "gen_ai.input.messages": _messages(self.asked),
            "gen_ai.output.messages": _messages(
                () if self.answered is None else (Message(role="assistant", content=self.answered),)
            ),
            "error.type": self.error,
        }
        return {name: value for name, value in said.items() if value is not None}


class Clock:
    """When a call began and ended, in nanoseconds since 1970; its length is never negative."""

    def __init__(self) -> None:
        self._at_ns = time.time_ns()
        self._started_ns = time.monotonic_ns()

    def span_ns(self) -> tuple[int, int]:
        """Start, and now."""
        return self._at_ns, self._at_ns + time.monotonic_ns() - self._started_ns


def trace_parent(place: Place) -> tuple[str, str | None]:
    """Trace id and span id that the trial's own spans belong to; an id of their own where nothing is traced."""
    found = _TRACEPARENT.fullmatch(place.environment.get("TRACEPARENT", ""))
    return (found[1], found[2]) if found else (secrets.token_hex(16), None)


def write_call(place: Place, call: SeenCall, clock: Clock, parent: tuple[str, str | None]) -> None:
    """Append the call to the trial's own trace, as one whole line.

    Raises:
        OSError: it cannot be written.
    """
    started, ended = clock.span_ns()
    trace_id, parent_id = parent
    span: dict[str, Json] = {
        "traceId": trace_id,
        "spanId": secrets.token_hex(8),
        "name": f"chat {call.model}" if call.model else "chat",
        "kind": _CLIENT,
        "startTimeUnixNano": str(started),
        "endTimeUnixNano": str(ended),
        "attributes": pairs(call.attributes()),
    }
    if parent_id is not None:
        span["parentSpanId"] = parent_id
    if call.error is not None:
        span["status"] = {"code": _FAILED, "message": call.message}
    document = {
        "resourceSpans": [
            {
                "resource": {"attributes": pairs({"service.name": "proctor"})},
                "scopeSpans": [{"scope": {"name": "proctor"}, "spans": [span]}],
            }
        ]
    }
    descriptor = os.open(place.own_trace, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "ab") as trace:
        trace.write(msgspec.json.encode(document) + b"\n")


def _messages(messages: Sequence[Message]) -> str | None:
    if not messages:
        return None
    return msgspec.json.encode(
        [{"role": one.role, "parts": [{"type": "text", "content": one.content}]} for one in messages]
    ).decode()


def pairs(attributes: Mapping[str, Json]) -> list[dict[str, Json]]:
    """Attributes as OTLP/JSON writes them."""
    return [{"key": name, "value": _wrapped(value)} for name, value in attributes.items()]


def _wrapped(value: Json) -> dict[str, Json]:
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, list):
        return {"arrayValue": {"values": [{"stringValue": str(one)} for one in cast("list[Json]", value)]}}
    return {"stringValue": str(value)}
