"""The coding agents by name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from proctor.ports import Agent

CODING_AGENTS: Final = ("claude", "codex")
"""Their names; no package can stand for one of them."""


def coding_agent(
    name: str,
    *,
    environment: Mapping[str, str],
    model: str | None = None,
    artifact: Path | None = None,
    launch_dir: Path,
) -> Agent:
    """A new one.

    Args:
        name: one of `CODING_AGENTS`.
        environment: the operator's own: where the program is found, and the credentials that it uses.
        model: the model of every trial, whatever the tests pin.
        artifact: the folder of what is under test.
        launch_dir: what `artifact` is relative to.

    Raises:
        UsageError: the artifact is no folder, or is not for this coding agent.
        AgentError: the artifact cannot be used.
    """
    from proctor.agents.hosts.claude import Claude
    from proctor.agents.hosts.codex import Codex
    from proctor.agents.hosts.host_agent import HostAgent

    dialect = Claude() if name == "claude" else Codex()
    return HostAgent(dialect, environment=environment, model=model, artifact=artifact, launch_dir=launch_dir)
