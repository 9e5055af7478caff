"""What answers come to: rows folded into labels, labels into scores."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.core.labels import (
    answer_text,
    fits_question,
    fold_labels,
    passes,
    read_answer,
    score_label,
    value_of,
)
from proctor.records.annotation import Annotations, Annotator, LabelRow, RetractRow
from proctor.records.checklist import Answer, Question

YES_NO = Question(id="q_a", text="Is it right?")
HEAVY = Question(id="q_b", text="Is it polite?", weight=2)
SCALE = Question(id="q_s", text="How warm?", kind="scale", points=5)
TONE = Question(
    id="q_t", text="What tone?", kind="choice", choices=("kind", "plain", "rude"), worth=(1, 0.5, 0)
)
MOOD = Question(id="q_m", text="What mood?", kind="choice", choices=("glad", "sad"))
EVERY = (YES_NO, HEAVY, SCALE, TONE, MOOD)


def row(annotator: str = "ada", note: str = "", replaces: str = "", **answers: Answer) -> LabelRow:
    return LabelRow(
        v=1,
        run="run",
        at="2026-01-01",
        annotator=Annotator(kind="human", id=annotator),
        checklist="cl_x",
        version=1,
        hash="sha256:0",
        questions=EVERY,
        answers=answers,
        note=note,
        replaces=replaces,
    ).with_id()


def test_later_answers_of_a_person_replace_earlier_ones_question_by_question() -> None:
    """The worked case: {a: yes, b: no}, then {b: yes}, is {a: yes, b: yes}; the note is the last row's."""
    rows = (row(q_a=True, q_b=False, note="first"), row(q_b=True, note="second"))
    (label,) = fold_labels(Annotations(labels=rows))

    assert {"q_a": True, "q_b": True} == label.answers
    assert "second" == label.note


def test_people_are_separate_and_a_repeated_row_counts_once() -> None:
    first = row(q_a=True)
    labels = fold_labels(Annotations(labels=(first, row("bo", q_a=False), first)))

    assert [("ada", {"q_a": True}), ("bo", {"q_a": False})] == [
        (one.annotator, one.answers) for one in labels
    ]


def test_a_withdrawn_label_leaves_what_was_answered_before() -> None:
    first, second = row(q_a=True), row(q_a=False)
    gone = RetractRow(
        v=1, run="run", at="", annotator=Annotator(kind="human", id="bo"), round_id=second.id, why="wrong run"
    )
    (label,) = fold_labels(Annotations(labels=(first, second), retractions=(gone,)))

    assert {"q_a": True} == label.answers


def test_the_same_answers_signed_off_again_are_a_row_of_their_own() -> None:
    """Yes, no, yes: the third row names the second, so that it has another id than the first."""
    first = row(q_a=True)
    second = row(q_a=False, replaces=first.id)
    third = row(q_a=True, replaces=second.id)
    (label,) = fold_labels(Annotations(labels=(first, second, third)))

    assert {"q_a": True} == label.answers


def test_a_row_has_the_same_id_after_it_was_read() -> None:
    """What equals a default is written the same way, wherever it came from."""
    made = row(q_a=True, q_s=3)
    read = msgspec.json.decode(msgspec.json.encode(made), type=LabelRow)

    assert made.id == read.with_id().id


def test_the_label_score_is_the_weighted_share_of_yes() -> None:
    """The worked case: weights 1, 1, 2, yes on the first and the third: (1 + 2) / 4."""
    questions = [Question(id=f"q_{place}", text="?", weight=weight) for place, weight in enumerate((1, 1, 2))]
    score = score_label(questions, {"q_0": True, "q_1": False, "q_2": True})

    assert 0.75 == score.score


def test_a_scale_counts_from_0_at_its_first_point_to_1_at_its_last() -> None:
    assert [0.0, 0.25, 0.5, 0.75, 1.0] == [value_of(SCALE, point) for point in range(1, 6)]


def test_a_choice_without_worth_is_no_part_of_the_score() -> None:
    """(1 x 1 + 2 x 0 + 1 x 0.75 + 1 x 0.5) / 5."""
    answers: dict[str, Answer] = {"q_a": True, "q_b": False, "q_s": 4, "q_t": "plain", "q_m": "sad"}

    assert pytest.approx(2.25 / 5) == score_label(EVERY, answers).score


def test_an_unanswered_question_is_never_a_no() -> None:
    """There is no score, and the bounds reach from it as no to it as yes."""
    score = score_label((YES_NO, HEAVY), {"q_a": True})

    assert (None, ("q_b",)) == (score.score, score.unanswered)
    assert (pytest.approx(1 / 3), 1.0) == (score.bounds.low, score.bounds.high)


def test_cannot_tell_is_an_answer_and_no_number() -> None:
    """It is not stale; the score has bounds."""
    score = score_label((YES_NO, HEAVY), {"q_a": None, "q_b": True})

    assert (None, ()) == (score.score, score.unanswered)
    assert (pytest.approx(2 / 3), 1.0) == (score.bounds.low, score.bounds.high)


def test_a_deleted_question_counts_for_nothing() -> None:
    gone = msgspec.structs.replace(HEAVY, deleted=True)

    assert 1.0 == score_label((YES_NO, gone), {"q_a": True, "q_b": False}).score


def test_a_person_passes_a_run_when_all_is_yes_and_only_then_can_tell() -> None:
    pair = (YES_NO, HEAVY)

    assert passes(pair, {"q_a": True, "q_b": True}) is True
    assert passes(pair, {"q_a": True, "q_b": False}) is False
    assert passes(pair, {"q_a": True, "q_b": None}) is None
    assert passes(pair, {"q_a": True}) is None
    assert passes((YES_NO, SCALE), {"q_a": True, "q_s": 5}) is None


@pytest.mark.parametrize("question", EVERY, ids=lambda question: question.kind)
def test_an_answer_can_be_written_and_read_again(question: Question) -> None:
    possible: list[Answer] = [None]
    possible += {"yes-no": [True, False], "scale": [1, 5], "choice": list(question.choices)}[question.kind]

    assert possible == [read_answer(question, answer_text(answer)) for answer in possible]


@pytest.mark.parametrize(
    ("question", "text"),
    [
        (YES_NO, "maybe"),
        (YES_NO, "1"),
        (SCALE, "0"),
        (SCALE, "6"),
        (SCALE, "2.5"),
        (SCALE, "yes"),
        (TONE, "nice"),
    ],
)
def test_what_is_no_answer_is_refused_with_what_is(question: Question, text: str) -> None:
    with pytest.raises(ValueError, match=r"or cannot tell"):
        read_answer(question, text)


def test_true_is_no_point_and_1_is_no_yes() -> None:
    assert not fits_question(SCALE, True)
    assert not fits_question(YES_NO, 1)


@given(
    st.lists(
        st.tuples(st.floats(0.1, 10), st.sampled_from([True, False, None, "open"])), min_size=1, max_size=8
    )
)
def test_the_bounds_hold_every_score_that_the_missing_answers_could_make(
    given_answers: list[tuple[float, bool | str | None]],
) -> None:
    """Whatever is cannot tell or unanswered, taken as no gives the least and taken as yes the most."""
    questions = [
        Question(id=f"q_{n}", text="?", weight=weight) for n, (weight, _) in enumerate(given_answers)
    ]
    answers: dict[str, Answer] = {
        f"q_{n}": said for n, (_, said) in enumerate(given_answers) if not isinstance(said, str)
    }
    score = score_label(questions, answers)
    for instead, bound in ((False, score.bounds.low), (True, score.bounds.high)):
        filled = {
            question.id: instead if answers.get(question.id) is None else answers[question.id]
            for question in questions
        }

        assert pytest.approx(bound) == score_label(questions, filled).score
    assert (score.score is None) == any(not isinstance(said, bool) for _, said in given_answers)
