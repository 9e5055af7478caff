"""What an agent's spans become before they are kept: lines of OTLP/JSON without anything that only proctor may say.

Every other thing that the spans say stays as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, cast

import msgspec

from proctor.core import trace_names as names
from proctor.core.json_lines import NotJson, decoded
from proctor.core.trace_otlp import attributes_of, dicts_in, key_of
from proctor.records.json_value import Json

Price = Callable[[Mapping[str, Json]], Mapping[str, Json]]
"""From the attributes of a model call to those that say what it cost: none, where the call says so itself."""

_read: Final = msgspec.json.Decoder(dict[str, Any])
_WORKED_OUT: Final = frozenset({names.WORKED_OUT, names.NOT_WORKED_OUT})
_MODEL_CALL: Final = ("gen_ai.", "llm.", "openinference.", "embedding.")


class Intake:
    """Documents that were received, made fit to be kept, and what has been seen in all of them.

    Args:
        price: says what a model call cost that does not say it itself.

    Attributes:
        spans: how many there were.
        parent: span id that proctor gave to the agent; empty when it is not known.
    """

    def __init__(self, price: Price | None = None) -> None:
        self.spans = 0
        self.parent = ""
        self._price = price
        # Numbers, which are a fifth of the size of texts: a trace may have millions of spans.
        self._known: set[int] = set()
        self._parents: set[int] = set()

    @property
    def is_torn(self) -> bool:
        """True when a span is below one that never came: what ends last is sent last, and was not."""
        return not self._parents - self._known <= {0, _number(self.parent)}

    def line(self, document: dict[str, Any]) -> bytes | None:
        """The document as one line without its end; None when there is no span in it.

        Raises:
            NotJson: it cannot be written as JSON.
        """
        before = self.spans
        self.clean(document)
        return None if self.spans == before else _written(document)

    def clean(self, document: dict[str, Any]) -> None:
        """Make the document, in place, one that can be kept."""
        for resource in dicts_in(document.get("resourceSpans")):
            _strip(resource.get("resource"))
            for key in ("scopeSpans", "instrumentationLibrarySpans"):
                for scope in dicts_in(resource.get(key)):
                    _strip(scope.get("scope"))
                    for span in dicts_in(scope.get("spans")):
                        self._take(span)

    def _take(self, span: dict[str, Any]) -> None:
        self.spans += 1
        self._known.add(_number(span.get("spanId")))
        self._parents.add(_number(span.get("parentSpanId")))
        _strip(span)
        if self._price is not None:
            _price(span, self._price)


def read_json(body: bytes) -> dict[str, Any]:
    """The document in the body of a JSON export request.

    Raises:
        NotJson: it is none.
    """
    document = decoded(_read, body)
    if not isinstance(document.get("resourceSpans"), list):
        raise NotJson("it has no resourceSpans")
    return document


def priced(line: bytes, price: Price) -> bytes:
    """A line, with what its model calls cost where they do not say it and nobody has worked it out before.

    A line in which there is no such call stays as it is, to the byte.

    Raises:
        NotJson: it is no document.
    """
    document = decoded(_read, line)
    is_changed = False
    for resource in dicts_in(document.get("resourceSpans")):
        for key in ("scopeSpans", "instrumentationLibrarySpans"):
            for scope in dicts_in(resource.get(key)):
                for span in dicts_in(scope.get("spans")):
                    is_changed = _price(span, price) or is_changed
    return _written(document) if is_changed else line


def observed(line: bytes) -> bytes:
    """A line that proctor itself recorded, with a mark that says so on each resource; what it says to be lost stays.

    Raises:
        NotJson: it is no document.
    """
    document = read_json(line)
    for resource in dicts_in(document["resourceSpans"]):
        said = resource.setdefault("resource", {})
        if isinstance(said, dict):
            holder = cast("dict[str, Any]", said)
            lost = attributes_of(holder.get("attributes")).get(names.LOST)
            _strip(holder)
            pairs = holder.setdefault("attributes", [])
            if isinstance(lost, str):
                pairs.append(_pair(names.LOST, lost))
            pairs.append(_pair(names.EVIDENCE, "observed"))
    return _written(document)


def lost_line(reason: str) -> bytes:
    """A line by which a trace says of itself that it is not whole, and why."""
    resource = {"attributes": [_pair("service.name", "proctor"), _pair(names.LOST, reason)]}
    return _written({"resourceSpans": [{"resource": resource, "scopeSpans": []}]})


def _price(span: dict[str, Any], price: Price) -> bool:
    """Add to a model call what it cost; False when there is nothing to add."""
    listed = span.get("attributes")
    if not isinstance(listed, list):
        return False
    pairs = cast("list[Any]", listed)
    if not any((key_of(pair) or "").startswith(_MODEL_CALL) for pair in pairs):
        return False
    attributes = attributes_of(pairs)
    if names.kind_of(attributes) != "llm" or not attributes.keys().isdisjoint(_WORKED_OUT):
        return False
    said = price(attributes)
    pairs.extend(_pair(name, value) for name, value in said.items())
    return bool(said)


def _strip(holder: Any) -> None:
    """Take out the attributes that only proctor may give."""
    if not isinstance(holder, dict):
        return
    said = cast("dict[str, Any]", holder)
    listed = said.get("attributes")
    if not isinstance(listed, list):
        return
    pairs = cast("list[Any]", listed)
    if any((key_of(pair) or "").startswith(names.OURS) for pair in pairs):
        said["attributes"] = [pair for pair in pairs if not (key_of(pair) or "").startswith(names.OURS)]


def _pair(name: str, value: Json) -> dict[str, Any]:
    return {"key": name, "value": {"doubleValue" if isinstance(value, float) else "stringValue": value}}


def _number(span_id: Any) -> int:
    """A span id as a number; 0 for none, as in its own text of zeros."""
    try:
        return int(span_id[:16], 16) if isinstance(span_id, str) else 0
    except ValueError:
        return 0


def _written(document: Any) -> bytes:
    try:
        return msgspec.json.encode(document)
    except (UnicodeEncodeError, RecursionError, OverflowError) as error:
        raise NotJson(f"it cannot be written: {error}") from None
