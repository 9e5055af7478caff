"""Which schema a sample of the documentation has to match: its name, its place and what it holds tell."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import PurePosixPath
from typing import Any

import jsonschema
import yaml

from proctor.schemas import schema
from tests.docs.pages import Block, commands

STRUCTURED = ("json", "jsonl", "yaml", "yml", "toml")

NOT_OURS: dict[str, Callable[[Block], bool]] = {
    "a file that an agent or another program reads or writes, and is marked as text": (
        lambda block: block.language == "text" and ending(block) in STRUCTURED
    ),
    "a workflow, which tests/ci holds against the schema of its CI": (
        lambda block: block.path.startswith(".github/") or block.path == ".gitlab-ci.yml"
    ),
    "the log of another program": lambda block: '"format_version"' in block.text[:40],
    "a project's file that holds no settings of ours": (
        lambda block: block.path.endswith("pyproject.toml") and "[tool.proctor" not in block.text
    ),
}
"""Samples that no schema of ours covers, by the reason."""


def ending(block: Block) -> str:
    """The ending of a file's name; of what is no file, its language."""
    return PurePosixPath(block.path).suffix.lstrip(".") if block.kind == "file" else block.language


def reason_against(block: Block) -> str | None:
    """Why no schema covers a sample; None for one that a schema has to cover, and for one without structure."""
    return next((reason for reason, holds in NOT_OURS.items() if holds(block)), None)


def is_structured(block: Block) -> bool:
    """True for JSON, YAML and TOML, and for the front matter of a judge file."""
    return ending(block) in STRUCTURED or block.text.startswith("---\n")


def documents(block: Block) -> list[tuple[str, Any]]:
    """The values in a sample, each with the name of its schema."""
    if block.kind == "run":
        return list(_printed(block))
    if not is_structured(block) or reason_against(block) is not None:
        return []
    kind = ending(block)
    if kind == "md":
        return [("judge", yaml.load(block.text.split("---\n")[1], Loader=yaml.BaseLoader))]
    if kind == "toml":
        value = tomllib.loads(block.text)
        return [("settings", value["tool"]["proctor"] if block.path.endswith("pyproject.toml") else value)]
    if kind == "jsonl" or (block.kind == "illustration" and block.text.count("\n{")):
        return [
            (_of_value(block, value), value) for value in map(json.loads, block.text.splitlines()) if value
        ]
    value = json.loads(block.text) if kind == "json" else yaml.safe_load(block.text)
    return [(_of_value(block, value), value)]


def _of_value(block: Block, value: Any) -> str:
    """The schema of a value of JSON or YAML."""
    if name := _said(value):
        return name
    if "resourceSpans" in value:
        return "trace"
    if "questions" in value:
        return "checklist"
    if ending(block) == "jsonl":
        return "listed"
    is_suite = PurePosixPath(block.path).stem == "suite" or "inputs" in value or "tests" in value
    return "suite" if is_suite else "test"


def _said(value: Any) -> str | None:
    """The schema of a document that says which it is: `proctor.run-event/1`."""
    found = (
        re.fullmatch(r"proctor\.([\w-]+)/\d+", str(value.get("schema"))) if isinstance(value, dict) else None
    )
    return None if found is None else {"trace": "show-trace", "checklist": "revision"}.get(found[1], found[1])


def _printed(block: Block) -> Iterator[tuple[str, Any]]:
    """Whole documents that commands of a terminal print; one of which lines are left out is none."""
    for command in commands(block):
        try:
            value = json.loads("\n".join(command.printed))
        except ValueError:
            continue
        if name := _said(value):
            yield name, value


@cache
def _validator(name: str) -> Any:
    made = schema("suite")["$defs"]["test"] if name == "listed" else schema(name)
    return jsonschema.Draft202012Validator(made)


def schema_problems(block: Block) -> list[str]:
    """What the JSON Schemas say against a sample."""
    return [
        f"{name}: {error.json_path}: {error.message}"
        for name, value in documents(block)
        for error in _validator(name).iter_errors(value)
    ]
