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
from proctor.core.trace_names import amount
from proctor.records.json_value import Json

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


def spans_of(document: bytes) -> Iterator[Span]:
    """The spans of a document; none in one that is of logs or of metrics.

    Raises:
        NotJson: it is no OTLP/JSON document.
    """
    for _, _, raw in _placed(decoded(_read_document, document)):
        yield _span(decoded(_read_span, raw))


def is_traces(document: bytes) -> bool:
    """True when the text is a document of spans, however many.

    Raises:
        NotJson: it is no JSON object.
    """
    return decoded(_read_document, document).resource_spans is not UNSET


def split_by_trace(document: bytes) -> dict[str, bytes]:
    """The document as one for each trace in it, by trace id in lower case; each is one line without its end.

    A span keeps its resource and scope.

    Raises:
        NotJson: it is no OTLP/JSON document, or a span has no trace id.
    """
    found = decoded(_read_document, document)
    by_trace: dict[str, list[tuple[_Resource, _Scope, Raw]]] = {}
    for resource, scope, raw in _placed(found):
        trace_id = decoded(_read_ids, raw).trace_id.lower()
        if len(trace_id) != 32 or not set(trace_id) <= set("0123456789abcdef"):
            raise NotJson(f"a span has the trace id {trace_id[:40]!r}, and 32 hexadecimal digits are wanted")
        by_trace.setdefault(trace_id, []).append((resource, scope, raw))
    if len(by_trace) == 1:
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
        for scopes in (resource.scope_spans, resource.instrumentation_library_spans):
            for scope in scopes or ():
                for raw in scope.spans or ():
                    yield resource, scope, raw


def _span(said: dict[str, Any]) -> Span:
    attributes = _attributes(said.get("attributes"))
    return Span(
        trace_id=_text(said.get("traceId")).lower(),
        span_id=_text(said.get("spanId")).lower(),
        parent_id=_text(said.get("parentSpanId")).lower(),
        name=_text(said.get("name")),
        start_ns=_nanoseconds(said.get("startTimeUnixNano")),
        end_ns=_nanoseconds(said.get("endTimeUnixNano")),
        attributes=attributes,
        error=_error(said, attributes),
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
            told = _attributes(cast("dict[str, Any]", event).get("attributes"))
            return _text(told.get("exception.message")) or _text(told.get("exception.type"))
    return ""


def _attributes(listed: Any) -> dict[str, Json]:
    attributes: dict[str, Json] = {}
    for pair in cast("list[Any]", listed) if isinstance(listed, list) else []:
        if isinstance(pair, dict):
            entry = cast("dict[str, Any]", pair)
            if isinstance(key := entry.get("key"), str):
                attributes.setdefault(key, _value(entry.get("value")))
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
                return _attributes(
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
