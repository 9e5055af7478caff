"""How a checklist may change, and what opening its file comes to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Literal, TypeAlias

import msgspec

from proctor.records.checklist import CHECKLIST_SCHEMA, Checklist, Definition, Question, checklist_hash

Opening: TypeAlias = Literal["current", "publish", "refresh-definition", "refusal"]


class Refusal(msgspec.Struct, frozen=True, kw_only=True):
    """One thing in a checklist's file that cannot be.

    Attributes:
        question: its place among the file's questions; None for the file as a whole.
        what: what is the case.
        fix: what to do.
    """

    question: int | None = None
    what: str
    fix: str


class Reconciled(msgspec.Struct, frozen=True, kw_only=True):
    """What opening a checklist's file comes to.

    Attributes:
        opening: `current`: the file is in step; `publish`: `revision` is to be published, then written into the file;
            `refresh-definition`: the file is behind and unedited, and is written anew from `revision`; `refusal`.
        revision: the one in force afterwards; None after a refusal.
        refusals: why it was refused, each thing by itself.
    """

    opening: Opening
    revision: Checklist | None = None
    refusals: tuple[Refusal, ...] = ()


def reconcile(
    definition: Definition,
    revisions: Sequence[Checklist],
    *,
    now: str,
    new_id: Callable[[str], str],
) -> Reconciled:
    """Hold a checklist's file against the revisions that its group has.

    Args:
        definition: what the file says.
        revisions: those of the file's lineage in the group, oldest first; none for a new one.
        now: for the revision that is made.
        new_id: makes an id that begins with what it is given: `cl_` or `q_`.
    """
    if definition.checklist is None:
        return _first(definition, now, new_id)
    if definition.version is None or definition.hash is None:
        return _refused("it has a checklistId, and no version or no hash", _RESTORE)
    stated = _as_it_stands(definition, now)
    if not revisions:
        if stated.has_true_hash:
            return Reconciled(opening="publish", revision=msgspec.structs.replace(stated, parent=None))
        return _refused(
            "it was edited, and this group does not have the revision that it was before",
            "Open it first with the group that has that revision, then with this one.",
        )
    current = revisions[-1]
    if definition.version > current.version:
        if not stated.has_true_hash:
            return _refused(
                f"it says version {definition.version}, and the last one that there is is {current.version}",
                "Leave version and hash to proctor: " + _RESTORE,
            )
        return _changed(definition, current, stated, new_id)
    base = next((one for one in revisions if one.version == definition.version), None)
    if base is None or base.hash != definition.hash:
        return _refused(f"its hash is not the one of version {definition.version}", _RESTORE)
    is_edited = (definition.name, definition.questions) != (base.name, base.questions)
    if base is not current:
        if is_edited:
            return _refused(
                f"it was edited from version {base.version}, and the last one is {current.version}",
                f"Take version {current.version} from the group's folder of checklists, and edit that.",
            )
        return Reconciled(opening="refresh-definition", revision=current)
    if not is_edited:
        return Reconciled(opening="current", revision=current)
    return _changed(definition, current, None, new_id, now)


def next_revision(
    current: Checklist, questions: Sequence[Question], *, name: str | None = None, now: str
) -> Checklist:
    """The revision after `current`, with these questions."""
    return _revision(
        current.checklist, current.version + 1, name or current.name, tuple(questions), now, current.version
    )


def rebased(current: Checklist, staged: Sequence[Question]) -> tuple[Question, ...]:
    """The questions of `current` with what somebody has staged: its own state for those there, then the new ones."""
    own = {question.id: question for question in staged}
    kept = [
        msgspec.structs.replace(question, deleted=own[question.id].deleted)
        if question.id in own
        else question
        for question in current.questions
    ]
    known = {question.id for question in current.questions}
    return (*kept, *(question for question in staged if question.id not in known))


def illegal_changes(before: Sequence[Question], after: Sequence[Question]) -> tuple[Refusal, ...]:
    """What of a change cannot be: another text, kind or choice under an id, a removal, an id that nobody gave.

    What can be: another name, more questions, deleting and restoring, another weight, order or grader.
    """
    known = {question.id: question for question in before}
    found: list[Refusal] = []
    seen = dict[str, int]()
    for place, question in enumerate(after):
        if not question.id:
            continue
        if question.id in seen:
            found.append(_at(place, f"has the id {question.id} of another question", "Take its `id` out."))
        elif question.id not in known:
            fix = "Take its `id` out: a new question gets one when the file is opened."
            found.append(_at(place, f"has the id {question.id}, which this checklist never gave", fix))
        elif (field := _other_field(known[question.id], question)) is not None:
            fix = (
                "Restore it; set `deleted` to true, and add a question without an `id` for what is asked now."
            )
            found.append(_at(place, f"has another `{field}` under the same id {question.id}", fix))
        seen[question.id] = place
    found += [
        Refusal(
            what=f"question {question.id} ({question.text!r}) is gone",
            fix="Put it back, and set its `deleted` to true: what was answered stays readable.",
        )
        for question in before
        if question.id not in seen
    ]
    return tuple(found)


_FIXED: Final = ("text", "kind", "points", "choices")
_RESTORE: Final = (
    "Restore these fields from the revision in the group's folder of checklists; or take checklistId, version, hash "
    "and all ids out, for a checklist of its own."
)


def _first(definition: Definition, now: str, new_id: Callable[[str], str]) -> Reconciled:
    refusals = [
        _at(place, f"has the id {question.id}, and the file has no checklistId", _RESTORE)
        for place, question in enumerate(definition.questions)
        if question.id
    ]
    if definition.version is not None or definition.hash is not None:
        refusals.append(Refusal(what="it has a version or a hash, and no checklistId", fix=_RESTORE))
    if refusals:
        return Reconciled(opening="refusal", refusals=tuple(refusals))
    questions = _with_ids(definition.questions, new_id)
    return Reconciled(
        opening="publish", revision=_revision(new_id("cl_"), 1, definition.name, questions, now, None)
    )


def _changed(
    definition: Definition,
    current: Checklist,
    stated: Checklist | None,
    new_id: Callable[[str], str],
    now: str = "",
) -> Reconciled:
    illegal = illegal_changes(current.questions, definition.questions)
    if stated is not None:
        # Published elsewhere: its ids are given already, so that those which this group does not know are no fault.
        fixed = {question.id for question in current.questions}
        illegal = tuple(
            one for one in illegal if one.question is None or definition.questions[one.question].id in fixed
        )
    if illegal:
        return Reconciled(opening="refusal", refusals=illegal)
    if stated is not None:
        return Reconciled(opening="publish", revision=msgspec.structs.replace(stated, parent=current.version))
    questions = _with_ids(definition.questions, new_id)
    return Reconciled(
        opening="publish", revision=next_revision(current, questions, name=definition.name, now=now)
    )


def _as_it_stands(definition: Definition, now: str) -> Checklist:
    return Checklist(
        schema=CHECKLIST_SCHEMA,
        checklist=definition.checklist or "",
        name=definition.name,
        version=definition.version or 0,
        created_at=now,
        hash=definition.hash or "",
        questions=definition.questions,
    )


def _revision(
    checklist: str, version: int, name: str, questions: tuple[Question, ...], now: str, parent: int | None
) -> Checklist:
    return Checklist(
        schema=CHECKLIST_SCHEMA,
        checklist=checklist,
        name=name,
        version=version,
        parent=parent,
        created_at=now,
        hash=checklist_hash(checklist, version, name, questions),
        questions=questions,
    )


def _with_ids(questions: Sequence[Question], new_id: Callable[[str], str]) -> tuple[Question, ...]:
    return tuple(
        question if question.id else msgspec.structs.replace(question, id=new_id("q_"))
        for question in questions
    )


def _other_field(before: Question, after: Question) -> str | None:
    return next((field for field in _FIXED if getattr(before, field) != getattr(after, field)), None)


def _at(place: int, what: str, fix: str) -> Refusal:
    return Refusal(question=place, what=what, fix=fix)


def _refused(what: str, fix: str) -> Reconciled:
    return Reconciled(opening="refusal", refusals=(Refusal(what=what, fix=fix),))


def by_lineage(revisions: Sequence[Checklist]) -> Mapping[str, Checklist]:
    """The revision in force of each lineage."""
    return {one.checklist: one for one in sorted(revisions, key=lambda one: one.version)}
