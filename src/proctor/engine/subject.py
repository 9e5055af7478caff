"""One run under the graders: what it is graded with, the question about it, and the rows that the answers make."""

from __future__ import annotations

import os
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec

from proctor.core.evidence import channels_of
from proctor.core.samples import fold_samples
from proctor.engine import snapshot
from proctor.engine.collected import Graded
from proctor.engine.inputs import KeptInput
from proctor.engine.protocol import GradeRun, applies
from proctor.errors import SuiteError
from proctor.judges import goal_judge
from proctor.judges.setup import JudgedRun
from proctor.ports import GraderOptions
from proctor.records.annotation import ROW_VERSION, Annotator, ScoreRow
from proctor.records.grade import Cause, Defect, inconclusive
from proctor.records.run import GradersRef, Record, RunFacts
from proctor.records.suite import Test
from proctor.records.trace import Trace
from proctor.stores.rundir import STDERR, STDOUT, WORKDIR, RunDir

GOAL: Final = GraderOptions(name="goal", threshold=goal_judge.BAR, scale="scalar")
"""The built-in goal judge as a grader: what a test without graders is graded with."""


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


class Subject:
    """One run under the graders: the question about it, and the rows that the answers make."""

    def __init__(self, run: RunDir, facts: RunFacts, grading: Grading) -> None:
        self.run, self.facts, self.grading = run, facts, grading

    def question(self, graders: Sequence[GraderOptions]) -> GradeRun:
        """What to ask the worker about the run.

        Raises:
            ProctorError: its output or its trace cannot be read.
        """
        run, facts, test = self.run, self.facts, self.grading.test
        told = run.trace(facts)
        trace = told or Trace()
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
                changes=run.changes(facts),
                channels=channels_of(told),
            ),
            only=tuple(position for position, options in enumerate(graders) if applies(options, test)),
            fixture=self.grading.fixture and os.path.abspath(self.grading.fixture.path),  # noqa: PTH100
            holdout=self.grading.holdout and os.path.abspath(self.grading.holdout.path),  # noqa: PTH100
            artifact=None if facts.artifact is None else os.path.abspath(run.artifact),  # noqa: PTH100
        )

    def as_judged(self) -> JudgedRun:
        """The run as judges see it."""
        trace = self.run.trace(self.facts)
        return JudgedRun(
            output=self.run.output(self.facts),
            test=self.grading.test,
            workdir=Path(self.run.absolute(WORKDIR)),
            events=trace.events if trace is not None else (),
        )

    def rows(self, graded: Sequence[Graded]) -> tuple[ScoreRow, ...]:
        """One round: a row for each grader, each with the id that follows from its content."""
        round_id = uuid.uuid4().hex
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        module = self.grading.ref.revision if self.grading.ref is not None else None
        stranger = (
            Annotator(kind="judge", id=goal_judge.revision(binary=False))
            if module is None
            else Annotator(kind="grader", id=module)
        )
        rows: list[ScoreRow] = []
        for one in graded:
            options, folded = one.options, fold_samples(one.samples, one.options)
            row = ScoreRow(
                v=ROW_VERSION,
                run=self.facts.run,
                annotator=stranger if one.judge is None else Annotator(kind="judge", id=one.judge),
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
                mean=folded.mean,
                spread=folded.spread,
                count=folded.count,
                module=None if one.judge is None else module,
                judging=one.judging,
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
        return self.rows([graded])

    def why_unusable(self) -> str:
        """Why the stored grading code could not be unpacked, in a sentence."""
        assert self.grading.archive is not None
        assert self.grading.ref is not None
        try:
            snapshot.read_archive(self.grading.archive, self.grading.ref)
        except SuiteError as error:
            return f"{error.what}. {error.fix}"
        return "the stored graders cannot be unpacked"
