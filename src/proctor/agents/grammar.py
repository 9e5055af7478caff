"""What the positional AGENT of the command line may be."""

from __future__ import annotations

import re
from pathlib import Path

from proctor.errors import AgentError, UsageError
from proctor.ports import Agent
from proctor.records.suite import Suite

_FUNCTION = re.compile(r"(?s).+\.py(:\w+)?|\w+(\.\w+)*:\w+")


def parse_agent(text: str, *, launch_dir: Path, suite: Suite | None = None) -> Agent:
    """The agent that `text` names: a Python function, or one that comes with every suite.

    `path/agent.py`, `path/agent.py:function`, `package.module:function`; `solution`, which runs each test's own
    solution; `noop`, which does nothing.

    Args:
        launch_dir: what paths are relative to.
        suite: what will be run, which `solution` takes its scripts from.

    Raises:
        AgentError: it is none of these, or the file is not there.
        UsageError: `solution` is named without a suite.
    """
    if text == "noop":
        from proctor.agents.solution import NoopAgent

        return NoopAgent()
    if text == "solution":
        from proctor.agents.solution import SolutionAgent

        if suite is None:
            raise UsageError(
                "the agent `solution` runs what a suite holds, and no suite is given",
                fix='Give it: pick_agent("solution", suite=suite).',
            )
        return SolutionAgent.of(suite)
    if _FUNCTION.fullmatch(text):
        from proctor.agents.function import FunctionAgent

        return FunctionAgent(text, launch_dir=launch_dir)
    raise AgentError(
        f"{text!r} names no agent.",
        fix="Write path/agent.py:function, path/agent.py for its main, or package.module:function; "
        "solution for the suite's own solutions, noop for one that does nothing; "
        "a command is given as --agent-cmd 'mytool {input}'.",
    )
