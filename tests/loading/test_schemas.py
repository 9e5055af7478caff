"""The JSON Schemas say what loading says, as far as shape goes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from proctor.loading import SCHEMA_NAMES, schema
from tests.loading.bad_suite_cases import CASES, messages

jsonschema = pytest.importorskip("jsonschema")

GOOD: list[tuple[str, Any]] = [
    ("suite", {"inputs": [{"id": "a"}]}),
    (
        "suite",
        {
            "$schema": "x",
            "name": "n",
            "description": "d",
            "tests": [{"id": "a", "input": {}, "expected": None}],
        },
    ),
    ("suite", {"defaults": {"timeout": 0.5, "trials": 100, "tags": ["t"], "graders": "g.py"}}),
    (
        "suite",
        {
            "inputs": [
                {
                    "id": "誕生日",
                    "input": [{"role": "user"}],
                    "files": {"path": "f", "include": ["*"], "git": True},
                }
            ]
        },
    ),
    (
        "test",
        {
            "$schema": "x",
            "input": "x",
            "goal": "g",
            "files": "f",
            "graders": "g.py",
            "tags": [],
            "metadata": {"a": 1},
        },
    ),
    ("test", {}),
    ("settings", {"timeout": 60, "trials": 3, "parallel": 4, "out": "runs", "suite": "evals"}),
]
SHAPE = (
    " is not a field of ",
    "; it takes ",
    "` takes ",
    " has no id",
    "has the name of a credential",
    "has no `path`",
)
SHAPE += ("has both `inputs`", "has the character ' '", "starts with a dot")


def json_cases() -> Iterator[tuple[str, Any]]:
    """The bad suites that are JSON of some shape, one a file."""
    for name, files, source in CASES:
        content = files.get(source) if source.endswith(".json") else None
        if content is None:
            continue
        try:
            yield name, json.loads(content) if isinstance(content, str | bytes) else content
        except (ValueError, RecursionError):
            continue


@pytest.mark.parametrize("name", SCHEMA_NAMES)
def test_each_schema_is_a_schema(name: Any) -> None:
    """Each is a valid document of draft 2020-12, with an address of its own and a description of every field."""
    made = schema(name)
    jsonschema.Draft202012Validator.check_schema(made)

    assert f"urn:proctor:schema:{name}:1" == made["$id"]
    assert all(field["description"] for field in made["properties"].values())


@pytest.mark.parametrize(("name", "value"), GOOD)
def test_a_good_file_matches_its_schema(name: Any, value: Any) -> None:
    """What loading takes, the schema takes."""
    jsonschema.Draft202012Validator(schema(name)).validate(value)


@pytest.mark.parametrize(("name", "value"), [*json_cases()])
def test_the_schema_refuses_what_has_the_wrong_shape(name: str, value: Any) -> None:
    """A suite whose message is about the shape of a field does not match."""
    is_about_shape = any(part in messages()[name] for part in SHAPE)

    assert not (is_about_shape and jsonschema.Draft202012Validator(schema("suite")).is_valid(value))


def test_the_lists_of_fields_are_those_of_the_records() -> None:
    """A field of the record of a test is one that can be written, and the other way round; typed suites say more."""
    from proctor.records.suite import Test

    typed = {"suite", "case", "hosts", "invocation", "assertions"}
    assert set(Test.__struct_fields__) - typed == set(schema("suite")["$defs"]["test"]["properties"])
