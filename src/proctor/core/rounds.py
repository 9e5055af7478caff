"""Which rows are in force: the latest complete round of a run, as a whole."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from proctor.records.annotation import Annotations, RetractRow, ScoreRow


class Round(msgspec.Struct, frozen=True, kw_only=True):
    """The score rows that one grading of one run wrote.

    Attributes:
        round_id: shared by its rows.
        at: when its first row was written, ISO 8601 in UTC.
        rows: in the order of the grading module.
    """

    round_id: str
    at: str
    rows: tuple[ScoreRow, ...]

    @property
    def is_complete(self) -> bool:
        """True when every row of it is there."""
        return len(self.rows) == self.rows[0].round_size


def complete_rounds(rows: Iterable[ScoreRow], withdrawn: Iterable[RetractRow] = ()) -> tuple[Round, ...]:
    """The complete rounds among `rows` that were not withdrawn, oldest first.

    A round is complete when it has exactly `round_size` distinct rows. A row that was appended twice has one
    id and counts once. The order of appending decides which round is later: clocks of two machines may differ.
    """
    gone = {row.round_id for row in withdrawn}
    return tuple(one for one in all_rounds(rows) if one.is_complete and one.round_id not in gone)


def all_rounds(rows: Iterable[ScoreRow]) -> tuple[Round, ...]:
    """Every round among `rows`, complete or not, oldest first."""
    rounds: dict[str, dict[str, ScoreRow]] = {}
    for row in rows:
        rounds.setdefault(row.round_id, {}).setdefault(row.id, row)
    return tuple(
        Round(round_id=round_id, at=next(iter(members.values())).at, rows=tuple(members.values()))
        for round_id, members in rounds.items()
    )


def round_in_force(annotations: Annotations) -> Round | None:
    """The latest complete round that was not withdrawn, or None when there is none."""
    rounds = complete_rounds(annotations.scores, annotations.retractions)
    return rounds[-1] if rounds else None
