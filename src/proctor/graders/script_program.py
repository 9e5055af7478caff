"""Grading scripts that are programs: the context as JSON on standard input, the outcome as JSON on standard output."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from proctor.graders.is_json import no_constant, no_duplicates
from proctor.graders.script_hosts import ScriptFailure, ScriptTimeout
from proctor.host.limited import run_limited
from proctor.host.readonly import read_only
from proctor.host.tree import copy_tree, remove_tree
from proctor.ports import RunView
from proctor.records.grade import Defect
from proctor.records.run import Limits

GRACE_S: Final = 1.0
LARGEST_ANSWER: Final = 64 * 1024
_TAIL: Final = 2_000
_SIGNALLED: Final = 128


def why_no_program(path: Path, shown: str) -> str:
    """Why a file cannot be started as a program; empty when it can."""
    if not os.access(path, os.X_OK):
        return f"{shown} may not be executed; a script without a known ending is a program: chmod +x {shown}"
    return ""


def run_program(
    path: Path, context: Mapping[str, str], run: RunView, *, shown: str, timeout_s: float
) -> Mapping[str, Any]:
    """What the program answers: `outcome` and `detail`, each `{"text": ...}`, or `{"other": ...}` for what is no text.

    Raises:
        ScriptFailure: it cannot be started, does not end with exit code 0, or prints something else.
        ScriptTimeout: it took longer than `timeout_s`, and was ended.
    """
    if problem := why_no_program(path, shown):
        raise ScriptFailure(Defect(type="NotStarted", message=problem))
    room = Path(tempfile.mkdtemp(prefix="proctor-program-")).resolve()
    try:
        return _answered(path, context, run, room, shown, timeout_s)
    finally:
        remove_tree(room)


def _answered(
    path: Path, context: Mapping[str, str], run: RunView, room: Path, shown: str, timeout_s: float
) -> Mapping[str, Any]:
    tmp, given, out, err = room / "tmp", room / "in", room / "out", room / "err"
    tmp.mkdir()
    environment = {**run.environment, "TMPDIR": str(tmp), "TEMP": str(tmp), "TMP": str(tmp)}
    try:
        argv = read_only([str(path)], environment, writable=[tmp])
        if argv is None:
            copy_tree(run.workdir, room / "workdir")
            context = {**context, "fixturePath": str(room / "workdir")}
        given.write_text(json.dumps(context))
        ended = run_limited(
            argv or [str(path)],
            cwd=run.base,
            env=environment,
            stdin=given,
            stdout=out,
            stderr=err,
            limits=Limits(timeout_s=timeout_s, grace_s=GRACE_S),
        )
    except OSError as error:
        raise ScriptFailure(
            Defect(type="NotStarted", message=f"{shown} could not be started: {error.strerror}")
        ) from error
    if ended.timed_out:
        raise ScriptTimeout
    printed = _tail(err)
    signal = ended.signal
    if signal is None and ended.code is not None and ended.code > _SIGNALLED:
        signal = f"signal {ended.code - _SIGNALLED}"
    if signal is not None:
        raise _failed("Ended", f"{shown} was ended by {signal}", printed)
    if ended.code != 0:
        raise _failed("Ended", f"{shown} ended with exit code {ended.code}", printed)
    return _read(out, shown, printed)


def _read(out: Path, shown: str, printed: str) -> Mapping[str, Any]:
    with out.open("rb") as stream:
        content = stream.read(LARGEST_ANSWER + 1)
    if len(content) > LARGEST_ANSWER:
        raise _failed("BrokenScript", f"{shown} printed more than {LARGEST_ANSWER} bytes", printed)
    if not content.strip():
        raise _failed("BrokenScript", f"{shown} printed nothing, and no {{outcome, detail}}", printed)
    try:
        value = json.loads(content, object_pairs_hook=no_duplicates, parse_constant=no_constant)
    except (ValueError, RecursionError) as error:
        said = f"{shown} printed something else than one JSON object: {error}"
        raise _failed("BrokenScript", said, printed or content[-_TAIL:].decode("utf-8", "replace")) from error
    if not isinstance(value, dict):
        raise _failed("BrokenScript", f"{shown} printed {_cut(value)}, and no {{outcome, detail}}", printed)
    return {name: _text(value.get(name)) for name in ("outcome", "detail")}  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]


def _text(value: Any) -> Mapping[str, str]:
    return {"text": value} if isinstance(value, str) else {"other": _cut(value)}


def _cut(value: Any) -> str:
    return json.dumps(value)[:200]


def _tail(stream: Path) -> str:
    with stream.open("rb") as printed:
        printed.seek(max(0, stream.stat().st_size - _TAIL))
        return printed.read().decode("utf-8", "replace")


def _failed(kind: str, message: str, printed: str) -> ScriptFailure:
    return ScriptFailure(Defect(type=kind, message=message, printed=printed))
