"""What the calls of a trace add up to: all of them, and those of each model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, TypeVar

from proctor.records.trace import CostSource, Event, LlmCall, Metrics, ModelUse, ToolCall, Trace

E = TypeVar("E", LlmCall, ToolCall)

NOT_SAID: Final = "the trace does not say it"


def traced(events: Sequence[Event], *, is_whole: bool, lost: str | None = None) -> Trace:
    """The trace of some events: a whole one adds up, one that breaks off does not, since more may have happened.

    A whole trace without model calls cost 0. One call of which nobody knows what it cost makes the sum unknown.

    >>> traced([], is_whole=True).metrics.cost_usd_total, traced([], is_whole=False).metrics.cost_usd_total
    (0.0, None)
    """
    seen = sums_of(events)
    if is_whole:
        return Trace(events=tuple(events), metrics=seen, at_least=seen, is_whole=True)
    reason = lost or "the trace is not whole"
    return Trace(
        events=tuple(events),
        metrics=Metrics(models=seen.models, cost_unknown=reason),
        at_least=seen,
        lost=lost,
    )


def sums_of(events: Iterable[Event]) -> Metrics:
    """What these calls add up to, as if there were no others.

    Where there are calls that proctor itself saw, the agent's own words for calls of that kind are not added.
    """
    listed = list(events)
    calls = _counted([event for event in listed if isinstance(event, LlmCall)])
    tools = _counted([event for event in listed if isinstance(event, ToolCall)])
    cost, source = _cost(calls)
    return Metrics(
        llm_calls=len(calls),
        tool_calls=len(tools),
        retries=sum(event.attempt > 1 for event in (*calls, *tools)),
        errors=sum(event.error is not None for event in (*calls, *tools)),
        tokens_in_total=_sum(call.tokens_in for call in calls),
        tokens_out_total=_sum(call.tokens_out for call in calls),
        tokens_cached_total=_known_sum(call.tokens_cached for call in calls),
        cost_usd_total=cost,
        cost_source=source,
        cost_unknown=_why_unknown(calls),
        models=tuple(sorted({call.model for call in calls if call.model})),
        by_model=_by_model(calls),
    )


def _counted(events: list[E]) -> list[E]:
    seen = [event for event in events if event.evidence == "observed"]
    return seen or events


def _by_model(calls: Iterable[LlmCall]) -> tuple[ModelUse, ...]:
    groups: dict[tuple[str | None, str | None], list[LlmCall]] = {}
    for call in calls:
        groups.setdefault((call.model, call.provider), []).append(call)
    uses = [
        ModelUse(
            model=model,
            provider=provider,
            calls=len(members),
            tokens_in=_sum(call.tokens_in for call in members),
            tokens_out=_sum(call.tokens_out for call in members),
            cost_usd=_cost(members)[0],
        )
        for (model, provider), members in groups.items()
    ]
    return tuple(sorted(uses, key=lambda use: (-(use.cost_usd or 0.0), -use.calls, use.model or "")))


def _cost(calls: Sequence[LlmCall]) -> tuple[float | None, CostSource | None]:
    total = 0.0
    for call in calls:
        if call.cost_usd is None:
            return None, None
        total += call.cost_usd
    if any(call.cost_source == "prices" for call in calls):
        return total, "prices"
    return total, "trace" if calls else None


def _why_unknown(calls: Sequence[LlmCall]) -> str | None:
    without = [call for call in calls if call.cost_usd is None]
    if not without:
        return None
    reason = without[0].cost_unknown or NOT_SAID
    return f"{len(without)} of {len(calls)} model calls: {reason}"


def _sum(amounts: Iterable[int | None]) -> int | None:
    total = 0
    for amount in amounts:
        if amount is None:
            return None
        total += amount
    return total


def _known_sum(amounts: Iterable[int | None]) -> int | None:
    """The sum of those that are known; None when none is."""
    known = [amount for amount in amounts if amount is not None]
    return sum(known) if known else None
