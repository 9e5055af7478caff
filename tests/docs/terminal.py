"""A page's own project: its files are written there, and its commands typed there."""

from __future__ import annotations

import json
import os
import re
import runpy
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from proctor.cli.main import main
from proctor.host.isolation import isolate
from proctor.loading import SchemaName, schema
from tests.docs.pages import Block, commands, is_printed

_NEEDS_A_SHELL = re.compile(r"[|;<>&$*`]")


class Terminal:
    """Somebody who follows a page, line by line."""

    def __init__(self, root: Path, capfd: pytest.CaptureFixture[str], environment: Mapping[str, str]) -> None:
        self.root = root
        self._capfd = capfd
        self._environment = environment
        self._code = 0

    def write(self, block: Block) -> None:
        """Write the file that a block is, once it matches its schema."""
        path = self.root / block.path
        assert path.resolve().is_relative_to(self.root.resolve()), f"{block.path} leaves the project"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text, encoding="utf-8")
        problems = schema_problems(block)
        assert bool(problems) is (block.is_wrong and path.suffix != ".py"), problems

    def run(self, block: Block) -> None:
        """Type the commands of a block, and compare what they print."""
        typed = commands(block)
        for number, command in enumerate(typed):
            if command.text == "echo $?":
                assert (str(self._code),) == command.printed, f"exit code of {typed[number - 1].text}"
                continue
            printed = self.type(command.text)
            assert is_printed(command.printed, printed), "\n".join(
                [f"$ {command.text}", "the page says:", *command.printed, "it prints:", *printed]
            )
            is_told = number + 1 < len(typed) and typed[number + 1].text == "echo $?"
            assert is_told or self._code == 0, f"$ {command.text}: exit code {self._code}"

    def type(self, text: str) -> list[str]:
        """Run one command line, and return the lines that it prints: progress and advice, then the result."""
        words = shlex.split(text)
        if words[0] not in ("proctor", "python") or _NEEDS_A_SHELL.search(re.sub(r"'[^']*'", "", text)):
            return self._type_into_shell(text)
        # In this process, which has imported everything already.
        self._capfd.readouterr()
        try:
            if words[0] == "proctor":
                self._code = main(words[1:])
            else:
                runpy.run_path(words[1], run_name="__main__")
                self._code = 0
        except SystemExit as ended:
            if isinstance(ended.code, str):
                print(ended.code, file=sys.stderr)
            self._code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        said = self._capfd.readouterr()
        return [*said.err.splitlines(), *said.out.splitlines()]

    def _type_into_shell(self, text: str) -> list[str]:
        done = subprocess.run(
            ["bash", "-c", text],
            cwd=self.root,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        self._code = done.returncode
        return [*done.stderr.splitlines(), *done.stdout.splitlines()]


def schema_problems(block: Block) -> list[str]:
    """What the JSON Schema of suites, tests or settings says against a file."""
    problems: list[str] = []
    for name, value in _documents(block):
        made = schema(name)
        if Path(block.path).suffix == ".jsonl":
            made = {**schema("suite")["$defs"]["test"]}
        validator: Any = jsonschema.Draft202012Validator(made)
        problems += [error.message for error in validator.iter_errors(value)]
    return problems


def _documents(block: Block) -> list[tuple[SchemaName, Any]]:
    """The values in a file that proctor reads, each with the name of its schema."""
    path = Path(block.path)
    if path.name == "proctor.toml":
        return [("settings", tomllib.loads(block.text))]
    if path.name == "pyproject.toml":
        return [("settings", tomllib.loads(block.text)["tool"]["proctor"])]
    if path.suffix == ".jsonl":
        values = [json.loads(line) for line in block.text.splitlines() if line.strip()]
        return [] if "resourceSpans" in values[0] else [("test", value) for value in values]
    if path.suffix not in (".json", ".yaml", ".yml") or block.language == "text":
        return []
    value: Any = json.loads(block.text) if path.suffix == ".json" else yaml.safe_load(block.text)
    if "questions" in value:
        return [("checklist", value)]
    is_suite = path.stem == "suite" or "inputs" in value or "tests" in value
    return [("suite" if is_suite else "test", value)]


def environment(home: Path) -> dict[str, str]:
    """What the commands of a page find: the installed proctor, and nobody's own settings.

    Its home is a folder with a name for git to commit under, so that nothing is withheld from the agents of a page.
    """
    theirs = isolate(os.environ).environment
    kept = {name: value for name, value in theirs.items() if not name.startswith(("PROCTOR_", "GIT_"))}
    (home / ".gitconfig").write_text("[user]\n\tname = reader\n\temail = reader@localhost\n")
    return kept | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{kept.get('PATH', '')}",
        "HOME": str(home),
        "XDG_CACHE_HOME": str(home / "cache"),
        "XDG_CONFIG_HOME": str(home / "config"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "NO_COLOR": "1",
        "COLUMNS": "80",
    }
