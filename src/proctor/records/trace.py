"""What the trace of a run says: model calls and tool calls, and what they add up to."""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from proctor.records.json_value import Json


class Metrics(msgspec.Struct, frozen=True, kw_only=True):
    """What the trace of a run adds up to. None means that it could not be told; it never means 0.

    Attributes:
        llm_calls: number of model calls.
        tool_calls: number of tool calls.
        tokens_in_total: tokens sent to models.
        tokens_out_total: tokens that models wrote.
        cost_usd_total: what the model calls cost, in US dollars, by what the trace itself says.
        models: names of the models that were called, sorted.
    """

    llm_calls: int | None = None
    tool_calls: int | None = None
    tokens_in_total: int | None = None
    tokens_out_total: int | None = None
    cost_usd_total: float | None = None
    models: tuple[str, ...] = ()


class LlmCall(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="llm"):
    """One call of a model, an embedding included.

    Attributes:
        model: the one that answered, else the one that was asked for.
        provider: whose it is.
        tokens_in: None when the trace does not say.
        tokens_out: None when the trace does not say.
        cost_usd: None when the trace does not say; it is never worked out from a list of prices.
        start_s: seconds since the trace began.
        duration_s: None when the call has no end.
        error: what went wrong; None when nothing did.
    """

    model: str | None = None
    provider: str | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None
    start_s: float = 0.0
    duration_s: float | None = None
    error: str | None = None


class ToolCall(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="tool"):
    """One call of a tool.

    Attributes:
        name: the tool's name.
        arguments: what it was given; a text that holds a JSON object or list is that object or list.
        result: what it answered; None when the trace does not say.
        start_s: seconds since the trace began.
        duration_s: None when the call has no end.
        error: what went wrong; None when nothing did.
    """

    name: str
    arguments: Json = None
    result: Json = None
    start_s: float = 0.0
    duration_s: float | None = None
    error: str | None = None


Event: TypeAlias = LlmCall | ToolCall


class Trace(msgspec.Struct, frozen=True, kw_only=True):
    """What a trace says.

    Attributes:
        events: model calls and tool calls, by the time of their start.
        metrics: what they add up to.
        is_whole: False when a part of it cannot be read, or it breaks off: then nothing is added up.
    """

    events: tuple[Event, ...] = ()
    metrics: Metrics = Metrics()
    is_whole: bool = False
