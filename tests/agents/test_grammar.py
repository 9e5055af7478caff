"""What AGENT may be."""

import pytest

from proctor.agents.grammar import parse_agent
from proctor.errors import AgentError


@pytest.fixture
def launch(tmp_path):
    (tmp_path / "my-agents").mkdir()
    (tmp_path / "my-agents" / "agent.py").write_text("def main(): ...")
    return tmp_path


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("my-agents/agent.py", "my-agents/agent.py:main"),
        ("./my-agents/agent.py:answer", "./my-agents/agent.py:answer"),
        ("package.module:answer", "package.module:answer"),
        ("module:answer", "module:answer"),
    ],
)
def test_forms_of_a_function(launch, text, label):
    """A file with or without a function's name, and a dotted module with one, are function agents."""
    assert ("function", label) == (
        parse_agent(text, launch_dir=launch).identity.kind,
        parse_agent(text, launch_dir=launch).identity.label,
    )


def test_label_of_an_absolute_path_is_its_last_part(launch):
    """No folder of this machine is in a label."""
    assert "agent.py:main" == parse_agent(f"{launch}/my-agents/agent.py", launch_dir=launch).identity.label


@pytest.mark.parametrize(
    "text",
    ["", "tool {input}", "package.module", "http://localhost", "model:a/b", "agent.py:", ":main", "a.py:b.c"],
)
def test_anything_else_is_refused_with_the_grammar(launch, text):
    """The error shows every form that there is."""
    with pytest.raises(AgentError, match=r"path/agent\.py:function.*--agent-cmd"):
        parse_agent(text, launch_dir=launch)


def test_missing_file_is_named(launch):
    """A file that is not there is an error before anything else is done."""
    with pytest.raises(AgentError, match=r"nothing\.py"):
        parse_agent("nothing.py", launch_dir=launch)
