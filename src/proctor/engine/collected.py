"""What graders said of a run, while some of it may still be with a judge."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import CancelledError, Future

import msgspec

from proctor.ports import GraderOptions
from proctor.records.grade import Cause, Grade, inconclusive
from proctor.records.judging import Judged, Judging, add_up


class Graded(msgspec.Struct, frozen=True, kw_only=True):
    """What one grader said of a run: its samples in order, and the seconds they took together.

    Attributes:
        judge: the judge whose verdicts the samples are; None for a grader that decides by itself.
        judging: what the judges took that it asked.
    """

    options: GraderOptions
    samples: tuple[Grade, ...]
    duration_s: float
    judge: str | None = None
    judging: tuple[Judging, ...] = ()


class Collected:
    """One grader's samples, of which some may not have been judged yet.

    Attributes:
        options: of the grader.
        duration_s: seconds that the grader itself took.
    """

    def __init__(self, options: GraderOptions) -> None:
        self.options = options
        self.duration_s = 0.0
        self._samples: list[Grade | Future[Judged]] = []
        self._asked: list[Future[Judged]] = []
        self._judging: list[Judging] = []
        self._is_judge = False

    def __len__(self) -> int:
        return len(self._samples)

    def add(self, grade: Grade, judging: Sequence[Judging] = ()) -> None:
        """A sample that is there; with what a judge took whose verdict it is."""
        self._samples.append(grade)
        self._judging += judging
        self._is_judge = self._is_judge or bool(judging)

    def await_verdict(self, verdict: Future[Judged]) -> None:
        """A sample that is whatever a judge will say."""
        self._samples.append(verdict)
        self._asked.append(verdict)
        self._is_judge = True

    def note_question(self, answer: Future[Judged]) -> None:
        """The grader has asked a judge on the way to its grade."""
        self._asked.append(answer)

    @property
    def is_done(self) -> bool:
        """True when nobody has to be waited for."""
        return all(answer.done() for answer in self._asked)

    def graded(self) -> Graded:
        """The samples, after waiting for those that judges have."""
        judged = [result_of(answer) for answer in self._asked]
        judging = add_up([*self._judging, *(one.judging for one in judged if one.judging is not None)])
        samples = tuple(
            result_of(sample).grade if isinstance(sample, Future) else sample for sample in self._samples
        )
        waited = sum(one.latency_s for one in judging) if self._is_judge else 0.0
        return Graded(
            options=self.options,
            samples=samples,
            duration_s=self.duration_s + waited,
            judge=judging[0].judge if self._is_judge and len(judging) == 1 else None,
            judging=judging,
        )


def result_of(answer: Future[Judged]) -> Judged:
    """The answer, after waiting for it; of a question that was given up, that it was."""
    try:
        return answer.result()
    except CancelledError:
        return Judged(grade=inconclusive("the operator stopped the grading", cause=Cause.INTERRUPTED))
