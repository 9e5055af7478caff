"""Running an agent over a suite: one pipeline for every kind of agent.

seed a fresh workdir -> run under limits -> collect output and logs -> publish the run directory.
"""

from __future__ import annotations

import contextlib
import os
import queue
import threading
import time
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Literal

import msgspec

from proctor.core.redaction import Redactor
from proctor.core.report import reason_of
from proctor.engine.planning import PlannedTrial, RunOptions
from proctor.engine.preflight import Checked
from proctor.errors import ProctorError
from proctor.host.place import Place
from proctor.host.reaper import reaper_watching
from proctor.host.seed import seed
from proctor.ports import Agent, Cancel
from proctor.records.exits import ExitCode
from proctor.records.grade import Defect
from proctor.records.json_value import storable
from proctor.records.run import (
    GROUP_SCHEMA,
    RUN_SCHEMA,
    Attempt,
    AttemptRow,
    Cell,
    Ending,
    GroupPlan,
    Limits,
    Platform,
    RunFacts,
    SuiteRef,
)
from proctor.records.suite import Suite
from proctor.stores.group import GroupDir


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """Something happened: to the whole, or to a trial.

    Attributes:
        kind: `planned` for the whole; `started`, `ended`, or `lost`, for a trial that ran and could not be recorded.
        cell: the trial; None for the whole.
        planned: number of trials, for the whole.
        parallel: how many run at once, for the whole.
        reason: why it did not end well.
        duration_s: seconds since its start.
    """

    kind: Literal["planned", "started", "ended", "lost"]
    cell: Cell | None = None
    planned: int = 0
    parallel: int = 0
    ending: Ending | None = None
    reason: str = ""
    duration_s: float = 0.0


class RunSummary(msgspec.Struct, frozen=True, kw_only=True):
    """What one invocation did.

    Attributes:
        planned: number of trials.
        endings: how often each ending came.
        not_ok: the events of those that did not end well, by run directory.
        lost: trials that ran and could not be recorded.
        stopped: `interrupted` by the operator, `max-failures`, or None when all were run.
        earlier: how the trials ended that an earlier invocation had finished.
    """

    planned: int
    endings: dict[Ending, int]
    not_ok: tuple[Event, ...]
    lost: tuple[Event, ...]
    stopped: Literal["interrupted", "max-failures"] | None
    earlier: tuple[Ending, ...] = ()

    @property
    def exit_code(self) -> ExitCode:
        """What `run` tells the shell: of the whole plan, also where an earlier invocation did a part of it."""
        if self.lost:
            return ExitCode.CANNOT
        if self.stopped == "interrupted":
            return ExitCode.INTERRUPTED
        endings = [*self.earlier, *(event.ending for event in self.not_ok if event.ending is not None)]
        if any(ending is not Ending.OK and ending.is_evidence for ending in endings):
            return ExitCode.AGENT_FAILED
        if self.not_ok or sum(self.endings.values()) < self.planned:
            return ExitCode.INCONCLUSIVE
        return ExitCode.OK


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be run, and by whom.

    Attributes:
        suite: the tests.
        agent: what is under test; prepared.
        checked: graders, fixtures and held-out files, as they were found.
        options: how many at once, and the rest.
        platform: what it runs on.
        trials: those to run.
        earlier: how the trials ended that need not be run again.
    """

    suite: Suite
    agent: Agent
    checked: Checked
    options: RunOptions
    platform: Platform
    trials: tuple[PlannedTrial, ...]
    earlier: tuple[Ending, ...] = ()

    @property
    def suite_ref(self) -> SuiteRef:
        """The suite, as each run names it."""
        return SuiteRef(name=storable(self.suite.name), digest=self.suite.digest, commit=self.suite.commit)


def begin(work: Work, group: GroupDir) -> None:
    """Write the plan of a new group, which never changes afterwards, before the first agent starts.

    Raises:
        StoreError: it cannot be written.
    """
    group.write_plan(
        GroupPlan(
            schema=GROUP_SCHEMA,
            group=uuid.uuid4().hex,
            created_at=_now(),
            agent=work.agent.identity,
            suite=work.suite_ref,
            limits=Limits(timeout_s=work.options.timeout_s or work.options.default_timeout_s),
            platform=work.platform,
            cells=tuple(trial.cell for trial in work.trials),
        )
    )


def execute(work: Work, group: GroupDir, cancel: Cancel, on_event: Callable[[Event], None]) -> RunSummary:
    """Run each trial once, and publish it as it ends. One that fails never stops the others.

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
    for taken in work.checked.snapshots:
        group.keep_graders(taken.ref, taken.archive)
    for entry in work.suite.tests:
        for plan in work.checked.inputs_of(entry.test.id).values():
            group.keep_tree(plan)
    with reaper_watching():
        return _Desk(work, group, cancel, on_event).run_all()


class _Desk:
    """Runs trials with a bounded number of threads, and keeps count."""

    def __init__(
        self, work: Work, group: GroupDir, cancel: Cancel, on_event: Callable[[Event], None]
    ) -> None:
        self._work, self._group, self._cancel, self._on_event = work, group, cancel, on_event
        self._agent, self._checked, self._options = work.agent, work.checked, work.options
        self._suite = work.suite_ref
        self._redactor = Redactor(work.options.environment)
        self._lock = threading.Lock()
        self._endings: dict[Ending, int] = {}
        self._not_ok: list[Event] = []
        self._lost: list[Event] = []

    def run_all(self) -> RunSummary:
        trials = self._work.trials
        waiting: queue.SimpleQueue[PlannedTrial] = queue.SimpleQueue()
        for trial in trials:
            waiting.put(trial)
        count = min(self._options.parallel, len(trials))
        threads = [
            threading.Thread(target=self._take_from, args=(waiting,), name=f"trial-{number}", daemon=True)
            for number in range(count)
        ]
        self._on_event(Event(kind="planned", planned=len(trials), parallel=count))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        stopped: Literal["interrupted", "max-failures"] | None = None
        if self._cancel.is_set:
            stopped = "interrupted"
        elif not waiting.empty():
            stopped = "max-failures"
        return RunSummary(
            planned=len(trials),
            endings=dict(self._endings),
            not_ok=tuple(sorted(self._not_ok, key=lambda event: event.cell.run_dir if event.cell else "")),
            lost=tuple(self._lost),
            stopped=stopped,
            earlier=self._work.earlier,
        )

    def _take_from(self, waiting: queue.SimpleQueue[PlannedTrial]) -> None:
        while not self._cancel.is_set and not self._too_many_failures():
            try:
                trial = waiting.get_nowait()
            except queue.Empty:
                return
            self._run(trial)

    def _too_many_failures(self) -> bool:
        most = self._options.max_failures
        return most is not None and len(self._not_ok) + len(self._lost) >= most

    def _run(self, trial: PlannedTrial) -> None:
        cell = trial.cell
        self._on_event(Event(kind="started", cell=cell))
        started_at, started = _now(), time.monotonic()
        place: Place | None = None
        try:
            self._log("started", trial, started_at)
            place = Place.create(self._options.work_root, trial.entry.test, self._options.environment)
            attempt, duration = self._attempt(trial, place)
            facts = self._facts(trial, attempt, place, started_at, duration)
            inputs = self._checked.inputs_of(cell.test)
            digest = self._group.publish(cell.run_dir, facts, place, redactor=self._redactor, inputs=inputs)
            self._log("ended", trial, facts.ended_at, ending=attempt.ending, facts=digest)
            event = Event(
                kind="ended",
                cell=cell,
                ending=attempt.ending,
                reason=reason_of(facts),
                duration_s=duration,
            )
        except Exception as error:  # noqa: BLE001  # a trial that cannot be recorded must not take the others with it
            reason = _why_lost(error)
            event = Event(kind="lost", cell=cell, reason=reason, duration_s=time.monotonic() - started)
        finally:
            if place is not None:
                with contextlib.suppress(OSError):
                    place.remove()
        self._count(event)
        self._on_event(event)

    def _attempt(self, trial: PlannedTrial, place: Place) -> tuple[Attempt, float]:
        """Seed the workdir and run the agent; what proctor cannot do is a harness failure, not an exception."""
        started = time.monotonic()
        try:
            plan = self._checked.seeds.get(trial.entry.test.id)
            if plan is not None:
                seed(plan, place.workdir)
            started = time.monotonic()
            attempt = self._agent.attempt(trial.entry.test, place, trial.limits, self._cancel)
        except Exception as error:  # noqa: BLE001  # around an agent
            import traceback

            message = error.what if isinstance(error, ProctorError) else f"{type(error).__name__}: {error}"
            stack = "" if isinstance(error, ProctorError) else traceback.format_exc()
            defect = Defect(type=type(error).__name__, message=message, stack=stack)
            attempt = Attempt(ending=Ending.HARNESS_FAILURE, defect=defect)
        return attempt, round(time.monotonic() - started, 6)

    def _facts(
        self, trial: PlannedTrial, attempt: Attempt, place: Place, started_at: str, duration: float
    ) -> RunFacts:
        test = trial.entry.test
        mine = self._checked.tests[test.id]
        return RunFacts(
            schema=RUN_SCHEMA,
            run=uuid.uuid4().hex,
            test=test,
            trial=trial.cell.trial,
            attempt=trial.attempt,
            supersedes=trial.supersedes,
            ending=attempt.ending,
            output=self._redactor.value(attempt.output),
            exit_code=attempt.exit_code,
            signal=attempt.signal,
            defect=self._told(attempt.defect, place),
            notes=tuple(map(self._redactor.text, attempt.notes)),
            agent=self._agent.identity,
            suite=self._suite,
            graders=mine.snapshot.ref if mine.snapshot else None,
            test_digest=trial.cell.test_digest,
            input_digest=test.input_digest,
            fixture_digest=self._checked.seeds[test.id].digest if test.id in self._checked.seeds else None,
            fixture_commit=trial.entry.fixture_commit,
            holdout_digest=self._checked.holdouts[test.id].digest
            if test.id in self._checked.holdouts
            else None,
            limits=trial.limits,
            started_at=started_at,
            ended_at=_now(),
            duration_s=duration,
            max_rss_kb=attempt.max_rss_kb,
            platform=self._work.platform,
            workdir=True,
            parallel=self._options.parallel,
            has_gate=mine.has_gate,
        )

    def _told(self, defect: Defect | None, place: Place) -> Defect | None:
        """What went wrong, without secrets, and without the folders of this machine."""
        if defect is None:
            return None
        folders = (os.fspath(place.workdir.parent), os.getcwd())  # noqa: PTH109

        def told(text: str) -> str:
            for folder in folders:
                text = text.replace(f"{folder}/", "")
            return self._redactor.text(text)

        return Defect(
            type=defect.type,
            message=told(defect.message),
            stack=told(defect.stack),
            printed=told(defect.printed),
        )

    def _log(
        self,
        event: str,
        trial: PlannedTrial,
        at: str,
        *,
        ending: Ending | None = None,
        facts: str | None = None,
    ) -> None:
        cell = trial.cell
        row = AttemptRow(
            v=1,
            event=event,
            run_dir=cell.run_dir,
            test=cell.test,
            trial=cell.trial,
            attempt=trial.attempt,
            at=at,
            ending=ending,
            facts=facts,
        )
        self._group.log_attempt(row)

    def _count(self, event: Event) -> None:
        with self._lock:
            if event.ending is None:
                self._lost.append(event)
                return
            self._endings[event.ending] = self._endings.get(event.ending, 0) + 1
            if event.ending is not Ending.OK:
                self._not_ok.append(event)


def _why_lost(error: Exception) -> str:
    if isinstance(error, ProctorError):
        return error.what
    if isinstance(error, OSError):
        return f"{error.strerror}: {error.filename}"
    return f"the run cannot be recorded: {type(error).__name__}: {error}"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
