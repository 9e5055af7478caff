"""Checklists: versioned questions for a person, and what they may be answered with."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

import msgspec

from proctor.records.json_value import Json, digest_of

CHECKLIST_SCHEMA: Final = "proctor.checklist/1"

QuestionKind: TypeAlias = Literal["yes-no", "scale", "choice"]

Answer: TypeAlias = bool | int | str | None
"""True or False, a point of a scale, one of the choices; None says "cannot tell". An absent answer is no answer."""

_ONE: Final = 1.0
_YES_NO: Final = "yes-no"


class Question(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One question of a checklist. Under one id, what is asked never changes.

    Attributes:
        id: `q_` and ten characters; empty until it is published.
        text: what is asked.
        kind: yes or no, a scale of points from 1, or one of several choices.
        weight: its share in the label score.
        deleted: it is asked no more; its answers stay.
        points: of a scale, how many; 1 is the worst.
        choices: of a choice, what can be chosen.
        worth: what each choice counts, 0 to 1; empty for choices that count for nothing.
        grader: name of the grader that is to answer the same question, for `proctor agree`.
    """

    id: str = ""
    text: str
    kind: QuestionKind = _YES_NO
    weight: float = _ONE
    deleted: bool = False
    points: int | None = None
    choices: tuple[str, ...] = ()
    worth: tuple[float, ...] = ()
    grader: str | None = None

    def __post_init__(self) -> None:
        # What equals a default is left out only when it is the same object: the same question has one text of JSON.
        weight = _ONE if self.weight == _ONE else float(self.weight)
        msgspec.structs.force_setattr(self, "weight", weight)
        msgspec.structs.force_setattr(self, "worth", tuple(map(float, self.worth)))
        if self.kind == _YES_NO:
            msgspec.structs.force_setattr(self, "kind", _YES_NO)

    @property
    def counts(self) -> bool:
        """True when its answers have a value for the label score."""
        return self.kind != "choice" or bool(self.worth)


class Definition(msgspec.Struct, frozen=True, kw_only=True):
    """A checklist as the user's file says it.

    Attributes:
        name: what it is called.
        checklist: id of its lineage; None until it is opened for the first time.
        version: the revision that the file was in step with.
        hash: that revision's.
        questions: in the order of the file.
    """

    name: str
    checklist: str | None = None
    version: int | None = None
    hash: str | None = None
    questions: tuple[Question, ...]


class Checklist(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One published revision. It never changes.

    Attributes:
        schema: format of the file.
        checklist: id of its lineage, `cl_` and ten characters.
        name: what it is called.
        version: from 1, rising.
        parent: the version before it in this lineage; None for the first.
        created_at: ISO 8601, UTC.
        hash: digest of lineage, version, name and questions.
        questions: all that there ever were, deleted ones included.
    """

    schema: str
    checklist: str
    name: str
    version: int
    parent: int | None = None
    created_at: str
    hash: str
    questions: tuple[Question, ...]

    @property
    def live(self) -> tuple[Question, ...]:
        """The questions that are asked."""
        return tuple(question for question in self.questions if not question.deleted)

    @property
    def has_true_hash(self) -> bool:
        """True when the hash is that of the content."""
        return self.hash == checklist_hash(self.checklist, self.version, self.name, self.questions)


def checklist_hash(checklist: str, version: int, name: str, questions: tuple[Question, ...]) -> str:
    """Digest of everything that a revision says."""
    return digest_of(
        {
            "checklistId": checklist,
            "version": version,
            "name": name,
            "questions": [question_fields(question) for question in questions],
        }
    )


def question_fields(question: Question) -> dict[str, Json]:
    """A question as JSON, its weight and whether it is deleted always among the fields."""
    return {"weight": question.weight, "deleted": question.deleted, **msgspec.to_builtins(question)}
