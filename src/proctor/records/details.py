"""What people want to read of a run beside its numbers: what went in, what came out, who it was."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import msgspec


class Excerpt(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a text.

    Attributes:
        text: the part.
        left_out: characters that are not in it.
        is_end: the part is the end of the text, and not its beginning.
    """

    text: str
    left_out: int = 0
    is_end: bool = False


class RunDetails(msgspec.Struct, frozen=True, kw_only=True):
    """What a run directory says that is no number of the Report.

    Attributes:
        path: the run directory, as it is reached from here.
        suite: name of the suite.
        agent: kind and name of the agent, its version and model where they are known.
        started_at: ISO 8601, UTC.
        exit_code: of a command.
        signal: name of the signal that ended it, where one did.
        tags: of the test.
        goal: what a judge is to look for.
        input: what the agent was given; None where that is nothing.
        expected: what graders compare with; None where there is nothing.
        output: what it answered; None where that is nothing.
        stderr: the end of what it printed to standard error; only of a run that did not pass.
        notes: what was noticed on the way.
    """

    path: str
    suite: str = ""
    agent: str = ""
    started_at: str = ""
    exit_code: int | None = None
    signal: str | None = None
    tags: tuple[str, ...] = ()
    goal: str = ""
    input: Excerpt | None = None
    expected: Excerpt | None = None
    output: Excerpt | None = None
    stderr: Excerpt | None = None
    notes: tuple[str, ...] = ()


Details: TypeAlias = Mapping[tuple[str, str], RunDetails]
"""The details of runs, by the path of the group and the name of the run, both as the Report has them."""
