"""An agent that is a Python function: its module is imported once, and each trial is a fork of that."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import UNSET

from proctor.agents.function_checks import Found, check, parts, unimportable
from proctor.agents.process import limits_told, start_in, stopped_by_us
from proctor.agents.streams import tail_of, whole
from proctor.core.faults import kind_of_error
from proctor.errors import AgentError, ProctorError
from proctor.host.child import Child, Exit, supervise
from proctor.host.interpreter import python_command
from proctor.host.zygote import Zygote, ZygoteError
from proctor.ports import Cancel, Place, Surroundings
from proctor.records.grade import Defect
from proctor.records.isolation import Usage
from proctor.records.json_value import Json, digest_of_bytes, storable
from proctor.records.run import AgentIdentity, Attempt, Ending, Limits
from proctor.records.suite import Test

LARGEST_RESULT = 64 * 1024 * 1024
"""Bytes of JSON that a function may return."""

_CHILD = "proctor.agents.function_child"
_THREADS = "importing it starts threads, which a fork would lose"
_TRACED = "importing it sets up OpenTelemetry, whose exporters do not outlive a fork"


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

    Raises:
        AgentError: the target is none of these, or its file is not there.
    """

    def __init__(
        self,
        target: str,
        *,
        launch_dir: Path,
        fresh: bool = False,
    ) -> None:
        self._launch_dir = launch_dir.absolute()
        self._environment: Mapping[str, str] | None = None
        self._lock = threading.Lock()
        self._zygote: Zygote | None = None
        self._found: Found | None = None
        self._identity: AgentIdentity | None = None
        self._asked_fresh = self._fresh = fresh
        self._notices: tuple[str, ...] = ()
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

    @property
    def notices(self) -> tuple[str, ...]:
        """What the operator is told once of all trials: why each has an interpreter of its own, unasked."""
        return self._notices

    @property
    def files(self) -> tuple[Path, ...]:
        """Its file, which in a sandbox it must see wherever it lies."""
        return () if self._file is None else (self._file,)

    def prepare(self, tests: Sequence[Test], surroundings: Surroundings) -> None:
        """Import the module, and check that the function takes what these tests give.

        Raises:
            AgentError: the import raised, there is no such function, or it takes something else.
        """
        self.close()
        self._environment = surroundings.environment
        zygote, found = self._import()
        try:
            check(found, self._label, tests)
        except AgentError:
            zygote.close()
            raise
        self._found = found
        why = _TRACED if found.traced else _THREADS if zygote.threads > 1 else None
        self._fresh = self._asked_fresh or why is not None or surroundings.is_confined
        is_news = why is not None and not self._asked_fresh and not surroundings.is_confined
        self._notices = (f"{self._label} gets a fresh interpreter for each trial: {why}.",) if is_news else ()
        if self._fresh:
            zygote.close()
        else:
            self._zygote = zygote

    def attempt(self, test: Test, place: Place, limits: Limits, cancel: Cancel) -> Attempt:
        """Call the function once."""
        result = place.output_file.with_name("result.json")
        request = {
            "function": self._function,
            "input": None if test.input is UNSET else place.as_seen(place.input_file),
            "is_text": isinstance(test.input, str),
            "result": place.as_seen(result),
        }
        try:
            child = self._start(request, place, limits_told(limits))
            ended = supervise(child, limits, cancel, place.exceeded)
        except (OSError, ProctorError) as err:
            message = f"The trial's process could not be started or waited for: {err}"
            return Attempt(
                ending=Ending.HARNESS_FAILURE,
                defect=Defect(type=kind_of_error(err, at_start=True), message=message),
            )
        return self._attempt_of(ended, result)

    def close(self) -> None:
        """End the server that has the module imported."""
        with self._lock:
            zygote, self._zygote = self._zygote, None
        if zygote is not None:
            zygote.close()

    def _start(self, request: dict[str, Any], place: Place, told: dict[str, str]) -> Child:
        if self._fresh:
            asked = {
                "source": self._source,
                "request": request,
                "launch_dir": str(self._launch_dir),
                "workdir": place.as_seen(place.workdir),
            }
            program = python_command(f"{_CHILD}:run_fresh", msgspec.json.encode(asked).decode())
            return start_in(place, program, told)
        environment = {**place.environment, **told}
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
            bounds=place.bounds_told,
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
            usage=Usage(cpu_s=ended.cpu_s),
            notes=tuple(outcome.notes) if outcome is not None else (),
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
    if (stopped := stopped_by_us(ended)) is not None:
        return stopped
    if ended.signal is not None:
        message = f"The process was ended by {ended.signal}, which proctor did not send."
        return Ending.KILLED, Defect(type="killed", message=message)
    if outcome is None:
        message = f"The process ended without returning (exit code {ended.code})."
        return Ending.ERROR, Defect(type="no-return", message=message)
    if outcome.defect is not None:
        return Ending.ERROR, outcome.defect
    return Ending.OK, None
