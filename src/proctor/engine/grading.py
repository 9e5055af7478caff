"""Grading recorded runs: one round of score rows for each, from the grading code that the run holds."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import msgspec

from proctor.engine.collected import Collected
from proctor.engine.inputs import recorded_inputs, why_unusable
from proctor.engine.judging import JudgeDesk
from proctor.engine.protocol import GradeRun
from proctor.engine.subject import GOAL, Grading, Subject
from proctor.engine.workers import GraderServer, GradingModule, UnloadableGraders
from proctor.errors import ProctorError, StoreError, SuiteError
from proctor.judges.setup import JudgeSetup
from proctor.records.annotation import ScoreRow
from proctor.records.grade import Cause
from proctor.records.json_value import storable
from proctor.records.judging import JudgeQuestion
from proctor.records.run import Ending, RunFacts
from proctor.stores.foreign import StatelogRun
from proctor.stores.rundir import RunDir

ASKED_AHEAD: Final = 16
"""How many runs a worker is asked for before the answer to an earlier one is read."""
JUDGED_AHEAD: Final = 64
"""How many runs may be with judges before the rows of an earlier one are waited for."""
SMALLEST_SHARE: Final = 16
"""Fewer runs of one grading module are not spread over several workers, which cost a fork each."""


Resolve = Callable[[RunDir, RunFacts], Grading]
"""Says what a run is to be graded with."""


def as_recorded(run: RunDir, facts: RunFacts) -> Grading:
    """The test and the graders that the run itself holds."""
    if isinstance(run, StatelogRun):
        return Grading(test=facts.test, unusable=run.why_ungradable())
    ref = facts.graders
    archive = run.graders_archive(ref) if ref else None
    fixture, holdout = recorded_inputs(run, facts)
    return Grading(test=facts.test, ref=ref, archive=archive, fixture=fixture, holdout=holdout)


class RunGrader:
    """Grades runs; a context manager that owns the worker processes.

    Args:
        environment: what graders see as their environment.
        parallel: how many runs are graded at once.
        resolve: says what each run is graded with.
        draw: graders that draw at random do so from the run and this text: the same grades for the same text.
        desk: answers what graders ask of judges; its owner closes it. Without one no model is configured.

    Attributes:
        warnings: sentences about what was found on the way.
        unrecorded: paths of the runs whose grades could not be written.
    """

    def __init__(
        self,
        environment: Mapping[str, str],
        *,
        parallel: int = 2,
        resolve: Resolve = as_recorded,
        draw: str = "",
        desk: JudgeDesk | None = None,
    ) -> None:
        self._draw = draw
        self._desk = desk or JudgeDesk(JudgeSetup())
        self._environment, self._parallel, self._resolve = environment, parallel, resolve
        self._server: GraderServer | None = None
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self.warnings: list[str] = []
        self.unrecorded: list[str] = []

    def __enter__(self) -> RunGrader:
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._stopped.set()
            self._desk.close()
            if self._server is not None:
                self._server.close()

    def grade(self, runs: Iterable[RunDir], done: Callable[[RunDir], None]) -> None:
        """Append a round of grades to each run; `done` is called for each, from any thread, after its append.

        Runs that share grading code are graded one after another by one worker, so that its module is loaded
        once. A run that an agent did not end well is not shown to graders and gets no rows. A run that cannot
        be read or written gets none either: whoever reads it next finds out.

        An interruption ends the workers at once; a run whose round is not whole then gets no rows.
        """
        by_code: dict[str, list[RunDir]] = {}
        for run in runs:
            by_code.setdefault(self._code_of(run), []).append(run)
        shares = [share for members in by_code.values() for share in _split(members, self._parallel)]
        with ThreadPoolExecutor(self._parallel, thread_name_prefix="grade") as pool:
            pending = [pool.submit(self._grade_share, share, done) for share in shares]
            try:
                for share in pending:
                    share.result()
            except BaseException:
                # Closing the server ends the workers, so that no thread waits for one.
                self.__exit__()
                pool.shutdown(wait=True, cancel_futures=True)
                raise

    def _code_of(self, run: RunDir) -> str:
        try:
            ref = self._resolve(run, run.facts()).ref
        except ProctorError:
            return ""
        return ref.digest if ref else ""

    def _grade_share(self, share: Sequence[RunDir], done: Callable[[RunDir], None]) -> None:
        """Grade runs with one worker, which is asked some runs ahead so that it never waits for us.

        Nor do we wait for judges: rows are written as soon as they are whole, in the order of the runs.
        """
        module: GradingModule | None = None
        asked_for, judged = deque[Subject](), deque[tuple[Subject, Sequence[Collected]]]()

        def record_judged(most_left: int) -> None:
            while judged and not self._stopped.is_set():
                subject, collected = judged[0]
                if len(judged) <= most_left and not all(one.is_done for one in collected):
                    return
                rows = subject.rows([one.graded() for one in collected])
                judged.popleft()
                self._record(subject, rows, done)

        try:
            for run in share:
                if self._stopped.is_set():
                    return
                subject = self._subject(run)
                if subject is None:
                    done(run)
                    continue
                if module is None and subject.grading.ref is not None:
                    module = self._module(subject.grading)
                asked = self._question(subject, module)
                if isinstance(asked, Collected):
                    judged.append((subject, [asked]))
                elif not isinstance(asked, GradeRun):
                    self._record(subject, asked, done)
                else:
                    assert module is not None
                    module.ask(asked)
                    asked_for.append(subject)
                if module is not None and len(asked_for) > ASKED_AHEAD:
                    judged.append((asked_for.popleft(), module.grades()))
                record_judged(JUDGED_AHEAD)
            while asked_for and module is not None and not self._stopped.is_set():
                judged.append((asked_for.popleft(), module.grades()))
                record_judged(JUDGED_AHEAD)
            record_judged(0)
        finally:
            if module is not None:
                module.close()

    def _record(self, subject: Subject, rows: Sequence[ScoreRow], done: Callable[[RunDir], None]) -> None:
        """Append the round, unless the operator has stopped everything meanwhile."""
        if rows and not self._stopped.is_set():
            path = storable(str(subject.run.path))
            try:
                torn = subject.run.append(rows)
            except StoreError as error:
                self.unrecorded.append(path)
                self.warnings.append(storable(f"{path}: its grades are not recorded: {error.what}"))
            else:
                if torn:
                    self.warnings.append(
                        f"{path}: a row that was never finished ({len(torn)} bytes) is set aside in "
                        f"annotations.jsonl.torn"
                    )
        done(subject.run)

    def _subject(self, run: RunDir) -> Subject | None:
        """The run and what it is graded with; None for one that cannot be read, which the report says."""
        try:
            facts = run.facts()
            return Subject(run, facts, self._resolve(run, facts))
        except ProctorError:
            return None

    def _module(self, grading: Grading) -> GradingModule | None:
        assert grading.ref is not None
        assert grading.archive is not None
        with self._lock:
            if self._server is None and not self._stopped.is_set():
                self._server = GraderServer(self._environment, desk=self._desk)
            server = self._server
        try:
            return server.stored(grading.archive, grading.ref) if server else None
        except SuiteError:
            return None  # each run says why, in a row of its own

    def _question(
        self, subject: Subject, module: GradingModule | None
    ) -> GradeRun | Collected | tuple[ScoreRow, ...]:
        """What to ask the worker about the run, or what a judge was asked; or the rows, when nobody can be asked."""
        grading = subject.grading
        if subject.facts.ending is not Ending.OK:
            return _about_its_end(subject, module)
        if grading.changed is not None:
            return subject.unseen(Cause.TEST_CHANGED, grading.changed)
        if grading.unusable is not None:
            return subject.unseen(Cause.GRADERS_UNLOADABLE, grading.unusable)
        if grading.ref is None:
            if grading.test.goal is None:
                return subject.unseen(Cause.NO_GRADERS, "the test has neither graders nor a goal")
            try:
                run = subject.as_judged()
            except ProctorError as error:
                return subject.unseen(Cause.HARNESS_FAILURE, error.what)
            verdict = Collected(GOAL)
            verdict.await_verdict(self._desk.ask(JudgeQuestion(), run, 0))
            return verdict
        if module is None:
            return subject.unseen(Cause.GRADERS_UNLOADABLE, subject.why_unusable())
        try:
            asked = subject.question(module.loaded.graders)
        except UnloadableGraders as error:
            return subject.unseen(Cause.GRADERS_UNLOADABLE, error.what, error.defect)
        except ProctorError as error:
            return subject.unseen(Cause.HARNESS_FAILURE, error.what)
        if not asked.only:
            return subject.unseen(Cause.NO_GRADERS, "no grader of the module applies to this test")
        graders = [module.loaded.graders[position] for position in asked.only]
        unusable = why_unusable(graders, grading.fixture, grading.holdout)
        if unusable is not None:
            return subject.unseen(Cause.INPUTS_UNUSABLE, unusable)
        return msgspec.structs.replace(asked, run=asked.run + self._draw) if self._draw else asked


def _about_its_end(subject: Subject, module: GradingModule | None) -> GradeRun | tuple[ScoreRow, ...]:
    """What is asked of a run that did not end well: assertions about its end, where that was seen; nothing else.

    They fail, and the record says so; the run has 0 anyhow.
    """
    facts = subject.facts
    if module is None or (facts.exit_code is None and facts.ending is not Ending.TIMEOUT):
        return ()
    try:
        graders = module.loaded.graders
        asked = subject.question(graders)
    except ProctorError:
        return ()
    only = tuple(position for position in asked.only if graders[position].exit_code is not None)
    return msgspec.structs.replace(asked, only=only) if only else ()


def _split(runs: Sequence[RunDir], parts: int) -> list[Sequence[RunDir]]:
    """The runs in up to `parts` shares of like size; few stay together."""
    size = max(SMALLEST_SHARE, -(-len(runs) // parts))
    return [runs[start : start + size] for start in range(0, len(runs), size)]
