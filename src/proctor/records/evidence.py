"""How an observation was made, and what went wrong in a trial that says nothing about the agent."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal, TypeAlias

import msgspec

Channel: TypeAlias = Literal["process", "files", "tools", "mcp", "skills"]
"""Where something can be seen: the agent's process, its workdir, its calls of tools, of MCP servers, of skills."""


class Level(StrEnum):
    """How much an observation can bear, from least to most."""

    UNAVAILABLE = "unavailable"
    """There is no such channel for this run."""
    INFERRED = "inferred"
    """What the agent says of itself, its own spans included; or what breaks off."""
    OBSERVED = "observed"
    """On a channel that proctor owns: process, files, proxy, a host's own stream."""

    @property
    def rank(self) -> int:
        """0, 1 or 2.

        >>> Level.UNAVAILABLE.rank < Level.INFERRED.rank < Level.OBSERVED.rank
        True
        """
        return list(Level).index(self)

    def bears(self, minimum: Level) -> bool:
        """True when this level is at least `minimum`.

        >>> Level.INFERRED.bears(Level.OBSERVED), Level.OBSERVED.bears(Level.INFERRED)
        (False, True)
        """
        return self.rank >= minimum.rank


class Channels(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The level of the channels that a trace tells of; process and files are seen in the run itself.

    Attributes:
        tools: calls of tools.
        mcp: calls of tools of MCP servers.
        skills: which skills were activated.
        is_whole: the trace does not break off, so that what is not in it did not happen.
    """

    tools: Level = Level.UNAVAILABLE
    mcp: Level = Level.UNAVAILABLE
    skills: Level = Level.UNAVAILABLE
    is_whole: bool = False


class HarnessCode(StrEnum):
    """What proctor, the host or the machine could not do. Never evidence about the agent."""

    ARTIFACT = "EVAL_ARTIFACT_UNAVAILABLE"
    """The artifact under test is not there, or was not taken on."""
    FIXTURE = "EVAL_FIXTURE_UNAVAILABLE"
    """A file of the test is gone, or not what it was when it was planned."""
    GRADER = "EVAL_GRADER_FAILED"
    """A grader gave no grade."""
    PROCESS = "EVAL_PROCESS_UNAVAILABLE"
    """The agent could not be started, or could not go on, for no fault of its own."""
    TRACE = "EVAL_TRACE_UNAVAILABLE"
    """What the host tells of the agent cannot be read."""


class Stage(StrEnum):
    """Where in a trial a harness failure happened."""

    ARTIFACT = "artifact"
    FIXTURE = "fixture"
    GRADER = "grader"
    PREFLIGHT = "preflight"
    TRACE = "trace"


class AgentCode(StrEnum):
    """How the agent failed, the gravest first."""

    TIMED_OUT = "EVAL_PLUGIN_TIMED_OUT"
    """Its time was up."""
    PROCESS_FAILED = "EVAL_PLUGIN_PROCESS_FAILED"
    """It did not end well, and no test expects such an end."""
    ASSERTION_FAILED = "EVAL_PLUGIN_ASSERTION_FAILED"
    """It ended well, and its work was found wanting."""


class Failure(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Why a trial did not pass: the agent's failure or a harness failure, never both.

    Attributes:
        owner: `agent`, or `harness` for everybody else.
        code: an `AgentCode` or a `HarnessCode`.
        stage: where, of a harness failure.
    """

    owner: Literal["agent", "harness"]
    code: str
    stage: Stage | None = None
