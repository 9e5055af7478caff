"""Checklist files: questions as people write them, in JSON or YAML, and what proctor writes back into them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

from proctor.core.checklists import Refusal
from proctor.core.labels import CANNOT_TELL
from proctor.errors import Fault, UsageError
from proctor.loading.check import checked, object_at
from proctor.loading.disk import is_file
from proctor.loading.documents import OBJECT_ENDINGS, ReadDocument, read_document
from proctor.loading.faults import AtLine, Faults, Spot, shown
from proctor.loading.fields import OWN_SCHEMA, TEXT, Field
from proctor.loading.json_types import is_object
from proctor.records.checklist import Definition, Question
from proctor.records.json_value import Json

MOST_POINTS = 11
MOST_CHOICES = 20

QUESTION_FIELDS = (
    Field("id", TEXT, "the id that proctor gave", '"q_8mh2tk4x0b"', "Given by proctor; not to be changed."),
    Field("text", TEXT, "text, not empty", '"Is the answer right?"', "What is asked.", True),
    Field(
        "kind",
        {"type": "string", "enum": ["yes-no", "scale", "choice"]},
        "yes-no, scale or choice",
        '"scale"',
        "How it is answered; `yes-no` when absent.",
    ),
    Field(
        "weight",
        {"type": "number", "exclusiveMinimum": 0},
        "a number above 0",
        "2",
        "Its share in the label score; 1 when absent.",
    ),
    Field("deleted", {"type": "boolean"}, "true or false", "true", "It is asked no more; its answers stay."),
    Field(
        "points",
        {"type": "integer", "minimum": 2, "maximum": MOST_POINTS},
        f"a whole number from 2 to {MOST_POINTS}",
        "5",
        "Of a scale: how many points it has; 1 is the worst.",
    ),
    Field(
        "choices",
        {"anyOf": [{"type": "array", "items": TEXT, "minItems": 2}, {"type": "object"}]},
        "a list of at least two texts, or an object of texts and what each counts from 0 to 1",
        '["friendly", "neutral", "rude"]',
        "Of a choice: what can be chosen; as an object, with what it counts for the label score.",
    ),
    Field(
        "grader",
        TEXT,
        "the name of a grader",
        '"tone"',
        "The grader whose verdict answers the same question, for `proctor agree`.",
    ),
)

CHECKLIST_FIELDS = (
    OWN_SCHEMA,
    Field("name", TEXT, "text, not empty", '"helpfulness"', "What the checklist is called.", True),
    Field("checklistId", TEXT, "the id that proctor gave", '"cl_x4k2h7p0aw"', "Given by proctor."),
    Field(
        "version",
        {"type": "integer", "minimum": 1},
        "the number that proctor gave",
        "1",
        "The revision that the file is in step with; written by proctor.",
    ),
    Field(
        "hash", TEXT, "the digest that proctor gave", '"sha256:..."', "That revision's; written by proctor."
    ),
    Field(
        "questions",
        {"type": "array", "minItems": 1},
        "a list of questions, at least one",
        '[{"text": "Is the answer right?"}]',
        "What is asked.",
        True,
    ),
)


def read_definition(path: Path) -> Definition:
    """The checklist in a file.

    Raises:
        UsageError: there is no such file, or it is not what a checklist is; every fault with its line.
    """
    faults = Faults()
    document = _document(path, faults)
    definition = _definition(document, faults) if document is not None else None
    faults.raise_any(UsageError)
    assert definition is not None
    return definition


def refused(path: Path, refusals: Iterable[Refusal]) -> UsageError:
    """The error of a file that was refused: each thing at its line."""
    document = _document(path, Faults())
    spot = Spot(document) if document is not None else Spot(AtLine(str(path)))
    faults: list[Fault] = []
    for one in refusals:
        place = spot if one.question is None else spot.at("questions", one.question)
        subject = "The checklist cannot be opened:" if one.question is None else f"{place.field}"
        faults.append(Fault(f"{subject} {one.what}.", place.where, one.fix))
    return cast("UsageError", UsageError.of(faults))


def _document(path: Path, faults: Faults) -> ReadDocument | None:
    label = str(path)
    if path.suffix.lower() not in OBJECT_ENDINGS:
        faults.note(
            Spot(AtLine(label)), "A checklist is a file in .json, .yaml or .yml.", "Save it as one of these."
        )
        return None
    if not is_file(path):
        example = '{"name": "good", "questions": [{"text": "Is the answer right?"}]}'
        faults.note(Spot(AtLine(label)), "There is no such file.", f"Write one, such as {example}.")
        return None
    return read_document(path, label, faults)


def _definition(document: ReadDocument, faults: Faults) -> Definition | None:
    spot = Spot(document)
    raw = object_at(
        document.value, spot, faults, what="a checklist", example='{"name": "...", "questions": []}'
    )
    if raw is None:
        return None
    good = checked(raw, CHECKLIST_FIELDS, spot, faults, of="a checklist")
    for name in ("name", "questions"):
        if name not in raw:
            faults.note(
                spot, f"The checklist has no `{name}`.", f"Write one: {_example(CHECKLIST_FIELDS, name)}."
            )
    questions = [
        question
        for place, written in enumerate(cast("list[Json]", good.get("questions", [])))
        if (question := _question(written, spot.at("questions", place), faults)) is not None
    ]
    if len(faults):
        return None
    return Definition(
        name=good["name"],
        checklist=good.get("checklistId"),
        version=int(good["version"]) if "version" in good else None,
        hash=good.get("hash"),
        questions=tuple(questions),
    )


def _question(written: Json, spot: Spot, faults: Faults) -> Question | None:
    raw = object_at(written, spot, faults, what="a question", example='{"text": "Is the answer right?"}')
    if raw is None:
        return None
    before = len(faults)
    good = checked(raw, QUESTION_FIELDS, spot, faults, of="a question")
    kind = good.get("kind", "yes-no")
    if kind not in ("yes-no", "scale", "choice"):
        faults.note(
            spot.at("kind"), f"{spot.at('kind').field} is {shown(kind)}.", "Write yes-no, scale or choice."
        )
    if "text" not in raw:
        faults.note(spot, f"{spot.field} has no `text`.", f"Write one: {_example(QUESTION_FIELDS, 'text')}.")
    for field, owner in (("points", "scale"), ("choices", "choice")):
        if kind == owner and field not in raw:
            fix = f"Write for example {_example(QUESTION_FIELDS, field)}."
            faults.note(spot, f"{spot.field} is a {owner} and has no `{field}`.", fix)
        if kind != owner and field in raw:
            faults.note(
                spot.at(field),
                f"{spot.field} has `{field}`, and is no {owner}.",
                f"Add `kind: {owner}`, or take it out.",
            )
    choices, worth = _choices(good.get("choices"), spot.at("choices"), faults)
    if len(faults) > before:
        return None
    return Question(
        id=good.get("id", ""),
        text=good["text"],
        kind=kind,
        weight=float(good.get("weight", 1)),
        deleted=good.get("deleted", False),
        points=int(good["points"]) if "points" in good else None,
        choices=choices,
        worth=worth,
        grader=good.get("grader"),
    )


def _choices(written: Json, spot: Spot, faults: Faults) -> tuple[tuple[str, ...], tuple[float, ...]]:
    if written is None:
        return (), ()
    names = [str(name) for name in cast("Iterable[Any]", written)]
    if not 2 <= len(names) <= MOST_CHOICES:
        faults.note(spot, f"{spot.field} has {len(names)} choices.", f"Give 2 to {MOST_CHOICES}.")
    for name in dict.fromkeys(names):
        if names.count(name) > 1:
            faults.note(spot, f"{spot.field} has {shown(name)} twice.", "Keep one of the two.")
        if not name.strip() or name.strip() != name or name.casefold() in (CANNOT_TELL, "?"):
            fix = (
                f"Give each a name of its own, without blanks around; `{CANNOT_TELL}` can always be answered."
            )
            faults.note(spot, f"{spot.field} has the choice {shown(name)}.", fix)
    if not is_object(written):
        return tuple(names), ()
    worth: list[float] = []
    for name, value in written.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            faults.note(
                spot.at(name),
                f"{spot.at(name).field} is {shown(value)}.",
                "Write what it counts, from 0 to 1.",
            )
        else:
            worth.append(float(value))
    return tuple(names), tuple(worth)


def _example(fields: Iterable[Field], name: str) -> str:
    return next(f'"{name}": {field.example}' for field in fields if field.name == name)
