"""JSON Schemas of the files that people write, made of the tables that validation reads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from proctor.loading.checklists import CHECKLIST_FIELDS, QUESTION_FIELDS
from proctor.loading.fields import OWN_SCHEMA, SUITE_FIELDS, TEST_FIELDS, object_schema
from proctor.loading.judge_fields import JUDGE_FIELDS
from proctor.loading.setting_table import SETTINGS
from proctor.records.json_value import Json

SchemaName = Literal["suite", "test", "checklist", "judge", "settings"]
SCHEMA_NAMES: tuple[SchemaName, ...] = ("suite", "test", "checklist", "judge", "settings")


def written_schema(name: SchemaName) -> dict[str, Json]:
    """What a file that people write looks like, by the name of its schema; a new document each time.

    A file that does not match is not usable. The reverse does not hold: that ids are unique, that folders
    exist, and that nothing looks like a secret, only loading finds out.

    Raises:
        KeyError: there is no such schema.
    """
    makers: dict[SchemaName, Callable[[], dict[str, Json]]] = {
        "suite": _suite,
        "test": _test,
        "checklist": _checklist,
        "judge": _judge,
        "settings": _settings,
    }
    return makers[name]()


def _test() -> dict[str, Json]:
    return object_schema((OWN_SCHEMA, *TEST_FIELDS))


def _suite() -> dict[str, Json]:
    made = object_schema(SUITE_FIELDS)
    for field in ("inputs", "tests"):
        made["properties"][field]["items"] = {"$ref": "#/$defs/test"}
    return {
        **made,
        "not": {"required": ["inputs", "tests"]},
        "$defs": {"test": object_schema(TEST_FIELDS, required=("id",))},
    }


def _checklist() -> dict[str, Json]:
    made = object_schema(CHECKLIST_FIELDS, required=("name", "questions"))
    made["properties"]["questions"]["items"] = object_schema(QUESTION_FIELDS, required=("text",))
    return made


def _judge() -> dict[str, Json]:
    return {**object_schema(JUDGE_FIELDS), "not": {"required": ["scale", "choices"]}}


def _settings() -> dict[str, Json]:
    made = object_schema((OWN_SCHEMA, *(setting.field for setting in SETTINGS)))
    for setting in SETTINGS:
        if setting.default is not None:
            made["properties"][setting.field.name]["default"] = setting.default
    return made
