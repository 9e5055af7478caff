"""A project with a suite, and pytest typed in it: a process of its own, as users start it."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree as ET

import pytest

from proctor.host.isolation import isolate
from tests.conftest import Project

AGENT = """
from pathlib import Path

def main(text):
    if text == "Who?":
        raise RuntimeError("the model did not answer")
    return {"When?": "1879", "Where?": "Munich"}.get(text, "no idea")

def right(text):
    return {"When?": "1879", "Where?": "Ulm", "Who?": "Elsa"}.get(text, "a joke")

def flaky(text):
    # Right in every second trial of all; nothing else tells two trials apart.
    count = Path(__file__).with_name("count")
    made = int(count.read_text()) if count.exists() else 0
    count.write_text(str(made + 1))
    return right(text) if made % 2 == 0 else "perhaps"
"""
GATE = "from proctor import ExactMatch\ngraders = ExactMatch(must_pass=True)\n"
TORN = """
from proctor import grader, inconclusive

@grader
def funny(output):
    return inconclusive("humour is a matter of taste")

graders = [funny]
"""


class Said(NamedTuple):
    """What pytest said, and its exit code."""

    code: int
    out: str
    err: str


class Pytest:
    """Somebody who types pytest in a project."""

    def __init__(self, root: Path, environment: Mapping[str, str]) -> None:
        self.root, self.environment = root, environment

    def command(self, *words: object) -> list[str]:
        return [sys.executable, "-m", "pytest", "-p", "proctor.pytesting.plugin", *map(str, words)]

    def __call__(self, *words: object) -> Said:
        done = subprocess.run(
            self.command(*words),
            cwd=self.root,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        return Said(done.returncode, done.stdout, done.stderr)

    def on(self, *words: object, agent: str = "agent.py", out: str = "out") -> Said:
        """`pytest --proctor evals/facts` with an agent."""
        return self("--proctor", "evals/facts", "--proctor-agent", agent, "--proctor-out", out, *words)


def summary_of(said: Said) -> list[str]:
    """The lines of the short summary: a word and the id of a test."""
    words = ("PASSED", "FAILED", "INCONCLUSIVE", "SKIPPED", "ERROR")
    return sorted(
        " ".join(line.split(" - ")[0].split()) for line in said.out.splitlines() if line.startswith(words)
    )


def cases(path: Path) -> dict[str, ET.Element]:
    """The test cases of a file in JUnit's form, by name."""
    return {case.attrib["name"]: case for case in ET.parse(path).iter("testcase")}


@pytest.fixture
def typed(project: Project, tmp_path: Path) -> Pytest:
    """A project with the suite `evals/facts`: one test that passes, one that fails, an error, and one nobody can tell."""
    project.write("agent.py", AGENT)
    tests: dict[str, tuple[dict[str, object], str]] = {
        "birthday": ({"input": "When?", "expected": "1879", "tags": ["dates"]}, GATE),
        "birthplace": ({"input": "Where?", "expected": "Ulm", "tags": ["places"]}, GATE),
        "joke": ({"input": "A joke!"}, textwrap.dedent(TORN)),
        "wife": ({"input": "Who?", "expected": "Elsa", "tags": ["people", "skip"]}, GATE),
    }
    for name, (test, graders) in tests.items():
        project.write(f"evals/facts/{name}/test.json", test)
        project.write(f"evals/facts/{name}/graders.py", graders)
    kept = isolate(os.environ).environment
    environment = {name: value for name, value in kept.items() if not name.startswith(("PYTEST_", "CI"))}
    # What the pytest of this very test leaves behind is not for that one to clear away.
    environment |= {"PYTEST_DEBUG_TEMPROOT": str(tmp_path), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return Pytest(tmp_path, environment | {"NO_COLOR": "1", "COLUMNS": "120"})
