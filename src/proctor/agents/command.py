"""An agent that is a command: split without a shell, started in the workdir, judged by its exit code."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path

from msgspec import UNSET

from proctor.agents.process import run_process
from proctor.core.words import split_words
from proctor.errors import AgentError, Fault
from proctor.host.place import input_text
from proctor.ports import Cancel, Place, Surroundings
from proctor.records.json_value import digest_of, digest_of_bytes, storable
from proctor.records.run import AgentIdentity, Attempt, Limits
from proctor.records.suite import Test

LARGEST_ARGUMENT = 131_072
"""Bytes that Linux takes as one argument, its closing NUL included."""

_PLACEHOLDER = re.compile(r"\{input(?:_file)?\}")
_FOLDERS = re.compile(r"(^|[=:,@])/(?!/)(?:[^/=:,]+/)*")
_OTHER_WAYS = "Use {input_file}, read the file that $PROCTOR_INPUT names, or give --stdin."


class CommandAgent:
    """Runs a command once for each trial.

    Args:
        command: as the user typed it. `{input}` and `{input_file}` are replaced after it was split.
        launch_dir: where they typed it; paths in it are relative to this.
        stdin: the input is the command's standard input.
        path: where programs are looked for, as in `PATH`; as this process does when None.

    Raises:
        AgentError: the command cannot be split, or names no program.
    """

    def __init__(
        self, command: str, *, launch_dir: Path, stdin: bool = False, path: str | None = None
    ) -> None:
        self._launch_dir = launch_dir.absolute()
        self._stdin = stdin
        self._path = path
        self._template = _split(command)
        self._program = self._template[0]
        self._identity: AgentIdentity | None = None

    @property
    def identity(self) -> AgentIdentity:
        """The command without this machine's folders, and the digest of it and of the files that it names."""
        if self._identity is None:
            tokens = [_FOLDERS.sub(r"\1", token) for token in self._template]
            files = [
                [_FOLDERS.sub(r"\1", token), digest_of_bytes((self._launch_dir / token).read_bytes())]
                for token in self._template
                if self._is_file(token) and os.access(self._launch_dir / token, os.R_OK)
            ]
            self._identity = AgentIdentity(
                kind="command",
                label=storable(" ".join(map(_quoted, tokens))),
                digest=digest_of({"tokens": tokens, "files": files, "stdin": self._stdin}),
            )
        return self._identity

    @property
    def files(self) -> tuple[Path, ...]:
        """Its program, and the files that the command names, which in a sandbox it must see wherever they lie.

        Raises:
            AgentError: there is no such program.
        """
        named = (self._launch_dir / token for token in self._template if self._is_file(token))
        return (Path(self._find_program()), *named)

    def prepare(self, tests: Sequence[Test], surroundings: Surroundings) -> None:
        """Check that the program is there, and that each test's input fits into the command.

        Raises:
            AgentError: with every fault that was found.
        """
        self._program = self._find_program()
        faults = [fault for test in tests for fault in self._faults_of(test)]
        if faults:
            raise AgentError.of(faults)

    def attempt(self, test: Test, place: Place, limits: Limits, cancel: Cancel) -> Attempt:
        """Run the command once."""
        has_input = test.input is not UNSET
        argv = [self._program, *(self._argument(token, test, place) for token in self._template[1:])]
        stdin = place.input_file if self._stdin and has_input else None
        return run_process(argv, self._template[0], place, limits, cancel, stdin=stdin)

    def close(self) -> None:
        """Nothing is kept ready."""

    def _is_file(self, token: str) -> bool:
        if _PLACEHOLDER.search(token) or "\0" in token:
            return False
        try:
            return (self._launch_dir / token).is_file()
        except OSError:
            # Too long for a name, or behind a folder that may not be entered.
            return False

    def _argument(self, token: str, test: Test, place: Place) -> str:
        """The token as this trial gets it: a file of the user's by its full path, placeholders replaced."""
        if not _PLACEHOLDER.search(token):
            named_by_user = self._is_file(token) and not os.path.lexists(place.workdir / token)
            return str(self._launch_dir / token) if named_by_user else token
        text, file = input_text(test) or "", place.as_seen(place.input_file)
        # All at once: a placeholder in the input itself is never replaced.
        return _PLACEHOLDER.sub(lambda found: text if found[0] == "{input}" else file, token)

    def _find_program(self) -> str:
        name = self._template[0]
        if _PLACEHOLDER.search(name):
            raise AgentError(
                "The command begins with the input.", where=name, fix="Begin it with the name of a program."
            )
        if "/" not in name:
            entries = os.get_exec_path() if self._path is None else self._path.split(os.pathsep)
            path = os.pathsep.join(str(self._launch_dir / entry) for entry in entries)
            found = shutil.which(name, path=path)
            if found is None:
                raise AgentError(
                    f"There is no program {name!r} on PATH.",
                    where=self._shown,
                    fix=f"Install it, or give its path: ./{name} for one in this folder.",
                )
            return found
        program = self._launch_dir / name
        if not program.is_file():
            raise AgentError(
                f"There is no program {name!r} in {str(self._launch_dir)!r}.",
                where=self._shown,
                fix="Give the path of the program, relative to the folder that you start proctor in.",
            )
        if not os.access(program, os.X_OK):
            raise AgentError(
                f"{name!r} is not executable.",
                where=self._shown,
                fix=f"Make it so with `chmod +x {name}`, or begin the command with its interpreter.",
            )
        return str(program)

    @property
    def _shown(self) -> str:
        return f"command {shlex.join(self._template)!r}"

    def _faults_of(self, test: Test) -> list[Fault]:
        placeholders = {found for token in self._template for found in _PLACEHOLDER.findall(token)}
        where = f"test {test.id!r}"
        text = input_text(test)
        if text is None:
            return [
                Fault(
                    f"The command has {placeholder}, and the test has no input.",
                    where,
                    f"Give the test an input, or take {placeholder} out of the command.",
                )
                for placeholder in sorted(placeholders)
            ]
        if "{input}" not in placeholders:
            return []
        if "\0" in text:
            return [Fault("The input holds a NUL character, which no argument can.", where, _OTHER_WAYS)]
        size = len(text.encode())
        longest = max(
            len(os.fsencode(token)) + token.count("{input}") * (size - len("{input}"))
            for token in self._template
        )
        if longest < LARGEST_ARGUMENT:
            return []
        most = LARGEST_ARGUMENT - 1
        what = f"The input makes an argument of {longest:,} bytes, and the system takes at most {most:,}."
        return [Fault(what, where, _OTHER_WAYS)]


def _split(command: str) -> list[str]:
    """The words of the command, of which the first names a program."""
    try:
        template = split_words(command)
    except ValueError as err:
        raise AgentError(
            f"A quotation mark in the command is never closed: {command!r}.", fix="Close it, or leave it out."
        ) from err
    if not template or not template[0]:
        raise AgentError(
            f"The command {command!r} names no program.", fix="Begin it with the name of a program."
        )
    if any("{task}" in token for token in template):
        raise AgentError(
            "The command has {task}, which stands for nothing.", where=command, fix="Write {input} for it."
        )
    return template


def _quoted(token: str) -> str:
    if token and not re.search(r"[\s'\"]", token):
        return token
    return f'"{token}"' if "'" in token else f"'{token}'"
