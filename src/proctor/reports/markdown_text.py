"""Text of others inside Markdown, so that it stays text: no HTML, no link, no image, no mention, no new cell.

A code span is the one place in which no renderer looks for any of these. A vertical bar cannot stand in a table, and
renderers disagree about backslashes before one; it is written as an entity between two code spans.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from proctor.reports.phrases import shorten
from proctor.reports.plain import one_line, visible

_BACKTICKS: Final = re.compile("`+")
_BAR: Final = "&#124;"


def code(text: str, width: int = 200) -> str:
    """A text of others on one line, as code spans; empty for an empty one.

    >>> print(code("a|b"), code("<b>`x`</b> @all"), code("` `"))
    `a`&#124;`b` ``<b>`x`</b> @all`` `` ` ` ``
    """
    return _BAR.join(map(_span, shorten(one_line(text), width).split("|")))


def block(lines: Iterable[str]) -> str:
    """Lines of others, as a fenced block."""
    text = "\n".join(map(visible, lines))
    fence = "`" * max(3, _longest(text) + 1)
    return f"{fence}text\n{text}\n{fence}"


def row(cells: Sequence[str]) -> str:
    """A row of a table, of cells that are Markdown already."""
    return f"| {' | '.join(cells)} |"


def heads(names: Sequence[str], *, right: Sequence[int] = ()) -> list[str]:
    """The first two lines of a table; the columns at `right` have numbers, which stand at the right."""
    return [row(names), row(["---:" if place in right else "---" for place in range(len(names))])]


def _span(text: str) -> str:
    if not text:
        return ""
    fence = "`" * (_longest(text) + 1)
    is_padded = text[0] == "`" or text[-1] == "`" or (text[0] == text[-1] == " " and bool(text.strip()))
    return f"{fence} {text} {fence}" if is_padded else f"{fence}{text}{fence}"


def _longest(text: str) -> int:
    return max(map(len, _BACKTICKS.findall(text)), default=0)
