"""Asking by the chat completions protocol of OpenAI, which most providers and local servers speak."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, cast

from proctor.models import failures
from proctor.models.exchange import said_in, whole
from proctor.models.providers import Address
from proctor.models.question import Question, Reply
from proctor.models.requests import schema_for
from proctor.records.json_value import Json

PATH: Final = "/chat/completions"
OPTIONAL: Final[Mapping[str, tuple[str, ...]]] = {
    "max_tokens": ("max_tokens",),
    "temperature": ("temperature",),
    "seed": ("seed",),
    "response_format": ("response_format", "json_schema", "schema", "structured output"),
}


def request_fields(address: Address, question: Question, refused: frozenset[str]) -> dict[str, Json]:
    """The fields of the request, without those that the model has refused.

    Args:
        refused: names of fields; a refused `max_tokens` goes under the name that newer models know.
    """
    fields: dict[str, Json] = {
        "model": address.model,
        "messages": [{"role": message.role, "content": message.content} for message in question.messages],
    }
    if question.max_tokens is not None:
        is_new = address.provider == "openai" or "max_tokens" in refused
        fields["max_completion_tokens" if is_new else "max_tokens"] = question.max_tokens
    if question.temperature is not None and "temperature" not in refused:
        fields["temperature"] = question.temperature
    if question.seed is not None and "seed" not in refused:
        fields["seed"] = question.seed
    if question.schema is not None and "response_format" not in refused:
        schema = schema_for(address.provider, question.schema)
        fields["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": "answer", "strict": True, "schema": schema},
        }
    return fields


def reply_of(address: Address, content: Json, latency_s: float) -> Reply:
    """The reply that the body of an answer holds.

    Raises:
        ModelError: it holds none, though its status said that all is well (`unavailable`).
    """
    try:
        choice = content["choices"][0]
        message = choice["message"]
        refusal = message.get("refusal")
        text = message.get("content")
        if isinstance(text, list):  # some servers answer in parts
            text = "".join(str(part.get("text") or "") for part in cast("list[dict[str, Json]]", text))
        usage: Mapping[str, Json] = content.get("usage") or {}
        finish = choice.get("finish_reason")
        return Reply(
            text=str(text or refusal or ""),
            model=str(content.get("model") or address.model),
            provider=address.provider,
            tokens_in=whole(usage.get("prompt_tokens")),
            tokens_out=whole(usage.get("completion_tokens")),
            cost_usd=_cost(address, usage),
            latency_s=round(latency_s, 6),
            is_refusal=bool(refusal) or finish == "content_filter",
            is_cut=finish == "length",
        )
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        said = said_in(content) or f"{type(error).__name__}: {error}"
        raise failures.nonsense(address, said) from None


def _cost(address: Address, usage: Mapping[str, Json]) -> float | None:
    """What the provider says that it cost, else what its list of prices comes to."""
    from proctor.models.prices import cost_of

    said = usage.get("cost")
    if isinstance(said, int | float) and not isinstance(said, bool) and said >= 0:
        return float(said)
    details: Mapping[str, Json] = usage.get("prompt_tokens_details") or {}
    return cost_of(
        provider=address.provider,
        model=address.model,
        tokens_in=whole(usage.get("prompt_tokens")),
        tokens_out=whole(usage.get("completion_tokens")),
        cached_in=whole(details.get("cached_tokens")),
    )
