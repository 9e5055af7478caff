"""One attempt at a trial, from its place to what is known of it when it is over; nothing is recorded here."""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

import msgspec

from proctor.core.faults import End, FaultRule, Ruling, Stream, decide, kind_of_error
from proctor.core.redaction import Redactor
from proctor.engine.happenings import Seen, State
from proctor.engine.planning import PlannedTrial
from proctor.errors import ProctorError, SuiteError
from proctor.host.budget import Budget
from proctor.host.place import Place
from proctor.host.seed import SeedPlan, seed
from proctor.host.tail import LastLine, tail
from proctor.ports import Agent, Cancel
from proctor.records.fault import Fault
from proctor.records.grade import Defect
from proctor.records.isolation import Usage
from proctor.records.run import Attempt, Ending
from proctor.records.trace import Trace
from proctor.stores.tracefile import TRACE, read_trace

_RULES_READ_BYTES: Final = 64 * 1024
_NO_ROOM_BYTES: Final = 1024 * 1024
_ENDED_FROM_OUTSIDE: Final = frozenset(
    {
        Ending.TIMEOUT,
        Ending.COST_CAP,
        Ending.TOKEN_CAP,
        Ending.OUTPUT_CAP,
        Ending.DISK_CAP,
        Ending.KILLED,
        Ending.INTERRUPTED,
    }
)


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What an attempt came to.

    Attributes:
        attempt: its ending, as it is counted, and its output.
        duration_s: wall-clock time of the agent, in seconds.
        fault: whose fault it is, where it says nothing about the agent.
        trace: what its trace says; None where there is none.
        trace_file: where that lies; None where there is none.
    """

    attempt: Attempt
    duration_s: float
    fault: Fault | None = None
    trace: Trace | None = None
    trace_file: Path | None = None


class RunningTrial:
    """A trial in its place. Whoever looks on from another thread asks `seen`.

    Args:
        trial: what is run.
        place: made for it; removed by whoever made it.
        redactor: takes secrets out of what is shown.
        parallel: how many trials run at once.
    """

    def __init__(self, trial: PlannedTrial, place: Place, redactor: Redactor, *, parallel: int) -> None:
        self._trial, self._redactor = trial, redactor
        self._tap = place.tap
        self._budget = Budget(
            trial.limits, place, None if self._tap is None else self._tap.spent, parallel=parallel
        )
        self.place = replace(place, watch=self._budget.exceeded)
        self._line = LastLine((place.stdout, place.stderr))
        self._started = time.monotonic()
        self.state: State = "preparing"

    def seen(self) -> Seen:
        """How it is at this moment."""
        return Seen(
            state=self.state,
            elapsed_s=time.monotonic() - self._started,
            cost_usd=self.cost_so_far(),
            line=self._redactor.text(self._line.now()),
        )

    def cost_so_far(self) -> float | None:
        """US dollars that its model calls have cost by now, as far as its trace tells; None where there is none."""
        if self._tap is None:
            return None
        spent = self._tap.spent()
        return spent.cost_usd if spent.calls else None

    def run(
        self,
        agent: Agent,
        plan: SeedPlan | None,
        cancel: Cancel,
        rules: Sequence[FaultRule],
        *,
        exit_codes: Collection[int] = (),
    ) -> Outcome:
        """Seed the workdir, run the agent, and find out what it used and whose its end is.

        What proctor or the machine cannot do is an ending, not an exception. With one of `exit_codes` a command has
        ended well, whatever it is.
        """
        started = time.monotonic()
        try:
            if plan is not None:
                seed(plan, self.place.workdir)
            self.state = "running"
            started = time.monotonic()
            attempt = agent.attempt(self._trial.entry.test, self.place, self._trial.limits, cancel)
        except Exception as error:  # noqa: BLE001  # around an agent
            attempt = Attempt(ending=Ending.HARNESS_FAILURE, defect=_defect_of(error))
        duration_s = round(time.monotonic() - started, 6)
        self.state = "recording"
        if attempt.ending is Ending.ERROR and attempt.exit_code and attempt.exit_code in exit_codes:
            attempt = msgspec.structs.replace(attempt, ending=Ending.OK, defect=None)
        attempt = self._settled(attempt)
        ruling = self._ruling(attempt, rules)
        attempt = msgspec.structs.replace(attempt, ending=ruling.ending)
        trace_file, notes = self._trace_file(attempt)
        return Outcome(
            attempt=msgspec.structs.replace(attempt, notes=(*attempt.notes, *notes)),
            duration_s=duration_s,
            fault=ruling.fault,
            trace=None if trace_file is None else read_trace(os.fspath(trace_file.parent)),
            trace_file=trace_file,
        )

    def _settled(self, attempt: Attempt) -> Attempt:
        """The attempt with what was used; one that used more than it may ends by that, whenever it was seen."""
        attempt = self.place.settle(attempt)
        used = self._budget.settle()
        usage = msgspec.structs.replace(
            attempt.usage or Usage(), output_bytes=used.output_bytes, workdir_bytes=used.workdir_bytes
        )
        attempt = msgspec.structs.replace(attempt, usage=usage)
        over = used.exceeded
        if over is not None and attempt.ending is Ending.OK:
            defect = Defect(type=over.ending.value, message=over.message)
            attempt = msgspec.structs.replace(attempt, ending=over.ending, defect=defect)
        if attempt.ending in (Ending.ERROR, Ending.KILLED) and self._is_disk_full():
            said = attempt.defect.message if attempt.defect is not None else ""
            message = (
                f"The disk that agents work on is full, and so it ended with {attempt.ending.value}. {said}"
            )
            defect = Defect(type="disk-full", message=message.rstrip())
            attempt = msgspec.structs.replace(attempt, ending=Ending.HARNESS_FAILURE, defect=defect)
        return attempt

    def _is_disk_full(self) -> bool:
        """True when there is no room where the trial took place: it had not used up what it may have."""
        with suppress(OSError):
            found = os.statvfs(self.place.root)
            # Root may write into what is reserved.
            blocks = found.f_bfree if os.geteuid() == 0 else found.f_bavail
            is_out_of_names = found.f_files > 0 and found.f_ffree == 0
            return found.f_blocks > 0 and (blocks * found.f_frsize < _NO_ROOM_BYTES or is_out_of_names)
        return False

    def _ruling(self, attempt: Attempt, rules: Sequence[FaultRule]) -> Ruling:
        streams = {"stdout": self.place.stdout, "stderr": self.place.stderr}

        def printed(stream: Stream) -> str:
            return tail(streams[stream], _RULES_READ_BYTES)

        end = End(ending=attempt.ending, defect=attempt.defect, exit_code=attempt.exit_code, tail=printed)
        return decide(end, rules)

    def _trace_file(self, attempt: Attempt) -> tuple[Path | None, tuple[str, ...]]:
        """Convert what came in, and what the kind of agent itself has seen: the file, and what was noticed."""
        notes: tuple[str, ...] = ()
        if self._tap is not None:
            notes = self._tap.close().notes
        place = self.place
        if not (place.spool.exists() or place.own_trace.exists()):
            return None, notes
        from proctor.host.receiver import write_trace

        target = place.root / TRACE
        try:
            written = write_trace(
                place.spool, target, place.own_trace, was_cut=attempt.ending in _ENDED_FROM_OUTSIDE
            )
        except OSError as error:
            return None, (*notes, f"The trace could not be written: {error.strerror or error}.")
        return (target if target.exists() else None), (*notes, *written.notes)


def _defect_of(error: Exception) -> Defect:
    """What proctor or the machine could not do for an attempt."""
    import traceback

    if isinstance(error, SuiteError):
        return Defect(type="fixture", message=error.what)
    kind = kind_of_error(error)
    if isinstance(error, ProctorError):
        return Defect(type=kind, message=error.what)
    message = f"{type(error).__name__}: {error}"
    if isinstance(error, OSError) and error.strerror:
        message = f"{error.strerror}: {error.filename}" if error.filename else error.strerror
    return Defect(type=kind, message=message, stack=traceback.format_exc())
