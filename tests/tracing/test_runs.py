"""Traced agents through `proctor run`: what a user sees, and what stands in the run directory."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path

import pytest

from proctor.stores.rundir import RunDir
from tests.conftest import Project
from tests.core.test_trace import chat, document
from tests.tracing.real import assert_is_the_weather

AGENTS = Path(__file__).parent / "agents"
SDK_AGENT = """
    from proctor.trace import llm_call, span, tool_call

    @tool_call
    def weather(city):
        return {"sky": "rain"}

    def main(question):
        with span("agent"):
            with llm_call("gpt-4o", provider="openai", messages=question) as call:
                call.usage(tokens_in=1000, tokens_out=100).answered("Let me look.")
            weather("Oslo")
        return "rain"

    def unpriced(question):
        with llm_call("one-of-mine") as call:
            call.usage(tokens_in=5, tokens_out=5)
        return "rain"

    def hangs(question):
        import time
        with span("agent"):
            with llm_call("gpt-4o", provider="openai") as call:
                call.usage(tokens_in=1000, tokens_out=100)
            time.sleep(60)

    def crashes(question):
        with llm_call("gpt-4o", provider="openai") as call:
            call.usage(tokens_in=1000, tokens_out=100)
        raise RuntimeError("on purpose")

    def silent(question):
        return "rain"
    """


@pytest.fixture
def asked(project: Project) -> Project:
    """A test, and agents that record what they do."""
    project.test("oslo", input="Weather in Oslo?")
    project.write("traced.py", SDK_AGENT)
    return project


def test_a_function_that_records_its_calls(asked: Project) -> None:
    """The trial ends without exit functions; the last span is there all the same."""
    assert 0 == asked.run("traced.py:main").code
    shown = asked("show", "group/oslo").out

    assert (
        "trace      1 model call, 1 tool call, 1000 tokens in, 100 tokens out, $0.0035 by list prices, gpt-4o\n"
        in shown
    )
    assert 'tool  weather  {"city":"Oslo"} -> {"sky":"rain"}\n' in shown
    assert "$0.0035" in asked("list", "group").out


def test_the_whole_trace_is_shown_on_demand(asked: Project) -> None:
    """Every call with what was said and answered; as JSON for programs."""
    asked.run("traced.py:main")
    shown = asked("show", "group/oslo", "--trace").out
    document = asked("show", "group/oslo", "--trace", "--json").json

    assert "    asked\n      Weather in Oslo?\n    answered\n      Let me look.\n" in shown
    assert '    arguments\n      {"city":"Oslo"}\n    result\n      {"sky":"rain"}\n' in shown
    assert ("proctor.trace/1", True, ["llm", "tool"]) == (
        document["schema"],
        document["trace"]["is_whole"],
        [event["kind"] for event in document["trace"]["events"]],
    )


def test_a_run_without_a_trace_says_so(asked: Project) -> None:
    """Nothing is known of its cost, which is not 0."""
    asked.run("traced.py:silent")

    assert not (asked.root / "group/oslo/trace.jsonl").exists()
    assert "trace " not in asked("show", "group/oslo").out
    assert "the run has no trace\n" == asked("show", "group/oslo", "--trace").out
    assert None is asked("show", "group/oslo", "--trace", "--json").json["trace"]


def test_an_unknown_price_is_unknown_and_the_reason_is_shown(asked: Project) -> None:
    """The model is nobody's."""
    asked.run("traced.py:unpriced")

    assert "cost unknown (1 of 1 model calls: genai-prices " in asked("show", "group/oslo").out
    assert "has no price for one-of-mine)" in asked("show", "group/oslo").out


def test_an_agent_that_is_ended_has_spent_at_least_what_is_known(asked: Project) -> None:
    """The sum is unknown to graders and reports, and the least is shown."""
    asked.run("traced.py:hangs", "--timeout", "3")
    trace = RunDir(asked.root / "group/oslo").trace(RunDir(asked.root / "group/oslo").facts())

    assert trace is not None
    assert (False, None, pytest.approx(0.0035)) == (
        trace.is_whole,
        trace.metrics.cost_usd_total,
        trace.at_least.cost_usd_total,
    )
    assert (
        "trace      not whole (the agent was ended before it could send what it had left); at least 1 model call"
        in asked("show", "group/oslo").out
    )


def test_a_function_that_raises_has_its_trace(asked: Project) -> None:
    """The agent ended by itself, and what it had recorded is sent."""
    asked.run("traced.py:crashes")

    assert "trace      1 model call, 0 tool calls, 1000 tokens in, " in asked("show", "group/oslo").out


@pytest.mark.parametrize("kind", ["command", "function"])
def test_an_agent_with_the_opentelemetry_sdk(asked: Project, kind: str) -> None:
    """As a command of its own, and as a function whose import sets the SDK up."""
    agent = shutil.copy(AGENTS / "otel_agent.py", asked.root)
    if kind == "command":
        command = shlex.join([sys.executable, agent])
        asked("run", "--agent-cmd", command, "--suite", "suite", "--out", "group")
    else:
        asked.run("otel_agent.py:main")
    run = RunDir(asked.root / "group/oslo")

    assert_is_the_weather(run.trace(run.facts()))
    assert [] == [note for note in run.facts().notes if "trace" in note.lower()]


@pytest.mark.slow
def test_a_node_agent_with_the_opentelemetry_sdk(asked: Project, node_modules: Path) -> None:
    """The same from another language."""
    agent = shutil.copy(AGENTS / "otel_agent.mjs", node_modules)
    asked("run", "--agent-cmd", shlex.join(["node", agent]), "--suite", "suite", "--out", "group")
    run = RunDir(asked.root / "group/oslo")

    assert_is_the_weather(run.trace(run.facts()))


def test_a_brought_trace_gets_prices_when_it_is_brought(asked: Project) -> None:
    """And keeps them: what it says itself, and what was worked out before, is never worked out anew."""
    asked.write("one.jsonl", document(chat(1, attributes={"gen_ai.usage.cost": ""}), chat(2)) + "\n")
    unpriced = {"gen_ai.request.model": "gpt-4o", "gen_ai.usage.cost": "", "gen_ai.usage.input_tokens": 1000}
    asked.write("two.jsonl", document(chat(1, attributes=unpriced)) + "\n")
    shown: list[str] = []
    for name in ("one", "two"):
        asked("add", name, "--trace", f"{name}.jsonl")
        (run,) = (found.parent for found in (asked.root / name).glob("*/trace.jsonl"))
        asked("add", f"{name}-again", "--trace", run / "trace.jsonl")
        assert (run / "trace.jsonl").read_bytes() == (
            asked.root / f"{name}-again" / run.name / "trace.jsonl"
        ).read_bytes()
        shown.append(asked("show", run).out)

    assert "cost unknown (1 of 2 model calls: genai-prices " in shown[0]
    assert "$0.0026 by list prices" in shown[1]


def test_what_an_agent_says_is_shown_inert(asked: Project) -> None:
    """Names, arguments and messages of a trace are untrusted text."""
    asked.write(
        "rude.py",
        r"""
        from proctor.trace import llm_call, tool_call

        def main(question):
            with llm_call("m\x1b[31m", provider="p\x1b[31m", messages=[{"role": "u\x1b[31m", "content": "c\x1b[31m"}]):
                pass
            with tool_call("t\x1b[31m", arguments={"a\x1b[31m": "b"}) as tool:
                tool.result("r\x1b[31m\nsecond").failed("e\x1b[31m")
        """,
    )
    asked.run("rude.py:main")

    for words in ((), ("--trace",)):
        shown = asked("show", "group/oslo", *words).out
        assert "\x1b" not in shown
        assert r"t\x1b[31m" in shown
