"""The program of a coding agent, as it is installed: where it is, its version, and the options that it knows."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from proctor.errors import AgentError

PROBE_S: Final = 60.0
"""Seconds that a question to the program may take."""

_VERSION: Final = re.compile(r"\d+\.\d+\.\d+[-+.\w]*")
_MODULES: Final = "node_modules"
_TAIL: Final = 500


class Said(msgspec.Struct, frozen=True):
    """What the program answered: its exit code, and what it printed."""

    code: int
    out: str
    err: str

    @property
    def all(self) -> str:
        """Everything that it printed, for a message."""
        return (self.err.strip() or self.out.strip())[-_TAIL:] or "it says nothing"


class Program(msgspec.Struct, frozen=True, kw_only=True):
    """An installed program.

    Attributes:
        name: `claude` or `codex`.
        path: where it is.
        version: what it says of itself.
        help: its own words on its options.
        update: how a newer one is had.
    """

    name: str
    path: str
    version: str
    help: str
    update: str

    def has(self, option: str) -> bool:
        """True when it knows an option."""
        return re.search(rf"(?<![\w-]){re.escape(option)}(?![\w-])", self.help) is not None

    def require(self, option: str, why: str) -> str:
        """The option.

        Raises:
            AgentError: this version does not know it.
        """
        if self.has(option):
            return option
        raise AgentError(
            f"{self.name} {self.version} does not know {option}, {why}.",
            where=self.path,
            fix=f"Update it: {self.update}.",
        )

    @property
    def files(self) -> tuple[Path, ...]:
        """What of it has to be seen in a sandbox: itself, and the packages around it."""
        real = Path(self.path).resolve()
        around = next((parent for parent in reversed(real.parents) if parent.name == _MODULES), real.parent)
        return (Path(self.path), around)


def find_program(name: str, help_of: Sequence[str], environment: Mapping[str, str], update: str) -> Program:
    """The program on the PATH of an environment.

    Args:
        help_of: words between its name and `--help`.
        environment: the operator's.
        update: the command that installs it.

    Raises:
        AgentError: it is not there, or does not answer.
    """
    path = shutil.which(name, path=environment.get("PATH"))
    if path is None:
        raise AgentError(f"There is no program {name!r} on PATH.", fix=f"Install it: {update}.")
    with tempfile.TemporaryDirectory(prefix=f"proctor-{name}-") as folder:
        own = {**environment, "CLAUDE_CONFIG_DIR": folder, "CODEX_HOME": folder}
        found = _VERSION.search(ask([path, "--version"], own).out)
        if found is None:
            raise AgentError(
                f"{name!r} does not say its version.",
                where=path,
                fix=f"Is it the right program? Install it: {update}.",
            )
        told = ask([path, *help_of, "--help"], own)
    return Program(name=name, path=path, version=found[0], help=told.out + told.err, update=update)


def ask(argv: Sequence[str], environment: Mapping[str, str], *, cwd: Path | None = None) -> Said:
    """Run a program that answers at once.

    Raises:
        AgentError: it cannot be started, or does not end.
    """
    try:
        done = subprocess.run(
            argv,
            env=environment,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=PROBE_S,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise AgentError(
            f"{Path(argv[0]).name!r} cannot be asked: {error}",
            where=argv[0],
            fix="Does it run by itself? Try it.",
        ) from error
    return Said(done.returncode, done.stdout, done.stderr)
