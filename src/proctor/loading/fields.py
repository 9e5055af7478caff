"""The fields of suites and tests: one table that validation, messages and the JSON Schemas are read from."""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import deepcopy
from typing import Any, NamedTuple

from proctor.loading.json_types import is_list
from proctor.records.json_value import Json

MOST_TRIALS = 100
MOST_ID_BYTES = 150


class Field(NamedTuple):
    """A field that people write.

    Attributes:
        name: its key.
        schema: the JSON Schema of its values, of which `fits` knows a part.
        takes: what it takes, for "it takes ..." in messages.
        example: a value to show, as JSON.
        meaning: what it is for, in one sentence.
        is_needed: what has such fields is nothing without this one.
    """

    name: str
    schema: dict[str, Json]
    takes: str
    example: str
    meaning: str
    is_needed: bool = False


def object_schema(fields: Sequence[Field], *, required: Sequence[str] = ()) -> dict[str, Json]:
    """The JSON Schema of an object with these fields and no others."""
    made: dict[str, Json] = {
        "type": "object",
        "properties": {
            field.name: {**deepcopy(field.schema), "description": field.meaning} for field in fields
        },
        "additionalProperties": False,
    }
    if required:
        made["required"] = list(required)
    return made


TEXT: dict[str, Json] = {"type": "string", "minLength": 1}
SECONDS: dict[str, Json] = {"type": "number", "exclusiveMinimum": 0}
TRIALS: dict[str, Json] = {"type": "integer", "minimum": 1, "maximum": MOST_TRIALS}
WORDS: dict[str, Json] = {"type": "array", "items": TEXT}
VARIABLES: dict[str, Json] = {
    "type": "array",
    "items": {"type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*$"},
}

OWN_SCHEMA = Field(
    "$schema", {"type": "string"}, "the address of a JSON Schema", '"..."', "Read by editors alone."
)
"""Every file that people write may name its schema."""

FIXTURE_FIELDS = (
    Field(
        "path", TEXT, "the path of a folder, or a git source", '"files"', "The folder, or a git source.", True
    ),
    Field(
        "include",
        {"type": "array", "items": TEXT, "minItems": 1},
        "a list of at least one glob pattern",
        '["src/**"]',
        "Glob patterns of what is taken; everything when absent.",
    ),
    Field("git", {"type": "boolean"}, "true or false", "true", "The workdir starts as a git repository."),
)

TIMEOUT = Field(
    "timeout", SECONDS, "seconds, a number above 0", "60", "Wall-clock limit of one trial, in seconds."
)
TRIALS_FIELD = Field(
    "trials", TRIALS, f"a whole number from 1 to {MOST_TRIALS}", "3", "How often each test is run."
)
TAGS = Field("tags", WORDS, "a list of words, none of them empty", '["smoke"]', "Words to select tests by.")
GRADERS = Field(
    "graders",
    TEXT,
    "the path of a Python file that defines `graders`",
    '"graders.py"',
    "The grading module, relative to the file that names it.",
)

TEST_FIELDS = (
    Field(
        "id",
        {"type": "string", "minLength": 1, "maxLength": MOST_ID_BYTES, "pattern": r"^[^\s/\\.-][^\s/\\]*$"},
        "a name of letters, digits, underscores, dots and single hyphens",
        '"refund-late"',
        "Unique in the suite; the name of the run directory.",
        True,
    ),
    Field(
        "input",
        {"anyOf": [TEXT, {"type": "object"}, {"type": "array", "minItems": 1}]},
        "text, an object or a list, not empty",
        '"When was Einstein born?"',
        "What the agent is given: text, an object, or a list such as messages; absent when it takes nothing.",
    ),
    Field("expected", {}, "any JSON", '"1879"', "What graders compare with. Never shown to the agent."),
    Field(
        "goal",
        TEXT,
        "text, not empty",
        '"Names the year."',
        "What a judge looks for. Never shown to the agent.",
    ),
    Field(
        "files",
        {"anyOf": [TEXT, object_schema(FIXTURE_FIELDS, required=("path",))]},
        "the path of a folder, a git source, or an object with `path`, `include` and `git`",
        '"files"',
        "The files that the workdir starts with.",
    ),
    GRADERS,
    TIMEOUT,
    TRIALS_FIELD,
    TAGS,
    Field("description", TEXT, "text, not empty", '"A year in a sentence"', "For people."),
    Field("metadata", {"type": "object"}, "an object", '{"source": "faq"}', "Fields of your own."),
)

DEFAULT_FIELDS = (GRADERS, TIMEOUT, TRIALS_FIELD, TAGS)

SUITE_FIELDS = (
    OWN_SCHEMA,
    Field(
        "name",
        TEXT,
        "text, not empty",
        '"refunds"',
        "The suite's name; that of the file or folder when absent.",
    ),
    Field("description", TEXT, "text, not empty", '"Late refunds"', "For people."),
    Field(
        "pass_env",
        VARIABLES,
        "a list of names of variables",
        '["SERVICE_TOKEN"]',
        "Variables that its tests need, and that no agent gets otherwise.",
    ),
    Field(
        "defaults",
        object_schema(DEFAULT_FIELDS),
        "an object",
        '{"timeout": 60}',
        "What holds for all tests of the suite.",
    ),
    Field(
        "inputs",
        {"type": "array", "minItems": 1},
        "a list of tests, at least one",
        '[{"id": "a", "input": "..."}]',
        "The tests.",
        True,
    ),
    Field(
        "tests",
        {"type": "array"},
        "a list of tests",
        '[{"id": "a", "input": "..."}]',
        "The same as `inputs`.",
        True,
    ),
)

RENAMED_TEST_FIELDS = {
    "task": "`task` is called `input` here: rename it.",
    "prompt": "`prompt` is called `input` here: rename it.",
    "question": "`question` is called `input` here: rename it.",
    "args": "A test does not describe the agent: take `args` out, and name the agent on the command line.",
    "node": "A test does not describe the agent: take `node` out, and name the agent on the command line.",
    "agent": "A test does not describe the agent: take `agent` out, and name it on the command line.",
    "hosts": "A test does not describe the agent: take `hosts` out, and name the agent on the command line.",
    "timeoutSec": "`timeoutSec` is called `timeout` here, in seconds as well: rename it.",
    "timeout_s": "`timeout_s` is called `timeout` here, in seconds as well: rename it.",
    "rubric": "`rubric` is called `goal` here: rename it.",
    "fixture": "`fixture` is called `files` here: rename it.",
    "name": "A test's name is its `id`: rename it.",
    "answer": "`answer` is called `expected` here: rename it.",
    "assertions": "What a test checks stands in its grading module: name that in `graders`.",
    "harnessMaxCost": "Take `harnessMaxCost` out: the limits on cost are given on the command line.",
}


def fits(value: Json, schema: dict[str, Json]) -> bool:
    """True when a value matches a schema, as far as the words of these tables go, `pattern` excepted.

    >>> fits(0, SECONDS), fits(True, TRIALS), fits(3.0, TRIALS)
    (False, False, True)
    """
    if "anyOf" in schema:
        return any(fits(value, option) for option in schema["anyOf"])
    kind = schema.get("type")
    if kind is not None and not _is_of_type(value, kind):
        return False
    if isinstance(value, str):
        return len(value) >= schema.get("minLength", 0)
    if is_list(value):
        return len(value) >= schema.get("minItems", 0) and all(
            fits(entry, schema["items"]) for entry in value if "items" in schema
        )
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _in_bounds(value, schema)
    return True


def _in_bounds(number: float, schema: dict[str, Any]) -> bool:
    return (
        math.isfinite(number)
        and number > schema.get("exclusiveMinimum", float("-inf"))
        and number >= schema.get("minimum", float("-inf"))
        and number <= schema.get("maximum", float("inf"))
    )


def _is_of_type(value: Json, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    if kind == "integer":
        return isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    types: dict[str, tuple[type, ...]] = {
        "string": (str,),
        "number": (int, float),
        "array": (list,),
        "object": (dict,),
    }
    return isinstance(value, types.get(kind, ()))
