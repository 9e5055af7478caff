"""Labels out of the runs into a sheet, and out of a sheet into the runs: all of it or nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from proctor.core.labels import CANNOT_TELL, answers_of, fits_question, in_order, last_row, read_answer
from proctor.engine.desk import begin_import, finish_imports
from proctor.engine.label_content import content_of
from proctor.engine.labelled_runs import LabelledRun
from proctor.errors import UsageError
from proctor.loading.faults import Faults, Spot, shown
from proctor.loading.sheets import ReadRow, read_sheet
from proctor.records.annotation import ROW_VERSION, Annotator, LabelRow
from proctor.records.checklist import Answer, Checklist, Question
from proctor.records.json_value import Json
from proctor.records.label import Label, Pending
from proctor.records.sheet import SheetRow

SHOWN: Final = 2_000
"""So many characters of input and output stand in a sheet."""


class Imported(msgspec.Struct, frozen=True, kw_only=True):
    """What an import did.

    Attributes:
        labels: how many rows were appended to runs.
        known: labels of the sheet that were recorded already, and are the same.
        blank: runs of the sheet without any answer.
    """

    labels: int
    known: int
    blank: int


def sheet_of(
    runs: Sequence[LabelledRun], checklist: Checklist, *, annotator: str | None
) -> Iterator[SheetRow]:
    """What was answered, and what is to be.

    Args:
        runs: in order.
        checklist: the revision in force.
        annotator: only theirs, with an empty row for each live question that they have not answered; None for what
            everybody answered, with empty rows for the runs that nobody has labelled.
    """
    for run in runs:
        labels = [label for label in run.labels if label.checklist == checklist.checklist]
        content = content_of(run)
        shown_texts = (_cut(content.input), _cut(content.output))
        if annotator is not None:
            label = run.label_of(checklist.checklist, annotator)
            yield from _rows(run, checklist, label, annotator, shown_texts)
            continue
        for label in labels:
            yield from _rows(run, checklist, label, label.annotator, shown_texts)
        if not labels:
            yield from _rows(run, checklist, None, "", shown_texts)


def import_sheet(
    path: Path,
    runs: Sequence[LabelledRun],
    checklist: Checklist,
    *,
    annotator: str,
    now: Callable[[], str],
    sample: str | None = None,
) -> Imported:
    """Append the labels of a sheet to their runs.

    The rules are those of a session: each live question of a run is answered, be it with `cannot tell`, or none is.
    A label that says what is recorded already is not recorded again.

    Args:
        path: the sheet, .csv or .jsonl.
        runs: those that may be labelled.
        checklist: the revision in force.
        annotator: whose the rows are that name nobody.
        now: the time, for the rows.
        sample: id of the random sample that the runs were drawn for.

    Raises:
        UsageError: something in it is wrong; every fault with its line. Nothing was written then.
        StoreError: it cannot be written; what was begun is finished when a group is opened again.
    """
    faults = Faults()
    sheet = _Sheet(runs, checklist, annotator, faults)
    for row in read_sheet(path, faults):
        sheet.take(row)
    blank = sheet.check()
    faults.raise_any(UsageError)
    pending: dict[Path, list[Pending]] = {}
    known = 0
    for (run_id, person), filled in sheet.filled.items():
        run = sheet.runs[run_id]
        label = run.label_of(checklist.checklist, person)
        if label is not None and _says_the_same(label, filled, checklist.live):
            known += 1
            continue
        row = LabelRow(
            v=ROW_VERSION,
            run=run_id,
            at=now(),
            annotator=Annotator(kind="human", id=person),
            checklist=checklist.checklist,
            version=checklist.version,
            hash=checklist.hash,
            questions=checklist.questions,
            answers=in_order(checklist.live, filled.answers),
            note=filled.note,
            sample=sample,
            replaces=last_row(run.annotations, checklist.checklist, person),
        ).with_id()
        pending.setdefault(run.group, []).append(Pending(run_dir=run.name, row=row))
    for group, of_group in pending.items():
        begin_import(group, tuple(of_group))
    for group in pending:
        finish_imports(group)
    return Imported(labels=sum(map(len, pending.values())), known=known, blank=blank)


class _Filled:
    """What a sheet says of one run, by one person."""

    def __init__(self, spot: Spot) -> None:
        self.spot = spot
        self.answers: dict[str, Answer] = {}
        self.blank: list[str] = []
        self.note = ""


class _Key(NamedTuple):
    run: str
    annotator: str


class _Sheet:
    def __init__(
        self, runs: Iterable[LabelledRun], checklist: Checklist, annotator: str, faults: Faults
    ) -> None:
        self.runs = {run.id: run for run in runs}
        self.filled: dict[_Key, _Filled] = {}
        self._checklist, self._annotator, self._faults = checklist, annotator, faults
        self._questions = {question.id: question for question in checklist.questions}

    def take(self, row: ReadRow) -> None:
        """Take one row, or note what is wrong with it."""
        spot, cells = row
        before = len(self._faults)
        run = _text(cells.get("run_id"))
        if run not in self.runs:
            self._note(
                spot, f"There is no run {shown(run)} here", "Name the groups that the sheet was made of"
            )
        named = _text(cells.get("checklist"))
        if named and named != self._checklist.checklist:
            self._note(spot, f"The row is of the checklist {shown(named)}", "Name that checklist's file")
        question = self._questions.get(_text(cells.get("question")))
        if question is None:
            self._note(spot, f"There is no question {shown(cells.get('question'))}", "Export a sheet anew")
        elif _text(cells.get("text")).lstrip("'") not in ("", question.text.lstrip("'")):
            self._note(
                spot, f"{question.id} asks {shown(question.text)}, and not this", "Leave the text as it is"
            )
        if len(self._faults) > before or question is None:
            return
        key = _Key(run, _text(cells.get("annotator")).strip() or self._annotator)
        filled = self.filled.setdefault(key, _Filled(spot))
        self._note_of(filled, _text(cells.get("note")), spot)
        self._answer(filled, question, cells.get("answer"), spot)

    def check(self) -> int:
        """Note what was answered in part; what was not answered at all is left out, and counted."""
        blank = 0
        for key, filled in list(self.filled.items()):
            if not filled.answers:
                if filled.note:
                    self._note(filled.spot, "There is a note, and no answer", "Answer the questions as well")
                blank += 1
                del self.filled[key]
                continue
            for question in self._checklist.live:
                if question.id not in filled.answers:
                    self._note(
                        filled.spot,
                        f"{key.annotator} answers other questions about {self.runs[key.run].name}, and not "
                        f"{question.id} ({shown(question.text)})",
                        f"Answer it, be it with `{CANNOT_TELL}`: unanswered is not no",
                    )
        return blank

    def _note_of(self, filled: _Filled, note: str, spot: Spot) -> None:
        if note and filled.note and note != filled.note:
            self._note(
                spot, "The rows of one run and person have two notes", "Write the same into each, or into one"
            )
        filled.note = note or filled.note

    def _answer(self, filled: _Filled, question: Question, written: Json, spot: Spot) -> None:
        if written is None or (isinstance(written, str) and not written.strip()):
            return
        if question.deleted:
            self._note(spot, f"{question.id} is asked no more", "Leave its answer empty")
            return
        try:
            answer = read_answer(question, written) if isinstance(written, str) else written
        except ValueError as error:
            self._note(spot, f"{question.id}: {error}", "Write one of these")
            return
        if not fits_question(question, answer) or (answer is None and not isinstance(written, str)):
            takes = answers_of(question)
            self._note(
                spot, f"{question.id}: {shown(written)} is no answer to it; it takes {takes}", "Write one"
            )
            return
        if question.id in filled.answers and filled.answers[question.id] != answer:
            self._note(spot, f"{question.id} is answered twice for this run", "Keep one of the two rows")
            return
        filled.answers[question.id] = answer

    def _note(self, spot: Spot, what: str, fix: str) -> None:
        self._faults.note(spot, f"{what}.", f"{fix}.")


def _rows(
    run: LabelledRun, checklist: Checklist, label: Label | None, annotator: str, texts: tuple[str, str]
) -> Iterator[SheetRow]:
    answers = label.answers if label else {}
    for question in checklist.live:
        is_answered = question.id in answers
        yield SheetRow(
            run_id=run.id,
            path=str(run.run.path),
            test=run.facts.test.id,
            trial=run.facts.trial,
            annotator=annotator,
            checklist=checklist.checklist,
            version=label.version if label and is_answered else checklist.version,
            question=question.id,
            text=question.text,
            takes=answers_of(question),
            answer=answers.get(question.id),
            note=label.note if label else "",
            at=label.at if label and is_answered else "",
            input=texts[0],
            output=texts[1],
        )


def _says_the_same(label: Label, filled: _Filled, live: Sequence[Question]) -> bool:
    asked = {question.id for question in live}
    said = {question: answer for question, answer in label.answers.items() if question in asked}
    return said == filled.answers and label.note == filled.note


def _text(value: Json) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)


def _cut(text: str | None) -> str:
    if text is None:
        return ""
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}… ({len(text)} characters)"
