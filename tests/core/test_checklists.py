"""How a checklist may change, and what opening its file comes to."""

from __future__ import annotations

import itertools

import msgspec
import pytest

from proctor.core.checklists import illegal_changes, next_revision, rebased, reconcile
from proctor.records.checklist import Checklist, Definition, Question

NOW = "2026-01-01T00:00:00.000+00:00"
RIGHT = Question(text="Is it right?")
POLITE = Question(text="Is it polite?", weight=3)


def opened(definition: Definition, *revisions: Checklist, start: int = 1):
    numbers = itertools.count(start)
    return reconcile(definition, revisions, now=NOW, new_id=lambda beginning: f"{beginning}{next(numbers)}")


def first() -> Checklist:
    found = opened(Definition(name="good", questions=(RIGHT, POLITE)))
    assert found.revision is not None
    return found.revision


def in_step(revision: Checklist, **changes: object) -> Definition:
    """A file as it was written back, with changes."""
    definition = Definition(
        name=revision.name,
        checklist=revision.checklist,
        version=revision.version,
        hash=revision.hash,
        questions=revision.questions,
    )
    return msgspec.structs.replace(definition, **changes)


def test_a_new_file_gets_a_lineage_and_ids_and_is_published() -> None:
    found = opened(Definition(name="good", questions=(RIGHT, POLITE)))

    assert "publish" == found.opening
    assert found.revision is not None
    assert (1, None, "cl_3") == (found.revision.version, found.revision.parent, found.revision.checklist)
    assert ["q_1", "q_2"] == [question.id for question in found.revision.questions]
    assert found.revision.has_true_hash


def test_an_unchanged_file_is_current() -> None:
    revision = first()
    found = opened(in_step(revision), revision)

    assert ("current", revision) == (found.opening, found.revision)


@pytest.mark.parametrize(
    "change",
    [
        lambda q: (*q, Question(text="Is it short?")),
        lambda q: (msgspec.structs.replace(q[0], deleted=True), q[1]),
        lambda q: (msgspec.structs.replace(q[0], weight=5.0), q[1]),
        lambda q: (msgspec.structs.replace(q[0], grader="tone"), q[1]),
        lambda q: (q[1], q[0]),
    ],
    ids=["add", "delete", "re-weight", "link", "order"],
)
def test_a_legal_change_is_published_as_the_next_revision(change) -> None:
    revision = first()
    found = opened(in_step(revision, questions=change(revision.questions)), revision, start=50)

    assert "publish" == found.opening
    assert found.revision is not None
    assert (2, 1) == (found.revision.version, found.revision.parent)
    assert all(question.id for question in found.revision.questions)


def test_a_question_can_be_restored() -> None:
    one = first()
    gone = next_revision(
        one, (msgspec.structs.replace(one.questions[0], deleted=True), one.questions[1]), now=NOW
    )
    found = opened(in_step(gone, questions=one.questions), one, gone)

    assert "publish" == found.opening
    assert found.revision is not None
    assert one.questions == found.revision.questions


def test_another_name_is_a_revision_too() -> None:
    """The name is part of what was published: a hash says everything that the file says."""
    revision = first()
    found = opened(in_step(revision, name="better"), revision)

    assert "publish" == found.opening
    assert found.revision is not None
    assert "better" == found.revision.name
    assert found.revision.hash != revision.hash


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda q: (msgspec.structs.replace(q[0], text="Is it wrong?"), q[1]), "another `text`"),
        (lambda q: (msgspec.structs.replace(q[0], kind="scale", points=5), q[1]), "another `kind`"),
        (lambda q: (q[0],), "is gone"),
        (lambda q: (q[0], q[1], msgspec.structs.replace(q[1], text="?")), "of another question"),
        (lambda q: (q[0], q[1], Question(id="q_foreign", text="?")), "never gave"),
    ],
    ids=["text", "kind", "removal", "twice", "foreign"],
)
def test_an_illegal_change_is_refused_and_named(change, said: str) -> None:
    revision = first()
    found = opened(in_step(revision, questions=change(revision.questions)), revision)

    assert ("refusal", None) == (found.opening, found.revision)
    assert any(said in one.what for one in found.refusals), found.refusals


def test_all_illegal_changes_are_named_at_once() -> None:
    before = (Question(id="q_1", text="a"), Question(id="q_2", text="b"), Question(id="q_3", text="c"))
    after = (Question(id="q_1", text="x"), Question(id="q_9", text="b"))

    assert 4 == len(illegal_changes(before, after))


def test_a_file_that_is_behind_and_unedited_is_refreshed() -> None:
    one = first()
    two = next_revision(one, (*one.questions, Question(id="q_9", text="Is it short?")), now=NOW)
    found = opened(in_step(one), one, two)

    assert ("refresh-definition", two) == (found.opening, found.revision)


def test_a_file_that_is_behind_and_edited_is_refused() -> None:
    one = first()
    two = next_revision(one, (*one.questions, Question(id="q_9", text="Is it short?")), now=NOW)
    found = opened(in_step(one, name="other"), one, two)

    assert "refusal" == found.opening
    assert "edited from version 1, and the last one is 2" in found.refusals[0].what


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"version": None}, "no version or no hash"),
        ({"hash": None}, "no version or no hash"),
        ({"hash": "sha256:0"}, "not the one of version 1"),
        ({"version": 7}, "says version 7, and the last one that there is is 1"),
        ({"checklist": None}, "no checklistId"),
    ],
    ids=["no version", "no hash", "another hash", "ahead", "ids without a lineage"],
)
def test_a_file_whose_marks_do_not_fit_is_refused(change: dict[str, object], said: str) -> None:
    revision = first()
    found = opened(in_step(revision, **change), revision)

    assert "refusal" == found.opening
    assert any(said in one.what for one in found.refusals), found.refusals


def test_a_checklist_is_taken_over_into_another_group_as_it_is() -> None:
    """One checklist serves many groups: a group without it gets the file's revision under its own number."""
    one = first()
    two = next_revision(one, (*one.questions, Question(id="q_9", text="Is it short?")), now=NOW)
    found = opened(in_step(two))

    assert "publish" == found.opening
    assert found.revision is not None
    assert (2, None, two.hash) == (found.revision.version, found.revision.parent, found.revision.hash)


def test_a_group_that_is_behind_takes_over_what_another_group_published() -> None:
    one = first()
    two = next_revision(one, (*one.questions, Question(id="q_9", text="Is it short?")), now=NOW)
    found = opened(in_step(two), one)

    assert "publish" == found.opening
    assert found.revision is not None
    assert (2, 1, two.hash) == (found.revision.version, found.revision.parent, found.revision.hash)


def test_an_edited_file_in_a_group_that_does_not_know_it_is_refused() -> None:
    found = opened(in_step(first(), name="other"))

    assert "refusal" == found.opening
    assert "does not have the revision that it was before" in found.refusals[0].what


def test_what_somebody_staged_is_put_on_top_of_what_was_published_meanwhile() -> None:
    """Every current question stays, with its current text; the staged ones come after."""
    one = first()
    two = next_revision(one, (*one.questions, Question(id="q_9", text="Is it short?")), now=NOW)
    staged = (msgspec.structs.replace(one.questions[0], deleted=True), Question(id="q_8", text="Is it kind?"))

    assert [("q_1", True), ("q_2", False), ("q_9", False), ("q_8", False)] == [
        (question.id, question.deleted) for question in rebased(two, staged)
    ]


def test_published_by_a_crash_half_way_a_staged_question_is_not_published_twice() -> None:
    one = first()
    new = Question(id="q_9", text="Is it short?")
    two = next_revision(one, (*one.questions, new), now=NOW)

    assert two.questions == rebased(two, (new,))
