"""What a model was asked and what it answered, wherever an instrumentation has put it.

The current GenAI conventions have them as attributes of the span, or of an event of it; older ones as an event for
each message; OpenInference and OpenLLMetry as attributes with the number of the message in their names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from proctor.core.trace_names import Attributes, as_value
from proctor.records.json_value import Json

Moments = Sequence[tuple[str, Mapping[str, Json]]]

_ASKED: Final = ("gen_ai.input.messages", "gen_ai.prompt", "ai.prompt.messages")
_ANSWERED: Final = ("gen_ai.output.messages", "gen_ai.completion", "ai.response.text")
_NUMBERED_ASKED: Final = ("llm.input_messages.", "gen_ai.prompt.")
_NUMBERED_ANSWERED: Final = ("llm.output_messages.", "gen_ai.completion.")
_ROLES: Final = ("system", "user", "assistant", "tool")
_DEEPEST: Final = 12
_MOST: Final = 10_000


def asked(attributes: Attributes, moments: Moments) -> Json:
    """What the model was given; None when the span does not say."""
    found = _found(attributes, moments, _ASKED, _NUMBERED_ASKED)
    if found is None:
        said = [
            {"role": role, **told}
            for name, told in moments
            for role in _ROLES
            if name == f"gen_ai.{role}.message"
        ]
        found = as_value(cast("Json", said)) if said else None
    return as_value(attributes["input.value"]) if found is None and "input.value" in attributes else found


def answered(attributes: Attributes, moments: Moments) -> Json:
    """What the model answered; None when the span does not say."""
    found = _found(attributes, moments, _ANSWERED, _NUMBERED_ANSWERED)
    if found is None:
        said = [dict(told) for name, told in moments if name == "gen_ai.choice"]
        found = as_value(cast("Json", said)) if said else None
    return as_value(attributes["output.value"]) if found is None and "output.value" in attributes else found


def _found(
    attributes: Attributes, moments: Moments, plain: tuple[str, ...], numbered: tuple[str, ...]
) -> Json:
    for told in (attributes, *(said for _, said in moments)):
        for name in plain:
            if name in told:
                return as_value(told[name])
    for prefix in numbered:
        members = {key[len(prefix) :]: value for key, value in attributes.items() if key.startswith(prefix)}
        if members:
            return as_value(_unfolded(members))
    return None


def _unfolded(members: Mapping[str, Json]) -> Json:
    """Nested values out of names with dots: `0.message.role` is the role of the message of the first entry.

    >>> _unfolded({"0.message.role": "user", "0.message.content": "hi"})
    [{'message': {'role': 'user', 'content': 'hi'}}]
    """
    tree: dict[str, Any] = {}
    for name, value in list(members.items())[:_MOST]:
        branch = tree
        *above, last = name.split(".", _DEEPEST)
        for part in above:
            below = branch.get(part)
            if not isinstance(below, dict):
                below = branch[part] = {}
            branch = cast("dict[str, Any]", below)
        branch.setdefault(last, value)
    return _listed(tree)


def _listed(branch: Any) -> Json:
    if not isinstance(branch, dict):
        return branch
    entries = cast("dict[str, Any]", branch)
    if entries and all(key.isdecimal() and key.isascii() and len(key) < 10 for key in entries):
        return [_listed(entries[key]) for key in sorted(entries, key=int)]
    return {key: _listed(value) for key, value in entries.items()}
