"""Running an agent over a suite: one pipeline for every kind of agent.

seed a fresh workdir -> run under limits -> collect output, trace and logs -> publish the run directory.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable
from contextlib import suppress

import msgspec

from proctor.core.faults import kind_of_error
from proctor.core.redaction import Redactor
from proctor.core.report import reason_of
from proctor.engine.happenings import Event, RunSummary, Stop
from proctor.engine.planning import PlannedTrial, again
from proctor.engine.purse import Purse
from proctor.engine.recording import Recorder, without_a_place
from proctor.engine.trial import Outcome, RunningTrial
from proctor.engine.waiting_line import WaitingLine, wait_before
from proctor.engine.work import Work, now
from proctor.errors import ProctorError
from proctor.host.place import Place
from proctor.host.reaper import reaper_watching
from proctor.ports import Cancel
from proctor.records.run import GROUP_SCHEMA, Ending, GroupPlan, RunFacts
from proctor.records.trace import Trace
from proctor.stores.group import GroupDir

__all__ = ["Event", "RunSummary", "Work", "begin", "execute", "keep", "plan_of", "run_trials"]

_LONGEST_REASON = 1_000


def begin(work: Work, group: GroupDir) -> None:
    """Write the plan of a new group, which never changes afterwards, before the first agent starts.

    Raises:
        StoreError: it cannot be written.
    """
    group.write_plan(plan_of(work, group=uuid.uuid4().hex, created_at=now()))


def plan_of(work: Work, *, group: str, created_at: str) -> GroupPlan:
    """The plan of a group that is to hold all trials of the work.

    Args:
        work: what is to be run.
        group: the group's id.
        created_at: ISO 8601, UTC.
    """
    options = work.options
    return GroupPlan(
        schema=GROUP_SCHEMA,
        group=group,
        created_at=created_at,
        agent=work.agent.identity,
        suite=work.suite_ref,
        limits=msgspec.structs.replace(
            options.limits, timeout_s=options.timeout_s or options.default_timeout_s
        ),
        platform=work.platform,
        cells=tuple(trial.cell for trial in work.trials),
        shard=work.shard,
    )


def execute(work: Work, group: GroupDir, cancel: Cancel, on_event: Callable[[Event], None]) -> RunSummary:
    """Run each trial, and publish it as it ends. One that fails never stops the others.

    When this returns, everything that it says is recorded is on the disk.

    Args:
        work: what is to be run.
        group: ours, with a plan.
        cancel: when it is set, running trials are ended and recorded as interrupted, and no other starts.
        on_event: called from any thread.

    Raises:
        StoreError: the group cannot be written.
        SuiteError: a file changed since the suite was checked.
    """
    keep(work, group)
    with reaper_watching():
        return run_trials(work, group, cancel, on_event)


def keep(work: Work, group: GroupDir) -> None:
    """Put into the group what its runs share: graders, fixtures and held-out files that graders read, artifacts.

    Raises:
        StoreError: the group cannot be written.
        SuiteError: a file changed since the suite was checked.
    """
    for taken in work.checked.snapshots:
        group.keep_graders(taken.ref, taken.archive)
    for entry in work.suite.tests:
        for plan in work.checked.inputs_of(entry.test.id).values():
            group.keep_tree(plan)
        if (artifact := work.artifact_of(entry.test)) is not None:
            group.keep_tree(artifact)


def run_trials(work: Work, group: GroupDir, cancel: Cancel, on_event: Callable[[Event], None]) -> RunSummary:
    """Run each trial as `execute` does, in a group that has everything already that `keep` puts into it."""
    return _Desk(work, group, cancel, on_event).run_all()


class _Desk:
    """Runs trials with a bounded number of threads, and keeps count."""

    def __init__(
        self, work: Work, group: GroupDir, cancel: Cancel, on_event: Callable[[Event], None]
    ) -> None:
        self._work, self._cancel, self._on_event = work, cancel, on_event
        self._options = work.options
        self._redactor = Redactor(work.options.environment)
        self._recorder = Recorder(work, group, self._redactor)
        self._purse = Purse(work.options.max_cost_usd, work.options.max_time_s)
        self._waiting = WaitingLine(work.trials)
        self._repetitions: dict[tuple[str, int], Event] = {}
        self._lock = threading.Lock()
        self._stopped: Stop | None = None
        self._endings: dict[Ending, int] = {}
        self._not_ok: list[Event] = []
        self._lost: list[Event] = []
        self._repeated = 0

    def run_all(self) -> RunSummary:
        trials = self._work.trials
        count = min(self._options.parallel, len(trials))
        threads = [
            threading.Thread(target=self._take_turns, name=f"trial-{number}", daemon=True)
            for number in range(count)
        ]
        self._on_event(Event(kind="planned", planned=len(trials), parallel=count))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        is_left = self._waiting.has_first_attempts
        for trial in self._waiting.repetitions:
            # It will not be made again: its last attempt is its end.
            self._count(self._repetitions.pop((trial.cell.test, trial.cell.trial)))
            is_left = True
        return RunSummary(
            planned=len(trials),
            endings=dict(self._endings),
            not_ok=tuple(sorted(self._not_ok, key=lambda event: event.cell.run_dir if event.cell else "")),
            lost=tuple(self._lost),
            stopped="interrupted" if self._cancel.is_set else self._stopped if is_left else None,
            earlier=self._work.earlier,
            cost=self._purse.cost,
            repeated=self._repeated,
        )

    def _take_turns(self) -> None:
        while (trial := self._waiting.take(self._is_over)) is not None:
            event = self._run(trial)
            if event.again_in_s is not None:
                with self._lock:
                    self._repeated += 1
                    self._repetitions[trial.cell.test, trial.cell.trial] = event
                self._waiting.put_back(again(trial), event.again_in_s)
            else:
                self._count(event)
            self._on_event(event)

    def _is_over(self) -> bool:
        """True when no further trial is to be started."""
        if self._cancel.is_set:
            return True
        if self._stopped is None:
            most = self._options.max_failures
            if most is not None and len(self._not_ok) + len(self._lost) >= most:
                self._stopped = "max-failures"
            else:
                self._stopped = self._purse.used_up()
        return self._stopped is not None

    def _run(self, trial: PlannedTrial) -> Event:
        """One attempt, from its place to its run directory, and what became of it."""
        cell, started_at, started = trial.cell, now(), time.monotonic()
        place: Place | None = None
        cost_usd, at_least_usd = None, 0.0
        try:
            self._recorder.started(trial, started_at)
            try:
                place = self._work.premises.place(trial.entry.test, trial.limits)
            except OSError as error:
                outcome = without_a_place(error, kind_of_error(error))
                self._on_event(Event(kind="started", cell=cell, attempt=trial.attempt))
            else:
                outcome = self._attempt(trial, place)
            cost_usd, at_least_usd = _cost_of(outcome.trace)
            facts = self._recorder.record(trial, outcome, place, started_at)
            return Event(
                kind="ended",
                cell=cell,
                attempt=trial.attempt,
                ending=facts.ending,
                reason=reason_of(facts)[:_LONGEST_REASON],
                fault=facts.fault,
                duration_s=outcome.duration_s,
                cost_usd=cost_usd,
                again_in_s=self._again_in(trial, facts),
            )
        except Exception as error:  # noqa: BLE001  # a trial that cannot be recorded must not take the others with it
            return Event(
                kind="lost",
                cell=cell,
                attempt=trial.attempt,
                reason=_why_lost(error),
                duration_s=time.monotonic() - started,
                cost_usd=cost_usd,
            )
        finally:
            self._purse.settle(id(trial), cost_usd, at_least_usd)
            if place is not None:
                with suppress(OSError):
                    place.remove()

    def _attempt(self, trial: PlannedTrial, place: Place) -> Outcome:
        running = RunningTrial(trial, place, self._redactor, parallel=self._options.parallel)
        self._purse.watch(id(trial), running.cost_so_far)
        self._on_event(Event(kind="started", cell=trial.cell, attempt=trial.attempt, seen=running.seen))
        checked, test = self._work.checked, trial.entry.test.id
        return running.run(
            self._work.agent,
            checked.seeds.get(test),
            self._cancel,
            self._options.faults,
            exit_codes=checked.tests[test].exit_codes,
        )

    def _again_in(self, trial: PlannedTrial, facts: RunFacts) -> float | None:
        """Seconds until the trial is made again; None when it is not."""
        fault = facts.fault
        if fault is None or not fault.retry or trial.repetition >= self._options.retries:
            return None
        return None if self._cancel.is_set else wait_before(trial.repetition + 1)

    def _count(self, event: Event) -> None:
        with self._lock:
            if event.ending is None:
                self._lost.append(event)
                return
            self._endings[event.ending] = self._endings.get(event.ending, 0) + 1
            if event.ending is not Ending.OK:
                self._not_ok.append(event)


def _cost_of(trace: Trace | None) -> tuple[float | None, float]:
    """What a trial cost, None where that is not known; and what it cost at least."""
    if trace is None:
        return None, 0.0
    return trace.metrics.cost_usd_total, trace.at_least.cost_usd_total or 0.0


def _why_lost(error: Exception) -> str:
    if isinstance(error, ProctorError):
        return error.what
    if isinstance(error, OSError):
        return f"{error.strerror}: {error.filename}"
    return f"the run cannot be recorded: {type(error).__name__}: {error}"
