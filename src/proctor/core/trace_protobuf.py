"""OTLP in protobuf, as the OTLP/JSON document that says the same.

Identifiers become hexadecimal and 64-bit numbers texts, as OTLP/JSON wants them; a number that JSON does not have
becomes its name; fields without a value are left out.
"""

from __future__ import annotations

import math
from base64 import b64encode
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from proctor.core.json_lines import NotJson

if TYPE_CHECKING:
    from opentelemetry.proto.common.v1.common_pb2 import AnyValue, InstrumentationScope, KeyValue
    from opentelemetry.proto.resource.v1.resource_pb2 import Resource
    from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span

_DEEPEST = 50


def document_of(body: bytes) -> dict[str, Any]:
    """The document in the body of an export request.

    Raises:
        NotJson: it is no export request, or nested too deep.
    """
    from google.protobuf.message import DecodeError
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    request = ExportTraceServiceRequest()
    try:
        request.ParseFromString(body)
    except DecodeError as error:
        raise NotJson(f"it is no protobuf of spans: {error}") from None
    return {"resourceSpans": [_resource_spans(one) for one in request.resource_spans]}


def _resource_spans(said: ResourceSpans) -> dict[str, Any]:
    made: dict[str, Any] = {}
    if said.HasField("resource"):
        made["resource"] = _resource(said.resource)
    made["scopeSpans"] = [_scope_spans(one) for one in said.scope_spans]
    if said.schema_url:
        made["schemaUrl"] = said.schema_url
    return made


def _resource(said: Resource) -> dict[str, Any]:
    made: dict[str, Any] = {"attributes": _pairs(said.attributes)}
    if said.dropped_attributes_count:
        made["droppedAttributesCount"] = said.dropped_attributes_count
    if said.entity_refs:
        made["entityRefs"] = [
            {
                "schemaUrl": one.schema_url,
                "type": one.type,
                "idKeys": list(one.id_keys),
                "descriptionKeys": list(one.description_keys),
            }
            for one in said.entity_refs
        ]
    return made


def _scope_spans(said: ScopeSpans) -> dict[str, Any]:
    made: dict[str, Any] = {}
    if said.HasField("scope"):
        made["scope"] = _scope(said.scope)
    made["spans"] = [_span(one) for one in said.spans]
    if said.schema_url:
        made["schemaUrl"] = said.schema_url
    return made


def _scope(said: InstrumentationScope) -> dict[str, Any]:
    made: dict[str, Any] = {"name": said.name}
    if said.version:
        made["version"] = said.version
    if said.attributes:
        made["attributes"] = _pairs(said.attributes)
    if said.dropped_attributes_count:
        made["droppedAttributesCount"] = said.dropped_attributes_count
    return made


def _span(said: Span) -> dict[str, Any]:
    made: dict[str, Any] = {"traceId": said.trace_id.hex(), "spanId": said.span_id.hex()}
    if said.trace_state:
        made["traceState"] = said.trace_state
    if said.parent_span_id:
        made["parentSpanId"] = said.parent_span_id.hex()
    if said.flags:
        made["flags"] = said.flags
    made["name"] = said.name
    if said.kind:
        made["kind"] = int(said.kind)
    made["startTimeUnixNano"] = str(said.start_time_unix_nano)
    made["endTimeUnixNano"] = str(said.end_time_unix_nano)
    if said.attributes:
        made["attributes"] = _pairs(said.attributes)
    if said.events:
        made["events"] = [
            {
                "timeUnixNano": str(event.time_unix_nano),
                "name": event.name,
                "attributes": _pairs(event.attributes),
                **_count("droppedAttributesCount", event.dropped_attributes_count),
            }
            for event in said.events
        ]
    if said.links:
        made["links"] = [
            {
                "traceId": link.trace_id.hex(),
                "spanId": link.span_id.hex(),
                **({"traceState": link.trace_state} if link.trace_state else {}),
                "attributes": _pairs(link.attributes),
                **_count("droppedAttributesCount", link.dropped_attributes_count),
                **_count("flags", link.flags),
            }
            for link in said.links
        ]
    made |= _count("droppedAttributesCount", said.dropped_attributes_count)
    made |= _count("droppedEventsCount", said.dropped_events_count)
    made |= _count("droppedLinksCount", said.dropped_links_count)
    if said.HasField("status"):
        status: dict[str, Any] = _count("code", int(said.status.code))
        if said.status.message:
            status["message"] = said.status.message
        if status:
            made["status"] = status
    return made


def _count(name: str, number: int) -> dict[str, int]:
    return {name: number} if number else {}


def _pairs(said: Iterable[KeyValue]) -> list[dict[str, Any]]:
    return [{"key": pair.key, "value": _value(pair.value, _DEEPEST)} for pair in said]


def _value(said: AnyValue, deepest: int) -> dict[str, Any]:
    kind = said.WhichOneof("value")
    match kind:
        case "string_value":
            return {"stringValue": said.string_value}
        case "int_value":
            return {"intValue": str(said.int_value)}
        case "bool_value":
            return {"boolValue": said.bool_value}
        case "double_value":
            return {"doubleValue": _number(said.double_value)}
        case "bytes_value":
            return {"bytesValue": b64encode(said.bytes_value).decode()}
        case "array_value":
            _check_depth(deepest)
            return {"arrayValue": {"values": [_value(one, deepest - 1) for one in said.array_value.values]}}
        case "kvlist_value":
            _check_depth(deepest)
            pairs = [
                {"key": pair.key, "value": _value(pair.value, deepest - 1)}
                for pair in said.kvlist_value.values
            ]
            return {"kvlistValue": {"values": pairs}}
        case _:
            return {}


def _check_depth(deepest: int) -> None:
    if not deepest:
        raise NotJson("a value is nested too deep")


def _number(value: float) -> float | str:
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
