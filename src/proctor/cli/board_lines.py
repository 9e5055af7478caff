"""The lines of the board: a run at this moment, for a terminal of any size. Nothing in here touches a terminal."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from typing import Final

from proctor.cli.output import clean, money, seconds
from proctor.cli.run_watch import Row, View

SHORTEST_BOARD: Final = 5
"""Lines of a terminal below which only the totals are shown."""
_NARROWEST_TABLE: Final = 30
_LONGEST_NAME: Final = 30
_SHORTEST_LAST_LINE: Final = 12


def width_of(text: str) -> int:
    """Columns that a text takes on a terminal.

    >>> width_of("plan"), width_of("计划"), width_of("e\u0301")
    (4, 4, 1)
    """
    if text.isascii():
        return len(text)
    return sum(map(_columns, text))


def fit(text: str, columns: int) -> str:
    """A text that takes at most so many columns, with a mark where something is left out.

    >>> fit("a long line", 6), fit("计划一二", 6), fit("plan", 6)
    ('a lon…', '计划…', 'plan')
    """
    if width_of(text) <= columns:
        return text
    kept, left = "", columns - 1
    for char in text:
        left -= _columns(char)
        if left < 0:
            break
        kept += char
    return f"{kept}…" if columns > 0 else ""


def totals(view: View) -> str:
    """The run in one line."""
    parts = [f"{view.done}/{view.planned} done"]
    parts += [f"{name} {count}" for name, count in view.endings.items() if name != "ok"]
    parts.append(f"{view.running} running")
    if view.again:
        parts.append(f"{view.again} to be made again")
    parts.append(seconds(view.elapsed_s))
    if view.left_s and view.done < view.planned:
        parts.append(f"about {seconds(view.left_s)} left")
    if view.cost_usd is not None:
        parts.append(money(view.cost_usd))
    return ", ".join(parts)


def rows_wanted(height: int) -> int:
    """How many running trials a terminal of so many lines has room for."""
    return 0 if height < SHORTEST_BOARD else height - 4


def board_lines(view: View, width: int, height: int, *, said: str = "") -> list[str]:
    """The board for a terminal of so many columns and lines, the last of which stays free.

    said: a line below it.
    """
    last = width - 1  # a line that fills the last column makes some terminals begin another
    lines = [totals(view)]
    rows = view.rows[: rows_wanted(height)]
    if rows and width >= _NARROWEST_TABLE:
        lines += _table(rows, last)
        if (more := view.running - len(rows)) > 0:
            lines.append(f"  and {more} more")
    if said:
        lines.append(said)
    return [fit(line, last) for line in lines][: max(1, height - 1)]


def _table(rows: Iterable[Row], width: int) -> Iterator[str]:
    rows = tuple(rows)
    costs = [money(row.cost_usd) for row in rows]
    names = [fit(clean(row.run), min(_LONGEST_NAME, max(8, width // 3))) for row in rows]
    columns = [
        ["TRIAL", *names],
        ["STATE", *(row.state for row in rows)],
        ["TIME", *(seconds(row.elapsed_s) for row in rows)],
    ]
    if any(costs):
        columns.append(["COST", *costs])
    widths = [max(map(width_of, column)) for column in columns]
    used = sum(size + 2 for size in widths)
    if width - used >= _SHORTEST_LAST_LINE:
        columns.append(["LAST LINE", *(clean(row.line) for row in rows)])
        widths.append(0)
    for cells in zip(*columns, strict=True):
        padded = (cell + " " * (size - width_of(cell)) for cell, size in zip(cells, widths, strict=True))
        yield fit(f"  {'  '.join(padded)}".rstrip(), width)


def _columns(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
