"""The names that instrumentations give to the parts of a model call and a tool call.

The current GenAI semantic conventions of OpenTelemetry stand first, then their older names, then those of
OpenInference and OpenLLMetry. For each part the first name that is there counts.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, Final, Literal, cast

import msgspec

from proctor.core.json_lines import NotJson, decoded
from proctor.records.json_value import Json

PROVIDER: Final = ("gen_ai.provider.name", "gen_ai.system", "llm.provider", "llm.system")
REQUESTED: Final = ("gen_ai.request.model", "llm.request.model_name", "llm.request.model", "llm.model_name")
MODEL: Final = (
    "gen_ai.response.model",
    "llm.response.model_name",
    "gen_ai.request.model",
    "llm.model_name",
    "llm.request.model_name",
    "embedding.model_name",
    "llm.response.model",
    "llm.request.model",
)
TOKENS_IN: Final = (
    "gen_ai.usage.input_tokens",
    "gen_ai.usage.prompt_tokens",
    "llm.token_count.prompt",
    "llm.usage.prompt_tokens",
)
TOKENS_OUT: Final = (
    "gen_ai.usage.output_tokens",
    "gen_ai.usage.completion_tokens",
    "llm.token_count.completion",
    "llm.usage.completion_tokens",
)
TOKENS_CACHED: Final = (
    "gen_ai.usage.cache_read.input_tokens",
    "gen_ai.usage.cache_read_input_tokens",
    "gen_ai.usage.details.cache_read_tokens",
    "llm.token_count.prompt_details.cache_read",
    "llm.usage.cache_read_input_tokens",
)
TOKENS_CACHE_WRITTEN: Final = (
    "gen_ai.usage.cache_write.input_tokens",
    "gen_ai.usage.cache_creation.input_tokens",
    "gen_ai.usage.cache_creation_input_tokens",
    "gen_ai.usage.details.cache_write_tokens",
    "llm.token_count.prompt_details.cache_write",
    "llm.usage.cache_creation_input_tokens",
)
COST: Final = ("gen_ai.usage.cost", "gen_ai.usage.total_cost", "llm.cost.total", "operation.cost")
TOOL_NAME: Final = ("gen_ai.tool.name", "tool.name", "ai.toolCall.name", "traceloop.entity.name")
ARGUMENTS: Final = (
    "gen_ai.tool.call.arguments",
    "tool_arguments",
    "ai.toolCall.args",
    "input.value",
    "tool.parameters",
    "traceloop.entity.input",
)
RESULT: Final = (
    "gen_ai.tool.call.result",
    "tool_response",
    "ai.toolCall.result",
    "output.value",
    "traceloop.entity.output",
)
FINISH_REASONS: Final = (
    "gen_ai.response.finish_reasons",
    "gen_ai.completion.0.finish_reason",
    "llm.finish_reason",
)

EVIDENCE: Final = "proctor.evidence"
"""Of a resource: `observed` where proctor recorded its spans. Nobody else's spans keep an attribute of this name."""
LOST: Final = "proctor.trace.lost"
"""Of a resource: why the trace is not whole."""
OBSERVES: Final = "proctor.observes"
"""Of a span that proctor recorded: channels of which it saw every call, as a text of words."""
OURS: Final = "proctor."
"""Names that belong to proctor. What an agent calls so is taken out of its spans."""
WORKED_OUT: Final = "proctor.cost.usd"
NOT_WORKED_OUT: Final = "proctor.cost.unknown"
PRICE_LIST: Final = "proctor.cost.prices"

_MODEL_OPERATIONS: Final = frozenset(
    {"chat", "text_completion", "completion", "generate_content", "embeddings"}
)
_REFUSALS: Final = re.compile(
    r"[45]\d\d|(?:.*[._])?(?:RateLimit|Authentication|PermissionDenied|NotFound|BadRequest|UnprocessableEntity"
    r"|Conflict|InternalServer|ServiceUnavailable|Overloaded)(?:Error|Exception)?",
    re.IGNORECASE,
)
_MOST_CHARACTERS: Final = 100_000
_ANY: Final = msgspec.json.Decoder()

Attributes = Mapping[str, Json]


def kind_of(attributes: Attributes) -> Literal["llm", "tool"] | None:
    """What a span stands for: a model call, a tool call, or neither.

    A span around several calls (an agent, a workflow, a chain) is neither, also where it repeats their sums.
    """
    operation = attributes.get("gen_ai.operation.name")
    if isinstance(operation, str) and operation:
        return "llm" if operation in _MODEL_OPERATIONS else "tool" if operation == "execute_tool" else None
    kind = attributes.get("openinference.span.kind")
    if isinstance(kind, str) and kind:
        kind = kind.upper()
        return "llm" if kind in ("LLM", "EMBEDDING") else "tool" if kind == "TOOL" else None
    kind = attributes.get("traceloop.span.kind")
    if isinstance(kind, str) and kind:
        return "tool" if kind == "tool" else None
    if "gen_ai.tool.name" in attributes or "ai.toolCall.name" in attributes:
        return "tool"
    return "llm" if text(attributes, MODEL) is not None else None


def is_embedding(attributes: Attributes) -> bool:
    """True for a model call that writes no tokens."""
    kind = attributes.get("openinference.span.kind")
    return attributes.get("gen_ai.operation.name") == "embeddings" or (
        isinstance(kind, str) and kind.upper() == "EMBEDDING"
    )


def text(attributes: Attributes, names: tuple[str, ...]) -> str | None:
    """The first of the attributes that is a text and not empty."""
    return next((found for name in names if isinstance(found := attributes.get(name), str) and found), None)


def count(attributes: Attributes, names: tuple[str, ...]) -> int | None:
    """The first of the attributes that is a whole number of 0 or more."""
    for name in names:
        value = amount(attributes.get(name))
        if value is not None and value.is_integer():
            return int(value)
    return None


def cost(attributes: Attributes) -> float | None:
    """What the span says that the call cost, in US dollars."""
    for name in COST:
        value = amount(attributes.get(name))
        if value is not None:
            return value
    parts = [amount(attributes.get(name)) for name in ("llm.cost.prompt", "llm.cost.completion")]
    return None if parts[0] is None or parts[1] is None else parts[0] + parts[1]


def finish_reasons(attributes: Attributes) -> tuple[str, ...]:
    """Why the model stopped, one for each answer."""
    for name in FINISH_REASONS:
        said = attributes.get(name)
        listed = cast("list[Json]", said) if isinstance(said, list) else [said]
        reasons = tuple(reason for reason in listed if isinstance(reason, str) and reason)
        if reasons:
            return reasons
    return ()


def was_refused(attributes: Attributes) -> bool:
    """True when the provider refused the call, so that there was nothing to pay: an HTTP status, or its exception.

    A call that broke off in another way, such as by a timeout, may have been paid for.

    >>> was_refused({"error.type": "429"}), was_refused({"error.type": "openai.RateLimitError"})
    (True, True)
    >>> was_refused({"error.type": "TimeoutError"}), was_refused({})
    (False, False)
    """
    kind = attributes.get("error.type")
    if isinstance(kind, str) and _REFUSALS.fullmatch(kind):
        return True
    status = amount(attributes.get("http.response.status_code"))
    return status is not None and 400 <= status < 600


def amount(value: Any) -> float | None:
    """A finite number of 0 or more, written as a number or as a text; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) and number >= 0 else None


def content(attributes: Attributes, names: tuple[str, ...]) -> Json:
    """The first of the attributes that is there, as `as_value` gives it."""
    return next((as_value(attributes[name]) for name in names if name in attributes), None)


def as_value(value: Json) -> Json:
    """A value as graders read it: a text that holds a JSON object or list is that, and what is huge is cut.

    More than 100,000 characters become a text of the first 100,000, which ends with a mark that says so.

    >>> as_value('{"city": "Oslo"}'), as_value("Oslo"), as_value("3")
    ({'city': 'Oslo'}, 'Oslo', '3')
    """
    if isinstance(value, str):
        if len(value) > _MOST_CHARACTERS:
            return f"{value[:_MOST_CHARACTERS]}… ({len(value)} characters)"
        if value[:1] not in ("{", "["):
            return value
        try:
            return decoded(_ANY, value.encode("utf-8", "replace"))
        except NotJson:
            return value
    if not isinstance(value, list | dict):
        return value
    structured = cast("Json", value)
    written = msgspec.json.encode(structured)
    return as_value(written.decode()) if len(written) > _MOST_CHARACTERS else structured
