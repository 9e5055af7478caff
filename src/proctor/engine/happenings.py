"""What an invocation tells while it runs, and what it did in the end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

import msgspec

from proctor.core.faults import row_of
from proctor.records.exits import ExitCode
from proctor.records.fault import Fault, Owner
from proctor.records.run import Cell, Ending
from proctor.records.run_events import Cost, Stop

State: TypeAlias = Literal["preparing", "running", "recording"]
"""What is being done for a trial."""


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """A trial at this moment.

    Attributes:
        state: what is being done.
        elapsed_s: seconds since it was started.
        cost_usd: what its model calls have cost so far, as far as that is known; None where nobody can tell.
        line: the last line that it printed, without secrets; empty where there is none. Not fit for a terminal.
    """

    state: State
    elapsed_s: float
    cost_usd: float | None = None
    line: str = ""


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """Something happened: to the whole, or to a trial.

    Attributes:
        kind: `planned` for the whole; `started`, `ended`, or `lost`, for a trial that ran and could not be recorded.
        cell: the trial; None for the whole.
        attempt: 1 for the first at this trial.
        planned: number of trials, for the whole.
        parallel: how many run at once, for the whole.
        ending: how it ended; None unless it did, and was recorded.
        reason: why it did not end well.
        fault: whose fault that is, where it says nothing about the agent.
        duration_s: seconds since its start.
        cost_usd: what its model calls cost; None where that is not known.
        again_in_s: it will be run again, after so many seconds at the earliest; None when this was the last attempt.
        seen: for one that was started, how it is at the moment of asking; from any thread, also when it has ended.
    """

    kind: Literal["planned", "started", "ended", "lost"]
    cell: Cell | None = None
    attempt: int = 1
    planned: int = 0
    parallel: int = 0
    ending: Ending | None = None
    reason: str = ""
    fault: Fault | None = None
    duration_s: float = 0.0
    cost_usd: float | None = None
    again_in_s: float | None = None
    seen: Callable[[], Seen] | None = None


class RunSummary(msgspec.Struct, frozen=True, kw_only=True):
    """What one invocation did.

    Attributes:
        planned: number of trials.
        endings: how often each ending came.
        not_ok: the events of those that did not end well, by run directory.
        lost: trials that ran and could not be recorded.
        stopped: why not all were run; None when all were.
        earlier: how the trials ended that an earlier invocation had finished.
        cost: what the attempts of this invocation cost, repeated ones included.
        repeated: attempts that were made again, and count no more.
    """

    planned: int
    endings: dict[Ending, int]
    not_ok: tuple[Event, ...]
    lost: tuple[Event, ...]
    stopped: Stop | None
    earlier: tuple[Ending, ...] = ()
    cost: Cost = Cost()
    repeated: int = 0

    @property
    def not_started(self) -> int:
        """Trials that were planned and not started."""
        return self.planned - sum(self.endings.values()) - len(self.lost)

    @property
    def owners(self) -> dict[Owner, int]:
        """Of trials that say nothing about the agent, and that nobody stopped: how many are whose fault."""
        counts: dict[Owner, int] = {}
        for event in self.not_ok:
            if event.fault is not None:
                counts[event.fault.owner] = counts.get(event.fault.owner, 0) + 1
        return counts

    @property
    def exit_code(self) -> ExitCode:
        """What `run` tells the shell: of the whole plan, also where an earlier invocation did a part of it."""
        if self.lost:
            return ExitCode.CANNOT
        if self.stopped == "interrupted":
            return ExitCode.INTERRUPTED
        if self.stopped in ("max-cost", "max-time"):
            return ExitCode.OUT_OF_BUDGET
        endings = [*self.earlier, *(event.ending for event in self.not_ok if event.ending is not None)]
        if any(row_of(ending).counted == "errored" for ending in endings):
            return ExitCode.AGENT_FAILED
        if self.not_ok or sum(self.endings.values()) < self.planned:
            return ExitCode.INCONCLUSIVE
        return ExitCode.OK
