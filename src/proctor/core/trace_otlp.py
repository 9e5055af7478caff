"""OTLP/JSON: a TracesData document, and the spans in it.

The Collector's file exporter writes one document a line. Identifiers are hexadecimal, 64-bit numbers are texts or
numbers, and fields that are not known are ignored.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, cast

import msgspec
from msgspec import UNSET, Raw, UnsetType

from proctor.core.json_lines import NotJson, decoded
from proctor.core.trace import Span
from proctor.core.trace_names import EVIDENCE, LOST, OURS, amount
from proctor.records.json_value import Json
from proctor.records.trace import Evidence

_UNMARKED: Final = ("inferred", None)
_FAILED: Final = (2, "2", "STATUS_CODE_ERROR")


class _Scope(msgspec.Struct, rename="camel"):
    spans: list[Raw] | None = None
    scope: Raw | UnsetType = UNSET
    schema_url: str | UnsetType = UNSET


class _Resource(msgspec.Struct, rename="camel"):
    scope_spans: list[_Scope] | None = None
    instrumentation_library_spans: list[_Scope] | None = None
    resource: Raw | UnsetType = UNSET
    schema_url: str | UnsetType = UNSET


class _Document(msgspec.Struct, rename="camel"):
    resource_spans: list[_Resource] | UnsetType | None = UNSET


class _Ids(msgspec.Struct, rename="camel"):
    trace_id: str = ""


_read_document: Final = msgspec.json.Decoder(_Document)
_read_ids: Final = msgspec.json.Decoder(_Ids)
_read_span: Final = msgspec.json.Decoder(dict[str, Any])


class Document:
    """A document, read as far as it has to be.

    Raises:
        NotJson: it is no OTLP/JSON document.
    """

    def __init__(self, text: bytes) -> None:
        self._resources = decoded(_read_document, text).resource_spans or ()
        self._marks = [_marks(resource) for resource in self._resources]

    @property
    def lost(self) -> str | None:
        """What proctor wrote that is missing in the trace; None when it wrote nothing of that kind."""
        return next((lost for _, lost in self._marks if lost is not None), None)

    def spans(self) -> Iterator[Span]:
        """The spans; none in a document that is of logs or of metrics.

        Raises:
            NotJson: one of them is no JSON object.
        """
        for resource, (evidence, _) in zip(self._resources, self._marks, strict=True):
            for scope in _scopes(resource):
                for raw in scope.spans or ():
                    yield _span(decoded(_read_span, raw), evidence)


def spans_of(document: bytes) -> Iterator[Span]:
    """The spans of a document; none in one that is of logs or of metrics.

    Raises:
        NotJson: it is no OTLP/JSON document.
    """
    yield from Document(document).spans()


def spans_in(document: dict[str, Any]) -> Iterator[Span]:
    """The spans of a document that is decoded already; they are the agent's own words."""
    for resource in dicts_in(document.get("resourceSpans")):
        for scope in (
            *dicts_in(resource.get("scopeSpans")),
            *dicts_in(resource.get("instrumentationLibrarySpans")),
        ):
            for span in dicts_in(scope.get("spans")):
                yield _span(span, "inferred")


def dicts_in(listed: Any) -> Iterator[dict[str, Any]]:
    """The objects in a list; none in what is no list."""
    for entry in cast("list[Any]", listed) if isinstance(listed, list) else []:
        if isinstance(entry, dict):
            yield cast("dict[str, Any]", entry)


def is_traces(document: bytes) -> bool:
    """True when the text is a document of spans, however many.

    Raises:
        NotJson: it is no JSON object.
    """
    return decoded(_read_document, document).resource_spans is not UNSET


def split_by_trace(document: bytes) -> dict[str, bytes]:
    """The document as one for each trace in it, by trace id in lower case; each is one line without its end.

    A span keeps its resource and scope, less a mark that says that proctor has seen it: that is true only in the
    run that proctor made.

    Raises:
        NotJson: it is no OTLP/JSON document, or a span has no trace id.
    """
    found = decoded(_read_document, document)
    is_marked = False
    for resource in found.resource_spans or ():
        if _marks(resource) != _UNMARKED:
            is_marked, resource.resource = True, _unmarked(resource)
    by_trace: dict[str, list[tuple[_Resource, _Scope, Raw]]] = {}
    for resource, scope, raw in _placed(found):
        trace_id = decoded(_read_ids, raw).trace_id.lower()
        if len(trace_id) != 32 or not set(trace_id) <= set("0123456789abcdef"):
            raise NotJson(f"a span has the trace id {trace_id[:40]!r}, and 32 hexadecimal digits are wanted")
        by_trace.setdefault(trace_id, []).append((resource, scope, raw))
    if len(by_trace) == 1 and not is_marked:
        return {trace_id: _one_line(document) for trace_id in by_trace}
    return {
        trace_id: _one_line(msgspec.json.encode(_document_of(members)))
        for trace_id, members in by_trace.items()
    }


def _document_of(members: list[tuple[_Resource, _Scope, Raw]]) -> _Document:
    document = _Document(resource_spans=[])
    resources: dict[int, _Resource] = {}
    scopes: dict[int, _Scope] = {}
    for resource, scope, raw in members:
        if id(resource) not in resources:
            mine = _Resource(scope_spans=[], resource=resource.resource, schema_url=resource.schema_url)
            resources[id(resource)] = mine
            cast("list[_Resource]", document.resource_spans).append(mine)
        if id(scope) not in scopes:
            scopes[id(scope)] = _Scope(spans=[], scope=scope.scope, schema_url=scope.schema_url)
            cast("list[_Scope]", resources[id(resource)].scope_spans).append(scopes[id(scope)])
        cast("list[Raw]", scopes[id(scope)].spans).append(raw)
    return document


def _one_line(document: bytes) -> bytes:
    """A JSON text without line ends: those between its parts, which are all that it can have."""
    return document.replace(b"\r", b" ").replace(b"\n", b" ").strip()


def _placed(document: _Document) -> Iterator[tuple[_Resource, _Scope, Raw]]:
    for resource in document.resource_spans or ():
        for scope in _scopes(resource):
            for raw in scope.spans or ():
                yield resource, scope, raw


def _scopes(resource: _Resource) -> Iterator[_Scope]:
    yield from resource.scope_spans or ()
    yield from resource.instrumentation_library_spans or ()


def _marks(resource: _Resource) -> tuple[Evidence, str | None]:
    """Who recorded the spans of a resource, and what it says is lost."""
    # An escape could hide the name; everything else is not decoded.
    raw = b"" if resource.resource is UNSET else bytes(resource.resource)
    if OURS.encode() not in raw and b"\\u" not in raw:
        return _UNMARKED
    attributes = attributes_of(_resource(raw).get("attributes"))
    lost = attributes.get(LOST)
    return (
        "observed" if attributes.get(EVIDENCE) == "observed" else "inferred",
        lost if isinstance(lost, str) else None,
    )


def _unmarked(resource: _Resource) -> Raw:
    said = _resource(b"" if resource.resource is UNSET else bytes(resource.resource))
    kept = [pair for pair in cast("list[Any]", said["attributes"]) if key_of(pair) not in (EVIDENCE, LOST)]
    return Raw(msgspec.json.encode(said | {"attributes": kept}))


def _resource(raw: bytes) -> dict[str, Any]:
    try:
        return decoded(_read_span, raw)
    except NotJson:
        return {}


def _span(said: dict[str, Any], evidence: Evidence) -> Span:
    attributes = attributes_of(said.get("attributes"))
    return Span(
        trace_id=_text(said.get("traceId")).lower(),
        span_id=_text(said.get("spanId")).lower(),
        parent_id=_text(said.get("parentSpanId")).lower(),
        name=_text(said.get("name")),
        start_ns=_nanoseconds(said.get("startTimeUnixNano")),
        end_ns=_nanoseconds(said.get("endTimeUnixNano")),
        attributes=attributes,
        moments=_moments(said.get("events")),
        error=_error(said, attributes),
        # A host's own stream may let something be inferred that it does not say.
        evidence="inferred" if attributes.get(EVIDENCE) == "inferred" else evidence,
    )


def _moments(events: Any) -> tuple[tuple[str, dict[str, Json]], ...]:
    return tuple(
        (_text(event.get("name")), attributes_of(event.get("attributes")))
        for entry in (cast("list[Any]", events) if isinstance(events, list) else [])
        if isinstance(entry, dict) and (event := cast("dict[str, Any]", entry))
    )


def _error(said: dict[str, Any], attributes: dict[str, Json]) -> str | None:
    status = said.get("status")
    status = cast("dict[str, Any]", status) if isinstance(status, dict) else {}
    kind = attributes.get("error.type")
    if status.get("code") not in _FAILED and not isinstance(kind, str):
        return None
    message = _text(status.get("message")) or _exception(said.get("events"))
    return message or (kind if isinstance(kind, str) else "") or "error"


def _exception(events: Any) -> str:
    for event in cast("list[Any]", events) if isinstance(events, list) else []:
        if isinstance(event, dict) and cast("dict[str, Any]", event).get("name") == "exception":
            told = attributes_of(cast("dict[str, Any]", event).get("attributes"))
            return _text(told.get("exception.message")) or _text(told.get("exception.type"))
    return ""


def key_of(pair: Any) -> str | None:
    """The name of an attribute; None when it is none."""
    key = cast("dict[str, Any]", pair).get("key") if isinstance(pair, dict) else None
    return key if isinstance(key, str) else None


def attributes_of(listed: Any) -> dict[str, Json]:
    """The attributes in a list of keys and values; what is none is left out, and of two the first counts."""
    attributes: dict[str, Json] = {}
    for pair in cast("list[Any]", listed) if isinstance(listed, list) else []:
        if (key := key_of(pair)) is not None:
            attributes.setdefault(key, _value(cast("dict[str, Any]", pair).get("value")))
    return attributes


def _value(wrapped: Any) -> Json:
    """The value in an AnyValue; None when it is of no known kind."""
    if not isinstance(wrapped, dict):
        return None
    for kind, value in cast("dict[str, Any]", wrapped).items():
        match kind:
            case "stringValue" | "boolValue" | "bytesValue":
                return value
            case "intValue":
                return _integer(value)
            case "doubleValue":
                return value if isinstance(value, int | float) else amount(value)
            case "arrayValue":
                values = cast("dict[str, Any]", value).get("values") if isinstance(value, dict) else None
                return [_value(one) for one in cast("list[Any]", values)] if isinstance(values, list) else []
            case "kvlistValue":
                return attributes_of(
                    cast("dict[str, Any]", value).get("values") if isinstance(value, dict) else None
                )
            case _:
                pass
    return None


def _integer(value: Any) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    try:
        # Longer texts are no 64-bit number, and slow to read.
        return int(value) if isinstance(value, str) and len(value) <= 20 else None
    except ValueError:
        return None


def _nanoseconds(value: Any) -> int:
    return max(0, _integer(value) or 0)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
