"""Asking by the chat completions protocol of OpenAI, which most providers and local servers speak."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Final, cast

from proctor.errors import ModelError
from proctor.models import failures
from proctor.models.providers import Address
from proctor.models.question import Question, Reply
from proctor.models.requests import Refused, schema_for
from proctor.records.json_value import Json

_OPTIONAL: Final[Mapping[str, tuple[str, ...]]] = {
    "max_tokens": ("max_tokens",),
    "temperature": ("temperature",),
    "seed": ("seed",),
    "response_format": ("response_format", "json_schema", "schema", "structured output"),
}


class OpenAIClient:
    """One client of one server; asks it for any of its models."""

    def __init__(self, address: Address) -> None:
        import openai

        # A local server wants no key, and the library wants one.
        self._client = openai.OpenAI(base_url=address.base_url, api_key=address.key or "none", max_retries=0)
        self._refused = Refused(_OPTIONAL)

    def ask(self, address: Address, question: Question) -> Reply:
        """One try. A field that the model does not take is left away, and the question sent again at once.

        Raises:
            ModelError: there is no answer.
        """
        while True:
            fields = request_fields(address, question, self._refused.of(address.model))
            try:
                return self._send(address, question, fields)
            except ModelError as error:
                if error.kind != "bad_request" or not self._refused.learn(
                    address.model, fields, str(error.what)
                ):
                    raise

    def _send(self, address: Address, question: Question, fields: Mapping[str, Json]) -> Reply:
        import openai

        started = time.perf_counter()
        try:
            content: object = self._client.post(
                "/chat/completions",
                cast_to=object,
                body={**question.settings, **fields},
                options={"timeout": question.timeout_s},
            )
        except openai.APITimeoutError:
            raise failures.too_slow(address, question.timeout_s) from None
        except openai.APIStatusError as error:
            headers = {name.lower(): value for name, value in error.response.headers.items()}
            said = said_in(error.body) or error.message
            raise failures.of_status(address, error.status_code, said, headers) from None
        except openai.APIConnectionError as error:
            raise failures.unreachable(address, str(error.__cause__ or error)) from None
        except (openai.OpenAIError, ValueError) as error:
            raise failures.nonsense(address, f"{type(error).__name__}: {error}") from None
        return reply_of(address, content, time.perf_counter() - started)


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


def said_in(body: Json) -> str:
    """Message and code of an error's body, whatever its form."""
    if isinstance(body, str):
        return body
    if isinstance(body, list) and body:
        return said_in(cast("list[Json]", body)[0])
    if not isinstance(body, Mapping):
        return ""
    entries = cast("Mapping[str, Json]", body)
    inner = entries.get("error")
    if isinstance(inner, Mapping | str) and inner:
        return said_in(inner)
    parts = [entries.get(name) for name in ("message", "detail", "code", "param")]
    return " ".join(str(part) for part in parts if part)


def whole(value: Json) -> int | None:
    """A number of tokens, where it is one."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


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
