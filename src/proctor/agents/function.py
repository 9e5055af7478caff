"""An agent that is a Python function: its module is imported once, and each trial is a fork of that."""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import UNSET

from proctor.agents.function_checks import Found, check, parts, unimportable
from proctor.agents.streams import tail_of, whole
from proctor.errors import AgentError, ProctorError
from proctor.host.child import Child, Exit, start_command, supervise
from proctor.host.interpreter import python_command
from proctor.host.zygote import Zygote, ZygoteError
from proctor.ports import Cancel, Place
from proctor.records.grade import Defect
from proctor.records.json_value import Json, digest_of_bytes, storable
from proctor.records.run import AgentIdentity, Attempt, Ending, Limits
from proctor.records.suite import Test

LARGEST_RESULT = 64 * 1024 * 1024
"""Bytes of JSON that a function may return."""

_CHILD = "proctor.agents.function_child"
_THREADS_NOTE = "Ran in a fresh interpreter: importing the module starts threads, and a fork would lose them."


class _Outcome(msgspec.Struct, frozen=True):
    """What `function_child.run_trial` wrote."""

    output: Json = None
    notes: list[str] = []
    defect: Defect | None = None


class FunctionAgent:
    """Calls a Python function once for each trial, in a process of its own.

    Args:
        target: `path/agent.py:function`, `path/agent.py` for its `main`, or `package.module:function`.
        launch_dir: paths and packages are found from here.
        fresh: each trial gets a new interpreter, which imports the module anew.
        environment: what the module is imported with; that of this process when None.

    Raises:
        AgentError: the target is none of these, or its file is not there.
    """

    def __init__(
        self,
        target: str,
        *,
        launch_dir: Path,
        fresh: bool = False,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._launch_dir = launch_dir.absolute()
        self._environment = environment
        self._lock = threading.Lock()
        self._zygote: Zygote | None = None
        self._found: Found | None = None
        self._identity: AgentIdentity | None = None
        self._notes: tuple[str, ...] = ()
        self._fresh = fresh
        self._module, self._function = parts(target)
        shown = Path(self._module).name if Path(self._module).is_absolute() else self._module
        self._label = storable(f"{shown}:{self._function}")
        self._file = self._launch_dir / self._module if self._module.endswith(".py") else None
        if self._file is not None and not self._file.is_file():
            raise AgentError(
                f"There is no file {self._module!r} in {str(self._launch_dir)!r}.",
                where=target,
                fix="Give the path of the file, relative to the folder that you start proctor in.",
            )

    @property
    def identity(self) -> AgentIdentity:
        """The target without this machine's folders, and the digest of its file."""
        if self._identity is None:
            file = self._file or self._file_of_module()
            self._identity = AgentIdentity(
                kind="function",
                label=self._label,
                digest=digest_of_bytes(file.read_bytes()) if file is not None else None,
            )
        return self._identity

    def prepare(self, tests: Sequence[Test]) -> None:
        """Import the module, and check that the function takes what these tests give.

        Raises:
            AgentError: the import raised, there is no such function, or it takes something else.
        """
        self.close()
        zygote, found = self._import()
        try:
            check(found, self._label, tests)
        except AgentError:
            zygote.close()
            raise
        self._found = found
        if zygote.threads > 1 and not self._fresh:
            self._fresh, self._notes = True, (_THREADS_NOTE,)
        if self._fresh:
            zygote.close()
        else:
            self._zygote = zygote

    def attempt(self, test: Test, place: Place, limits: Limits, cancel: Cancel) -> Attempt:
        """Call the function once."""
        result = place.output_file.with_name("result.json")
        environment = {**place.environment, "PROCTOR_DEADLINE": str(int(time.time() + limits.timeout_s))}
        request = {
            "function": self._function,
            "input": None if test.input is UNSET else str(place.input_file),
            "is_text": isinstance(test.input, str),
            "result": str(result),
        }
        try:
            ended = supervise(self._start(request, place, environment), limits, cancel)
        except (OSError, ProctorError) as err:
            message = f"The trial's process could not be started or waited for: {err}"
            return Attempt(
                ending=Ending.HARNESS_FAILURE, defect=Defect(type=type(err).__name__, message=message)
            )
        return self._attempt_of(ended, result)

    def close(self) -> None:
        """End the server that has the module imported."""
        with self._lock:
            zygote, self._zygote = self._zygote, None
        if zygote is not None:
            zygote.close()

    def _start(self, request: dict[str, Any], place: Place, environment: dict[str, str]) -> Child:
        if self._fresh:
            asked = {"source": self._source, "request": request, "workdir": str(place.workdir)}
            return start_command(
                python_command(f"{_CHILD}:run_fresh", msgspec.json.encode(asked).decode()),
                cwd=self._launch_dir,
                env=environment,
                stdout=place.stdout,
                stderr=place.stderr,
            )
        zygote, found = self._ready(None)
        try:
            return self._fork(zygote, found, request, place, environment)
        except ZygoteError:
            # An earlier trial may have ended its parent; that is no fault of this one.
            zygote, found = self._ready(zygote)
            return self._fork(zygote, found, request, place, environment)

    def _fork(
        self,
        zygote: Zygote,
        found: Found,
        request: dict[str, Any],
        place: Place,
        environment: dict[str, str],
    ) -> Child:
        return zygote.spawn(
            f"{_CHILD}:run_trial",
            request | {"module": found.module},
            cwd=place.workdir,
            env=environment,
            stdout=place.stdout,
            stderr=place.stderr,
        )

    def _ready(self, broken: Zygote | None) -> tuple[Zygote, Found]:
        """The server, a new one where there is none or it is the broken one."""
        with self._lock:
            if self._zygote is not None and self._zygote is broken:
                self._zygote.close()
                self._zygote = None
            if self._zygote is None or self._found is None:
                self._zygote, self._found = self._import()
            return self._zygote, self._found

    @property
    def _source(self) -> dict[str, Any]:
        folder = self._launch_dir if self._file is None else self._file.parent
        return {
            "file": None if self._file is None else str(self._file),
            "module": self._module,
            "function": self._function,
            "path": [str(folder)],
        }

    def _import(self) -> tuple[Zygote, Found]:
        with tempfile.TemporaryDirectory(prefix="proctor-") as folder:
            printed = Path(folder, "printed")
            try:
                zygote = Zygote(
                    f"{_CHILD}:prepare_module",
                    self._source,
                    env=self._environment,
                    cwd=self._launch_dir,
                    stderr=printed,
                )
            except ZygoteError as err:
                raise unimportable(self._module, err.defect, tail_of(printed)) from err
            if "defect" in zygote.reply:
                zygote.close()
                defect = msgspec.convert(zygote.reply["defect"], Defect)
                raise unimportable(self._module, defect, tail_of(printed))
            return zygote, msgspec.convert(zygote.reply, Found)

    def _file_of_module(self) -> Path | None:
        if self._found is not None and self._found.origin is not None:
            return Path(self._found.origin)
        base = self._launch_dir.joinpath(*self._module.split("."))
        return next(
            (file for file in (base.with_suffix(".py"), base / "__init__.py") if file.is_file()), None
        )

    def _attempt_of(self, ended: Exit, result: Path) -> Attempt:
        outcome = _read(result)
        ending, defect = _ending_of(ended, outcome)
        is_answered = outcome is not None and outcome.defect is None
        return Attempt(
            ending=ending,
            output=outcome.output if outcome is not None and is_answered else None,
            signal=ended.signal,
            defect=defect,
            max_rss_kb=ended.max_rss_kb,
            notes=(*self._notes, *(outcome.notes if outcome is not None else ())),
        )


def _read(result: Path) -> _Outcome | None:
    """What the child wrote; None when it never came to that."""
    content = whole(result, LARGEST_RESULT)
    if content is None:
        return None
    if not content:
        message = f"The function returned more than {LARGEST_RESULT:,} bytes of JSON."
        return _Outcome(defect=Defect(type="too-large", message=message))
    try:
        return msgspec.json.decode(content, type=_Outcome)
    except msgspec.DecodeError:
        return None


def _ending_of(ended: Exit, outcome: _Outcome | None) -> tuple[Ending, Defect | None]:
    if ended.cancelled:
        return Ending.INTERRUPTED, None
    if ended.timed_out:
        return Ending.TIMEOUT, None
    if ended.signal is not None:
        message = f"The process was ended by {ended.signal}, which proctor did not send."
        return Ending.KILLED, Defect(type="killed", message=message)
    if outcome is None:
        message = f"The process ended without returning (exit code {ended.code})."
        return Ending.ERROR, Defect(type="no-return", message=message)
    if outcome.defect is not None:
        return Ending.ERROR, outcome.defect
    return Ending.OK, None
