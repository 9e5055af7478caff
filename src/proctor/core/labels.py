"""What people's answers come to: rows folded into labels, labels into scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

from proctor.records.annotation import Annotations, LabelRow
from proctor.records.checklist import Answer, Question
from proctor.records.label import Label, LabelScore
from proctor.records.report import Bounds

CANNOT_TELL: Final = "cannot tell"
_YES: Final = frozenset({"yes", "y", "true"})
_NO: Final = frozenset({"no", "n", "false"})


def fold_labels(annotations: Annotations) -> tuple[Label, ...]:
    """The labels of a run, one for each person and checklist, in the order of their first rows.

    Rows with one id count once, and withdrawn ones not at all. Of answers to the same question the last counts; the
    note is the last row's.

    Args:
        annotations: all rows of the run, in the order of appending.
    """
    withdrawn = {row.round_id for row in annotations.retractions}
    by_person: dict[tuple[str, str], dict[str, LabelRow]] = {}
    for row in annotations.labels:
        if row.id not in withdrawn:
            by_person.setdefault((row.checklist, row.annotator.id), {}).setdefault(row.id, row)
    return tuple(_folded(tuple(rows.values())) for rows in by_person.values())


def _folded(rows: Sequence[LabelRow]) -> Label:
    last = rows[-1]
    answers: dict[str, Answer] = {}
    for row in rows:
        answers |= row.answers
    return Label(
        checklist=last.checklist,
        annotator=last.annotator.id,
        version=last.version,
        questions=last.questions,
        answers=answers,
        note=last.note,
        at=last.at,
        row_id=last.id,
        saw_grades=any(row.saw_grades for row in rows),
        sample=next((row.sample for row in reversed(rows) if row.sample), None),
    )


def last_row(annotations: Annotations, checklist: str, annotator: str) -> str:
    """Id of the row that one person signed off last by one checklist, withdrawn or not; empty for the first time.

    The next row names it, so that the same answers signed off again are a row of their own.
    """
    mine = (checklist, annotator)
    return next(
        (row.id for row in reversed(annotations.labels) if (row.checklist, row.annotator.id) == mine), ""
    )


def value_of(question: Question, answer: Answer) -> float | None:
    """What an answer counts, 0 (worst) to 1 (best); None for "cannot tell", and where nothing counts.

    Yes is 1 and no is 0; of a scale with n points the k-th is (k - 1) / (n - 1).
    """
    if answer is None or not question.counts:
        return None
    if question.kind == "yes-no":
        return 1.0 if answer else 0.0
    if question.kind == "scale":
        assert isinstance(answer, int)
        return (answer - 1) / ((question.points or 2) - 1)
    return question.worth[question.choices.index(str(answer))]


def score_label(questions: Sequence[Question], answers: Mapping[str, Answer]) -> LabelScore:
    """The label score: sum(weight x value) / sum(weight) over the live questions that count.

    Args:
        questions: those of the revision that is in force now.
        answers: by question id; what deleted questions were answered is left aside.
    """
    live = [question for question in questions if not question.deleted]
    unanswered = tuple(question.id for question in live if question.id not in answers)
    counting = [question for question in live if question.counts]
    total = sum(question.weight for question in counting)
    if not total:
        return LabelScore(score=None, bounds=Bounds(0.0, 1.0), unanswered=unanswered)
    known = missing = 0.0
    for question in counting:
        value = value_of(question, answers.get(question.id))
        if value is None:
            missing += question.weight
        else:
            known += question.weight * value
    bounds = Bounds(known / total, min(1.0, (known + missing) / total))
    is_known = not unanswered and not missing
    return LabelScore(score=bounds.low if is_known else None, bounds=bounds, unanswered=unanswered)


def passes(questions: Sequence[Question], answers: Mapping[str, Answer]) -> bool | None:
    """Whether a person passes a run: every live question is yes or no, and all of them are yes.

    None where one of them is unanswered, cannot be told, or is of another kind.
    """
    live = [question for question in questions if not question.deleted]
    said = [answers.get(question.id) for question in live]
    if not live or any(question.kind != "yes-no" for question in live) or None in said:
        return None
    return all(said)


def fits_question(question: Question, answer: Answer) -> bool:
    """True for an answer that the question can have."""
    if answer is None:
        return True
    if question.kind == "yes-no":
        return isinstance(answer, bool)
    if question.kind == "scale":
        is_whole = isinstance(answer, int) and not isinstance(answer, bool)
        return is_whole and 1 <= int(answer) <= (question.points or 0)
    return answer in question.choices


def read_answer(question: Question, text: str) -> Answer:
    """The answer that a text stands for: yes or no, a point, a choice, or `cannot tell`.

    Raises:
        ValueError: it stands for none.

    >>> read_answer(Question(text="Is it right?"), "Yes"), read_answer(Question(text="?"), "cannot tell")
    (True, None)
    """
    word = text.strip()
    folded = word.casefold()
    if folded in (CANNOT_TELL, "?"):
        return None
    if question.kind == "yes-no" and folded in _YES | _NO:
        return folded in _YES
    if question.kind == "scale" and word.isascii() and word.isdigit() and fits_question(question, int(word)):
        return int(word)
    if question.kind == "choice" and word in question.choices:
        return word
    raise ValueError(f"{word!r} is no answer to it; it takes {answers_of(question)}")


def answers_of(question: Question) -> str:
    """What a question can be answered with, in words."""
    if question.kind == "yes-no":
        own = "yes, no"
    elif question.kind == "scale":
        own = f"1 to {question.points}"
    else:
        own = ", ".join(question.choices)
    return f"{own} or {CANNOT_TELL}"


def answer_text(answer: Answer) -> str:
    """An answer as people read and write it.

    >>> answer_text(True), answer_text(3), answer_text(None)
    ('yes', '3', 'cannot tell')
    """
    if answer is None:
        return CANNOT_TELL
    if isinstance(answer, bool):
        return "yes" if answer else "no"
    return str(answer)


def in_order(questions: Iterable[Question], answers: Mapping[str, Answer]) -> dict[str, Answer]:
    """The answers in the order of the questions: the same answers make the same row."""
    return {question.id: answers[question.id] for question in questions if question.id in answers}


def with_questions(label: Label, current: Sequence[Question]) -> tuple[Question, ...]:
    """The questions that a label is held against: those in force now, else those that it answered."""
    return tuple(current) or label.questions


def relabelled(question: Question, **changes: object) -> Question:
    """The same question with other settings; what it asks stays."""
    return msgspec.structs.replace(question, **changes)
