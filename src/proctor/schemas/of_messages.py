"""JSON Schemas of protobuf messages in OTLP/JSON: fields in camel case, identifiers in hexadecimal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from proctor.records.json_value import Json
from proctor.schemas.of_records import sentence

if TYPE_CHECKING:
    from google.protobuf.descriptor import Descriptor, FieldDescriptor

_IDS: Final = ("trace_id", "span_id", "parent_span_id")
"""Bytes that OTLP/JSON writes in hexadecimal, and not in base64 as protobuf does."""


def trace_line_schema() -> dict[str, Json]:
    """The schema of one line of a trace: a TracesData document of OpenTelemetry's protocol.

    Fields that are not known are allowed, 64-bit numbers are texts or numbers, and enumerations are numbers or names.
    """
    from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

    shared: dict[str, Json] = {}
    name = _named(TracesData.DESCRIPTOR, shared)
    shared[name]["required"] = ["resourceSpans"]
    shared[name]["properties"]["resourceSpans"]["description"] = "The spans, by what they come from."
    return {"$ref": f"#/$defs/{name}", "$defs": shared}


def _named(message: Descriptor, shared: dict[str, Json]) -> str:
    """The name of a message among the definitions, where it is put with all that it refers to."""
    name = message.full_name.removeprefix("opentelemetry.proto.")
    if name not in shared:
        made: dict[str, Json] = {"title": message.name, "type": "object", "properties": {}}
        shared[name] = made
        for field in message.fields:
            one = _value(field, shared)
            listed = {"type": ["array", "null"], "items": one} if field.is_repeated else one
            made["properties"][field.json_name] = listed
    return name


def _value(field: FieldDescriptor, shared: dict[str, Json]) -> dict[str, Json]:
    if field.message_type is not None:
        return {"$ref": f"#/$defs/{_named(field.message_type, shared)}"}
    if field.enum_type is not None:
        names = ", ".join(f"{one.number} {one.name}" for one in field.enum_type.values)
        return {"type": ["integer", "string"], "description": sentence(names)}
    if field.name in _IDS:
        return {"type": "string", "pattern": "^[0-9a-fA-F]*$"}
    kinds = type(field)
    if field.type in (kinds.TYPE_STRING, kinds.TYPE_BYTES):
        return {"type": "string"}
    if field.type == kinds.TYPE_BOOL:
        return {"type": "boolean"}
    if field.type in (kinds.TYPE_DOUBLE, kinds.TYPE_FLOAT):
        return {"anyOf": [{"type": "number"}, {"enum": ["NaN", "Infinity", "-Infinity"]}]}
    return {"anyOf": [{"type": "integer"}, {"type": "string", "pattern": "^-?[0-9]+$"}]}
