"""What `proctor init` writes for a coding agent is run by it."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.agents.hosts.providers import Call, Step, provider
from tests.agents.hosts.stand_in import install_claude
from tests.cli.test_init import PROGRAMS, next_lines, typed
from tests.conftest import Project


def test_a_coding_agent_is_run_with_what_it_carries(project: Project, operator: Path) -> None:
    """The printed lines work with a stand-in for the program, which knows nothing: its gates fail, and say why."""
    bin_folder = install_claude(operator / "bin")
    lines = next_lines(project("init", "there", "--agent", "claude").out)
    folder = project.root / "there"
    path = f"{bin_folder}{os.pathsep}{PROGRAMS}{os.pathsep}{os.environ['PATH']}"
    variables = {"ANTHROPIC_API_KEY": "sk-ant-test-1234", "PATH": path}
    done = [typed(line, folder, **variables) for line in lines[1:]]
    carried = next(folder.glob("runs/*/total/inputs/artifact/skills/totals/SKILL.md"))

    assert [0, 2, 0] == [one.returncode for one in done], "\n".join(one.stdout + one.stderr for one in done)
    assert "3/3 ended ok" in done[1].stdout
    assert "There is no total.txt." in done[1].stdout
    assert (folder / "artifact/skills/totals/SKILL.md").read_text() == carried.read_text()


DOES: Mapping[str, Call] = {
    "claude": Call(
        name="Bash",
        arguments={"command": "sh ./total.sh", "description": "add up"},
    ),
    "codex": Call(name="exec_command", arguments={"cmd": "sh ./total.sh"}),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["claude", "codex"])
def test_a_coding_agent_itself_is_run(
    project: Project, operator: Path, coding_agents: Path, kind: str
) -> None:
    """Claude Code and Codex, with a local server for their model: two tests pass, and the third is found wanting."""
    lines = next_lines(project("init", "there", "--agent", kind).out)
    folder = project.root / "there"
    shutil.copyfile(folder / "evals/total/solution.sh", folder / "evals/total/files/total.sh")
    path = f"{coding_agents}{os.pathsep}{PROGRAMS}{os.pathsep}{os.environ['PATH']}"
    with provider([Step(calls=[DOES[kind]]), Step(text="Paris")]) as server:
        variables = {
            "PATH": path,
            "ANTHROPIC_API_KEY": "sk-ant-test-1234",
            "OPENAI_API_KEY": "sk-test-1234",
            "ANTHROPIC_BASE_URL": server.url,
            "OPENAI_BASE_URL": f"{server.url}/v1",
        }
        done = typed(lines[2], folder, **variables)
    report = json.loads(typed("proctor list runs --json", folder).stdout)

    assert 0 == done.returncode, done.stdout + done.stderr
    assert {"capital": "pass", "total": "pass", "reply": "fail"} == {
        run["test"]: run["outcome"] for run in report["groups"][0]["runs"]
    }
