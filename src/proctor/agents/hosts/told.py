"""What a coding agent's own stream says of a trial, whichever agent it was."""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from proctor.records.evidence import Channel
from proctor.records.json_value import Json
from proctor.records.run import Ending
from proctor.records.trace import Evidence


class ModelCall(msgspec.Struct, frozen=True, kw_only=True):
    """A model call, or a part of several that the host tells of as one.

    Attributes:
        model: the model that answered; None where the host does not say it.
        tokens_in: tokens sent, those of a cache among them.
        tokens_cached: those of them that came from the provider's cache.
        tokens_written: those of them that went into it.
        tokens_out: tokens that the model wrote.
        cost_usd: what the host says that it cost, in US dollars.
        said: the text that came back.
        finish: why the model stopped.
        error: kind of what went wrong, an HTTP status where there was one.
        message: what went wrong, in a sentence.
        at: when it was, ISO 8601; None where the host does not say it.
    """

    model: str | None = None
    tokens_in: int | None = None
    tokens_cached: int | None = None
    tokens_written: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None
    said: str = ""
    finish: str | None = None
    error: str | None = None
    message: str = ""
    at: str | None = None


class ToolUse(msgspec.Struct, frozen=True, kw_only=True):
    """A call of a tool, an MCP server's (`mcp__SERVER__TOOL`) or of a skill (`Skill`) among them.

    Attributes:
        name: the tool.
        own_name: how the host calls it, where that is another name.
        arguments: what it was given.
        result: what it answered.
        error: what went wrong; None when nothing did.
        evidence: `inferred` for what the host does not say in so many words.
        at: when it answered, ISO 8601.
    """

    name: str
    own_name: str | None = None
    arguments: Json = None
    result: Json = None
    error: str | None = None
    evidence: Evidence = "observed"
    at: str | None = None


Event: TypeAlias = ModelCall | ToolUse


class Trouble(msgspec.Struct, frozen=True, kw_only=True):
    """What stood in the way of the agent.

    Attributes:
        ending: how the trial ends for it.
        kind: a word of the table of faults, or the host's own.
        message: what it was, in a sentence.
    """

    ending: Ending
    kind: str
    message: str


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """What the stream of one trial says.

    Attributes:
        events: calls of models and tools, in their order.
        answer: the final answer.
        is_complete: the stream has its closing record, and no line of it is torn.
        is_empty: it has no record at all.
        broken: why it cannot be used; None when it can.
        trouble: what ended the agent's work before its time.
        waiting: what the host waits for at the end of a stream that has no closing record.
        observes: channels of which every call is in the stream.
        plugins: names of the plugins that the host has loaded; None where it does not say it.
        notes: sentences about what the host says and nobody else would.
    """

    events: tuple[Event, ...] = ()
    answer: str | None = None
    is_complete: bool = False
    is_empty: bool = True
    broken: str | None = None
    trouble: Trouble | None = None
    waiting: Trouble | None = None
    observes: tuple[Channel, ...] = ()
    plugins: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()


_BY_STATUS = {
    401: "auth",
    402: "out_of_credit",
    403: "auth",
    404: "not_found",
    408: "unavailable",
    429: "rate_limit",
}


def refusal(status: int | None, message: str) -> Trouble | None:
    """What it means that a provider answered a host with this HTTP status; None where that says nothing.

    A request that the provider finds wrong (400, 413, 422) is the agent's: what it sent was too long, or malformed.

    >>> refusal(429, "slow down").kind, refusal(529, "overloaded").kind, refusal(400, "too long").ending.value
    ('rate_limit', 'unavailable', 'error')
    """
    if status is None or status < 400:
        return None
    kind = _BY_STATUS.get(status, "unavailable" if status >= 500 else "bad_request")
    ending = Ending.ERROR if kind == "bad_request" else Ending.HARNESS_FAILURE
    return Trouble(ending=ending, kind=kind, message=message)


def shared_out(total: int, weights: list[int]) -> list[int]:
    """A whole number in parts by weight, which add up to it; equal parts where nothing has a weight.

    >>> shared_out(10, [1, 1, 2]), shared_out(3, [0, 0])
    ([3, 2, 5], [2, 1])
    """
    weights = weights if any(weights) else [1] * len(weights)
    whole = sum(weights)
    parts = [total * weight // whole for weight in weights]
    by_rest = sorted(range(len(weights)), key=lambda place: -(total * weights[place] % whole))
    for place in by_rest[: total - sum(parts)]:
        parts[place] += 1
    return parts
