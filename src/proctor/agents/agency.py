"""An agent that is an `.agency` file: compiled once by the language's own tool, one node called for each trial."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import UNSET

from proctor.agents.agency_build import (
    BUILD_WITHIN_S,
    DEFAULT_COMMAND,
    Project,
    Tools,
    build,
    find_tools,
    modules_of,
    project_of,
    run_tool,
)
from proctor.agents.function import LARGEST_RESULT
from proctor.agents.process import limits_told, start_in, stopped_by_us
from proctor.agents.streams import tail_of, whole
from proctor.errors import AgentError, Fault, did_you_mean
from proctor.host.child import Exit, supervise
from proctor.host.place import private_folder
from proctor.host.tree import remove_tree
from proctor.ports import Cancel, Place, Surroundings
from proctor.records.grade import Defect
from proctor.records.isolation import Usage
from proctor.records.json_value import Json, digest_of, digest_of_bytes, storable
from proctor.records.run import AgentIdentity, Attempt, Ending, Limits
from proctor.records.suite import Test

_SCRIPTS = ("call_agency.mjs", "tell_statelog.mjs")
_FOLDER = "agency"


class _Told(msgspec.Struct, frozen=True):
    """What `call_agency.mjs` wrote of a call."""

    output: Json = None
    defect: Defect | None = None


class _Described(msgspec.Struct, frozen=True):
    """What `call_agency.mjs` wrote of a module."""

    nodes: list[str] = []
    exists: bool = False
    params: int | None = None
    defect: Defect | None = None


class AgencyAgent:
    """Calls one node of an `.agency` file in Node.js, once for each trial.

    What it imports is copied when the agent is prepared, and again for each trial: no trial sees what another one
    has written beside the code, and nothing is written beside the user's own.

    Args:
        target: `path/agent.agency`, or `path/agent.agency:node`; without a node, `main`.
        launch_dir: what the path is relative to.
        command: the Agency tool; split into words as a command of `--agent-cmd` is.

    Raises:
        AgentError: there is no such file.
    """

    def __init__(self, target: str, *, launch_dir: Path, command: str = DEFAULT_COMMAND) -> None:
        named, _, node = target.rpartition(".agency")
        self._name, self._node = f"{named}.agency", node.removeprefix(":") or "main"
        self._launch_dir, self._command = launch_dir.absolute(), command
        self._file = self._launch_dir / self._name
        if not self._file.is_file():
            raise AgentError(
                f"There is no file {self._name!r} in {str(self._launch_dir)!r}.",
                where=target,
                fix="Give the path of the file, relative to the folder that you start proctor in.",
            )
        self._identity: AgentIdentity | None = None
        self._folder: Path | None = None
        self._module = Path()
        self._tools: Tools | None = None

    @property
    def identity(self) -> AgentIdentity:
        """The file and the node without this machine's folders; the digest is of all files that it imports."""
        if self._identity is None:
            self._identity = self._identified(project_of(self._file))
        return self._identity

    @property
    def files(self) -> tuple[Path, ...]:
        """The modules that npm installed for it, which in a sandbox it must see; the rest is copied.

        Raises:
            AgentError: it imports a file that is not there.
        """
        modules = modules_of(project_of(self._file).root)
        return () if modules is None else (modules,)

    def prepare(self, tests: Sequence[Test], surroundings: Surroundings) -> None:
        """Compile the file, import it once, and check that the node is there and takes what these tests give.

        Raises:
            AgentError: the tool is not installed, it does not compile, or a test does not fit.
        """
        self.close()
        tools = find_tools(self._command, self._launch_dir, surroundings.environment)
        folder = private_folder("proctor-agency")
        self._folder, self._tools = folder, tools
        project = project_of(self._file)
        self._identity = self._identified(project)
        self._module = build(project, folder, tools, surroundings.environment)
        for script in _SCRIPTS:
            shutil.copyfile(Path(__file__).with_name(script), folder / script)
        self._check(self._described(folder, tools, surroundings), tests)

    def attempt(self, test: Test, place: Place, limits: Limits, cancel: Cancel) -> Attempt:
        """Call the node once."""
        assert self._folder is not None, "prepare comes first"
        assert self._tools is not None
        home = place.output_file.with_name(_FOLDER)
        shutil.copytree(self._folder, home, symlinks=True)
        asked, result = home / "asked.json", place.output_file.with_name("result.json")
        statelog = place.output_file.with_name("statelog.jsonl")
        request = {
            "input": None if test.input is UNSET else place.as_seen(place.input_file),
            "is_text": isinstance(test.input, str),
            "statelog": place.as_seen(statelog),
        }
        asked.write_text(json.dumps(request))
        paths = (home / self._module, self._node, asked, result)
        argv = [
            self._tools.node,
            place.as_seen(home / _SCRIPTS[0]),
            *(place.as_seen(path) if isinstance(path, Path) else path for path in paths),
        ]
        told = {"observability": True, "log": {"logFile": place.as_seen(statelog)}}
        more = limits_told(limits) | {"AGENCY_CONFIG_OVERRIDES": json.dumps(told)}
        try:
            child = start_in(place, argv, more)
            ended = supervise(child, limits, cancel, place.exceeded)
        except (OSError, ValueError) as error:
            message = f"Node.js could not be started: {error}"
            return Attempt(
                ending=Ending.HARNESS_FAILURE, defect=Defect(type=type(error).__name__, message=message)
            )
        return _attempt_of(ended, result)

    def close(self) -> None:
        """Take the copies away."""
        if self._folder is not None:
            remove_tree(self._folder)
        self._folder = self._tools = None

    def _identified(self, project: Project) -> AgentIdentity:
        files = {
            name.as_posix(): digest_of_bytes((project.root / name).read_bytes()) for name in project.files
        }
        shown = self._file.name if Path(self._name).is_absolute() else self._name
        label = storable(f"{shown}:{self._node}")
        return AgentIdentity(
            kind="agency", label=label, digest=digest_of({"node": self._node, "files": files})
        )

    def _described(self, folder: Path, tools: Tools, surroundings: Surroundings) -> _Described:
        asked, result, printed = folder / "asked.json", folder / "result.json", folder / ".printed"
        asked.write_text('{"describe": true}')
        argv = [
            tools.node,
            str(folder / _SCRIPTS[0]),
            str(folder / self._module),
            self._node,
            str(asked),
            str(result),
        ]
        ended = run_tool(argv, folder, surroundings.environment, BUILD_WITHIN_S, printed)
        described = _read(result, _Described)
        result.unlink(missing_ok=True)
        asked.unlink()
        if described is None:
            described = _Described(
                defect=Defect(type=f"exit code {ended.code}", message=tail_of(printed.with_suffix(".err")))
            )
        if described.defect is not None:
            defect = described.defect
            raise AgentError(
                f"Importing {self._name} failed: {defect.type}: {defect.message}",
                where=self._name,
                fix="\n    ".join(["Make the import work:", *defect.stack.splitlines()[-12:]]),
            )
        return described

    def _check(self, found: _Described, tests: Sequence[Test]) -> None:
        if not found.exists:
            near = did_you_mean(self._node, found.nodes)
            known = ", ".join(found.nodes) or "none"
            raise AgentError(
                f"{self._name} has no node {self._node!r} that is exported.",
                where=self._name,
                fix=f"Did you mean {near!r}?" if near else f"Name one of its nodes: {known}.",
            )
        faults: list[Fault] = []
        for test in tests:
            given = 0 if test.input is UNSET else 1
            if found.params is not None and found.params != given:
                has = "an input" if given else "no input"
                faults.append(
                    Fault(
                        f"The node {self._node} takes {found.params} parameters, and the test has {has}.",
                        f"test {test.id!r}",
                        f"Give the node {'one parameter' if given else 'no parameter'}, or change the test.",
                    )
                )
        if faults:
            raise AgentError.of(faults)


def _attempt_of(ended: Exit, result: Path) -> Attempt:
    told = _read(result, _Told)
    ending, defect = _ending_of(ended, told)
    output = told.output if told is not None and told.defect is None else None
    return Attempt(
        ending=ending,
        output=output,
        signal=ended.signal,
        defect=defect,
        max_rss_kb=ended.max_rss_kb,
        usage=Usage(cpu_s=ended.cpu_s),
    )


def _ending_of(ended: Exit, told: _Told | None) -> tuple[Ending, Defect | None]:
    if (stopped := stopped_by_us(ended)) is not None:
        return stopped
    if ended.signal is not None:
        message = f"Node.js was ended by {ended.signal}, which proctor did not send."
        return Ending.KILLED, Defect(type="killed", message=message)
    if told is None:
        message = f"The node ended its process without returning (exit code {ended.code})."
        return Ending.ERROR, Defect(type="no-return", message=message)
    if told.defect is not None:
        return Ending.ERROR, told.defect
    return Ending.OK, None


def _read(result: Path, kind: Any) -> Any:
    """What the script wrote; None when it never came to that."""
    content = whole(result, LARGEST_RESULT)
    if not content:
        return None
    try:
        return msgspec.json.decode(content, type=kind)
    except msgspec.DecodeError:
        return None
