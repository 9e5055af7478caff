"""What AGENT may be, and which options belong to it."""

from __future__ import annotations

from pathlib import Path

import pytest

from proctor.agents.grammar import Standpoint, parse_agent
from proctor.agents.options import AgentOptions
from proctor.errors import AgentError, UsageError


@pytest.fixture
def launch(tmp_path):
    (tmp_path / "my-agents").mkdir()
    (tmp_path / "my-agents" / "agent.py").write_text("def main(): ...")
    (tmp_path / "my-agents" / "agent.agency").write_text("node main() {}")
    (tmp_path / "prompt.txt").write_text("Be brief.")
    return tmp_path


@pytest.fixture
def named(launch):
    """The agent that a text names, with options."""
    standpoint = Standpoint(launch_dir=launch, environment={"MY_TOKEN": "t"})
    return lambda text, **options: parse_agent(text, AgentOptions(**options), standpoint=standpoint)


@pytest.mark.parametrize(
    ("text", "kind", "label"),
    [
        ("my-agents/agent.py", "function", "my-agents/agent.py:main"),
        ("./my-agents/agent.py:answer", "function", "./my-agents/agent.py:answer"),
        ("package.module:answer", "function", "package.module:answer"),
        ("module:answer", "function", "module:answer"),
        ("my-agents/agent.agency", "agency", "my-agents/agent.agency:main"),
        ("my-agents/agent.agency:answer", "agency", "my-agents/agent.agency:answer"),
        ("http://localhost:1/ask.py", "http", "http://localhost:1/ask.py"),
        ("https://h.example/v1/chat/completions", "chat", "https://h.example/v1/chat/completions"),
        ("https://h.example/v1/chat/completions/?v=2", "chat", "https://h.example/v1/chat/completions/?v=2"),
        ("model:openai/gpt-5-mini", "model", "openai/gpt-5-mini"),
        ("model:openrouter/meta/llama-4:free", "model", "openrouter/meta/llama-4:free"),
        ("noop", "noop", "noop"),
    ],
)
def test_each_form_is_one_kind(named, text, kind, label):
    """The first row of the table that fits counts: a URL is one whatever it ends in."""
    identity = named(text).identity

    assert (kind, label) == (identity.kind, identity.label)


def test_label_of_an_absolute_path_is_its_last_part(named, launch):
    """No folder of this machine is in a label."""
    assert "agent.py:main" == named(f"{launch}/my-agents/agent.py").identity.label
    assert "agent.agency:main" == named(f"{launch}/my-agents/agent.agency").identity.label


@pytest.mark.parametrize("text", ["", "tool {input}", "package.module", "xyz", ":main", "Agent", "a b"])
def test_anything_else_is_refused_with_the_grammar(named, text):
    """The error shows every form that there is."""
    with pytest.raises(
        AgentError, match=r"(?s)agent\.py:function.*http://.*model:.*\.agency.*--agent-cmd.*noop"
    ):
        named(text)


@pytest.mark.parametrize(("text", "meant"), [("soluton", "solution"), ("no-op", "noop"), ("Noop", "noop")])
def test_kind_that_is_nearly_right_is_offered(named, text, meant):
    """Did you mean."""
    with pytest.raises(AgentError, match=f"Did you mean '{meant}'"):
        named(text)


@pytest.mark.parametrize(
    "text", ["agent.py:", "a.py:b.c", "model:", "model:gpt", "file:///x", "ftp://h/x", "://"]
)
def test_form_that_is_broken_says_how_it_goes(named, text):
    """A function without a name, a model without a provider, another scheme."""
    with pytest.raises(AgentError):
        named(text)


@pytest.mark.parametrize("text", ["nothing.py", "nothing.py:main", "nothing.agency", "no/where.agency:main"])
def test_missing_file_is_named(named, text):
    """A file that is not there is an error before anything else is done."""
    with pytest.raises(AgentError, match=r"There is no file '(nothing|no/where)"):
        named(text)


def test_solution_needs_a_suite(named):
    """It runs what a suite holds."""
    with pytest.raises(UsageError, match="no suite"):
        named("solution")


OPTIONS = {
    "stdin": True,
    "fresh": True,
    "headers": ("A: b",),
    "header_env": ("B: {MY_TOKEN}",),
    "output_path": "$.a",
    "model": "m",
    "system": Path("prompt.txt"),
    "params": ("temperature=0",),
}
TAKES = {
    "my-agents/agent.py": {"fresh"},
    "my-agents/agent.agency": set(),
    "http://h/": {"headers", "header_env", "output_path"},
    "http://h/v1/chat/completions": {"headers", "header_env", "model", "system", "params"},
    "model:openai/x": {"system", "params"},
    "noop": set(),
}


@pytest.mark.parametrize("text", TAKES)
def test_option_of_another_kind_is_refused_by_name(named, text):
    """What an agent does not take is never ignored."""
    for name, value in OPTIONS.items():
        if name in TAKES[text]:
            named(text, **{name: value})
        else:
            with pytest.raises(UsageError, match=r"--[a-z-]+ belongs to"):
                named(text, **{name: value})


def test_parameters_are_json_where_they_can_be(named):
    """A number is one, and what is no JSON is text; a digest tells them apart."""
    assert {"a": 1, "b": "x", "c": [True], "d": "=", "e": ""} == AgentOptions(
        params=("a=1", "b=x", "c=[true]", "d==", "e=")
    ).param_values()
    for params in (("a",), ("=1",), ("a=1", "a=2")):
        with pytest.raises(UsageError, match="--param"):
            AgentOptions(params=params).param_values()


def test_system_prompt_is_a_file_that_can_be_read(named, launch):
    """It is part of the identity; one that is missing or no text is an error."""
    (launch / "latin.txt").write_bytes(b"\xff")
    (launch / "other.txt").write_text("Be long.")
    found = {
        named("model:openai/x", system=Path(name)).identity.digest for name in ("prompt.txt", "other.txt")
    }

    assert 2 == len(found)
    for name in ("missing.txt", "latin.txt", "my-agents"):
        with pytest.raises(UsageError, match="system prompt"):
            named("model:openai/x", system=Path(name))


def test_header_that_is_given_twice_is_refused(named):
    """In whatever case, and from wherever."""
    with pytest.raises(UsageError, match="twice"):
        named("http://h/", headers=("A: 1",), header_env=("a: {MY_TOKEN}",))
