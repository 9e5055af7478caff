"""The exit codes of the command line, a sentence each."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """What a command tells the shell, and so what CI sees."""

    OK = 0
    """Every gate passed, and everything that was asked for was done."""
    CANNOT = 1
    """The job could not be done: wrong usage, an unusable suite, no runs."""
    GATE_FAILED = 2
    """A gate failed, something that was demanded was missed, or a candidate is worse."""
    INCONCLUSIVE = 3
    """Something could not be told."""
    AGENT_FAILED = 4
    """An agent did not end well."""
    OUT_OF_BUDGET = 5
    """A budget of the whole invocation ran out."""
    OUR_FAULT = 70
    """A defect of proctor itself."""
    INTERRUPTED = 130
    """Stopped by the operator."""


def worse(one: int, other: int) -> ExitCode:
    """The worse of two exit codes: what could not be done, then a failed gate, a failed agent, the unclear."""
    order = (
        ExitCode.CANNOT,
        ExitCode.INTERRUPTED,
        ExitCode.OUT_OF_BUDGET,
        ExitCode.GATE_FAILED,
        ExitCode.AGENT_FAILED,
        ExitCode.INCONCLUSIVE,
        ExitCode.OK,
    )
    return next(code for code in order if code in (one, other))
