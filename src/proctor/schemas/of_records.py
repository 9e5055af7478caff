"""JSON Schemas made of records: their fields are what is read and written, their docstrings are the descriptions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

import msgspec

from proctor.records.export import Column
from proctor.records.json_value import Json

_REFERENCE: Final = "#/$defs/{name}"
_SECTION: Final = re.compile(r"^(Attributes|Raises|Args|Returns):$", re.MULTILINE)
_ATTRIBUTE: Final = re.compile(r"^    (\w+): (.*(?:\n {8,}.*)*)", re.MULTILINE)
_PYTHON_WORDS: Final = {"None": "null", "True": "true", "False": "false"}
_TOLD_APART: Final = "Says what this is, where it can be one of several."
_KINDS: Final = {"text": "string", "integer": "integer", "number": "number", "boolean": "boolean"}


def record_schema(record: object, *, constants: dict[str, Json] | None = None) -> dict[str, Json]:
    """The schema of what is read into a record, or written from one: a Struct, or a type made of some.

    Fields that no record knows are allowed, as readers pass them over; those with a default can be absent.

    constants: fields that hold one value alone, such as the version of the format.
    """
    (made,), shared = msgspec.json.schema_components([record], ref_template=_REFERENCE)
    schema = _whole(made, shared)
    for part in _objects(schema):
        for field, value in (constants or {}).items():
            _pin(part["properties"], field, value)
    if isinstance(record, type) and issubclass(record, msgspec.Struct):
        _demand(schema, record)
    return schema


def union_schema(records: Sequence[type[msgspec.Struct]]) -> dict[str, Json]:
    """The schema of what is one of several records, which are told apart by what their fields hold."""
    made, shared = msgspec.json.schema_components(records, ref_template=_REFERENCE)
    schema = _whole({"anyOf": list(made)}, shared)
    for record in records:
        _demand(schema, record)
    return schema


def row_schema(columns: Sequence[Column]) -> dict[str, Json]:
    """The schema of one row of a table: every column is there, and null where a cell is empty."""
    return {
        "type": "object",
        "properties": {
            column.name: {"type": [_KINDS[column.kind], "null"], "description": sentence(column.says)}
            for column in columns
        },
        "required": [column.name for column in columns],
    }


def sentence(text: str) -> str:
    r"""A description: one line that begins with a capital and ends in a stop, in the words of JSON.

    >>> sentence("0 to 1; None when\n    it could not be told.")
    '0 to 1; null when it could not be told.'
    """
    line = " ".join(text.split())
    line = re.sub(r"\b(None|True|False)\b", lambda found: _PYTHON_WORDS[found[1]], line)
    end = "" if line.endswith((".", "?", "!", ":")) or not line else "."
    return line[:1].upper() + line[1:] + end


def _whole(made: dict[str, Any], shared: dict[str, Any]) -> dict[str, Json]:
    """One document with everything that it refers to, described."""
    made.pop("discriminator", None)  # a word of OpenAPI alone
    for part in shared.values():
        _describe(part)
    return {**made, "$defs": shared} if shared else dict(made)


def _describe(part: dict[str, Any]) -> None:
    """Split what a docstring says: its beginning is the object's, each attribute is a field's."""
    text = str(part.get("description", ""))
    beginning, attributes = text, ""
    if found := _SECTION.search(text):
        beginning = text[: found.start()]
        if found[1] == "Attributes":
            attributes = text[found.end() :]
    if beginning.strip():
        part["description"] = " ".join(sentence(one) for one in beginning.strip().split("\n\n"))
    else:
        part.pop("description", None)
    properties: dict[str, dict[str, Any]] = part.get("properties", {})
    for name, said in _ATTRIBUTE.findall(attributes):
        if name in properties:
            properties[name]["description"] = sentence(said)
    for field in properties.values():
        if len(field.get("enum", ())) == 1:
            field.setdefault("description", _TOLD_APART)
    # A format names itself: what holds another name is no such document.
    if str(properties.get("schema", {}).get("default", "")).startswith("proctor."):
        _pin(properties, "schema", properties["schema"]["default"])


def _pin(properties: dict[str, dict[str, Any]], field: str, value: Json) -> None:
    said = {key: one for key, one in properties.get(field, {}).items() if key == "description"}
    properties[field] = {"const": value, "description": "The format, with its version.", **said}


def _demand(schema: dict[str, Any], record: type[msgspec.Struct]) -> None:
    """What says which document it is has to be there, where it always was: the format, and the event."""
    if record.__struct_config__.omit_defaults:
        return
    part = schema["$defs"][record.__name__]
    telling = [name for name in ("schema", "event") if name in part["properties"]]
    part["required"] = list(dict.fromkeys([*telling, *part.get("required", ())]))


def _objects(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The records that a document itself can be."""
    for option in schema.get("anyOf", [schema]):
        name = str(option.get("$ref", "")).rpartition("/")[2]
        if name:
            yield schema["$defs"][name]
