"""What the positional AGENT of the command line may be."""

from __future__ import annotations

import re
from pathlib import Path

from proctor.agents.function import FunctionAgent
from proctor.errors import AgentError
from proctor.ports import Agent

_FUNCTION = re.compile(r"(?s).+\.py(:\w+)?|\w+(\.\w+)*:\w+")


def parse_agent(text: str, *, launch_dir: Path) -> Agent:
    """The agent that `text` names: `path/agent.py`, `path/agent.py:function` or `package.module:function`.

    Raises:
        AgentError: it is none of these, or the file is not there.
    """
    if _FUNCTION.fullmatch(text):
        return FunctionAgent(text, launch_dir=launch_dir)
    raise AgentError(
        f"{text!r} names no agent.",
        fix="Write path/agent.py:function, path/agent.py for its main, or package.module:function; "
        "a command is given as --agent-cmd 'mytool {input}'.",
    )
