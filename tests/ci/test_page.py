"""The page "Use in CI": every workflow on it is one, and the tables name what there is."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.ci.runner import action
from tests.ci.test_gitlab import documents
from tests.docs.pages import Block, blocks, page

PAGE = page("docs/en/ci.md")
WORKFLOWS = [block for block in blocks(PAGE.text) if block.path.startswith(".github/workflows/")]


def schema_says(name: str, file: Path) -> str:
    """What a public schema says against a file; empty for nothing."""
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{name}", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stdout + done.stderr


def steps(workflow: Block) -> Iterator[dict[str, Any]]:
    """The steps of all of its jobs."""
    for job in yaml.safe_load(workflow.text)["jobs"].values():
        yield from job["steps"]


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda block: Path(block.path).stem)
def test_a_workflow_is_what_github_asks_of_one(workflow: Block, tmp_path: Path) -> None:
    """It uses inputs and outputs that the action has, and no input is an expression of untrusted text."""
    file = tmp_path / "workflow.yml"
    file.write_text(workflow.text)
    made = action()
    ours = [step for step in steps(workflow) if step.get("uses", "").startswith("OWNER/proctor")]
    outputs = set(re.findall(r"steps\.proctor\.outputs\.([\w-]+)", workflow.text))

    assert "" == schema_says("github-workflows", file)
    assert ours
    assert set() == {name for step in ours for name in step["with"]} - set(made["inputs"])
    assert outputs <= set(made["outputs"])
    assert not outputs or any(step.get("id") == "proctor" for step in ours)
    assert "github.event.pull_request" not in workflow.text


def test_the_first_workflow_has_about_ten_lines() -> None:
    """What a reader has to paste."""
    assert len(WORKFLOWS[0].text.splitlines()) <= 10


def test_the_gitlab_file_is_what_gitlab_asks_of_one(tmp_path: Path) -> None:
    """It gives inputs that the template declares."""
    (block,) = [block for block in blocks(PAGE.text) if block.path == ".gitlab-ci.yml"]
    file = tmp_path / ".gitlab-ci.yml"
    file.write_text(block.text)
    header, _ = documents()
    (include,) = yaml.safe_load(block.text)["include"]

    assert "" == schema_says("gitlab-ci", file)
    assert set(include["inputs"]) <= set(header["spec"]["inputs"])


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_tables_name_every_input_and_output(language: str) -> None:
    """Of the action, one row each; of the template, in a sentence."""
    text = page(f"docs/{language}/ci.md").text
    rows = re.findall(r"^\| `([\w-]+)` \|", text, re.MULTILINE)
    header, _ = documents()

    assert [*action()["inputs"], *action()["outputs"]] == rows
    assert [] == [name for name in header["spec"]["inputs"] if f"`{name}`" not in text]
