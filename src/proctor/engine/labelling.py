"""A labelling session: one person, one checklist, some runs. It has no screen, and saves every action at once."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final, Literal, TypeAlias

import msgspec

from proctor.core.checklists import next_revision, rebased
from proctor.core.labels import fits_question, fold_labels, in_order, last_row, score_label
from proctor.engine.desk import Desk
from proctor.engine.labelled_runs import LabelledRun
from proctor.engine.opening import new_id, publish_everywhere
from proctor.errors import ProctorError, StoreError, UsageError
from proctor.records.annotation import ROW_VERSION, Annotator, LabelRow
from proctor.records.checklist import Answer, Checklist, Question
from proctor.records.label import DraftEntry, Label, LabelScore, Pending

Status: TypeAlias = Literal["open", "begun", "stale", "skipped", "labelled"]
"""`open`: nothing said. `begun`: answers that are not signed off. `stale`: signed off, and a live question is
unanswered since. `skipped`: passed over. `labelled`: signed off."""

LONGEST_PAUSE_S: Final = 60.0
"""Of a longer time between two actions only so much counts as work."""


class State(msgspec.Struct, frozen=True, kw_only=True):
    """Where one run stands.

    Attributes:
        answers: signed off or not, by question id.
        unsigned: ids of the questions whose answer is not signed off.
        note: as it is now.
        score: what the answers come to.
    """

    status: Status
    answers: Mapping[str, Answer]
    unsigned: frozenset[str]
    note: str
    score: LabelScore


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """How far the session is; `left` counts the runs that are not labelled."""

    total: int
    labelled: int
    stale: int
    begun: int
    skipped: int

    @property
    def left(self) -> int:
        """How many runs are still to be signed off."""
        return self.total - self.labelled


class Session:
    """What a screen or a browser page is a face of.

    Args:
        runs: in the order in which they are labelled.
        checklist: the revision in force in every group.
        file: the checklist's file.
        annotator: who labels.
        sample: id of the random sample that the runs were drawn for; None for none.
        now: the time, ISO 8601 in UTC, for rows.
        clock: seconds that pass, for the time that is spent.

    Raises:
        StoreError: the same person labels in another process, or a draft cannot be read or written.
    """

    def __init__(
        self,
        runs: Sequence[LabelledRun],
        checklist: Checklist,
        *,
        file: Path,
        annotator: str,
        now: Callable[[], str],
        clock: Callable[[], float],
        sample: str | None = None,
    ) -> None:
        self.runs = list(runs)
        self.checklist = checklist
        self.annotator = annotator
        self.warnings: list[str] = []
        self._file, self._sample, self._now, self._clock = file, sample, now, clock
        self._stack = ExitStack()
        self._desks: dict[Path, Desk] = {}
        self._statuses: dict[str, Status] = {}
        self._is_dead = False
        try:
            for group in dict.fromkeys(run.group for run in runs):
                desk = Desk(group, checklist.checklist, annotator)
                self._stack.callback(desk.close)
                self._desks[group] = desk
                self.warnings += desk.warnings
            self._labels = {run.id: self._label_on_disk(run) for run in self.runs}
            self.index = self._where_they_stopped()
        except BaseException:
            self.close()
            raise
        self._since = clock()

    @property
    def current(self) -> LabelledRun:
        """The run that is looked at."""
        return self.runs[self.index]

    @property
    def questions(self) -> tuple[Question, ...]:
        """All questions, deleted ones and those that are not published yet included."""
        return rebased(self.checklist, self._staged)

    @property
    def live(self) -> tuple[Question, ...]:
        """The questions that are asked."""
        return tuple(question for question in self.questions if not question.deleted)

    @property
    def progress(self) -> Progress:
        """How far the session is."""
        states = [self._status(index) for index in range(len(self.runs))]
        return Progress(
            total=len(states),
            labelled=states.count("labelled"),
            stale=states.count("stale"),
            begun=states.count("begun"),
            skipped=states.count("skipped"),
        )

    def state(self, index: int | None = None) -> State:
        """Where a run stands; the current one when none is named."""
        run = self.runs[self.index if index is None else index]
        entry, label = self._desk(run).entry(run.id), self._labels[run.id]
        signed = dict(label.answers) if label else {}
        answers = signed | entry.answers
        score = score_label(self.questions, answers)
        status: Status = "open"
        if entry.skipped:
            status = "skipped"
        elif entry.is_touched:
            status = "begun"
        elif label is not None:
            status = "stale" if score.unanswered else "labelled"
        note = entry.note if entry.note is not None else label.note if label else ""
        return State(
            status=status, answers=answers, unsigned=frozenset(entry.answers), note=note, score=score
        )

    def answer(self, question: str, answer: Answer) -> None:
        """Answer a question of the current run; None says "cannot tell".

        Raises:
            ValueError: the question is not asked, or the answer is none that it takes.
            StoreError: it cannot be saved; the session is over then.
        """
        asked = next((one for one in self.live if one.id == question), None)
        if asked is None or not fits_question(asked, answer):
            raise ValueError(f"{answer!r} is no answer to {question!r}")
        entry = self._entry
        self._keep(msgspec.structs.replace(entry, answers={**entry.answers, question: answer}, skipped=False))

    def take_back(self, question: str) -> None:
        """Take back an answer that is not signed off; what was signed off before stands again.

        Raises:
            StoreError: it cannot be saved; the session is over then.
        """
        answers = {one: answer for one, answer in self._entry.answers.items() if one != question}
        self._keep(msgspec.structs.replace(self._entry, answers=answers))

    def note(self, text: str) -> None:
        """Write a note about the current run.

        Raises:
            StoreError: it cannot be saved; the session is over then.
        """
        self._keep(msgspec.structs.replace(self._entry, note=text))

    def show_grades(self) -> None:
        """Remember that the grades of the current run were looked at: it is labelled blind no more.

        Raises:
            StoreError: it cannot be saved; the session is over then.
        """
        self._keep(msgspec.structs.replace(self._entry, saw_grades=True))

    def saw_grades(self, run: LabelledRun) -> bool:
        """Whether the person has looked at the grades of a run."""
        label = self._labels[run.id]
        return self._desk(run).entry(run.id).saw_grades or (label is not None and label.saw_grades)

    def go(self, index: int) -> None:
        """Look at another run; outside of the list, at the first or the last.

        Raises:
            StoreError: it cannot be saved; the session is over then.
        """
        self._keep(self._entry)
        self.index = max(0, min(index, len(self.runs) - 1))
        self._keep(self._entry)

    def go_on(self) -> bool:
        """Look at the next run that is not labelled, skipped ones last; False when all are.

        Raises:
            StoreError: it cannot be saved; the session is over then.
        """
        following = self._next_open()
        if following is None:
            return False
        self.go(following)
        return True

    def skip(self) -> bool:
        """Pass over the current run, and look at the next one that is not labelled; it comes again at the end.

        Raises:
            StoreError: it cannot be saved; the session is over then.
        """
        if self.state().status != "labelled":
            self._keep(msgspec.structs.replace(self._entry, skipped=True))
        return self.go_on()

    def add_question(self, text: str) -> Question:
        """Add a question of yes or no; it is published with the next sign-off.

        Raises:
            ValueError: the text is blank.
            StoreError: it cannot be saved; the session is over then.
        """
        if not text.strip():
            raise ValueError("a question has a text")
        question = Question(id=new_id("q_"), text=text.strip())
        self._stage(question)
        return question

    def toggle_deleted(self, question: str) -> None:
        """Delete a question, or restore it; published with the next sign-off. What it was answered stays.

        Raises:
            StoreError: it cannot be saved; the session is over then.
        """
        asked = next(one for one in self.questions if one.id == question)
        self._stage(msgspec.structs.replace(asked, deleted=not asked.deleted))

    def sign_off(self) -> bool:
        """Append the answers of the current run as one row; False when there is nothing new to sign off.

        Raises:
            UsageError: a question is unanswered. Nothing was written.
            StoreError: something cannot be written; the session is over then, and opening it again goes on.
        """
        run, state = self.current, self.state()
        if not self.live or state.status == "labelled":
            return False
        if state.score.unanswered:
            count = len(state.score.unanswered)
            raise UsageError(
                f"{count} {'question is' if count == 1 else 'questions are'} unanswered",
                fix="Answer each, be it with `cannot tell`: unanswered is not no.",
            )
        self._keep(self._entry)
        with self._living():
            self._publish_staged()
            entry = self._entry
            row = LabelRow(
                v=ROW_VERSION,
                run=run.id,
                at=self._now(),
                annotator=Annotator(kind="human", id=self.annotator),
                checklist=self.checklist.checklist,
                version=self.checklist.version,
                hash=self.checklist.hash,
                questions=self.checklist.questions,
                answers=in_order(self.live, state.answers),
                note=state.note,
                active_ms=entry.active_ms,
                saw_grades=entry.saw_grades,
                sample=self._sample,
                replaces=last_row(run.run.annotations(), self.checklist.checklist, self.annotator),
            ).with_id()
            self._desk(run).sign(Pending(run_dir=run.name, row=row))
            self._labels[run.id] = self._label_on_disk(run)
        self._statuses.pop(run.id, None)
        return True

    def close(self) -> None:
        """End the session. What is not signed off stays in the draft."""
        self._stack.close()

    @property
    def _staged(self) -> tuple[Question, ...]:
        return next(iter(self._desks.values())).draft.staged

    @property
    def _entry(self) -> DraftEntry:
        return self._desk(self.current).entry(self.current.id)

    def _desk(self, run: LabelledRun) -> Desk:
        return self._desks[run.group]

    def _status(self, index: int) -> Status:
        """The status of a run, worked out anew only after something was saved that can change it."""
        run = self.runs[index].id
        if run not in self._statuses:
            self._statuses[run] = self.state(index).status
        return self._statuses[run]

    def _label_on_disk(self, run: LabelledRun) -> Label | None:
        mine = (self.checklist.checklist, self.annotator)
        labels = fold_labels(run.run.annotations())
        return next((one for one in labels if (one.checklist, one.annotator) == mine), None)

    def _keep(self, entry: DraftEntry) -> None:
        """Save the current run's entry, with the time that was spent since the last action."""
        now = self._clock()
        spent_ms = round(min(max(0.0, now - self._since), LONGEST_PAUSE_S) * 1000)
        self._since = now
        entry = msgspec.structs.replace(entry, active_ms=entry.active_ms + spent_ms)
        with self._living():
            self._desk(self.current).keep(self.current.id, entry, current=self.current.id, at=self._now())
        self._statuses.pop(self.current.id, None)

    def _stage(self, question: Question) -> None:
        with self._living():
            for desk in self._desks.values():
                others = [one for one in desk.draft.staged if one.id != question.id]
                desk.save(staged=(*others, question))
        self._statuses.clear()

    def _publish_staged(self) -> None:
        staged = self._staged
        if self.questions != self.checklist.questions:
            revision = next_revision(self.checklist, rebased(self.checklist, staged), now=self._now())
            publish_everywhere(self._file, list(self._desks), revision)
            self.checklist = revision
        if staged:
            for desk in self._desks.values():
                desk.save(staged=())

    @contextmanager
    def _living(self) -> Generator[None]:
        """Around everything that saves: after a failure nothing more is written, and others may open the checklist."""
        if self._is_dead:
            raise StoreError(
                "an earlier action could not be saved, and the session is over",
                fix="Quit, see to the disk, and open it again: it goes on from what was saved.",
            )
        try:
            yield
        except ProctorError:
            self._is_dead = True
            self.close()
            raise

    def _where_they_stopped(self) -> int:
        """The run that they were at, unless it is labelled; then the next that is not."""
        self.index = 0
        latest = max(self._desks.values(), key=lambda desk: desk.draft.at)
        places = {run.id: index for index, run in enumerate(self.runs)}
        self.index = places.get(latest.draft.current or "", 0)
        if self.state().status == "labelled":
            following = self._next_open()
            return self.index if following is None else following
        return self.index

    def _next_open(self) -> int | None:
        """The next run after this one, round the end, that is to be labelled; skipped ones when there is no other."""
        count = len(self.runs)
        round_trip = [(self.index + step) % count for step in range(1, count + 1)]
        for wanted in (("open", "begun", "stale"), ("skipped",)):
            for index in round_trip:
                if self._status(index) in wanted:
                    return index
        return None
