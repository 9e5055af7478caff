"""JSON Schemas of the files that people write, made of the tables that validation reads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from proctor.loading.checklists import CHECKLIST_FIELDS, QUESTION_FIELDS
from proctor.loading.fields import SUITE_FIELDS, TEST_FIELDS, object_schema
from proctor.loading.setting_table import SETTINGS
from proctor.records.json_value import Json

SchemaName = Literal["checklist", "settings", "suite", "test"]
SCHEMA_NAMES: tuple[SchemaName, ...] = ("checklist", "settings", "suite", "test")
_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_OWN_SCHEMA: dict[str, Json] = {"$schema": {"type": "string", "description": "Read by editors alone."}}


def schema(name: SchemaName) -> dict[str, Json]:
    """The JSON Schema (draft 2020-12) of `suite`, `test`, `checklist` or `settings`; a new document each time.

    A file that does not match is not usable. The reverse does not hold: that ids are unique, that folders
    exist, and that nothing looks like a secret, only loading finds out.

    Raises:
        KeyError: there is no such schema.
    """
    makers: dict[str, Callable[[], dict[str, Json]]] = {
        "checklist": _checklist,
        "settings": _settings,
        "suite": _suite,
        "test": _test,
    }
    return {"$schema": _DIALECT, "$id": f"urn:proctor:schema:{name}:1", **makers[name]()}


def _test() -> dict[str, Json]:
    made = object_schema(TEST_FIELDS)
    return {
        "title": "A test of proctor",
        "description": "A test.json in a folder of its own, or a file of one test.",
        **made,
        "properties": {**_OWN_SCHEMA, **made["properties"]},
    }


def _suite() -> dict[str, Json]:
    made = object_schema(SUITE_FIELDS)
    for field in ("inputs", "tests"):
        made["properties"][field]["items"] = {"$ref": "#/$defs/test"}
    return {
        "title": "A suite of proctor",
        "description": "A file with a list of tests; or suite.json in a folder, for what all of them share.",
        **made,
        "not": {"required": ["inputs", "tests"]},
        "$defs": {"test": object_schema(TEST_FIELDS, required=("id",))},
    }


def _checklist() -> dict[str, Json]:
    made = object_schema(CHECKLIST_FIELDS, required=("name", "questions"))
    made["properties"]["questions"]["items"] = object_schema(QUESTION_FIELDS, required=("text",))
    return {
        "title": "A checklist of proctor",
        "description": "Questions that people answer about recorded runs, in .json, .yaml or .yml.",
        **made,
    }


def _settings() -> dict[str, Json]:
    made = object_schema([setting.field for setting in SETTINGS])
    for setting in SETTINGS:
        if setting.default is not None:
            made["properties"][setting.field.name]["default"] = setting.default
    return {
        "title": "Settings of proctor",
        "description": "proctor.toml, or the table [tool.proctor] of pyproject.toml.",
        **made,
    }
