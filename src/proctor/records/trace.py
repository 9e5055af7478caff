"""What the trace of a run says: model calls and tool calls, and what they add up to."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from proctor.records.json_value import Json

Evidence: TypeAlias = Literal["observed", "inferred"]
"""`observed`: on a channel that proctor owns. `inferred`: what the agent says of itself."""

CostSource: TypeAlias = Literal["trace", "prices"]
"""`trace`: the trace itself says it. `prices`: worked out from its tokens when it was recorded."""


class ModelUse(msgspec.Struct, frozen=True, kw_only=True):
    """What the calls of one model add up to. None means that it could not be told.

    Attributes:
        model: the model; None for calls that name none.
        provider: whose it is.
        calls: how many there were.
        tokens_in: tokens sent.
        tokens_out: tokens written.
        cost_usd: what they cost, in US dollars.
    """

    model: str | None = None
    provider: str | None = None
    calls: int = 0
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None


class Metrics(msgspec.Struct, frozen=True, kw_only=True):
    """What the trace of a run adds up to. None means that it could not be told; it never means 0.

    Where proctor itself saw model calls, or tool calls, what the agent says of its own adds nothing to them.

    Attributes:
        llm_calls: number of model calls.
        tool_calls: number of tool calls.
        retries: number of calls that repeat one that failed.
        errors: number of calls that failed.
        tokens_in_total: tokens sent to models.
        tokens_out_total: tokens that models wrote.
        tokens_cached_total: how many of the tokens sent came from a provider's cache, as far as calls say so.
        cost_usd_total: what the model calls cost, in US dollars.
        cost_source: `trace` when the trace itself says all of it, `prices` when some of it was worked out; None
            where there is no cost, or nothing cost anything.
        cost_unknown: why the cost cannot be told; None when it can.
        models: names of the models that were called, sorted.
        by_model: the same for each model, the dearest first.
    """

    llm_calls: int | None = None
    tool_calls: int | None = None
    retries: int | None = None
    errors: int | None = None
    tokens_in_total: int | None = None
    tokens_out_total: int | None = None
    tokens_cached_total: int | None = None
    cost_usd_total: float | None = None
    cost_source: CostSource | None = None
    cost_unknown: str | None = None
    models: tuple[str, ...] = ()
    by_model: tuple[ModelUse, ...] = ()


class LlmCall(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="llm"):
    """One call of a model, an embedding included.

    Attributes:
        model: the one that answered, else the one that was asked for.
        provider: whose it is.
        tokens_in: None when the trace does not say. Those from a cache are among them.
        tokens_out: None when the trace does not say.
        tokens_cached: how many of the tokens sent came from the provider's cache; None when the trace does not say.
        cost_usd: what it cost; None when that cannot be told.
        cost_source: who says so: the trace, or a list of prices when the run was recorded.
        cost_unknown: why its cost cannot be told, where that is known.
        finish_reasons: why the model stopped, by its provider's words.
        messages_in: what the model was given; None when the trace does not say.
        messages_out: what it answered; None when the trace does not say.
        start_s: seconds since the trace began.
        duration_s: None when the call has no end.
        error: what went wrong; None when nothing did.
        attempt: 1; 2 for one that repeats a call that failed, and so on.
        evidence: who says that there was this call.
    """

    model: str | None = None
    provider: str | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    tokens_cached: int | None = None
    cost_usd: float | None = None
    cost_source: CostSource | None = None
    cost_unknown: str | None = None
    finish_reasons: tuple[str, ...] = ()
    messages_in: Json = None
    messages_out: Json = None
    start_s: float = 0.0
    duration_s: float | None = None
    error: str | None = None
    attempt: int = 1
    evidence: Evidence = "inferred"


class ToolCall(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="tool"):
    """One call of a tool.

    Attributes:
        name: the tool's name.
        arguments: what it was given; a text that holds a JSON object or list is that object or list.
        result: what it answered; None when the trace does not say.
        start_s: seconds since the trace began.
        duration_s: None when the call has no end.
        error: what went wrong; None when nothing did.
        attempt: 1; 2 for one that repeats, with the same arguments, a call that failed, and so on.
        evidence: who says that there was this call.
    """

    name: str
    arguments: Json = None
    result: Json = None
    start_s: float = 0.0
    duration_s: float | None = None
    error: str | None = None
    attempt: int = 1
    evidence: Evidence = "inferred"


Event: TypeAlias = LlmCall | ToolCall


class Trace(msgspec.Struct, frozen=True, kw_only=True):
    """What a trace says.

    Attributes:
        events: model calls and tool calls, by the time of their start.
        metrics: what they add up to.
        at_least: what those add up to that can be read: the same as `metrics` of a whole trace, a lower bound of
            one that is not.
        is_whole: False when a part of it cannot be read, or it breaks off: then `metrics` adds nothing up.
        observes: channels (`tools`, `mcp`, `skills`) of which proctor saw every call, also where there was none.
        lost: why it is not whole, where the trace says so.
    """

    events: tuple[Event, ...] = ()
    metrics: Metrics = Metrics()
    at_least: Metrics = Metrics()
    is_whole: bool = False
    observes: tuple[str, ...] = ()
    lost: str | None = None
