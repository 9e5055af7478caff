"""The inside of the process that grading scripts in Python run in: loads them, and calls them, one question a line."""

from __future__ import annotations

import importlib.util
import inspect
import json
import os
import random
import socket
import sys
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from proctor.records.outcome_script import EvalGraderContext, EvalScriptOutcome


class BrokenScript(ValueError):
    """A grading script does not keep its contract."""


def serve(descriptor: str, folders: str) -> None:
    """Answer questions until the channel closes.

    Args:
        descriptor: of the channel.
        folders: JSON, where modules are looked for.
    """
    sys.dont_write_bytecode = True
    sys.path[:] = json.loads(folders)
    channel = socket.socket(fileno=int(descriptor))
    caller = _Caller()
    with channel, channel.makefile("rwb") as lines:
        _send(lines, {"ready": True})
        for line in lines:
            _send(lines, caller.answer(json.loads(line)))


def _send(lines: Any, message: Mapping[str, Any]) -> None:
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    lines.write(json.dumps(message).encode() + b"\n")
    lines.flush()


class _Caller:
    def __init__(self) -> None:
        self._pid, self._home = os.getpid(), Path.cwd()
        self._streams = sys.stdout, sys.stderr
        self._variables = dict(os.environ)
        self._loop: Any = None

    def answer(self, asked: Mapping[str, Any]) -> Mapping[str, Any]:
        """What one question gives. Whatever the script does is its failure."""
        random.seed(asked.get("seed"))
        try:
            return self._called(asked)
        except BaseException as error:  # noqa: BLE001  # around a grader
            return {"failed": _failure(error)}
        finally:
            if os.getpid() != self._pid:
                os._exit(0)  # a fork that the script made and that came back here
            self._restore()

    def _called(self, asked: Mapping[str, Any]) -> Mapping[str, Any]:
        shown = asked["shown"]
        function = _grade_function(Path(asked["script"]), shown)
        context = asked.get("context")
        if context is None:
            return {"loaded": True}
        returned = function(
            EvalGraderContext(
                artifact_root=Path(context["artifactRoot"]),
                fixture_path=Path(context["fixturePath"]),
                prompt=context["prompt"],
            )
        )
        if inspect.isawaitable(returned):
            returned = self._run_to_its_end(returned)
        if not isinstance(returned, EvalScriptOutcome):
            raise BrokenScript(
                f"grade() in {shown} returned {type(returned).__name__}, not an EvalScriptOutcome"
            )
        return {"outcome": _text(returned.outcome), "detail": _text(returned.detail)}

    def _run_to_its_end(self, awaitable: Any) -> Any:
        import asyncio

        if self._loop is None:
            self._loop = asyncio.Runner()

        async def wait() -> Any:
            return await awaitable

        return self._loop.run(wait())

    def _restore(self) -> None:
        """Put folder, environment and streams back as they were."""
        sys.stdout, sys.stderr = self._streams
        if dict(os.environ) != self._variables:
            os.environ.clear()
            os.environ.update(self._variables)
        os.chdir(self._home)


def _text(value: Any) -> Mapping[str, str]:
    if isinstance(value, str):
        return {"text": value.encode("utf-8", "replace").decode()}
    return {"other": repr(value)[:200]}


def _grade_function(path: Path, shown: str) -> Callable[[EvalGraderContext], Any]:
    """The script's function, loaded anew: each run is graded as if it were the first."""
    # A name that no import can meet, and that two scripts of the same stem do not share.
    name = f"outcome script {path}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise BrokenScript(f"{shown} is no Python module; a grading script is a .py file")
    module = importlib.util.module_from_spec(spec)
    folder = str(path.parent)
    if folder not in sys.path:
        sys.path.append(folder)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    function = getattr(module, "grade", None)
    if not callable(function):
        raise BrokenScript(f"{shown} does not define a function named grade")
    return function


def _failure(error: BaseException) -> Mapping[str, str]:
    """Type, message and stack, the stack from the script's own code on."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = (str(Path(__file__).parent), "<frozen importlib")
    theirs = [frame for frame in frames if not frame.filename.startswith(ours)]
    lines = ["Traceback (most recent call last):\n", *traceback.format_list(theirs)]
    stack = "".join(lines) + "".join(traceback.format_exception_only(error))
    try:
        message = str(error)
    except Exception as broken:  # noqa: BLE001  # around a grader: its exception cannot even say what it is
        message = f"(its message raised {type(broken).__name__})"
    shown = stack if theirs and not isinstance(error, BrokenScript) else ""
    return {"type": type(error).__name__, "message": _plain(message), "stack": _plain(shown)}


def _plain(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")
