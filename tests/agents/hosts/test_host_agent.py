"""A coding agent as an agent, with a stand-in for its program: what it is started with, and whose an end is."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from proctor.agents.grammar import Standpoint, parse_agent
from proctor.agents.hosts.kinds import coding_agent
from proctor.agents.kinds import known_kinds
from proctor.agents.options import AgentOptions
from proctor.errors import AgentError, UsageError
from proctor.host.cancel import Cancel
from proctor.host.receiver import write_trace
from proctor.ports import Agent, Surroundings
from proctor.records.run import Attempt, Ending, Limits
from proctor.records.suite import HostPin, Invocation, Test
from proctor.records.trace import ToolCall
from proctor.stores.tracefile import read_trace
from proctor.testing import AgentContract
from proctor.testing.agents import a_place
from tests.agents.hosts.conftest import PLUGIN
from tests.agents.hosts.stand_in import HELP, install_claude
from tests.agents.hosts.test_streams import STREAMS

TEST = Test(id="t", input="Greet.")
KEY = "sk-ant-test-1234"


def environment_of(bin_folder: Path, **more: str) -> dict[str, str]:
    path = f"{bin_folder}:{os.environ['PATH']}"
    return {"PATH": path, "HOME": str(bin_folder.parent / "nobody"), "ANTHROPIC_API_KEY": KEY, **more}


def claude(folder: Path, environment: Mapping[str, str] | None = None, **options: Any) -> Agent:
    return coding_agent(
        "claude",
        environment=environment_of(folder / "bin") if environment is None else environment,
        launch_dir=folder,
        **options,
    )


class TestHostAgent(AgentContract):
    """It keeps to the contract of every kind."""

    environment = {"PATH": os.environ["PATH"], "ANTHROPIC_API_KEY": KEY}

    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> None:
        self.folder = tmp_path

    def agent(self, behaviour: str) -> Agent:
        folder = self.folder / behaviour
        install_claude(folder / "bin", behaviour)
        return claude(folder)


@pytest.fixture
def attempt(tmp_path: Path) -> Callable[..., Attempt]:
    """Installs a stand-in that does something, and runs one trial; its trace is in `trace.jsonl`."""

    def once(
        does: str | Path,
        test: Test = TEST,
        limits: Limits | None = None,
        *,
        stand_in: Mapping[str, Any] | None = None,
        environment: Mapping[str, str] | None = None,
        **options: Any,
    ) -> Attempt:
        install_claude(tmp_path / "bin", does, **(stand_in or {}))
        given = environment_of(tmp_path / "bin") if environment is None else environment
        agent, cancel = claude(tmp_path, given, **options), Cancel()
        try:
            agent.prepare([test], Surroundings(environment=given))
            with a_place(test, given) as place:
                made = agent.attempt(test, place, limits or Limits(timeout_s=60), cancel)
                (tmp_path / "trace.jsonl").unlink(missing_ok=True)
                write_trace(place.spool, tmp_path / "trace.jsonl", place.own_trace)
        finally:
            agent.close()
            cancel.close()
        return made

    return once


def test_a_recorded_stream_becomes_the_trials_own_trace(
    attempt: Callable[..., Attempt], tmp_path: Path
) -> None:
    """Its calls, its answer and what the host says on the side, as if the host had run here."""
    made = attempt(STREAMS / "claude-greet.jsonl", artifact=PLUGIN)
    trace = read_trace(str(tmp_path))

    assert Ending.OK is made.ending, made
    assert "Done: hei." == made.output
    assert ("Background work of the agent was ended before it had finished: x.",) == made.notes
    assert trace is not None
    assert ("mcp", "skills", "tools") == trace.observes
    assert ["Skill", "mcp__notes__lookup", "Bash", "Bash"] == [
        call.name for call in trace.events if isinstance(call, ToolCall)
    ]


def test_it_is_started_with_a_config_folder_of_its_own(
    attempt: Callable[..., Attempt], tmp_path: Path
) -> None:
    """The operator's login is in it, and nothing else of theirs; the artifact is named, the prompt is its input."""
    mine = tmp_path / "mine"
    (mine / ".claude").mkdir(parents=True)
    (mine / ".claude/.credentials.json").write_text('{"token": "x"}')
    (mine / ".claude/CLAUDE.md").write_text("the operator's memory")
    environment = environment_of(tmp_path / "bin", HOME=str(mine))
    del environment["ANTHROPIC_API_KEY"]
    test = Test(id="t", input="Greet.", invocation=Invocation(mode="explicit", skill="greeting"))
    limits = Limits(timeout_s=60, cost_usd=0.5)

    made = attempt(
        "config",
        test,
        limits,
        stand_in={"plugins": ("welcome",)},
        environment=environment,
        artifact=PLUGIN,
        model="m",
    )
    found = json.loads(made.output)  # pyright: ignore[reportArgumentType]

    assert {".credentials.json": '{"token": "x"}'} == found["files"]
    assert "/welcome:greeting Greet." == found["given"]
    words = found["words"]
    assert ("m", "0.500000") == (
        words[words.index("--model") + 1],
        words[words.index("--max-budget-usd") + 1],
    )
    assert words[words.index("--plugin-dir") + 1].endswith("artifact")


def test_a_folder_without_a_manifest_is_laid_into_the_config_folder(
    attempt: Callable[..., Attempt], tmp_path: Path
) -> None:
    """So that an artifact may be no more than a file of instructions."""
    (tmp_path / "artifact").mkdir()
    (tmp_path / "artifact/CLAUDE.md").write_text("Be brief.")

    made = attempt("config", artifact=Path("artifact"))

    assert {"CLAUDE.md": "Be brief."} == json.loads(made.output)["files"]  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("does", "stand_in", "kind", "says"),
    [
        ("says nothing", {}, "host", "error: it cannot start here"),
        (STREAMS / "claude-named-skill.jsonl", {}, "artifact", "'welcome'"),
        (STREAMS / "claude-not-signed-in.jsonl", {"code": 1}, "auth", "Not logged in"),
    ],
    ids=["nothing", "another plugin", "not signed in"],
)
def test_what_the_host_could_not_do_is_nobodys_evidence(
    does: str | Path,
    stand_in: dict[str, Any],
    kind: str,
    says: str,
    attempt: Callable[..., Attempt],
    tmp_path: Path,
) -> None:
    """It did not start, it did not take the plugin on, or its provider did not let it in."""
    if kind == "artifact":
        lines = Path(does).read_text().replace('"plugins":[{"name":"welcome"', '"plugins":[{"name":"other"')
        does = tmp_path / "stream.jsonl"
        does.write_text(lines)
    made = attempt(does, stand_in=stand_in, artifact=PLUGIN)

    assert Ending.HARNESS_FAILURE is made.ending
    assert made.defect is not None
    assert kind == made.defect.type
    assert says in made.defect.message


def test_a_stream_that_cannot_be_read_is_nobodys_evidence(
    attempt: Callable[..., Attempt], tmp_path: Path
) -> None:
    """A line before the last is broken: what the agent did cannot be told."""
    stream = tmp_path / "stream.jsonl"
    lines = (STREAMS / "claude-greet.jsonl").read_text().splitlines()
    stream.write_text("\n".join([*lines[:4], lines[4][:30], *lines[5:], ""]))

    made = attempt(stream)

    assert Ending.HARNESS_FAILURE is made.ending
    assert made.defect is not None
    assert ("trace", True) == (made.defect.type, "Line 5" in made.defect.message)


def test_a_torn_last_line_is_noted_and_the_trace_says_that_it_breaks_off(
    attempt: Callable[..., Attempt], tmp_path: Path
) -> None:
    """The trial stands; what is not in its stream may have happened."""
    stream = tmp_path / "stream.jsonl"
    stream.write_bytes((STREAMS / "claude-greet.jsonl").read_bytes()[:-9])

    made = attempt(stream)
    trace = read_trace(str(tmp_path))

    assert Ending.OK is made.ending
    assert any("breaks off" in note for note in made.notes)
    assert trace is not None
    assert not trace.is_whole
    assert () == trace.observes


def test_one_that_waited_for_its_provider_until_its_time_was_up_is_the_providers(
    attempt: Callable[..., Attempt],
) -> None:
    """It asked again and again; a slow agent would have told of something else."""
    stream = STREAMS / "claude-refused-key-ended.jsonl"

    made = attempt(stream, limits=Limits(timeout_s=2, grace_s=1), stand_in={"then_sleeps_s": 600})

    assert Ending.HARNESS_FAILURE is made.ending
    assert made.defect is not None
    assert "auth" == made.defect.type


def test_one_that_used_more_than_it_may_ends_by_that(attempt: Callable[..., Attempt]) -> None:
    """Also where the host did not stop it."""
    stream = STREAMS / "claude-greet.jsonl"

    tokens = attempt(stream, limits=Limits(timeout_s=60, tokens=100))
    cost = attempt(stream, limits=Limits(timeout_s=60, cost_usd=0.001))

    assert (Ending.TOKEN_CAP, Ending.COST_CAP) == (tokens.ending, cost.ending)


def test_another_model_than_the_one_that_was_asked_for_is_noted(attempt: Callable[..., Attempt]) -> None:
    """A pin that did not hold makes results that cannot be compared."""
    pinned = msgspec.structs.replace(TEST, hosts={"claude": HostPin(model="claude-opus-4-5")})

    made = attempt(STREAMS / "claude-named-skill.jsonl", pinned)
    same = attempt(STREAMS / "claude-named-skill.jsonl", pinned, model="sonnet")

    assert ("The model 'claude-opus-4-5' was asked for, and claude-sonnet-4-5 answered.",) == made.notes
    assert () == same.notes


def test_a_cost_that_is_far_from_the_prices_is_noted(attempt: Callable[..., Attempt], tmp_path: Path) -> None:
    """The host's own sum counts; whoever reads it is told."""
    pytest.importorskip("genai_prices")
    stream = tmp_path / "stream.jsonl"
    stream.write_text((STREAMS / "claude-greet.jsonl").read_text().replace("0.002745", "0.000549"))

    made = attempt(stream)

    assert any("By a list of prices it cost $0.002745" in note for note in made.notes), made.notes


def test_no_model_is_said_once(tmp_path: Path) -> None:
    """Without a pin the host takes what it likes, and results are hard to compare."""
    install_claude(tmp_path / "bin")
    agent: Any = claude(tmp_path)
    here = Surroundings(environment=environment_of(tmp_path / "bin"))

    agent.prepare([TEST], here)
    assert 1 == len(agent.notices)
    assert "--model" in agent.notices[0]
    agent.prepare([msgspec.structs.replace(TEST, hosts={"claude": HostPin(model="m")})], here)
    assert () == agent.notices


def test_what_is_missing_is_found_before_anybody_pays(tmp_path: Path) -> None:
    """Each fault says what to do: no program, one that is too old, nobody signed in, no input, no such skill."""
    bin_folder = tmp_path / "bin"
    environment = environment_of(bin_folder)

    def fault(test: Test = TEST, given: Mapping[str, str] = environment, **options: Any) -> str:
        agent = claude(tmp_path, given, **options)
        with pytest.raises(AgentError) as caught:
            agent.prepare([test], Surroundings(environment=given))
        return str(caught.value)

    assert "npm install -g @anthropic-ai/claude-code" in fault(given={"PATH": str(tmp_path)})
    install_claude(bin_folder, version="what?")
    assert "does not say its version" in fault()
    install_claude(bin_folder, help_text=HELP.replace("--permission-mode", "--other"))
    assert "does not know --permission-mode" in fault()
    install_claude(bin_folder, help_text=HELP.replace("--plugin-dir", "--other"))
    assert "does not know --plugin-dir" in fault(artifact=PLUGIN)
    install_claude(bin_folder)
    bare = {name: value for name, value in environment.items() if name != "ANTHROPIC_API_KEY"}
    assert "Set ANTHROPIC_API_KEY" in fault(given=bare)
    assert "the test has no input" in fault(Test(id="t"))
    asking = Test(id="t", input="x", invocation=Invocation(mode="explicit", skill="farewell"))
    assert "Its skills: greeting." in fault(asking, artifact=PLUGIN)


def test_an_artifact_is_the_hosts_own_part_of_it(tmp_path: Path) -> None:
    """`DIR/claude` where DIR is no plugin itself; one that has a part for others alone is refused."""
    shutil.copytree(PLUGIN, tmp_path / "built/claude")
    (tmp_path / "others/codex").mkdir(parents=True)
    (tmp_path / "empty").mkdir()
    install_claude(tmp_path / "bin")

    whole: Any = claude(tmp_path, artifact=PLUGIN)
    part: Any = claude(tmp_path, artifact=Path("built"))

    assert whole.artifact_of(TEST).digest == part.artifact_of(TEST).digest
    none = Test(id="t", input="x", invocation=Invocation(mode="none"))
    assert part.artifact_of(none) is None
    for name, said in (("others", "EVAL_TARGET_MISSING"), ("empty", "is empty"), ("nowhere", "is no folder")):
        with pytest.raises(UsageError, match=said):
            claude(tmp_path, artifact=Path(name))


def test_a_manifest_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    """It is what the host would stumble over."""
    for text in ("{", '{"name": "../up"}', "[]"):
        manifest = tmp_path / "artifact/.claude-plugin/plugin.json"
        manifest.parent.mkdir(parents=True, exist_ok=True)
        manifest.write_text(text)

        with pytest.raises(AgentError, match="manifest of the artifact"):
            claude(tmp_path, artifact=Path("artifact"))


def test_an_artifact_that_changes_during_a_run_ends_its_trials(tmp_path: Path) -> None:
    """Two trials of one run are given the same, or none is."""
    shutil.copytree(PLUGIN, tmp_path / "artifact")
    install_claude(tmp_path / "bin")
    agent = claude(tmp_path, artifact=Path("artifact"))
    cancel = Cancel()
    environment = environment_of(tmp_path / "bin")
    agent.prepare([TEST], Surroundings(environment=environment))
    (tmp_path / "artifact/skills/greeting/SKILL.md").write_text("other words")

    with a_place(TEST, environment) as place:
        made = agent.attempt(TEST, place, Limits(), cancel)
    cancel.close()

    assert Ending.HARNESS_FAILURE is made.ending
    assert made.defect is not None
    assert "artifact" == made.defect.type


def test_its_identity_says_version_model_and_artifact(tmp_path: Path) -> None:
    """The digest follows what was chosen, and not the version that happens to be installed: a run can be resumed."""
    install_claude(tmp_path / "bin")
    first = claude(tmp_path).identity
    install_claude(tmp_path / "bin", version="10.0.0")
    newer = claude(tmp_path).identity
    other = claude(tmp_path, model="m").identity
    carrying = claude(tmp_path, artifact=PLUGIN).identity

    assert ("claude", "claude", "9.9.9") == (first.kind, first.label, first.version)
    assert ("10.0.0", first.digest) == (newer.version, newer.digest)
    assert "m" == other.model
    assert 3 == len({first.digest, other.digest, carrying.digest})


def test_it_is_named_like_a_kind_and_takes_its_own_options_alone(tmp_path: Path) -> None:
    """`--artifact` is for coding agents, and what is for functions is not."""
    install_claude(tmp_path / "bin")
    here = Standpoint(launch_dir=tmp_path, environment=environment_of(tmp_path / "bin"))
    (tmp_path / "agent.py").write_text("def main(given): return given")

    assert "claude" == parse_agent("claude", AgentOptions(model="m"), standpoint=here).identity.kind
    assert {"claude", "codex"} <= set(known_kinds())
    with pytest.raises(UsageError, match="--fresh belongs to a Python function"):
        parse_agent("claude", AgentOptions(fresh=True), standpoint=here)
    with pytest.raises(UsageError, match="--artifact belongs to a coding agent"):
        parse_agent("agent.py", AgentOptions(artifact=tmp_path), standpoint=here)
