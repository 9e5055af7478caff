"""One process of an agent, from its start to what it left: how every kind that starts a program is judged."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from proctor.agents.streams import answer_of, tail_of
from proctor.core.faults import kind_of_error
from proctor.host.child import CommandChild, Exit, start_command, supervise
from proctor.ports import Cancel, Place
from proctor.records.grade import Defect
from proctor.records.isolation import Usage
from proctor.records.run import Attempt, Ending, Limits


def run_process(
    argv: Sequence[str],
    shown: str,
    place: Place,
    limits: Limits,
    cancel: Cancel,
    *,
    stdin: Path | None = None,
    more: Mapping[str, str] | None = None,
) -> Attempt:
    """Start a program in the workdir, wait for its end within the limits, and read its output.

    Args:
        argv: the program's path and its arguments.
        shown: the program as messages name it.
        stdin: the file that is its standard input; an empty one when None.
        more: variables that it gets beside those of its place.
    """
    try:
        child = start_in(place, argv, {**limits_told(limits), **(more or {})}, stdin=stdin)
    except (OSError, ValueError) as err:
        message = f"{shown!r} could not be started: {err}"
        return Attempt(
            ending=Ending.HARNESS_FAILURE,
            defect=Defect(type=kind_of_error(err, at_start=True), message=message),
        )
    return _attempt_of(supervise(child, limits, cancel, place.exceeded), place)


def start_in(
    place: Place, argv: Sequence[str], more: Mapping[str, str], *, stdin: Path | None = None
) -> CommandChild:
    """Start a program as the place says that its programs are started, with `more` in its environment.

    Raises:
        OSError: it could not be started.
        ValueError: an argument holds a NUL.
    """
    launch = place.launch(argv, more)
    return start_command(
        launch.argv,
        cwd=launch.cwd,
        env=launch.environment,
        stdin=stdin,
        stdout=place.stdout,
        stderr=place.stderr,
        status=launch.status,
    )


def limits_told(limits: Limits) -> dict[str, str]:
    """What the agent is told of its limits, as variables: when its time is up, and what it may spend."""
    told = {"PROCTOR_DEADLINE": str(int(time.time() + limits.timeout_s))}
    if limits.cost_usd is not None:
        told["PROCTOR_MAX_COST"] = f"{limits.cost_usd:g}"
    if limits.tokens is not None:
        told["PROCTOR_MAX_TOKENS"] = str(limits.tokens)
    return told


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
        usage=Usage(cpu_s=ended.cpu_s),
        notes=answer.notes,
    )


def _ending_of(ended: Exit, place: Place) -> tuple[Ending, Defect | None]:
    if (stopped := stopped_by_us(ended)) is not None:
        return stopped
    if ended.code == 0:
        return Ending.OK, None
    if ended.signal is not None:
        how = f"The command was ended by {ended.signal}, which proctor did not send."
        return Ending.KILLED, Defect(type="killed", message=_with_tail(how, place))
    how = f"The command ended with exit code {ended.code}."
    return Ending.ERROR, Defect(type="exit-code", message=_with_tail(how, place))


def stopped_by_us(ended: Exit) -> tuple[Ending, Defect | None] | None:
    """The ending of a process that we have ended ourselves, or never started; None for any other."""
    if ended.unstarted is not None:
        message = f"Its program could not be started: {ended.unstarted}"
        return Ending.HARNESS_FAILURE, Defect(type="no-program", message=message)
    if ended.cancelled:
        return Ending.INTERRUPTED, None
    if ended.timed_out:
        return Ending.TIMEOUT, None
    if ended.exceeded is not None:
        return ended.exceeded.ending, Defect(type=ended.exceeded.ending.value, message=ended.exceeded.message)
    return None


def _with_tail(how: str, place: Place) -> str:
    tail = tail_of(place.stderr)
    return f"{how} The end of its standard error:\n{tail}" if tail else f"{how} Its standard error is empty."
