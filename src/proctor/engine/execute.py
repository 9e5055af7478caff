"""Running an agent over a suite: one pipeline for every kind of agent.

seed a fresh workdir -> run under limits -> collect output and logs -> publish the run directory.
"""

from __future__ import annotations

import contextlib
import queue
import threading
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import msgspec

from proctor.engine.preflight import Checked
from proctor.errors import ProctorError
from proctor.host.place import Place
from proctor.host.seed import seed
from proctor.ports import Agent, Cancel
from proctor.records.exits import ExitCode
from proctor.records.grade import Defect
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
from proctor.records.suite import Suite, SuiteTest
from proctor.stores.group import GroupDir

DEFAULT_TIMEOUT_S = 60.0


class RunOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How a suite is run. A number that is None is decided by the test, and else by the default.

    Attributes:
        trials: attempts at each test.
        timeout_s: wall-clock limit of a trial.
        default_trials: where neither the flag nor the test says it.
        default_timeout_s: where neither the flag nor the test says it.
        parallel: how many trials run at once.
        work_root: where workdirs live while an agent runs; the system's temporary space when None.
        max_failures: start no further trial after so many that did not end well; None for no such limit.
        environment: what agents are started with.
    """

    trials: int | None = None
    timeout_s: float | None = None
    default_trials: int = 1
    default_timeout_s: float = DEFAULT_TIMEOUT_S
    parallel: int = 1
    work_root: Path | None = None
    max_failures: int | None = None
    environment: Mapping[str, str] = {}


class PlannedTrial(msgspec.Struct, frozen=True, kw_only=True):
    """One trial that will be run."""

    entry: SuiteTest
    cell: Cell
    limits: Limits


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
    """

    planned: int
    endings: dict[Ending, int]
    not_ok: tuple[Event, ...]
    lost: tuple[Event, ...]
    stopped: Literal["interrupted", "max-failures"] | None

    @property
    def exit_code(self) -> ExitCode:
        """What `run` tells the shell."""
        if self.lost:
            return ExitCode.CANNOT
        if self.stopped == "interrupted":
            return ExitCode.INTERRUPTED
        if any(event.ending is not None and event.ending.is_evidence for event in self.not_ok):
            return ExitCode.AGENT_FAILED
        if self.not_ok or sum(self.endings.values()) < self.planned:
            return ExitCode.INCONCLUSIVE
        return ExitCode.OK


def plan_trials(suite: Suite, options: RunOptions) -> tuple[PlannedTrial, ...]:
    """The trials of a suite, test by test: flag, then test, then default."""
    planned: list[PlannedTrial] = []
    for entry in suite.tests:
        test = entry.test
        trials = options.trials or test.trials or options.default_trials
        timeout_s = options.timeout_s or test.timeout or options.default_timeout_s
        for trial in range(1, trials + 1):
            cell = Cell(
                test=test.id,
                trial=trial,
                run_dir=test.id if trials == 1 else f"{test.id}--{trial}",
                test_digest=test.digest,
            )
            planned.append(PlannedTrial(entry=entry, cell=cell, limits=Limits(timeout_s=timeout_s)))
    return tuple(planned)


def execute(
    suite: Suite,
    agent: Agent,
    group: GroupDir,
    *,
    checked: Checked,
    options: RunOptions,
    platform: Platform,
    cancel: Cancel,
    on_event: Callable[[Event], None],
) -> RunSummary:
    """Run every planned trial once, and publish each as it ends. One that fails never stops the others.

    Args:
        group: new and empty.
        cancel: when it is set, running trials are ended and recorded as interrupted, and no other starts.
        on_event: called from any thread.

    Raises:
        StoreError: the plan cannot be written.
    """
    trials = plan_trials(suite, options)
    suite_ref = SuiteRef(name=suite.name, digest=suite.digest, commit=suite.commit)
    group.write_plan(
        GroupPlan(
            schema=GROUP_SCHEMA,
            group=uuid.uuid4().hex,
            created_at=_now(),
            agent=agent.identity,
            suite=suite_ref,
            limits=Limits(timeout_s=options.timeout_s or options.default_timeout_s),
            platform=platform,
            cells=tuple(trial.cell for trial in trials),
        )
    )
    for taken in checked.snapshots:
        group.keep_graders(taken.ref, taken.archive)
    desk = _Desk(agent, group, checked, options, platform, suite_ref, cancel, on_event)
    try:
        return desk.run_all(trials)
    finally:
        group.finish()


class _Desk:
    """Runs trials with a bounded number of threads, and keeps count."""

    def __init__(
        self,
        agent: Agent,
        group: GroupDir,
        checked: Checked,
        options: RunOptions,
        platform: Platform,
        suite: SuiteRef,
        cancel: Cancel,
        on_event: Callable[[Event], None],
    ) -> None:
        self._agent, self._group, self._checked, self._options = agent, group, checked, options
        self._platform, self._suite, self._seeds = platform, suite, checked.seeds
        self._cancel, self._on_event = cancel, on_event
        self._lock = threading.Lock()
        self._endings: dict[Ending, int] = {}
        self._not_ok: list[Event] = []
        self._lost: list[Event] = []

    def run_all(self, trials: Sequence[PlannedTrial]) -> RunSummary:
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
            facts = self._facts(trial, attempt, started_at, duration)
            self._group.publish(cell.run_dir, facts, place)
            self._log("ended", trial, facts.ended_at, attempt.ending)
            event = Event(
                kind="ended",
                cell=cell,
                ending=attempt.ending,
                reason=attempt.defect.message if attempt.defect else "",
                duration_s=duration,
            )
        except (ProctorError, OSError) as error:
            reason = error.what if isinstance(error, ProctorError) else f"{error.strerror}: {error.filename}"
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
            plan = self._seeds.get(trial.entry.test.id)
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

    def _facts(self, trial: PlannedTrial, attempt: Attempt, started_at: str, duration: float) -> RunFacts:
        test = trial.entry.test
        mine = self._checked.tests[test.id]
        return RunFacts(
            schema=RUN_SCHEMA,
            run=uuid.uuid4().hex,
            test=test,
            trial=trial.cell.trial,
            ending=attempt.ending,
            output=attempt.output,
            exit_code=attempt.exit_code,
            signal=attempt.signal,
            defect=attempt.defect,
            notes=attempt.notes,
            agent=self._agent.identity,
            suite=self._suite,
            graders=mine.snapshot.ref if mine.snapshot else None,
            test_digest=trial.cell.test_digest,
            input_digest=test.input_digest,
            fixture_digest=self._seeds[test.id].digest if test.id in self._seeds else None,
            fixture_commit=trial.entry.fixture_commit,
            limits=trial.limits,
            started_at=started_at,
            ended_at=_now(),
            duration_s=duration,
            max_rss_kb=attempt.max_rss_kb,
            platform=self._platform,
            workdir=True,
            has_gate=mine.has_gate,
        )

    def _log(self, what: str, trial: PlannedTrial, at: str, ending: Ending | None = None) -> None:
        cell = trial.cell
        row = AttemptRow(
            v=1, event=what, run_dir=cell.run_dir, test=cell.test, trial=cell.trial, at=at, ending=ending
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


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
