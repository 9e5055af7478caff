"""One process of an agent, from its start to what it left: how every kind that starts a program is judged."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from proctor.agents.streams import answer_of, tail_of
from proctor.host.child import Exit, start_command, supervise
from proctor.ports import Cancel, Place
from proctor.records.grade import Defect
from proctor.records.run import Attempt, Ending, Limits


def run_process(
    argv: Sequence[str],
    shown: str,
    place: Place,
    limits: Limits,
    cancel: Cancel,
    *,
    stdin: Path | None = None,
) -> Attempt:
    """Start a program in the workdir, wait for its end within the limits, and read its output.

    Args:
        argv: the program's path and its arguments.
        shown: the program as messages name it.
        stdin: the file that is its standard input; an empty one when None.
    """
    environment = {**place.environment, "PROCTOR_DEADLINE": str(int(time.time() + limits.timeout_s))}
    try:
        child = start_command(
            argv, cwd=place.workdir, env=environment, stdin=stdin, stdout=place.stdout, stderr=place.stderr
        )
    except (OSError, ValueError) as err:
        message = f"{shown!r} could not be started: {err}"
        return Attempt(ending=Ending.HARNESS_FAILURE, defect=Defect(type=type(err).__name__, message=message))
    return _attempt_of(supervise(child, limits, cancel), place)


def _attempt_of(ended: Exit, place: Place) -> Attempt:
    ending, defect = _ending_of(ended, place)
    answer = answer_of(place)
    return Attempt(
        ending=ending,
        output=answer.text,
        exit_code=ended.code,
        signal=ended.signal,
        defect=defect,
        max_rss_kb=ended.max_rss_kb,
        notes=answer.notes,
    )


def _ending_of(ended: Exit, place: Place) -> tuple[Ending, Defect | None]:
    if ended.cancelled:
        return Ending.INTERRUPTED, None
    if ended.timed_out:
        return Ending.TIMEOUT, None
    if ended.code == 0:
        return Ending.OK, None
    if ended.signal is not None:
        how = f"The command was ended by {ended.signal}, which proctor did not send."
        return Ending.KILLED, Defect(type="killed", message=_with_tail(how, place))
    how = f"The command ended with exit code {ended.code}."
    return Ending.ERROR, Defect(type="exit-code", message=_with_tail(how, place))


def _with_tail(how: str, place: Place) -> str:
    tail = tail_of(place.stderr)
    return f"{how} The end of its standard error:\n{tail}" if tail else f"{how} Its standard error is empty."
