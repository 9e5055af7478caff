"""What stands between the programs of a trial and the machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from proctor.ports import Launch


class Enclosure(Protocol):
    """How the programs of trials are started, and what they see of their folder."""

    @property
    def is_confined(self) -> bool:
        """False where a program of a trial may also be started by other means."""
        ...

    @property
    def user(self) -> int | None:
        """The user that the programs run as, where that is not proctor's own."""
        ...

    def as_seen(self, root: Path, path: Path) -> str:
        """A path in a trial's folder `root` as the trial's programs see it."""
        ...

    def launch(
        self, root: Path, argv: Sequence[str], environment: Mapping[str, str], processes: int | None = None
    ) -> Launch:
        """How to start a program in the workdir of the trial's folder `root`.

        Args:
            argv: the program and its arguments, as they are seen inside.
            environment: all of its environment, as it is seen inside.
            processes: how many it may have at a time; counted by the enclosure where nobody else does.
        """
        ...

    def settle(self, root: Path) -> None:
        """The trial's programs have ended: its folder is proctor's again."""
        ...


class Open:
    """Nothing stands between: the program sees what proctor sees."""

    is_confined = False
    user = None

    def as_seen(self, root: Path, path: Path) -> str:
        """The path as it is."""
        del root
        return str(path)

    def launch(
        self, root: Path, argv: Sequence[str], environment: Mapping[str, str], processes: int | None = None
    ) -> Launch:
        """The program as it is."""
        del processes
        return Launch(argv=tuple(argv), environment=environment, cwd=root / WORKDIR)

    def settle(self, root: Path) -> None:
        """It always was."""


WORKDIR = "workdir"
"""Name of the workdir in a trial's folder."""

OUT = "out"
"""Name of the folder in it that takes the output."""
