"""Asking by the messages protocol of Anthropic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, cast

from proctor.models import failures
from proctor.models.exchange import said_in, whole
from proctor.models.providers import Address
from proctor.models.question import Question, Reply
from proctor.models.requests import schema_for
from proctor.records.json_value import Json

MAX_TOKENS: Final = 4096
"""The protocol wants a limit of tokens, also where the question has none."""

PATH: Final = "/v1/messages"
OPTIONAL: Final[Mapping[str, tuple[str, ...]]] = {
    "temperature": ("temperature",),
    "output_config": ("output_config", "output_format", "structured output", "schema"),
}


def request_fields(address: Address, question: Question, refused: frozenset[str]) -> dict[str, Json]:
    """The fields of the request, without those that the model has refused. The protocol knows no seed."""
    system = [message.content for message in question.messages if message.role == "system"]
    fields: dict[str, Json] = {
        "model": address.model,
        "max_tokens": question.max_tokens if question.max_tokens is not None else MAX_TOKENS,
        "messages": [
            {"role": message.role, "content": message.content}
            for message in question.messages
            if message.role != "system"
        ],
    }
    if system:
        fields["system"] = "\n\n".join(system)
    if question.temperature is not None and "temperature" not in refused:
        fields["temperature"] = question.temperature
    if question.schema is not None and "output_config" not in refused:
        schema = schema_for(address.provider, question.schema)
        fields["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
    return fields


def reply_of(address: Address, content: Json, latency_s: float) -> Reply:
    """The reply that the body of an answer holds.

    Raises:
        ModelError: it holds none, though its status said that all is well (`unavailable`).
    """
    from proctor.models.prices import cost_of

    try:
        parts = cast("list[dict[str, Json]]", content["content"])
        text = "".join(str(part.get("text") or "") for part in parts if part.get("type") == "text")
        usage: Mapping[str, Json] = content.get("usage") or {}
        fresh, written, cached = (
            whole(usage.get(name))
            for name in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
        )
        tokens_in = None if fresh is None else fresh + (written or 0) + (cached or 0)
        tokens_out = whole(usage.get("output_tokens"))
        return Reply(
            text=text,
            model=str(content.get("model") or address.model),
            provider=address.provider,
            tokens_in=tokens_in,
            tokens_out=tokens_out,
            cost_usd=cost_of(
                provider=address.provider,
                model=address.model,
                tokens_in=tokens_in,
                tokens_out=tokens_out,
                cached_in=cached,
            ),
            latency_s=round(latency_s, 6),
            is_refusal=content.get("stop_reason") == "refusal",
            is_cut=content.get("stop_reason") in ("max_tokens", "model_context_window_exceeded"),
        )
    except (KeyError, TypeError, AttributeError) as error:
        said = said_in(content) or f"{type(error).__name__}: {error}"
        raise failures.nonsense(address, said) from None
