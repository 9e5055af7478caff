"""The fields of a judge file's front matter, as the JSON Schema of it is made; `core.judge_file` reads them."""

from __future__ import annotations

from typing import Final

from proctor.loading.fields import OWN_SCHEMA, TEXT, Field
from proctor.records.json_value import Json

_NUMBER_TEXT: Final = r"^\s*[0-9.]+\s*$"


def _number(**bounds: Json) -> dict[str, Json]:
    """A number, or the text of one: every scalar of front matter is read as text."""
    return {"anyOf": [{"type": "number", **bounds}, {"type": "string", "pattern": _NUMBER_TEXT}]}


_SCALE: Final[dict[str, Json]] = {
    "anyOf": [
        {
            "type": "string",
            "pattern": r"^\s*([Bb][Ii][Nn][Aa][Rr][Yy]|[Pp][Aa][Ss][Ss]/[Ff][Aa][Ii][Ll])\s*$",
        },
        {"type": "string", "pattern": r"^\s*-?[0-9.]+\s*(-|–|to|\.\.)\s*-?[0-9.]+\s*$"},
        {
            "type": "array",
            "items": {"anyOf": [{"type": "number"}, {"type": "string", "pattern": r"^\s*-?[0-9.]+\s*$"}]},
            "minItems": 2,
            "maxItems": 2,
        },
    ]
}

JUDGE_FIELDS: Final = (
    Field(
        "scale",
        _SCALE,
        "binary, or two numbers such as 0-10",
        "0-10",
        "What may be answered: `binary`, or all numbers from one to another; not together with `choices`.",
    ),
    Field(
        "choices",
        {"type": "object", "minProperties": 2, "additionalProperties": _number(minimum=0, maximum=1)},
        "at least two labels, each with a score from 0 to 1",
        '{"good": 1, "bad": 0}',
        "What may be answered: one of these labels; each with the score that it stands for.",
    ),
    Field(
        "model", TEXT, "PROVIDER/NAME", '"openai/gpt-5-mini"', "The model; the configured one when absent."
    ),
    Field(
        "temperature",
        {"anyOf": [*_number(minimum=0)["anyOf"], {"const": "default"}]},
        "a number of 0 or more, or default",
        "0",
        "0 when absent; `default` leaves it to the provider.",
    ),
    Field(
        "max_tokens",
        {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "string", "pattern": r"^\s*[0-9]+\s*$"}]},
        "a whole number above 0",
        "2048",
        "The most that the model may write.",
    ),
    Field(
        "timeout",
        _number(exclusiveMinimum=0),
        "seconds, a number above 0",
        "60",
        "How long one try may take, in seconds.",
    ),
    Field(
        "settings",
        {"type": "object"},
        "further fields of the request",
        '{"reasoning_effort": "low"}',
        "Further fields of the request, as the provider names them.",
    ),
    OWN_SCHEMA,
)
