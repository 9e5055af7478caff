"""Markdown of the generated pages: tables and fenced blocks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence


def sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def fenced(language: str, text: str) -> list[str]:
    return [f"```{language}", text, "```", ""]


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield f"|{' --- |' * len(heads)}"
    for row in rows:
        yield f"| {' | '.join(_cell(cell) for cell in row)} |"
    yield ""


def _cell(text: str) -> str:
    # What looks like a tag outside of code would be taken for one.
    parts = re.split(r"(`[^`]*`)", " ".join(text.split()).replace("|", "\\|"))
    return "".join(part if part.startswith("`") else re.sub(r"([<*_])", r"\\\1", part) for part in parts)
