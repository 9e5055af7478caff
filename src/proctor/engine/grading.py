"""Grading recorded runs: one round of score rows for each, from the grading code that the run holds."""

from __future__ import annotations

import os
import threading
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec

from proctor.core.samples import fold_samples
from proctor.engine import snapshot
from proctor.engine.inputs import KeptInput, recorded_inputs, why_unusable
from proctor.engine.protocol import GradeRun, applies
from proctor.engine.workers import Graded, GraderServer, GradingModule, UnloadableGraders
from proctor.errors import ProctorError, StoreError, SuiteError
from proctor.ports import GraderOptions
from proctor.records.annotation import ROW_VERSION, Annotator, ScoreRow
from proctor.records.grade import Cause, Defect, inconclusive
from proctor.records.json_value import storable
from proctor.records.run import Ending, GradersRef, Record, RunFacts
from proctor.records.suite import Test
from proctor.records.trace import Trace
from proctor.stores.foreign import StatelogRun
from proctor.stores.rundir import STDERR, STDOUT, WORKDIR, RunDir

GOAL_JUDGE: Final = Annotator(kind="judge", id="goal-judge@1")
NO_JUDGE_SAID: Final = (
    "no judge model is configured. PROCTOR_JUDGE_MODEL=PROVIDER/NAME is what to set once a judge backend is there; "
    "this version has none yet, and a code grader in graders.py gives a number today."
)
ASKED_AHEAD: Final = 16
"""How many runs a worker is asked for before the answer to an earlier one is read."""
SMALLEST_SHARE: Final = 16
"""Fewer runs of one grading module are not spread over several workers, which cost a fork each."""


class Grading(msgspec.Struct, frozen=True, kw_only=True):
    """What a run is to be graded with.

    Attributes:
        test: the test as it was recorded, or as it is now.
        ref: the grading code; None for a test without.
        archive: where that code is stored.
        changed: why the run cannot be graded with today's test; None when it can.
        unusable: why the grading code that the run holds cannot be used; None when it can.
        fixture: the files that the workdir started with; None where they are not kept.
        holdout: the files that the agent never saw; None for a test without.
    """

    test: Test
    ref: GradersRef | None = None
    archive: Path | None = None
    changed: str | None = None
    unusable: str | None = None
    fixture: KeptInput | None = None
    holdout: KeptInput | None = None


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
    ) -> None:
        self._draw = draw
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
        """Grade runs with one worker, which is asked some runs ahead so that it never waits for us."""
        module: GradingModule | None = None
        waiting: deque[_Subject] = deque()

        def record(subject: _Subject, rows: Sequence[ScoreRow]) -> None:
            if rows and not self._stopped.is_set():
                try:
                    torn = subject.run.append(rows)
                except StoreError as error:
                    self.unrecorded.append(storable(str(subject.run.path)))
                    self.warnings.append(
                        storable(f"{subject.run.path}: its grades are not recorded: {error.what}")
                    )
                else:
                    if torn:
                        self.warnings.append(
                            f"{storable(str(subject.run.path))}: a row that was never finished ({len(torn)} bytes) "
                            f"is set aside in annotations.jsonl.torn"
                        )
            done(subject.run)

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
                if not isinstance(asked, GradeRun):
                    record(subject, asked)
                    continue
                assert module is not None
                module.ask(asked)
                waiting.append(subject)
                if len(waiting) > ASKED_AHEAD:
                    first = waiting.popleft()
                    record(first, first.rows(module.grades()))
            while waiting and module is not None and not self._stopped.is_set():
                first = waiting.popleft()
                record(first, first.rows(module.grades()))
        finally:
            if module is not None:
                module.close()

    def _subject(self, run: RunDir) -> _Subject | None:
        """The run and what it is graded with; None for one that cannot be read, which the report says."""
        try:
            facts = run.facts()
            return _Subject(run, facts, self._resolve(run, facts))
        except ProctorError:
            return None

    def _module(self, grading: Grading) -> GradingModule | None:
        assert grading.ref is not None
        assert grading.archive is not None
        with self._lock:
            if self._server is None and not self._stopped.is_set():
                self._server = GraderServer(self._environment)
            server = self._server
        try:
            return server.stored(grading.archive, grading.ref) if server else None
        except SuiteError:
            return None  # each run says why, in a row of its own

    def _question(self, subject: _Subject, module: GradingModule | None) -> GradeRun | tuple[ScoreRow, ...]:
        """What to ask the worker about the run; or at once the rows, when there is nothing to ask."""
        grading = subject.grading
        if subject.facts.ending is not Ending.OK:
            return ()
        if grading.changed is not None:
            return subject.unseen(Cause.TEST_CHANGED, grading.changed)
        if grading.unusable is not None:
            return subject.unseen(Cause.GRADERS_UNLOADABLE, grading.unusable)
        if grading.ref is None:
            if grading.test.goal is None:
                return subject.unseen(Cause.NO_GRADERS, "the test has neither graders nor a goal")
            return subject.unseen(Cause.NO_JUDGE, NO_JUDGE_SAID)
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


class _Subject:
    """One run under the graders: the question about it, and the rows that the answers make."""

    def __init__(self, run: RunDir, facts: RunFacts, grading: Grading) -> None:
        self.run, self.facts, self.grading = run, facts, grading

    def question(self, graders: Sequence[GraderOptions]) -> GradeRun:
        run, facts, test = self.run, self.facts, self.grading.test
        trace = run.trace(facts) or Trace()
        return GradeRun(
            run=facts.run,
            output=run.output(facts),
            test=test,
            workdir=run.absolute(WORKDIR),
            record=Record(
                ending=facts.ending,
                exit_code=facts.exit_code,
                duration_s=facts.duration_s,
                metrics=trace.metrics,
                events=trace.events,
                stdout=run.absolute(STDOUT) if STDOUT in facts.files else None,
                stderr=run.absolute(STDERR) if STDERR in facts.files else None,
            ),
            only=tuple(position for position, options in enumerate(graders) if applies(options, test)),
            fixture=self.grading.fixture and os.path.abspath(self.grading.fixture.path),  # noqa: PTH100
            holdout=self.grading.holdout and os.path.abspath(self.grading.holdout.path),  # noqa: PTH100
        )

    def rows(self, graded: Sequence[Graded], annotator: Annotator | None = None) -> tuple[ScoreRow, ...]:
        """One round: a row for each grader, each with the id that follows from its content."""
        round_id = uuid.uuid4().hex
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        if annotator is None:
            assert self.grading.ref is not None
            annotator = Annotator(kind="grader", id=self.grading.ref.revision)
        rows: list[ScoreRow] = []
        for one in graded:
            options, folded = one.options, fold_samples(one.samples, one.options)
            row = ScoreRow(
                v=ROW_VERSION,
                run=self.facts.run,
                annotator=annotator,
                round_id=round_id,
                round_size=len(graded),
                name=options.name,
                scale=folded.scale,
                score=folded.score,
                outcome=folded.outcome,
                weight=options.weight,
                must_pass=options.must_pass,
                threshold=options.threshold,
                samples=folded.samples,
                aggregate=options.aggregate,
                feedback=folded.feedback,
                cause=folded.cause,
                evidence=folded.evidence,
                defect=folded.defect,
            )
            rows.append(row.stamped(at, round(one.duration_s, 6)))
        return tuple(rows)

    def unseen(self, cause: Cause, said: str, defect: Defect | None = None) -> tuple[ScoreRow, ...]:
        """A round of one row, which says why nothing could be told."""
        ref = self.grading.ref
        name = Path(ref.entry).name if ref else "goal" if self.grading.test.goal else "graders"
        options = GraderOptions(name=name)
        graded = Graded(
            options=options, samples=(inconclusive(said, cause=cause, defect=defect),), duration_s=0.0
        )
        return self.rows([graded], None if ref else GOAL_JUDGE)

    def why_unusable(self) -> str:
        assert self.grading.archive is not None
        assert self.grading.ref is not None
        try:
            snapshot.read_archive(self.grading.archive, self.grading.ref)
        except SuiteError as error:
            return f"{error.what}. {error.fix}"
        return "the stored graders cannot be unpacked"


def _split(runs: Sequence[RunDir], parts: int) -> list[Sequence[RunDir]]:
    """The runs in up to `parts` shares of like size; few stay together."""
    size = max(SMALLEST_SHARE, -(-len(runs) // parts))
    return [runs[start : start + size] for start in range(0, len(runs), size)]
