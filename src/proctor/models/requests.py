"""Questions as providers want them: fields of a request, and those that a model has refused."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from typing import Any, Final, cast

from proctor.records.json_value import Json

_LENGTHS: Final = ("minLength", "maxLength")
UNKNOWN_KEYWORDS: Final[Mapping[str, tuple[str, ...]]] = {
    "openai": _LENGTHS,
    "anthropic": (*_LENGTHS, "minimum", "maximum"),
}
"""Keywords of JSON Schema that a provider's constrained output does not know, and answers with an error."""


def schema_for(provider: str, schema: Mapping[str, Json]) -> dict[str, Any]:
    """The schema without the keywords that this provider does not know.

    >>> schema_for("openai", {"type": "string", "maxLength": 3})
    {'type': 'string'}
    """
    return cast("dict[str, Any]", _without(dict(schema), UNKNOWN_KEYWORDS.get(provider, ())))


def _without(value: Json, keywords: tuple[str, ...]) -> Json:
    if isinstance(value, Mapping):
        entries = cast("Mapping[str, Json]", value)
        return {key: _without(entry, keywords) for key, entry in entries.items() if key not in keywords}
    if isinstance(value, list | tuple):
        return [_without(entry, keywords) for entry in cast("list[Json]", value)]
    return value


class Refused:
    """The optional fields that a model does not take, learnt from its refusals, so that each is refused once.

    Safe to use from several threads.

    Args:
        optional: fields that a question can do without, each with the words by which a message speaks of it.
    """

    def __init__(self, optional: Mapping[str, Iterable[str]]) -> None:
        self._optional = {name: tuple(words) for name, words in optional.items()}
        self._by_model: dict[str, frozenset[str]] = {}
        self._lock = threading.Lock()

    def of(self, model: str) -> frozenset[str]:
        """The fields that this model has refused."""
        return self._by_model.get(model, frozenset())

    def learn(self, model: str, sent: Iterable[str], said: str) -> bool:
        """Note the field that the message complains of; False when it complains of none that was sent."""
        folded = said.casefold()
        for name in sent:
            if any(word in folded for word in self._optional.get(name, ())):
                with self._lock:
                    self._by_model[model] = self.of(model) | {name}
                return True
        return False
