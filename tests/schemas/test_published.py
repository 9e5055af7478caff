"""No schema changes unnoticed: each is as it was published, or has another version."""

from __future__ import annotations

import json
import re
from copy import deepcopy
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from proctor.cli.main import COMMANDS, build_parser
from proctor.schemas import SCHEMAS, file_name, schema
from tests.conftest import Project
from tests.schemas import published

NAMES = [one.name for one in SCHEMAS]


def test_every_schema_is_as_it_was_published() -> None:
    """Whoever changes a record that is stored or printed is told here what that means, and what to do."""
    changed = [f"{one.name}: {one.said}" for one in published.findings()]

    assert not changed, "\n".join(changed)


OLD: dict[str, Any] = {
    "$ref": "#/$defs/Thing",
    "$defs": {
        "Thing": {
            "type": "object",
            "properties": {
                "name": {"type": "string", "minLength": 1},
                "count": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None},
                "kind": {"enum": ["a", "b"]},
                "parts": {"type": "array", "items": {"$ref": "#/$defs/Thing"}},
            },
            "required": ["name"],
        }
    },
}


def changed(**said: Any) -> dict[str, Any]:
    """The old schema with other fields: `name={...}` replaces one, `required=[...]` the list of those needed."""
    made = deepcopy(OLD)
    thing = made["$defs"]["Thing"]
    for name, value in said.items():
        if name in ("required", "additionalProperties", "propertyNames"):
            thing[name] = value
        elif value is None:
            del thing["properties"][name]
        else:
            thing["properties"][name] = value
    return made


@pytest.mark.parametrize(
    "new",
    [
        changed(),
        changed(extra={"type": "string"}),
        changed(required=[]),
        changed(kind={"enum": ["a", "b", "c"]}),
        changed(count={"anyOf": [{"type": "number"}, {"type": "null"}, {"type": "string"}]}),
        changed(name={"type": "string", "description": "What it is called."}),
        changed(name={"type": ["string", "null"]}),
        changed(parts={"type": "array"}),
    ],
)
def test_an_addition_keeps_the_promise(new: dict[str, Any]) -> None:
    """A further field that can be absent, a further value, a wider type, a better description."""
    assert [] == published.breaks(OLD, new)


@pytest.mark.parametrize(
    ("new", "where"),
    [
        (changed(extra={"type": "string"}, required=["name", "extra"]), "$.extra: it has to be there now"),
        (changed(count=None), "$.count: it is not described any more"),
        (changed(kind={"enum": ["a"]}), '$.kind: it does not take "b" any more'),
        (changed(kind={"const": "a"}), '$.kind: it does not take "b" any more'),
        (changed(name={"type": "integer"}), "$.name: it does not take every string any more"),
        (changed(name={"type": "string", "enum": ["x"]}), "$.name: it takes a few values alone"),
        (changed(name={"type": "string", "minLength": 2}), "$.name: minLength was 1, and is 2"),
        (changed(name={"type": "string", "pattern": "x"}), "$.name: pattern is another"),
        (changed(count={"type": "integer"}), "$.count: its option 2 is not taken any more"),
        (changed(parts={"type": "array", "items": {"type": "string"}}), "$.parts[]: it does not take"),
        (changed(propertyNames={"enum": ["name"]}), "$.*?: it takes a few values alone"),
        (changed(additionalProperties=False), "$: it takes no further fields any more"),
        (changed(name={"type": "string", "format": "date"}), "$.name: nobody knows what format changes"),
    ],
)
def test_what_would_refuse_a_file_of_before_breaks_it(new: dict[str, Any], where: str) -> None:
    """And is said with its place."""
    assert any(said.startswith(where) for said in published.breaks(OLD, new)), published.breaks(OLD, new)


def test_a_broken_promise_is_not_taken_over(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The command that takes changes over leaves the snapshot as it is, and says which version to raise."""
    monkeypatch.setattr(published, "SNAPSHOTS", tmp_path)
    assert 0 == published.main()
    assert [] == list(published.findings())
    better = published.text_of("sheet").replace("An answer", "One answer")
    (tmp_path / "sheet.v1.json").write_text(better)
    earlier = schema("changes")
    earlier["$defs"]["FileChange"]["properties"]["note"] = {"type": "string"}
    (tmp_path / "changes.v1.json").write_text(json.dumps(earlier))
    (tmp_path / "output.v1.json").unlink()

    assert 1 == published.main()
    assert json.dumps(earlier) == (tmp_path / "changes.v1.json").read_text()
    assert (tmp_path / "output.v1.json").exists()
    assert published.text_of("sheet") == (tmp_path / "sheet.v1.json").read_text()
    ((name, said, is_broken),) = published.findings()
    assert ("changes", True) == (name, is_broken)
    assert "raise `version` of 'changes'" in said
    assert "$.added[].note: it is not described any more" in said


@pytest.mark.parametrize("name", NAMES)
def test_each_schema_is_a_schema(name: str) -> None:
    """Of draft 2020-12, with an address that names its version, and what refers to a part finds it."""
    made = schema(name)
    jsonschema.Draft202012Validator.check_schema(made)
    version = next(one.version for one in SCHEMAS if one.name == name)

    assert f"urn:proctor:schema:{name}:{version}" == made["$id"]
    assert {"title", "description"} <= set(made)
    assert set(made.get("$defs", {})) >= set(references(made))


def test_every_command_that_prints_json_has_a_schema_for_it() -> None:
    """Also one that is added later: its `--json` is described by a schema that names the command."""
    named = "\n".join(one.file for one in SCHEMAS)
    silent = [
        command
        for command in COMMANDS
        if any("--json" in action.option_strings for action in build_parser(command)._actions)
        and not re.search(rf"\b{command} (.* )?--json", named)
    ]

    assert [] == silent


def references(part: Any) -> list[str]:
    """The names that a schema refers to."""
    if isinstance(part, list):
        return [name for one in part for name in references(one)]
    if not isinstance(part, dict):
        return []
    own = [part["$ref"].removeprefix("#/$defs/")] if isinstance(part.get("$ref"), str) else []
    return own + [name for one in part.values() for name in references(one)]


def test_the_command_prints_lists_and_writes_them(project: Project) -> None:
    """One on the terminal or in a file; the list with versions; all of them into a folder."""
    one = project("schema", "run")
    into = project("schema", "run", "-o", "run.json")
    listed = project("schema", "--list")
    everything = project("schema", "--all", "schemas/v")

    assert schema("run") == one.json == json.loads((project.root / "run.json").read_text())
    assert "" == into.out
    assert ["NAME", *NAMES] == [line.split()[0] for line in listed.out.splitlines()]
    assert NAMES == [entry["name"] for entry in project("schema", "--list", "--json").json]
    assert {file_name(name) for name in NAMES} == {
        path.name for path in (project.root / "schemas/v").iterdir()
    }
    assert f"{len(NAMES)} schemas in schemas/v\n" == everything.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nothing",), "there is no schema 'nothing'"),
        (("atempt",), "Did you mean 'attempt'?"),
        ((), "one of the arguments NAME --list --all is required"),
        (("run", "--list"), "not allowed with"),
        (("run", "--json"), "--json belongs to --list"),
        (("--list", "-o", "x.json"), "-o belongs to one schema"),
        (("run", "-o", "nowhere/x.json"), "is no folder to write into"),
        (("--all", "agent.py"), "cannot be made"),
    ],
)
def test_a_mistake_is_told(project: Project, words: tuple[str, ...], said: str) -> None:
    """With what to do instead."""
    told = project("schema", *words)

    assert 1 == told.code
    assert said in told.err
