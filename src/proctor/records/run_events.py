"""What `proctor run --json` prints: one object a line, as things happen."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

import msgspec

from proctor.records.fault import Owner
from proctor.records.report import Report
from proctor.records.run import Ending

EVENT_SCHEMA: Final = "proctor.run-event/1"

Stop: TypeAlias = Literal["interrupted", "max-cost", "max-time", "max-failures"]
"""Why trials that were planned were not started."""


class SaidFault(msgspec.Struct, frozen=True, kw_only=True):
    """Whose fault it is that a trial says nothing about the agent.

    Attributes:
        owner: who has to look at it.
        kind: a short word for it.
        rule: the rule of the settings that decided it; None where that was the built-in table.
        retry: the same trial may end otherwise a little later.
    """

    owner: Owner
    kind: str
    rule: str | None
    retry: bool


class Planned(msgspec.Struct, frozen=True, kw_only=True):
    """The run begins.

    Attributes:
        event: always `planned`.
        at: when, ISO 8601 in UTC.
        group: the group's folder.
        agent: as it was named.
        suite: its name.
        planned: number of trials.
        parallel: how many run at once.
    """

    schema: str = EVENT_SCHEMA
    event: Literal["planned"] = "planned"
    at: str
    group: str
    agent: str
    suite: str
    planned: int
    parallel: int


class Started(msgspec.Struct, frozen=True, kw_only=True):
    """A trial was started.

    Attributes:
        event: always `started`.
        at: when, ISO 8601 in UTC.
        run: name of the run directory that it will have.
        test: id of its test.
        trial: 1 for the first.
        attempt: 1 for the first at this trial.
    """

    schema: str = EVENT_SCHEMA
    event: Literal["started"] = "started"
    at: str
    run: str
    test: str
    trial: int
    attempt: int


class Ended(msgspec.Struct, frozen=True, kw_only=True):
    """A trial has ended: `ended`, and is recorded; or `lost`, since it could not be recorded.

    Attributes:
        event: `ended`, or `lost`.
        at: when, ISO 8601 in UTC.
        run: name of the run directory.
        test: id of its test.
        trial: 1 for the first.
        attempt: 1 for the first at this trial.
        ending: how it ended; None for one that is lost.
        reason: why it did not end well.
        fault: whose fault that is, where it says nothing about the agent.
        duration_s: seconds since its start.
        cost_usd: what its model calls cost, in US dollars; None where that is not known.
        again_in_s: it will be run again, after so many seconds at the earliest; None when this was the last attempt.
    """

    schema: str = EVENT_SCHEMA
    event: Literal["ended", "lost"]
    at: str
    run: str
    test: str
    trial: int
    attempt: int
    ending: Ending | None
    reason: str
    fault: SaidFault | None
    duration_s: float
    cost_usd: float | None
    again_in_s: float | None


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """The run goes on; said once a minute.

    Attributes:
        event: always `progress`.
        at: when, ISO 8601 in UTC.
        planned: number of trials.
        done: of these, those that have ended for good.
        running: of these, those that are running.
        endings: how often each ending came, by its name.
        elapsed_s: seconds since the beginning.
        left_s: seconds that it will still take; None where nobody can tell.
        cost_usd: what is known of what all have cost; None where nothing is.
    """

    schema: str = EVENT_SCHEMA
    event: Literal["progress"] = "progress"
    at: str
    planned: int
    done: int
    running: int
    endings: dict[str, int]
    elapsed_s: float
    left_s: float | None
    cost_usd: float | None


class NotOk(msgspec.Struct, frozen=True, kw_only=True):
    """A trial that did not end well.

    Attributes:
        run: name of the run directory.
        test: id of its test.
        trial: 1 for the first.
        ending: None for one that could not be recorded.
        reason: why.
        fault: whose fault that is, where it says nothing about the agent.
    """

    run: str
    test: str
    trial: int
    ending: Ending | None
    reason: str
    fault: SaidFault | None


class Cost(msgspec.Struct, frozen=True, kw_only=True):
    """What the attempts of an invocation cost.

    Attributes:
        known_usd: of those whose cost is known, and of others as far as it is, in US dollars.
        known: number of trials whose cost is known.
        unknown: number of trials whose cost is not known; they count for nothing in `known_usd`.
    """

    known_usd: float = 0.0
    known: int = 0
    unknown: int = 0


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """The run is over: the last line, unless it is graded.

    Attributes:
        event: always `summary`.
        at: when, ISO 8601 in UTC.
        group: the group's folder.
        planned: number of trials.
        endings: how often each ending came.
        not_ok: trials that did not end well.
        stopped: why not all were run; None when all were.
        not_started: trials that were not.
        repeated: attempts that were made again, and count no more.
        cost: what the attempts of this invocation cost.
        exit_code: what the shell is told.
    """

    schema: str = EVENT_SCHEMA
    event: Literal["summary"] = "summary"
    at: str
    group: str
    planned: int
    endings: dict[str, int]
    not_ok: tuple[NotOk, ...]
    stopped: Stop | None
    not_started: int
    repeated: int
    cost: Cost
    exit_code: int


class Graded(msgspec.Struct, frozen=True, kw_only=True):
    """What the grades come to: the last line of a run that is graded.

    Attributes:
        event: always `report`.
        at: when, ISO 8601 in UTC.
        report: as `proctor grade --json` prints it.
    """

    schema: str = EVENT_SCHEMA
    event: Literal["report"] = "report"
    at: str
    report: Report


RunEvent: TypeAlias = Planned | Started | Ended | Progress | Summary | Graded
EVENTS: Final = (Planned, Started, Ended, Progress, Summary, Graded)
"""Every kind of line."""
