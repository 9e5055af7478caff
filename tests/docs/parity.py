"""What the English and the Chinese pages do not have in common: `python -m tests.docs.parity` lists it, a line each.

Compared are the pages by name, headings by level, samples byte for byte with their markers, the rows and columns of
tables, and where the links and pictures of each section lead: to the same page, and to the same heading of it.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

from docs.building.headings import Heading, headings, lines_with_kind
from tests.docs.pages import DOCS, Block, blocks

ENGLISH, CHINESE = "en", "zh"
_LINK = re.compile(r"(?P<is_picture>!?)\[[^\]]*\]\((?P<target>[^)\s]+)\)")
_REFERENCE = "../en/reference/"
_CODE_SPAN = re.compile(r"`[^`]*`")


class Difference(NamedTuple):
    """Where something is, that the other language has not or has otherwise."""

    file: str
    line: int
    what: str

    def __str__(self) -> str:
        """As compilers say it, so that an editor can go there."""
        return f"{self.file}:{self.line}: {self.what}"


class Table(NamedTuple):
    """A table: its first line, its rows, and its columns."""

    line: int
    rows: int
    columns: int


def differences(docs: Path = DOCS) -> list[Difference]:
    """What differs between the two languages of a folder of pages, page by page."""
    found: list[Difference] = []
    names = {
        language: {path.name for path in (docs / language).glob("*.md")} for language in (ENGLISH, CHINESE)
    }
    for mine, theirs in ((ENGLISH, CHINESE), (CHINESE, ENGLISH)):
        found += [
            Difference(f"docs/{mine}/{name}", 1, f"there is no docs/{theirs}/{name}")
            for name in sorted(names[mine] - names[theirs])
        ]
    for name in sorted(names[ENGLISH] & names[CHINESE]):
        found += page_differences(name, docs)
    return found


def page_differences(name: str, docs: Path = DOCS) -> list[Difference]:
    """What differs between the two languages of one page."""
    here = f"docs/{CHINESE}/{name}"
    one, other = ((docs / language / name).read_text(encoding="utf-8") for language in (ENGLISH, CHINESE))
    mine, theirs = headings(one), headings(other)
    found = _headings(here, mine, theirs)
    found += _samples(here, list(blocks(one)), list(blocks(other)))
    found += _tables(here, list(tables(one)), list(tables(other)))
    if [each.level for each in mine] == [each.level for each in theirs]:
        found += _links(name, docs, one, other)
    return sorted(found, key=lambda each: each.line)


def _headings(here: str, mine: Sequence[Heading], theirs: Sequence[Heading]) -> list[Difference]:
    for one, other in zip_longest(mine, theirs):
        if other is None:
            return [Difference(here, 1, f"no heading for {'#' * one.level} {one.text!r} (line {one.line})")]
        if one is None:
            return [Difference(here, other.line, f"a heading that English has not: {other.text!r}")]
        if one.level != other.level:
            return [
                Difference(
                    here, other.line, f"level {other.level}; {one.text!r} has {one.level} (line {one.line})"
                )
            ]
    return []


def _samples(here: str, mine: Sequence[Block], theirs: Sequence[Block]) -> list[Difference]:
    for one, other in zip_longest(mine, theirs):
        if other is None:
            return [Difference(here, 1, f"the sample of line {one.line} is missing: {_begin(one)}")]
        if one is None:
            return [Difference(here, other.line, f"a sample that English has not: {_begin(other)}")]
        if (one.marker, one.language) != (other.marker, other.language):
            return [
                Difference(
                    here,
                    other.line,
                    f"marked {other.marker!r} and in {other.language!r}; line {one.line} is {one.marker!r} "
                    f"and in {one.language!r}",
                )
            ]
        for number, (wanted, there) in enumerate(
            zip_longest(one.text.split("\n"), other.text.split("\n")), 1
        ):
            if wanted != there:
                said = f"{there!r} in a sample, for {wanted!r} in line {one.line + number}"
                return [Difference(here, other.line + number, said)]
    return []


def _tables(here: str, mine: Sequence[Table], theirs: Sequence[Table]) -> list[Difference]:
    for one, other in zip_longest(mine, theirs):
        if other is None:
            return [Difference(here, 1, f"the table of line {one.line} is missing")]
        if one is None:
            return [Difference(here, other.line, "a table that English has not")]
        if (one.rows, one.columns) != (other.rows, other.columns):
            said = f"a table of {other.rows} rows and {other.columns} columns, for one of {one.rows} and {one.columns}"
            return [Difference(here, other.line, f"{said} (line {one.line})")]
    return []


def _links(name: str, docs: Path, one: str, other: str) -> list[Difference]:
    found: list[Difference] = []
    sections = zip(_sections(one), _sections(other), strict=False)
    for (_, mine), (line, theirs) in sections:
        wanted = Counter(_place(docs, ENGLISH, name, target) for target in mine)
        there = Counter(_place(docs, CHINESE, name, target) for target in theirs)
        here = f"docs/{CHINESE}/{name}"
        found += [Difference(here, line, f"no link to {target} in this section") for target in wanted - there]
        found += [
            Difference(here, line, f"a link that English has not: to {target}") for target in there - wanted
        ]
    return found


def _place(docs: Path, language: str, name: str, target: str) -> str:
    """Where a link leads, the same in both languages: `graders.md, heading 3`."""
    if target.startswith(_REFERENCE):
        target = target.removeprefix("../en/")  # the reference is there once, in English
    path, _, anchor = target.partition("#")
    if ":" in path:
        return target
    file = docs / language / (path or name)
    if not anchor or file.suffix != ".md" or not file.exists():
        return target
    known = headings(file.read_text(encoding="utf-8"))
    number = next((at for at, each in enumerate(known, start=1) if each.anchor == anchor), None)
    return f"{path or name}, heading {number}" if number else target


def _sections(text: str) -> Iterator[tuple[int, list[str]]]:
    """The targets of each section's links and pictures, after the line that it begins in."""
    starts = {heading.line for heading in headings(text)}
    line, targets = 1, list[str]()
    for number, (content, is_code) in enumerate(lines_with_kind(text), start=1):
        if number in starts:
            yield line, targets
            line, targets = number, []
        if not is_code:
            targets += [found["target"] for found in _LINK.finditer(_CODE_SPAN.sub("``", content))]
    yield line, targets


def tables(text: str) -> Iterator[Table]:
    """The tables of a page, in order."""
    start, rows, columns = 0, 0, 0
    for number, (line, is_code) in enumerate([*lines_with_kind(text), ("", False)], start=1):
        if not is_code and line.startswith("|"):
            start, rows = start or number, rows + 1
            columns = columns or len(re.findall(r"(?<!\\)\|", _CODE_SPAN.sub("", line))) - 1
        elif start:
            yield Table(start, rows, columns)
            start, rows, columns = 0, 0, 0


def _begin(block: Block) -> str:
    return repr(block.text.split("\n")[0])


if __name__ == "__main__":
    listed = differences()
    sys.stdout.writelines(f"{one}\n" for one in listed)
    sys.exit(1 if listed else 0)
