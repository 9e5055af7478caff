"""What is different from one coding agent to the next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import msgspec

from proctor.agents.hosts.artifact import Artifact
from proctor.agents.hosts.program import Program
from proctor.agents.hosts.told import Told
from proctor.ports import Surroundings
from proctor.records.run import Limits


class Start(msgspec.Struct, frozen=True, kw_only=True):
    """What a trial is to be started with.

    Attributes:
        program: the host.
        place: the trial's.
        home: a folder of the trial's outside the workdir, which its programs see.
        artifact: what is under test; None where the trial is given none.
        model: the model; the host's own choice when None.
        limits: what the trial may use.
        operator: the operator's environment, for the place of the login.
    """

    program: Program
    place: Any  # a Place: msgspec takes no protocols
    home: Path
    artifact: Artifact | None
    model: str | None
    limits: Limits
    operator: Mapping[str, str]


class Started(msgspec.Struct, frozen=True, kw_only=True):
    """How a trial is started: the program and its arguments, and what its environment has beside the place's."""

    argv: tuple[str, ...]
    environment: Mapping[str, str]


class Dialect(Protocol):
    """How one coding agent is talked to.

    Attributes:
        name: of the program.
        provider: whose models it asks, as traces name them.
        help_of: words between its name and `--help`.
        update: the command that installs it.
        credentials: variables with which it reaches its provider.
        mark: what stands before the name of a skill in a prompt.
    """

    name: str
    provider: str
    help_of: tuple[str, ...]
    update: str
    credentials: tuple[str, ...]
    mark: str

    def check(self, program: Program, surroundings: Surroundings, operator: Mapping[str, str]) -> None:
        """Check that the program knows what is needed, and that somebody is signed in.

        Raises:
            AgentError: it does not, or nobody is.
        """
        ...

    def install(self, program: Program, artifact: Artifact, surroundings: Surroundings) -> None:
        """Make the artifact ready for all trials.

        Raises:
            AgentError: the host does not take it on.
        """
        ...

    def start(self, start: Start) -> Started:
        """Make the trial's own config folder, and say how it is started.

        Raises:
            AgentError: the artifact is not what it was.
            OSError: it cannot be written.
        """
        ...

    def read(self, stream: Path, *, skills: Sequence[str], named: str | None) -> Told:
        """What its stream says.

        Raises:
            OSError: it cannot be read.
        """
        ...

    def close(self) -> None:
        """Remove what was made ready."""
        ...
