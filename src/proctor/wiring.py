"""From names to ready objects. The only reader of the environment."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # type checkers take this name for true, and nobody has to import `typing`

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from proctor.agents.options import AgentOptions
    from proctor.judges.setup import JudgeSetup
    from proctor.ports import Agent
    from proctor.records.judging import JudgeOptions
    from proctor.records.run import Platform
    from proctor.records.suite import Suite


def is_completing() -> bool:
    """True when the shell asks for completions instead of running us."""
    return "_ARGCOMPLETE" in os.environ


def completed_line() -> str:
    """The whole line that the shell asks completions for, what stands behind the cursor included."""
    return os.environ.get("COMP_LINE", "")


def environment() -> Mapping[str, str]:
    """The environment that proctor was started with."""
    return dict(os.environ)


def cache_folder() -> Path:
    """Where what can be fetched again is kept: `$XDG_CACHE_HOME/proctor`, or `~/.cache/proctor`."""
    from pathlib import Path

    named = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(named) if named.startswith("/") else Path.home() / ".cache") / "proctor"


def judge_setup(options: JudgeOptions, *, model: str | None, agency_cmd: str | None) -> JudgeSetup:
    """How judges are asked: as the options say, else PROCTOR_JUDGE_MODEL, else the settings.

    Args:
        options: what the user says for this command.
        model: the settings' `judge_model`.
        agency_cmd: the settings' `agency_cmd`.
    """
    from proctor.judges.setup import DEFAULT_COMMAND, JudgeSetup

    found = environment()
    return JudgeSetup(
        model=options.model or found.get("PROCTOR_JUDGE_MODEL", "").strip() or model,
        max_cost_usd=options.max_cost_usd,
        answers=cache_folder() / "judge-answers" if options.use_cache else None,
        environment=found,
        agency=agency_cmd or DEFAULT_COMMAND,
    )


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
    positional: str | None,
    command: str | None,
    options: AgentOptions,
    *,
    agency_cmd: str | None = None,
    suite: Suite | None = None,
) -> Agent:
    """The agent that a command line names: the positional AGENT, or --agent-cmd, and exactly one of them.

    Args:
        options: what else is said of it.
        agency_cmd: the tool that compiles `.agency` files; `$PROCTOR_AGENCY_CMD` comes before it.
        suite: what it will be run over, where that is known.

    Raises:
        UsageError: none or both are given, or an option does not belong to it.
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

        options.require("a command", ("stdin",))
        return CommandAgent(command, launch_dir=here(), stdin=options.stdin)
    from proctor.agents.grammar import Standpoint, parse_agent

    assert positional is not None
    standpoint = Standpoint(
        launch_dir=here(),
        environment=environment(),
        agency_cmd=os.environ.get("PROCTOR_AGENCY_CMD") or agency_cmd,
        suite=suite,
    )
    return parse_agent(positional, options, standpoint=standpoint)


def new_group_path(folder: Path) -> Path:
    """A new group's path."""
    return folder / new_group_name()


def new_group_name() -> str:
    """A new group's name: local time, and six letters so that two in one second do not meet."""
    import secrets
    from datetime import datetime

    letters = "abcdefghjkmnpqrstuvwxyz23456789"
    mark = "".join(secrets.choice(letters) for _ in range(6))
    return f"{datetime.now().astimezone():%Y-%m-%d-%H%M%S}-{mark}"
