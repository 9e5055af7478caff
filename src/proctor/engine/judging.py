"""The desk that all questions to judges go over: it asks many at once, and says what could not be asked."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TYPE_CHECKING, Final

from proctor.judges.budget import Budget
from proctor.judges.setup import JudgedRun, JudgeSetup
from proctor.records.grade import Cause
from proctor.records.judging import Judged, JudgeQuestion

if TYPE_CHECKING:
    from proctor.engine.judge_making import JudgeMaker

MOST_AT_ONCE: Final = 64


class JudgeDesk:
    """Answers questions about runs, each on a thread of its own; a context manager.

    The threads do not keep the process alive: an interruption does not wait for a model.
    """

    def __init__(self, setup: JudgeSetup) -> None:
        self._setup = setup
        self._budget = Budget(setup.max_cost_usd)
        self._waiting: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._threads = 0
        self._open: set[Future[Judged]] = set()
        self._maker: JudgeMaker | None = None
        self._unasked: dict[str, int] = {}

    def __enter__(self) -> JudgeDesk:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give up what is still open; whoever waits for it is told so."""
        with self._lock:
            given_up, self._open = self._open, set()
            threads = self._threads
        for future in given_up:
            future.cancel()
        for _ in range(threads):
            self._waiting.put(None)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What could not be asked, a sentence each, whatever number of grades it concerns."""
        fixes = self._maker.fixes if self._maker is not None else {}
        said = [
            f"{_grades(count)} inconclusive: {what}. {fixes.get(what, '')}".rstrip(". ") + "."
            for what, count in self._unasked.items()
        ]
        if self._setup.max_cost_usd is not None and self._budget.unknown:
            said.append(
                f"--max-cost cannot hold for {self._budget.unknown} answers: nothing says what they cost"
            )
        if self._budget.refused:
            said.append(
                f"{_grades(self._budget.refused)} inconclusive: judging would have cost more than the "
                f"${self._setup.max_cost_usd:g} of --max-cost"
            )
        return tuple(said)

    @property
    def ran_out(self) -> bool:
        """True when a question was not asked since it could have cost too much."""
        return self._budget.refused > 0

    def ask(self, question: JudgeQuestion, run: JudgedRun, sample: int) -> Future[Judged]:
        """The answer to a question, as soon as it is there. It never is an exception, and may be cancelled."""
        future: Future[Judged] = Future()

        def work() -> None:
            judged = self._judged(question, run, sample)
            with self._lock:
                is_open = future in self._open
                self._open.discard(future)
            if is_open:
                future.set_result(judged)

        with self._lock:
            self._open.add(future)
            if self._threads < min(MOST_AT_ONCE, len(self._open)):
                self._threads += 1
                threading.Thread(target=self._serve, name="judge", daemon=True).start()
        self._waiting.put(work)
        return future

    def _serve(self) -> None:
        while (work := self._waiting.get()) is not None:
            work()

    def _judged(self, question: JudgeQuestion, run: JudgedRun, sample: int) -> Judged:
        with self._lock:
            if self._maker is None:
                # Models, prompts and the reader of verdicts are dear to import, and most gradings ask no judge.
                from proctor.engine.judge_making import JudgeMaker

                self._maker = JudgeMaker(self._setup, self._budget)
        judged = self._maker.judged(question, run, sample)
        if judged.grade.cause in (Cause.NO_JUDGE, Cause.JUDGE_UNAVAILABLE):
            self._count(judged)
        return judged

    def _count(self, judged: Judged) -> None:
        with self._lock:
            said = judged.grade.feedback
            self._unasked[said] = self._unasked.get(said, 0) + 1


def _grades(count: int) -> str:
    return "1 grade is" if count == 1 else f"{count} grades are"
