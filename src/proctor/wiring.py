"""From names to ready objects. The only reader of the environment."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # type checkers take this name for true, and nobody has to import `typing`

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from proctor.ports import Agent
    from proctor.records.run import Platform
    from proctor.records.suite import Suite


def is_completing() -> bool:
    """True when the shell asks for completions instead of running us."""
    return "_ARGCOMPLETE" in os.environ


def environment() -> Mapping[str, str]:
    """The environment that proctor was started with."""
    return dict(os.environ)


def cache_folder() -> Path:
    """Where what can be fetched again is kept: `$XDG_CACHE_HOME/proctor`, or `~/.cache/proctor`."""
    from pathlib import Path

    named = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(named) if named.startswith("/") else Path.home() / ".cache") / "proctor"


def user_name() -> str:
    """Who the user is to the system, or `human` where it cannot say."""
    import getpass

    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return "human"


def here() -> Path:
    """The folder that the user stands in."""
    from pathlib import Path

    return Path.cwd()


def platform() -> Platform:
    """What this machine is, for the record."""
    import platform as machine

    from proctor.records.run import Platform
    from proctor.version import __version__

    return Platform(
        proctor=__version__,
        python=machine.python_version(),
        system=sys.platform,
        machine=machine.machine(),
    )


def agent_named(
    positional: str | None, command: str | None, *, stdin: bool = False, suite: Suite | None = None
) -> Agent:
    """The agent that a command line names: the positional AGENT, or --agent-cmd, and exactly one of them.

    Args:
        stdin: the command is given its input on standard input.
        suite: what it will be run over, where that is known.

    Raises:
        UsageError: none or both are given.
        AgentError: the text follows no known form.
    """
    from proctor.errors import UsageError

    if (positional is None) == (command is None):
        raise UsageError(
            "no agent is named" if positional is None else "two agents are named: AGENT and --agent-cmd",
            fix="Name one: `proctor run agent.py:main --suite S`, or `proctor run --agent-cmd 'mytool {input}' "
            "--suite S`.",
        )
    if command is not None:
        from proctor.agents.command import CommandAgent

        return CommandAgent(command, launch_dir=here(), stdin=stdin)
    if stdin:
        raise UsageError(
            "--stdin belongs to --agent-cmd: a Python function gets its input as an argument",
            fix="Leave --stdin away, or name a command with --agent-cmd.",
        )
    from proctor.agents.grammar import parse_agent

    assert positional is not None
    return parse_agent(positional, launch_dir=here(), suite=suite)


def new_group_path(folder: Path) -> Path:
    """A new group's path: local time, and six letters so that two in one second do not meet."""
    import secrets
    from datetime import datetime

    letters = "abcdefghjkmnpqrstuvwxyz23456789"
    mark = "".join(secrets.choice(letters) for _ in range(6))
    return folder / f"{datetime.now().astimezone():%Y-%m-%d-%H%M%S}-{mark}"
