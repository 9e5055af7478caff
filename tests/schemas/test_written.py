"""The JSON Schemas of what people write say what loading says, as far as shape goes."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from proctor.core.judge_file import FIELDS, read_judge_file
from proctor.errors import JudgeError, UsageError
from proctor.loading import find_settings, load_suite
from proctor.loading.checklists import read_definition
from proctor.loading.schemas import SCHEMA_NAMES
from proctor.schemas import schema
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
    ("settings", {"$schema": "x"}),
    ("judge", {"$schema": "x", "scale": [0, "10"], "max_tokens": "64"}),
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
def test_each_describes_every_field(name: Any) -> None:
    """And lets a file name its schema."""
    made = schema(name)

    assert all(field["description"] for field in made["properties"].values())
    assert made["properties"]["$schema"]


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


def test_every_kind_of_file_may_name_its_schema(tmp_path: Path) -> None:
    """It is read by editors alone: a suite, a test, a checklist, a judge file and settings are what they are without."""
    named = {"$schema": "there.json"}
    (tmp_path / "suite.json").write_text(json.dumps({**named, "inputs": [{"id": "a"}]}))
    (tmp_path / "loose").mkdir()
    (tmp_path / "loose/test.yaml").write_text("$schema: there.json\ninput: x\n")
    (tmp_path / "checklist.json").write_text(json.dumps({**named, "name": "n", "questions": [{"text": "?"}]}))
    (tmp_path / "proctor.toml").write_text('"$schema" = "there.json"\ntrials = 2\n')
    settings = find_settings(tmp_path)

    assert "a" == load_suite("suite.json", base=tmp_path).tests[0].test.id
    assert "x" == load_suite("loose", base=tmp_path).tests[0].test.input
    assert "n" == read_definition(tmp_path / "checklist.json").name
    assert {"trials": 2} == settings.values
    assert "{{output}}\n" == read_judge_file("---\n$schema: there.json\n---\n{{output}}", "tone.md").text
    assert "$schema" not in {row.key for row in settings.explain()}


def test_the_schema_of_a_judge_file_has_the_fields_that_are_read() -> None:
    """Its table and what reads it name the same."""
    assert set(FIELDS) == set(schema("judge")["properties"])


@pytest.mark.parametrize(
    ("front", "is_good"),
    [
        ("scale: binary", True),
        ("scale: Pass/Fail", True),
        ("scale: 0-10", True),
        ("scale: -1 to 1", True),
        ("scale: [0, 5]", True),
        ("scale: [0, 5, 9]", False),
        ("scale: many", False),
        ("choices: {good: 1, bad: 0}", True),
        ("choices: {good: 1}", False),
        ("choices: {good: 2, bad: 0}", False),
        ("choices: [good, bad]", False),
        ("scale: 0-10\nchoices: {good: 1, bad: 0}", False),
        ("model: openai/gpt-5-mini", True),
        ("model: ''", False),
        ("temperature: 0.5", True),
        ("temperature: default", True),
        ("temperature: -1", False),
        ("temperature: warm", False),
        ("max_tokens: 100", True),
        ("max_tokens: 0", False),
        ("max_tokens: 1.5", False),
        ("timeout: 30", True),
        ("timeout: 0", False),
        ("timeout: soon", False),
        ("settings: {reasoning_effort: low}", True),
        ("settings: low", False),
        ("modle: x", False),
    ],
)
def test_a_judge_file_matches_its_schema_when_it_can_be_read(front: str, is_good: bool) -> None:
    """Its front matter as an editor sees it, with the types of YAML."""
    matches = jsonschema.Draft202012Validator(schema("judge")).is_valid(yaml.safe_load(front))
    try:
        read_judge_file(f"---\n{front}\n---\n{{{{output}}}}", "tone.md")
        can_be_read = True
    except JudgeError:
        can_be_read = False

    assert (is_good, is_good) == (can_be_read, matches)


def test_settings_that_are_refused_do_not_match(tmp_path: Path) -> None:
    """A key that there is not, and a value of another type."""
    for text in ("trails = 2\n", 'trials = "two"\n', "faults = [{}]\n"):
        (tmp_path / "proctor.toml").write_text(text)

        assert not jsonschema.Draft202012Validator(schema("settings")).is_valid(tomllib.loads(text))
        with pytest.raises(UsageError):
            find_settings(tmp_path)
