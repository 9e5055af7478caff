"""The agent that somebody names in pytest: a text, a function of a module, or an agent that is made already."""

from __future__ import annotations

import inspect
import sys
from contextlib import chdir
from pathlib import Path
from typing import Any, cast

from proctor import evaluation
from proctor.errors import AgentError, UsageError
from proctor.ports import Agent
from proctor.records.suite import Suite


def agent_of(said: object, command: str | None, suite: Suite, *, here: Path) -> Agent:
    """The agent that is meant.

    Args:
        said: a function, an agent, or a text as `proctor run` takes it; None where a command is given.
        command: a command line instead.
        suite: what it will be run over.
        here: the folder that pytest was started in, which paths are relative to.

    Raises:
        UsageError: neither or both are given.
        AgentError: it is none of these, or a function that no other process could find.
    """
    if said is None and command is None:
        raise UsageError(
            "no agent is named",
            fix="Name one with --proctor-agent or --proctor-agent-cmd, set `proctor_agent` in the configuration of "
            "pytest, or return one from `pytest_proctor_agent` in a conftest.py; a marker has agent= and agent_cmd=.",
        )
    if said is not None and command is not None:
        raise UsageError("two agents are named: an agent and a command", fix="Name one of them.")
    if callable(getattr(said, "attempt", None)):
        return cast("Agent", said)
    named = said if said is None or isinstance(said, str) else _target(said, here)
    with chdir(here):
        return evaluation.pick_agent(named, command=command, suite=suite)


def _target(function: Any, here: Path) -> str:
    """A function as `path/file.py:name`: each trial calls it in a process of its own, which has to find it there."""
    name, module = getattr(function, "__name__", ""), getattr(function, "__module__", None)
    found = getattr(sys.modules.get(module or ""), name, None) if name else None
    file = inspect.getsourcefile(function) if inspect.isfunction(function) and found is function else None
    if file is None:
        raise AgentError(
            f"{function!r} is no function of a module",
            fix="Give a function that is defined at the top of a file: each trial calls it in a process of its own.",
        )
    path = Path(file)
    return f"{path.relative_to(here) if path.is_relative_to(here) else path}:{name}"
