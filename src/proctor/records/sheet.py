"""Labels as a table: one row for each person, run and question, the same columns always."""

from __future__ import annotations

from typing import Final

import msgspec

from proctor.records.checklist import Answer


class SheetRow(msgspec.Struct, frozen=True, kw_only=True):
    """One answer, or the place for one.

    Attributes:
        run_id: id of the run.
        path: where the run lies, for people.
        test: id of its test.
        trial: 1 for the first.
        annotator: who answered, or is to; empty where anybody may.
        checklist: id of the checklist's lineage.
        version: the revision that was answered, or is to be.
        question: id of the question.
        text: what is asked.
        takes: what it can be answered with.
        answer: True, False, a point, a choice, or `cannot tell`; None where nothing was answered.
        note: a remark about the run; the same in all rows of a person and run.
        at: when it was signed off, ISO 8601 in UTC; empty where it was not.
        input: what the agent was given, cut.
        output: what it answered, cut.
    """

    run_id: str
    path: str
    test: str
    trial: int
    annotator: str
    checklist: str
    version: int
    question: str
    text: str
    takes: str
    answer: Answer
    note: str
    at: str
    input: str
    output: str


COLUMNS: Final[tuple[str, ...]] = tuple(field.name for field in msgspec.structs.fields(SheetRow))
NEEDED: Final[tuple[str, ...]] = ("run_id", "question", "answer")
