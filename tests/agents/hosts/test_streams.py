"""What is read out of the streams of coding agents: recorded ones, torn ones, and ones that nobody would write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proctor.agents.hosts import claude_stream, codex_stream
from proctor.agents.hosts.told import ModelCall, Told, ToolUse, shared_out
from proctor.records.run import Ending

STREAMS = Path(__file__).with_name("streams")

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=8)
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
READERS = {"claude": claude_stream.read_stream, "codex": codex_stream.read_stream}


def told(name: str, **asked: Any) -> Told:
    return READERS[name.partition("-")[0]](STREAMS / f"{name}.jsonl", **asked)


def tools(said: Told) -> list[tuple[str, str, str | None]]:
    return [(call.name, call.evidence, call.error) for call in said.events if isinstance(call, ToolUse)]


def models(said: Told) -> list[ModelCall]:
    return [call for call in said.events if isinstance(call, ModelCall)]


def lines_of(name: str) -> list[bytes]:
    return (STREAMS / f"{name}.jsonl").read_bytes().splitlines(keepends=True)


def written(folder: Path, records: list[Any]) -> Path:
    path = folder / "stream"
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    return path


def test_claude_tells_of_every_call_by_its_plain_name() -> None:
    """The tool of a plugin's MCP server has the name that the server has in the plugin; the skill was activated."""
    said = told("claude-greet", named="welcome:greeting", skills=("greeting",))

    assert [
        ("Skill", "observed", None),
        ("mcp__notes__lookup", "observed", None),
        ("Bash", "observed", None),
        ("Bash", "observed", "Exit code 1"),
    ] == tools(said)
    assert said.is_complete
    assert ("tools", "mcp", "skills") == said.observes
    assert ("welcome",) == said.plugins
    assert "Done: hei." == said.answer


def test_claude_tells_of_each_model_call_and_the_sums_are_those_of_its_result() -> None:
    """The records of a call do not say what it wrote, and the result says it for each model in all."""
    calls = models(told("claude-greet"))

    assert ["claude-sonnet-4-5"] * 5 == [call.model for call in calls]
    assert [150] * 5 == [call.tokens_in for call in calls]
    assert [30] * 5 == [call.tokens_cached for call in calls]
    assert 60 == sum(call.tokens_out or 0 for call in calls)
    assert pytest.approx(0.002745) == sum(call.cost_usd or 0 for call in calls)


def test_work_in_the_background_that_claude_ended_is_noted() -> None:
    """It exits with 0 and says success all the same."""
    assert ("Background work of the agent was ended before it had finished: x.",) == told(
        "claude-greet"
    ).notes


def test_a_skill_that_is_named_in_the_prompt_is_inferred() -> None:
    """The host puts it in without a call, so that its stream has none; a skill that it does not know is not there."""
    said = told("claude-named-skill", named="welcome:greeting")

    assert [("Skill", "inferred", None)] == tools(said)
    assert ("tools", "mcp") == said.observes
    assert [] == tools(told("claude-named-skill", named="welcome:other"))


def test_a_skill_that_claude_refused_has_an_error() -> None:
    """The name was called, and nothing was activated."""
    (call,) = tools(told("claude-over-budget"))

    assert call == ("Skill", "observed", "<tool_use_error>Unknown skill: nothing</tool_use_error>")


def test_codex_tells_of_commands_and_calls_of_mcp_servers_and_one_sum_of_a_turn() -> None:
    """Each item counts once, as it was when it ended; a skill is never more than inferred."""
    said = told("codex-greet", named="welcome:greeting")

    assert [
        ("command_execution", "observed", "exit code 1"),
        ("mcp__notes__lookup", "observed", None),
        ("Skill", "inferred", None),
    ] == tools(said)
    assert [(450, 90, 36, None)] == [
        (call.tokens_in, call.tokens_cached, call.tokens_out, call.model) for call in models(said)
    ]
    assert said.is_complete
    assert ("mcp",) == said.observes
    assert "Done: hei." == said.answer


@pytest.mark.parametrize(
    ("name", "ending", "kind"),
    [
        ("claude-no-credit", Ending.HARNESS_FAILURE, "out_of_credit"),
        ("claude-no-such-model", Ending.HARNESS_FAILURE, "not_found"),
        ("claude-not-signed-in", Ending.HARNESS_FAILURE, "auth"),
        ("claude-overloaded", Ending.HARNESS_FAILURE, "unavailable"),
        ("claude-over-budget", Ending.COST_CAP, "cost-cap"),
        ("codex-no-credit", Ending.HARNESS_FAILURE, "out_of_credit"),
        ("codex-no-such-model", Ending.HARNESS_FAILURE, "bad_request"),
        ("codex-overloaded", Ending.HARNESS_FAILURE, "unavailable"),
        ("codex-refused-key", Ending.HARNESS_FAILURE, "auth"),
    ],
)
def test_what_a_provider_refuses_is_told_from_the_hosts_own_fields(
    name: str, ending: Ending, kind: str
) -> None:
    """It is no answer of the agent's, although the host gives it as one."""
    said = told(name)

    assert said.trouble is not None
    assert (ending, kind) == (said.trouble.ending, said.trouble.kind)
    assert said.answer is None


def test_an_agent_that_talks_about_logins_is_not_taken_for_one_that_is_not_signed_in(tmp_path: Path) -> None:
    """What the agent or its commands say has no part in whose fault an end is."""
    said = "unexpected status 401 Unauthorized: please log in, Quota exceeded"
    item = {"id": "item_0", "type": "agent_message", "text": said}
    command = {
        "id": "item_1",
        "type": "command_execution",
        "command": said,
        "aggregated_output": said,
        "exit_code": 1,
    }
    path = written(
        tmp_path,
        [
            {"type": "turn.started"},
            {"type": "item.completed", "item": item},
            {"type": "item.completed", "item": command | {"status": "failed"}},
            {"type": "turn.completed", "usage": {}},
        ],
    )

    read = codex_stream.read_stream(path)

    assert read.trouble is None
    assert said == read.answer


@pytest.mark.parametrize("host", ["claude", "codex"])
def test_a_skill_counts_as_used_when_its_file_was_read_and_not_when_it_is_mentioned(
    host: str, tmp_path: Path
) -> None:
    """Whoever says the name of a skill has not used it."""

    def stream(command: str, said: str) -> Path:
        if host == "codex":
            done = {"type": "command_execution", "id": "1", "command": command, "status": "completed"}
            talk = {"type": "agent_message", "id": "2", "text": said}
            records: list[Any] = [{"type": "item.completed", "item": item} for item in (done, talk)]
            return written(tmp_path, [*records, {"type": "turn.completed", "usage": {}}])
        blocks = [
            {"type": "text", "text": said},
            {"type": "tool_use", "id": "1", "name": "Bash", "input": {"command": command}},
        ]
        message = {"id": "msg", "model": "m", "content": blocks}
        return written(
            tmp_path, [{"type": "assistant", "message": message}, {"type": "result", "result": "."}]
        )

    read = READERS[host](stream("cat /plugin/skills/greeting/SKILL.md", "."), skills=("greeting", "greet"))
    mentioned = READERS[host](stream("echo greeting", "The greeting skill is good."), skills=("greeting",))

    assert [{"skill": "greeting"}] == skills_in(read)
    assert [] == skills_in(mentioned)


def skills_in(said: Told) -> list[Any]:
    return [call.arguments for call in said.events if isinstance(call, ToolUse) and call.name == "Skill"]


@pytest.mark.parametrize("name", ["claude-greet", "codex-greet"])
def test_a_torn_last_line_leaves_what_was_told_before_it(name: str, tmp_path: Path) -> None:
    """The stream is not complete, so that nothing is observed by its absence; what it says stands."""
    path = tmp_path / "stream"
    path.write_bytes(b"".join(lines_of(name))[:-9])

    said = READERS[name.partition("-")[0]](path)

    assert said.broken is None
    assert not said.is_complete
    assert () == said.observes
    assert "mcp__notes__lookup" in [tool for tool, _, _ in tools(said)]


@pytest.mark.parametrize("name", ["claude-greet", "codex-greet"])
def test_a_broken_line_before_the_last_makes_the_stream_unusable(name: str, tmp_path: Path) -> None:
    """What was lost there could have been anything; the sentence says which line it was."""
    lines = lines_of(name)
    path = tmp_path / "stream"
    path.write_bytes(b"".join([*lines[:2], lines[2][:20] + b"\n", *lines[3:]]))

    said = READERS[name.partition("-")[0]](path)

    assert "Line 3 of its stream is no JSON object." == said.broken
    assert not said.is_complete


@pytest.mark.parametrize("name", ["claude-ended", "codex-ended"])
def test_a_stream_of_an_agent_that_was_ended_is_not_complete(name: str) -> None:
    """It has no closing record."""
    said = told(name)

    assert not said.is_complete
    assert said.waiting is None
    assert 1 == len(tools(said))


def test_a_host_that_was_ended_while_its_provider_refused_it_says_so() -> None:
    """It asks again and again, and has no closing record; that it took so long is not the agent's fault."""
    said = told("claude-refused-key-ended")

    assert said.waiting is not None
    assert "auth" == said.waiting.kind
    assert not said.is_complete


@pytest.mark.parametrize("host", ["claude", "codex"])
def test_no_stream_and_an_empty_one_say_nothing(host: str, tmp_path: Path) -> None:
    """That is a host which did not start, and no agent that did nothing."""
    (tmp_path / "empty").write_bytes(b"\n\n")

    for path in (tmp_path / "none", tmp_path / "empty"):
        said = READERS[host](path)

        assert said.is_empty
        assert not said.is_complete


def test_the_larger_of_two_sums_of_the_cost_counts_and_the_difference_is_noted(tmp_path: Path) -> None:
    """One field of a result has been too low by a factor of five."""
    usage = {"inputTokens": 100, "outputTokens": 10, "costUSD": 0.5}
    result = {"type": "result", "result": ".", "total_cost_usd": 0.1, "modelUsage": {"m": usage}}
    other = {
        "type": "result",
        "result": ".",
        "total_cost_usd": 0.5,
        "modelUsage": {"m": usage | {"costUSD": 0.1}},
    }

    for record in (result, other):
        said = claude_stream.read_stream(written(tmp_path, [record]))

        assert pytest.approx(0.5) == sum(call.cost_usd or 0 for call in models(said))
        assert 1 == len(said.notes)
        assert "the larger counts" in said.notes[0]


def test_calls_of_another_model_that_are_not_in_the_stream_are_in_the_sums(tmp_path: Path) -> None:
    """A host asks small models on the side; its result names them, and no other record does."""
    message = {
        "id": "a",
        "model": "big",
        "content": [{"type": "text", "text": "."}],
        "usage": {"input_tokens": 10},
    }
    used = {
        "big": {"inputTokens": 30, "outputTokens": 4, "costUSD": 0.2},
        "small": {"inputTokens": 5, "outputTokens": 1, "costUSD": 0.1},
    }
    result = {"type": "result", "result": ".", "total_cost_usd": 0.3, "modelUsage": used}

    calls = models(
        claude_stream.read_stream(written(tmp_path, [{"type": "assistant", "message": message}, result]))
    )

    assert {"big": 30, "small": 5} == {
        name: sum(call.tokens_in or 0 for call in calls if call.model == name) for name in used
    }
    assert 5 == sum(call.tokens_out or 0 for call in calls)
    assert pytest.approx(0.3) == sum(call.cost_usd or 0 for call in calls)


@given(total=st.integers(0, 10**9), weights=st.lists(st.integers(0, 10**6), min_size=1, max_size=20))
def test_parts_that_are_shared_out_add_up(total: int, weights: list[int]) -> None:
    """Nothing is lost by rounding, and no part is negative."""
    parts = shared_out(total, weights)

    assert total == sum(parts)
    assert all(part >= 0 for part in parts)


@settings(deadline=None)
@given(records=st.lists(JSON, max_size=6), host=st.sampled_from(["claude", "codex"]), data=st.data())
def test_no_stream_whatever_it_holds_stops_the_reader(
    tmp_path_factory: pytest.TempPathFactory, records: list[Any], host: str, data: st.DataObject
) -> None:
    """Records of any form, and those that a host wrote with any of their values replaced, are read to their end."""
    found = [json.loads(line) for line in lines_of(f"{host}-greet")]
    for record in found:
        if data.draw(st.booleans()):
            record[data.draw(st.sampled_from(sorted(record)))] = data.draw(JSON)
    path = written(tmp_path_factory.mktemp("stream"), [*found, *records])

    said = READERS[host](path, skills=("greeting",), named="welcome:greeting")

    assert not said.is_empty
