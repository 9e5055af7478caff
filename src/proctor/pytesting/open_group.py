"""A group whose tests are run and graded one by one, as pytest comes to them, by one process or by several."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from proctor import evaluation, wiring
from proctor.core.report import never_ended, report_group
from proctor.engine.execute import Event, RunSummary, Work, keep, plan_of, run_trials
from proctor.engine.grading import RunGrader
from proctor.engine.judging import JudgeDesk
from proctor.engine.planning import RunOptions, plan_resumption, plan_trials
from proctor.engine.reporting import GroupChecklists, read_run
from proctor.errors import StoreError
from proctor.host.cancel import Cancel
from proctor.host.reaper import reaper_watching
from proctor.loading import select_host
from proctor.loading.judging import judge_setup
from proctor.options import premises_of, run_options
from proctor.ports import Agent
from proctor.pytesting.evaluated import Evaluated
from proctor.pytesting.ledger import Ledger
from proctor.records.json_value import storable
from proctor.records.judging import JudgeOptions
from proctor.records.report import RunReport
from proctor.records.run import GroupPlan
from proctor.records.suite import Suite
from proctor.stores.group import STAGING, GroupDir
from proctor.stores.rundir import RunDir

_OURS: Final = ("PYTEST_CURRENT_TEST", "PYTEST_VERSION", "PYTEST_XDIST_")
"""Variables that pytest and its workers set: no agent is to see how it is looked at."""

_T = TypeVar("_T")


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """Where a group is written, and by whom: the same in each process but for `writer`.

    Attributes:
        path: the group's folder.
        group: its id.
        created_at: ISO 8601, UTC.
        writer: name of this process among those that write into it.
        writers: how many they are.
    """

    path: Path
    group: str
    created_at: str
    writer: str
    writers: int = 1


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be evaluated, and how.

    Attributes:
        suite: the tests that are selected.
        agent: what is under test.
        trials: attempts at each test; as the test and the settings say when None.
        timeout_s: limit of one trial; likewise.
        parallel: trials of one test at once; as the settings say when None.
        min_pass_rate: share of a test's trials that must pass, 0 to 1.
    """

    suite: Suite
    agent: Agent
    trials: int | None = None
    timeout_s: float | None = None
    parallel: int | None = None
    min_pass_rate: float = 1.0

    def options(self) -> RunOptions:
        """How its trials are run: what is said here, and the project's settings for the rest."""
        made = run_options(trials=self.trials, timeout_s=self.timeout_s, parallel=self.parallel)
        seen = {name: value for name, value in made.environment.items() if not name.startswith(_OURS)}
        return msgspec.structs.replace(made, environment=seen)


def try_out(asked: Asked) -> None:
    """Check everything that can be checked before the first trial, and leave nothing behind.

    Raises:
        ProctorError: the suite, its graders or the agent are not usable.
    """
    suite = select_host(asked.suite, asked.agent.identity.kind)
    premises = premises_of(asked.options(), suite, asked.agent)
    try:
        asked.agent.prepare([entry.test for entry in suite.tests], premises.surroundings)
        evaluation.check(suite, will_grade=True)
    finally:
        asked.agent.close()
        premises.close()


class OpenGroup:
    """Runs and grades tests of a suite when it is asked to, and records each trial as it ends.

    Args:
        asked: what is evaluated; its agent is closed with this.
        place: where it is recorded.

    Raises:
        ProctorError: the suite, its graders or the agent are not usable, or the group cannot be written.
    """

    def __init__(self, asked: Asked, place: Place) -> None:
        self.path = place.path
        self._asked = asked
        self._made: dict[str, dict[str, None]] = {}
        self._stack = ExitStack()
        try:
            self._begin(place)
        except BaseException:
            self._stack.close()
            raise

    def _begin(self, place: Place) -> None:
        asked, options = self._asked, self._asked.options()
        suite = select_host(asked.suite, asked.agent.identity.kind)
        premises = premises_of(options, suite, asked.agent, out=place.path)
        self._stack.callback(premises.close)
        self._stack.callback(asked.agent.close)
        asked.agent.prepare([entry.test for entry in suite.tests], premises.surroundings)
        self._work = Work(
            suite=suite,
            agent=asked.agent,
            checked=evaluation.check(suite, will_grade=True),
            options=options,
            premises=premises,
            platform=wiring.platform(),
            trials=plan_trials(suite, options),
            whole=suite,
            processes=place.writers,
        )
        self._plan = plan_of(self._work, group=place.group, created_at=place.created_at)
        self._group = GroupDir.join(place.path, self._plan, writer=place.writer)
        self._stack.callback(self._group.finish)
        self._ledger = Ledger(place.path / STAGING, options.max_cost_usd, options.max_time_s)
        keep(self._work, self._group)
        self._stack.enter_context(reaper_watching())
        self._grading: RunGrader | None = None
        self._entries = {entry.test.id: entry for entry in suite.tests}

    @property
    def tests(self) -> Mapping[str, object]:
        """The tests that can be evaluated, by id: those that are for this kind of agent."""
        return self._entries

    def evaluate(self, test: str) -> Evaluated:
        """Make the trials of one test, grade them, and say what they came to.

        Trials that say something about the agent are made once; asked again, this makes only the others again.
        An interruption ends what runs, which is recorded as interrupted, and is raised again.

        Raises:
            StoreError: the group cannot be written, or grades cannot.
            SuiteError: a file changed since the suite was checked.
        """
        cells = tuple(cell for cell in self._plan.cells if cell.test == test)
        made = self._made.setdefault(test, {})
        fresh = self._run(test, msgspec.structs.replace(self._plan, cells=cells), made)
        notes = list(fresh.notes)
        runs = [RunDir(self.path / name) for name in fresh.names]
        if runs:
            notes += self._grade(runs)
        checklists = GroupChecklists(self.path)
        read: list[RunReport] = [read_run(RunDir(self.path / name), checklists) for name in made]
        there = {(run.test, run.trial) for run in read}
        read += [never_ended(cell) for cell in cells if (cell.test, cell.trial) not in there]
        report = report_group(
            storable(str(self.path)), sorted(read, key=lambda run: (run.trial, run.attempt))
        )
        self._ledger.spend(fresh.cost_usd + sum(one.cost_usd or 0.0 for one in report.judging))
        return Evaluated(
            test=test,
            group=self.path,
            report=report,
            min_pass_rate=self._asked.min_pass_rate,
            notes=tuple(notes),
        )

    def close(self) -> None:
        """End what is kept ready for further tests, and have everything on the disk."""
        self._stack.close()

    def _run(self, test: str, plan: GroupPlan, made: dict[str, None]) -> _Fresh:
        entry = self._entries[test]
        planned = [trial for trial in self._work.trials if trial.cell.test == test]
        earlier = [read_run(RunDir(self.path / name)) for name in made]
        left = plan_resumption(planned, plan, earlier, agent=self._work.agent.identity)
        out_of = self._ledger.used_up()
        if not left.trials or out_of is not None:
            return _Fresh(notes=() if out_of is None else (_NOT_STARTED.format(out_of),))
        options = msgspec.structs.replace(
            self._work.options, max_cost_usd=self._ledger.left_usd(), max_time_s=self._ledger.left_s()
        )
        work = msgspec.structs.replace(
            self._work,
            suite=msgspec.structs.replace(self._work.suite, tests=(entry,)),
            options=options,
            trials=left.trials,
        )
        names: list[str] = []

        def on_event(event: Event) -> None:
            if event.kind == "ended" and event.cell is not None:
                names.append(event.cell.run_dir)

        def run(cancel: Cancel) -> RunSummary:
            return run_trials(work, self._group, cancel, on_event)

        try:
            summary = interruptible(run)
        finally:
            made.update(dict.fromkeys(sorted(names)))
        notes = [event.reason for event in summary.lost]
        if summary.not_started and summary.stopped is not None:
            notes.append(_NOT_STARTED.format(summary.stopped))
        return _Fresh(names=tuple(sorted(names)), notes=tuple(notes), cost_usd=summary.cost.known_usd)

    def _grade(self, runs: list[RunDir]) -> list[str]:
        """Append a round of grades to each run; sentences about what was noticed."""
        grader = self._grading
        if grader is None:
            grader = self._new_grader()
        said = len(grader.warnings)
        grader.grade(runs, lambda _: None)
        if grader.unrecorded:
            raise StoreError(
                grader.warnings[-1],
                where=grader.unrecorded[0],
                fix="Make room on the disk, or make the folder writable; then: proctor grade "
                + str(self.path),
            )
        return grader.warnings[said:]

    def _new_grader(self) -> RunGrader:
        """The one of all tests; where there is a budget one for each, which judges may spend what is left of it."""
        left = self._ledger.left_usd()
        desk = JudgeDesk(judge_setup(JudgeOptions(max_cost_usd=left)))
        self._stack.enter_context(desk)
        made = RunGrader(self._work.options.environment, parallel=min(4, os.cpu_count() or 1), desk=desk)
        self._stack.enter_context(made)
        if left is None:
            self._grading = made
        return made


_NOT_STARTED: Final = "not started: the budget of the whole invocation is used up ({})"


class _Fresh(msgspec.Struct, frozen=True, kw_only=True):
    """What one asking made."""

    names: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    cost_usd: float = 0.0


def interruptible(work: Callable[[Cancel], _T]) -> _T:
    """Do the work on a thread of its own, so that Ctrl-C and time limits of pytest reach it as a wish to end.

    What interrupts is raised again once the work has ended; a second interruption no longer waits for it.
    """
    cancel = Cancel()
    returned: list[_T] = []
    raised: list[BaseException] = []

    def body() -> None:
        try:
            returned.append(work(cancel))
        except BaseException as error:  # noqa: BLE001  # it is raised where it was asked for
            raised.append(error)

    thread = threading.Thread(target=body, name="trials", daemon=True)
    thread.start()
    try:
        thread.join()
    except BaseException:
        cancel.set()
        thread.join()
        cancel.close()
        raise
    cancel.close()
    if raised:
        raise raised[0]
    return returned[0]
