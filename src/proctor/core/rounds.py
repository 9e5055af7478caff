"""Which rows are in force: the latest complete round of a run, as a whole."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from proctor.records.annotation import ScoreRow


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


def complete_rounds(rows: Iterable[ScoreRow]) -> tuple[Round, ...]:
    """The complete rounds among `rows`, oldest first.

    A round is complete when it has exactly `round_size` distinct rows. A row that was appended twice has one
    id and counts once. The order of appending decides which round is later: clocks of two machines may differ.
    """
    rounds: dict[str, dict[str, ScoreRow]] = {}
    for row in rows:
        rounds.setdefault(row.round_id, {}).setdefault(row.id, row)
    return tuple(
        Round(round_id=round_id, at=next(iter(members.values())).at, rows=tuple(members.values()))
        for round_id, members in rounds.items()
        if len(members) == next(iter(members.values())).round_size
    )


def round_in_force(rows: Iterable[ScoreRow]) -> Round | None:
    """The latest complete round, or None when no round is complete."""
    rounds = complete_rounds(rows)
    return rounds[-1] if rounds else None
