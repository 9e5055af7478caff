"""The part of a GitHub runner that a composite action meets: steps, expressions, and the files that it speaks through."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from tests.docs.pages import ROOT

_EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")
_TERM = re.compile(r"(?:inputs\.(?P<input>[\w-]+)|steps\.(?P<step>\w+)\.outputs\.(?P<output>[\w-]+))$")
_COMMAND = re.compile(r"\s*::(?P<name>[\w-]+)(?: (?P<properties>[^:]*))?::(?P<data>.*)$", re.DOTALL)


class Annotation(NamedTuple):
    """A command of the log that marks a file."""

    properties: Mapping[str, str]
    message: str


class Job(NamedTuple):
    """What a runner makes of an action."""

    code: int
    outputs: Mapping[str, str]
    summary: str
    log: str
    annotations: list[Annotation]
    path: list[str]


def action() -> Any:
    """The action of this repository."""
    return yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))


def script(name: str) -> Any:
    """One of the action's scripts as a module."""
    spec = importlib.util.spec_from_file_location(f"action_{name}", ROOT / f"ci/github/{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Runner:
    """Runs the action in a workspace.

    Args:
        workspace: the folder that a job stands in.
        temp: the folder for its own files.
        environment: of the job.
    """

    def __init__(self, workspace: Path, temp: Path, environment: Mapping[str, str]) -> None:
        self.workspace, self._temp = workspace, temp
        temp.mkdir(parents=True, exist_ok=True)
        self._environment = {
            **environment,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{environment.get('PATH', '')}",
            "GITHUB_ACTION_PATH": str(ROOT),
            "GITHUB_WORKSPACE": str(workspace),
            "GITHUB_ACTIONS": "true",
            "CI": "true",
            "RUNNER_TEMP": str(temp),
            "ACTIONS_RUNTIME_TOKEN": "the runner's own",
        }

    def uses(self, inputs: Mapping[str, str], *, install: bool = False) -> Job:
        """Run every step, as `uses: OWNER/proctor` with these inputs does."""
        made = action()
        assert set(inputs) <= set(made["inputs"]), "an input that the action does not have"
        known = {name: str(one.get("default", "")) for name, one in made["inputs"].items()}
        known |= inputs if install else {"install": "false", **inputs}
        steps: dict[str, dict[str, str]] = {}
        files = {
            name: self._temp / name.lower()
            for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_PATH", "GITHUB_ENV")
        }
        for file in files.values():
            file.write_bytes(b"")
        code, log, path = 0, "", list[str]()
        for step in made["runs"]["steps"]:
            if not self._is_due(step.get("if", "success()"), known, steps, failed=code != 0):
                continue
            assert "uses" not in step, "a step of another action"
            files["GITHUB_OUTPUT"].write_bytes(b"")
            environment = {
                **self._environment,
                **{name: str(file) for name, file in files.items()},
                **{name: _filled(value, known, steps) for name, value in step.get("env", {}).items()},
            }
            environment["PATH"] = os.pathsep.join([*reversed(path), environment["PATH"]])
            script = self._temp / "step.sh"
            script.write_text(step["run"])
            done = subprocess.run(
                ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
                cwd=self.workspace / _filled(step.get("working-directory", "."), known, steps),
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                check=False,
            )
            log += done.stdout.decode(errors="replace")
            if "id" in step:
                steps[step["id"]] = outputs_of(files["GITHUB_OUTPUT"].read_text())
            path = files["GITHUB_PATH"].read_text().splitlines()
            code = code or done.returncode
        assert not files["GITHUB_ENV"].read_text(), "somebody changed the environment of the job"
        outputs = {name: _filled(one["value"], known, steps) for name, one in made["outputs"].items()}
        return Job(code, outputs, files["GITHUB_STEP_SUMMARY"].read_text(), log, annotations_of(log), path)

    @staticmethod
    def _is_due(
        condition: str, inputs: Mapping[str, str], steps: Mapping[str, Mapping[str, str]], *, failed: bool
    ) -> bool:
        terms = condition.split(" && ")
        if "always()" not in terms and failed:
            return False
        return all(_is_true(term, inputs, steps) for term in terms if not term.endswith("()"))


def _is_true(term: str, inputs: Mapping[str, str], steps: Mapping[str, Mapping[str, str]]) -> bool:
    found = re.fullmatch(r"(\S+) (==|!=) '([^']*)'", term)
    assert found, f"an expression that this runner does not know: {term}"
    return (_value(found[1], inputs, steps) == found[3]) is (found[2] == "==")


def _filled(text: str, inputs: Mapping[str, str], steps: Mapping[str, Mapping[str, str]]) -> str:
    return _EXPRESSION.sub(lambda found: _value(found[1], inputs, steps), str(text))


def _value(term: str, inputs: Mapping[str, str], steps: Mapping[str, Mapping[str, str]]) -> str:
    found = _TERM.match(term)
    assert found, f"an expression that this runner does not know: {term}"
    if found["input"]:
        return inputs[found["input"]]
    return steps.get(found["step"], {}).get(found["output"], "")


def outputs_of(text: str) -> dict[str, str]:
    """What a step has written into GITHUB_OUTPUT, by the runner's rules; what breaks them is an error there too."""
    found: dict[str, str] = {}
    lines = iter(text.split("\n"))
    for line in lines:
        if not line:
            continue
        equals, heredoc = line.find("="), line.find("<<")
        if equals >= 0 and (heredoc < 0 or equals < heredoc):
            found[line[:equals]] = line[equals + 1 :]
            continue
        assert heredoc > 0, f"the runner refuses the line {line!r}"
        name, end = line[:heredoc], line[heredoc + 2 :]
        value: list[str] = []
        for one in lines:
            if one == end:
                break
            value.append(one)
        else:
            raise AssertionError(f"the value of {name} has no end")
        found[name] = "\n".join(value)
    return found


def annotations_of(log: str) -> list[Annotation]:
    """The `::error` commands that a runner takes from a log: none while it is told to stop."""
    found: list[Annotation] = []
    stopped = None
    for line in re.split(r"\r\n|\r|\n", log):
        text = line.strip()
        if stopped is not None:
            stopped = None if text == f"::{stopped}::" else stopped
            continue
        command = _COMMAND.match(text)
        if command is None:
            assert not text.startswith("##["), "an old command of the runner"
            continue
        if command["name"] == "stop-commands":
            stopped = command["data"]
        elif command["name"] == "error":
            pairs = (one.partition("=") for one in (command["properties"] or "").split(",") if one)
            found.append(Annotation({key: _plain(value) for key, _, value in pairs}, _plain(command["data"])))
        else:
            raise AssertionError(f"a command that the action does not give: {text}")
    assert stopped is None, "commands are never taken again"
    return found


def _plain(text: str) -> str:
    return re.sub("%(25|0D|0A|3A|2C)", lambda found: chr(int(found[1], 16)), text)
