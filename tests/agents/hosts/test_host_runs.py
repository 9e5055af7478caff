"""`proctor run claude` from the command line to the run directory, with a stand-in for the program."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from proctor.stores.rundir import RunDir
from tests.agents.hosts.conftest import PLUGIN
from tests.agents.hosts.stand_in import install_claude
from tests.agents.hosts.test_streams import STREAMS
from tests.conftest import Project

SCRIPT = """
from proctor.eval import EvalGraderContext, EvalScriptOutcome


def grade(context: EvalGraderContext) -> EvalScriptOutcome:
    names = sorted(path.name for path in context.artifact_root.iterdir())
    return EvalScriptOutcome(outcome="pass", detail=" ".join(names))
"""

SUITE = """
from proctor.eval import *

suite = define_eval_suite(
    name="welcome",
    cases=[
        case(
            id="greet",
            prompt="Greet.",
            hosts={"claude": {"model": "claude-sonnet-4-5"}},
            assertions=[
                expect_mcp_call("notes", "lookup"),
                expect_skill_activation("greeting", minimum_evidence="observed"),
                expect_outcome(script="carried.py"),
            ],
        ),
        case(id="other", prompt="Greet.", hosts={"codex": {"model": "m"}}, assertions=[expect_exit_code(0)]),
    ],
)
"""


@pytest.fixture
def at_home(project: Project, operator: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project with a suite, a plugin, and a stand-in that plays a recorded stream."""
    install_claude(operator / "bin", STREAMS / "claude-greet.jsonl")
    monkeypatch.setenv("PATH", str(operator / "bin"), prepend=":")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-test-1234")
    project.write("evals/welcome_eval.py", SUITE)
    project.write("evals/carried.py", SCRIPT)
    shutil.copytree(PLUGIN, project.root / "built")
    return project


def test_a_run_of_a_host_takes_its_cases_and_keeps_what_it_carried(at_home: Project) -> None:
    """The artifact stands in the run, its graders are given it, and nothing has to be passed by hand."""
    ran = at_home("run", "claude", "--artifact", "built", "--suite", "evals", "--out", "group")
    graded = at_home("grade", "group", "--json")
    shown = at_home("show", "group/greet")
    made = RunDir(at_home.root / "group/greet")
    facts = made.facts()

    assert 0 == ran.code, ran.err
    assert "withheld" not in ran.err
    assert ["greet"] == [run["test"] for run in graded.json["groups"][0]["runs"]]
    assert 0 == graded.code, graded.out
    assert "notes_server.py skills" in graded.out
    assert facts.artifact is not None
    assert facts.isolation is not None
    assert ("ANTHROPIC_API_KEY",) == facts.isolation.passed
    assert (PLUGIN / ".mcp.json").read_text() == (made.artifact / ".mcp.json").read_text()
    assert "claude claude, version 9.9.9" in shown.out
    assert f"artifact   {facts.artifact}" in shown.out
    assert "1234" not in json.dumps([path.read_text() for path in made.path.rglob("*.json")])


def test_a_changed_artifact_of_a_run_is_found_by_verify(at_home: Project) -> None:
    """It is part of what the run is evidence of."""
    at_home("run", "claude", "--artifact", "built", "--suite", "evals", "--out", "group")
    first = at_home("verify", "group")
    skill = at_home.root / "group/greet/inputs/artifact/skills/greeting/SKILL.md"
    skill.unlink()
    skill.write_text("other words")
    second = at_home("verify", "group")

    assert 0 == first.code, first.out
    assert second.code != 0
    assert "inputs/artifact" in second.out


def test_a_plan_is_printed_before_a_coding_agent_is_started(at_home: Project) -> None:
    """`--dry-run` looks for the program and the login, and starts nothing."""
    said = at_home("run", "claude", "--artifact", "built", "--suite", "evals", "--dry-run", "--model", "m")

    assert 0 == said.code, said.err
    assert "greet" in said.out
    assert not (at_home.root / "runs").exists()
