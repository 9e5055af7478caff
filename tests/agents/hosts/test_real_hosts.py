"""Claude Code and Codex themselves, which talk to a local server that speaks their provider's protocol."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from proctor.records.trace import LlmCall, ToolCall
from proctor.stores.rundir import RunDir
from tests.agents.hosts.conftest import PLUGIN
from tests.agents.hosts.providers import Call, Provider, Step, provider
from tests.conftest import Project

pytestmark = pytest.mark.slow

SUITE = """
    from proctor.eval import *

    hosts = {{"claude": {{"model": "claude-sonnet-4-5"}}, "codex": {{"model": "gpt-5.2-codex"}}}}
    suite = define_eval_suite(
        name="welcome",
        cases=[
            case(
                id="greet",
                prompt="Greet everybody.",
                hosts=hosts,
                invocation={invocation},
                assertions=[
                    expect_exit_code(0),
                    expect_file("hello.txt", contains="hei"),
                    expect_mcp_call("notes", "lookup"),
                    expect_no_mcp_call("elsewhere"),
                    expect_skill_activation("greeting"),
                ],
            )
        ],
    )
"""

CLAUDE = [
    Step(text="I look it up.", calls=[Call(name="Skill", arguments={"skill": "welcome:greeting"})]),
    Step(calls=[Call(name="mcp__plugin_welcome_notes__lookup", arguments={"word": "hei"})]),
    Step(calls=[Call(name="Bash", arguments={"command": "echo hei > hello.txt", "description": "write"})]),
    Step(text="Done: hei."),
]
CODEX = [
    Step(text="I look it up.", calls=[Call(name="exec_command", arguments={"cmd": "echo hei > hello.txt"})]),
    Step(calls=[Call(name="lookup", namespace="mcp__notes", arguments={"word": "hei"})]),
    Step(text="Done: hei."),
]


class Host(NamedTuple):
    """A coding agent: its name, what its model says when all goes well, and a call that never ends."""

    name: str
    steps: Sequence[Step]
    endless: Call


HOSTS = [
    Host("claude", CLAUDE, Call(name="Bash", arguments={"command": "sleep 600", "description": "wait"})),
    Host("codex", CODEX, Call(name="exec_command", arguments={"cmd": "sleep 600", "yield_time_ms": 590000})),
]

both = pytest.mark.parametrize("host", HOSTS, ids=[host.name for host in HOSTS])


@pytest.fixture
def at_home(
    project: Project, operator: Path, coding_agents: Path, monkeypatch: pytest.MonkeyPatch
) -> Project:
    """A project of an operator who has both programs, and a key for each."""
    monkeypatch.setenv("PATH", str(coding_agents), prepend=":")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-test-1234")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-1234")
    project.write("evals/welcome_eval.py", SUITE.format(invocation='explicit("greeting")'))
    return project


def run(project: Project, monkeypatch: pytest.MonkeyPatch, server: Provider, host: Host, *words: str) -> int:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
    monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
    asked = ("--suite", "evals", "--artifact", str(PLUGIN), "--timeout", "120", "--out", "group")
    return project("run", host.name, *asked, *words).code


def events(run_dir: RunDir) -> list[Any]:
    trace = run_dir.trace(run_dir.facts())
    assert trace is not None
    assert trace.is_whole
    return list(trace.events)


@both
@pytest.mark.parametrize(
    "sandbox", [(), ("--sandbox", "bwrap", "--network", "host")], ids=["open", "sandbox"]
)
def test_a_trial_with_a_plugin(
    host: Host, sandbox: tuple[str, ...], at_home: Project, operator: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The agent writes a file, calls a tool of the plugin's MCP server, uses its skill and answers; all is recorded."""
    if sandbox and shutil.which("bwrap") is None:
        pytest.skip("there is no bwrap")
    with provider(host.steps) as server:
        assert 0 == run(at_home, monkeypatch, server, host, *sandbox)
    graded = at_home("grade", "group")
    made = RunDir(at_home.root / "group/greet")
    facts, seen = made.facts(), events(made)
    calls = [call for call in seen if isinstance(call, LlmCall)]
    asked = json.dumps(server.requests[0])

    assert 0 == graded.code, graded.out
    assert "hei\n" == (made.path / "workdir/hello.txt").read_text()
    assert "Done: hei." == facts.output
    assert [("mcp__notes__lookup", {"word": "hei"}, "observed")] == [
        (call.name, call.arguments, call.evidence)
        for call in seen
        if isinstance(call, ToolCall) and call.name.startswith("mcp__")
    ]
    assert len(server.requests) * 150 == sum(call.tokens_in or 0 for call in calls)
    assert len(server.requests) * 12 == sum(call.tokens_out or 0 for call in calls)
    assert facts.agent.version
    assert facts.artifact is not None
    assert (made.path / "inputs/artifact/skills/greeting/SKILL.md").is_file()
    assert facts.isolation is not None
    assert any(name.endswith("_API_KEY") for name in facts.isolation.passed)
    # The skill came with the request, and nothing of the operator's did.
    assert "Write the greeting into hello.txt." in asked
    assert "canary" not in asked
    assert "1234" in server.keys[0]
    assert {".claude/CLAUDE.md", ".codex/AGENTS.md"} == {
        str(path.relative_to(operator)) for path in operator.rglob("*") if path.is_file()
    }


@both
def test_a_case_without_a_skill_is_run_without_the_artifact(
    host: Host, at_home: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The model is not told of it, and none is kept with the run; `--model` comes before what the case pins."""
    at_home.write("evals/welcome_eval.py", SUITE.format(invocation='"none"'))
    other = {"claude": "claude-opus-4-5", "codex": "gpt-5.1-codex"}[host.name]
    with provider([Step(text="Hello.")]) as server:
        assert 0 == run(at_home, monkeypatch, server, host, "--model", other)
    facts = RunDir(at_home.root / "group/greet").facts()

    assert "greet somebody in a file" not in json.dumps(server.requests)
    assert {other} == {request["model"] for request in server.requests}
    assert facts.agent.model == other
    assert facts.artifact is None
    assert not (at_home.root / "group/greet/inputs").exists()


@both
def test_a_folder_of_skills_is_an_artifact_too(
    host: Host, at_home: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """One without a manifest is laid into the config folder of the trial."""
    shutil.copytree(PLUGIN / "skills", tmp_path / "folder/skills")
    with provider([Step(text="Hello.")]) as server:
        assert 0 == run(at_home, monkeypatch, server, host, "--artifact", str(tmp_path / "folder"))

    assert "Write the greeting into hello.txt." in json.dumps(server.requests[0])


@both
def test_a_provider_without_credit_is_nobodys_evidence(
    host: Host, at_home: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The trial is inconclusive, and the report says what it was."""
    refused = {
        "claude": Step(status=400, kind="invalid_request_error", message="Your credit balance is too low"),
        "codex": Step(status=429, kind="insufficient_quota", message="You exceeded your current quota"),
    }[host.name]
    with provider([refused]) as server:
        assert 3 == run(at_home, monkeypatch, server, host)
    facts = RunDir(at_home.root / "group/greet").facts()

    assert facts.fault is not None
    assert ("provider", "out_of_credit") == (facts.fault.owner.value, facts.fault.kind)


@both
def test_a_trial_that_never_ends_is_ended_and_its_calls_are_kept(
    host: Host, at_home: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it told until then is there, and bears no more than what an agent says of itself."""
    with provider([Step(text="I wait.", calls=[host.endless])]) as server:
        assert 4 == run(at_home, monkeypatch, server, host, "--timeout", "20")
    made = RunDir(at_home.root / "group/greet")
    trace = made.trace(made.facts())

    assert "timeout" == made.facts().ending.value
    assert trace is not None
    assert not trace.is_whole
    assert 1 <= len([event for event in trace.events if isinstance(event, ToolCall)])


@both
def test_nobody_pays_for_an_agent_that_is_not_signed_in(
    host: Host, at_home: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is found before the first trial, with what to do."""
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name)
    said = at_home("run", host.name, "--suite", "evals", "--artifact", PLUGIN, "--out", "group")

    assert 1 == said.code
    assert "is not signed in" in said.err
    assert "_API_KEY" in said.err
    assert not (at_home.root / "group/greet").exists()
