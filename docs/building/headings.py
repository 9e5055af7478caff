"""The headings of a page, and the anchors that links to them end in, as GitHub makes them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

_FENCE = re.compile(r"^ *(`{3,})")
_HEADING = re.compile(r"^(#{1,6})\s+(.*?)\s*$")
_API = re.compile(r"^::: ([\w.]+)$")


class Heading(NamedTuple):
    """A heading: the number of its line, its level from 1 to 6, its text, and its anchor."""

    line: int
    level: int
    text: str
    anchor: str


def lines_with_kind(text: str) -> Iterator[tuple[str, bool]]:
    """The lines of a page, and whether each belongs to a fenced block."""
    fence = ""
    for line in text.split("\n"):
        found = _FENCE.match(line)
        if fence:
            yield line, True
            fence = "" if line.strip() == fence else fence
        else:
            fence = found[1] if found else ""
            yield line, bool(fence)


def headings(text: str) -> list[Heading]:
    """The headings of a page, in order."""
    made: list[Heading] = []
    seen: dict[str, int] = {}
    for number, (line, is_code) in enumerate(lines_with_kind(text), start=1):
        if not is_code and (found := _HEADING.match(line)):
            name = slug(found[2])
            count = seen.get(name, 0)
            seen[name] = count + 1
            made.append(Heading(number, len(found[1]), found[2], f"{name}-{count}" if count else name))
    return made


def described_names(text: str) -> list[str]:
    """The public names that a page of the API describes, `::: proctor.grade`; each is an anchor of the site."""
    return [
        found[1] for line, is_code in lines_with_kind(text) if not is_code and (found := _API.match(line))
    ]


def slug(heading: str) -> str:
    """A heading's anchor: lower case, letters and digits of any script, spaces made hyphens."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").lower()
    kept = (
        char
        for char in text
        if char in " -_"
        or unicodedata.category(char)[0] in "LN"
        or unicodedata.category(char) in ("Mn", "Mc")
    )
    return "".join(kept).replace(" ", "-")
