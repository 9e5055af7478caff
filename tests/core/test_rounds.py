"""Only complete rounds count, and the latest is in force as a whole."""

from __future__ import annotations

import msgspec

from proctor.core.objective import fold
from proctor.core.rounds import all_rounds, complete_rounds, round_in_force
from proctor.records.annotation import Annotations, Annotator, RetractRow, ScoreRow
from tests.core.test_objective import row


def member(name: str, score: float, round_id: str, size: int) -> ScoreRow:
    return msgspec.structs.replace(row(score, name=name), round_id=round_id, round_size=size).with_id()


def test_a_round_with_fewer_rows_than_it_says_counts_for_nothing() -> None:
    """A killed writer leaves one of two rows; the round before stays in force."""
    rows = [member("a", 0.9, "one", 1), member("a", 0.1, "two", 2)]
    in_force = round_in_force(Annotations(scores=tuple(rows)))

    assert in_force is not None
    assert "one" == in_force.round_id


def test_a_row_that_was_appended_twice_counts_once() -> None:
    """Its id comes from its content."""
    twice = member("a", 0.5, "one", 2)

    assert () == complete_rounds([twice, twice])
    assert 1 == len(complete_rounds([twice, twice, member("b", 1, "one", 2)]))


def test_the_latest_complete_round_is_in_force_as_a_whole() -> None:
    """Round 1 has a=1 and b=0.5, round 2 only a=0: the objective is 0, and b's old grade is gone."""
    rows = [member("a", 1, "one", 2), member("b", 0.5, "one", 2), member("a", 0, "two", 1)]
    in_force = round_in_force(Annotations(scores=tuple(rows)))

    assert in_force is not None
    assert 0.0 == fold(in_force.rows).objective
    assert 2 == len(complete_rounds(rows))


def test_the_time_of_a_row_is_no_part_of_its_id() -> None:
    """The same opinion, appended again later, is the same row."""
    first = member("a", 0.5, "one", 1)
    later = msgspec.structs.replace(first, at="2030-01-01", duration_s=3.0).with_id()

    assert first.id == later.id
    assert first.id != msgspec.structs.replace(first, score=0.6).with_id().id


def test_a_withdrawn_round_counts_for_nothing() -> None:
    """The one before it is in force again, and both stay on record."""
    rows = (member("a", 0.9, "one", 1), member("a", 0.1, "two", 1))
    who = Annotator(kind="human", id="me")
    retraction = RetractRow(v=1, run="r", at="", annotator=who, round_id="two", why="wrong rubric").with_id()
    in_force = round_in_force(Annotations(scores=rows, retractions=(retraction,)))

    assert in_force is not None
    assert "one" == in_force.round_id
    assert 2 == len(all_rounds(rows))
