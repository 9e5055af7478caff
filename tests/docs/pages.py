"""The pages of the documentation, read: their samples with the markers before them, headings, and links.

A fenced block stands below a marker, an HTML comment that says what the block is:

    <!-- file: suite/birthday/test.json -->   a file; it is written into the page's own project
    <!-- file: graders.py; fails types -->    a Python file that the type checker is to refuse
    <!-- file: test.json; refused -->         a file that does not match its schema
    <!-- run -->                              a terminal: `$ command` lines, each with what it prints
    <!-- illustration -->                     neither of them; `illustrations.py` says why

In a terminal a line that is `...` stands for any number of lines, and `$ echo $?` shows the exit code of the
command above; without it that is 0.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from docs.building.headings import described_names, headings

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"

_FENCE = re.compile(r"^(`{3,})\s*(\S*)\s*$")
_MARKER = re.compile(r"^<!--\s*(.*?)\s*-->$")
_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
_CODE_SPAN = re.compile(r"`[^`]*`")


class Block(NamedTuple):
    """A fenced block: the line of its fence, its language, the marker before it, and its text."""

    line: int
    language: str
    marker: str
    text: str

    @property
    def kind(self) -> str:
        """The first word of the marker."""
        return self.marker.partition(":")[0].strip()

    @property
    def path(self) -> str:
        """The path of a file."""
        return self.marker.partition(":")[2].partition(";")[0].strip()

    @property
    def is_wrong(self) -> bool:
        """True when it is meant to be refused."""
        return ";" in self.marker


class Page(NamedTuple):
    """A page."""

    path: Path
    text: str

    @property
    def name(self) -> str:
        """`en/graders.md`."""
        return self.path.relative_to(DOCS if self.path.is_relative_to(DOCS) else ROOT).as_posix()

    @property
    def file(self) -> str:
        """`docs/en/graders.md`."""
        return self.path.relative_to(ROOT).as_posix()


class Command(NamedTuple):
    """One command of a terminal, and the lines that it prints."""

    text: str
    printed: tuple[str, ...]


def page(name: str) -> Page:
    """A page by its path, relative to the repository."""
    path = ROOT / name
    return Page(path, path.read_text(encoding="utf-8"))


def pages(language: str) -> list[Page]:
    """The pages of one language, by name; the reference, which is made by the program, is none of them."""
    return [Page(path, path.read_text(encoding="utf-8")) for path in sorted((DOCS / language).glob("*.md"))]


def blocks(text: str) -> Iterator[Block]:
    """The fenced blocks of a page, in order."""
    fence, language, start, marker, before = "", "", 0, "", ""
    held: list[str] = []
    for number, line in enumerate(text.split("\n"), start=1):
        found = _FENCE.match(line)
        if fence:
            if line == fence:
                yield Block(start, language, marker, "".join(f"{one}\n" for one in held))
                fence = ""
            else:
                held.append(line)
        elif found:
            fence, language, start, held = found[1], found[2], number, []
            marked = _MARKER.match(before)
            marker = marked[1] if marked else ""
        before = line
    if fence:
        raise ValueError(f"the block of line {start} is never closed")


def prose(text: str) -> Iterator[str]:
    """The lines of a page that stand in no fenced block."""
    fence = ""
    for line in text.split("\n"):
        found = _FENCE.match(line)
        if fence:
            fence = "" if line == fence else fence
        elif found:
            fence = found[1]
        else:
            yield line


def anchors(text: str) -> set[str]:
    """What links to a page can end in: its headings, as GitHub names them, and the names that it describes."""
    return {one.anchor for one in headings(text)} | set(described_names(text))


def links(text: str) -> Iterator[str]:
    """The targets of a page's links."""
    for line in prose(text):
        for found in _LINK.finditer(_CODE_SPAN.sub("", line)):
            yield found[1]


def broken_links(pages: Sequence[Page]) -> list[str]:
    """The links that lead to no file of the repository, or to no heading of a page."""
    broken: list[str] = []
    for one in pages:
        for target in links(one.text):
            if re.match(r"[a-z]+:", target):
                continue
            name, _, anchor = target.partition("#")
            file = (one.path.parent / name).resolve() if name else one.path
            if name and not (file.exists() and file.is_relative_to(ROOT)):
                broken.append(f"{one.name}: {target}: no such file")
            elif anchor and anchor not in anchors(_text_of(file, pages)):
                broken.append(f"{one.name}: {target}: no such heading")
    return broken


def _text_of(file: Path, pages: Sequence[Page]) -> str:
    return next((one.text for one in pages if one.path == file), "") or file.read_text(encoding="utf-8")


def commands(block: Block) -> list[Command]:
    """The commands of a terminal."""
    made: list[Command] = []
    printed: list[str] = []
    for line in block.text.splitlines():
        if line.startswith("$ "):
            printed = []
            made.append(Command(line.removeprefix("$ "), ()))
        elif not made:
            raise ValueError(f"the terminal of line {block.line} begins with no command")
        else:
            printed.append(line)
            made[-1] = made[-1]._replace(printed=tuple(printed))
    return made


_CHANGING = (
    (re.compile(r"\b(cl|q)_[0-9a-z]{10}\b"), r"\1_<id>"),
    (re.compile(r"\b\d{4}-\d\d-\d\d-\d{6}-\w{6}\b"), "<group>"),
    (re.compile(r"\b\d{4}-\d\d-\d\dT[\d:.]+(\+00:00|Z)"), "<time>"),
    (re.compile(r"\b\d+(\.\d+)?(s|m\d\ds)(?=\W|$)"), "<duration>"),
    (re.compile(r"\b\d+(\.\d+)? [KMG]iB of memory"), "<size> of memory"),
    (re.compile(r'("duration_s": ?)[\d.e-]+'), r"\1<seconds>"),
    (re.compile(r"\brow_[0-9a-f]{40}\b"), "<row>"),
    (re.compile(r"(?<!sha256:)(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])"), "<id>"),
)


def normal(line: str) -> str:
    """A line without what is another one every time: ids of runs, dates, durations."""
    for pattern, instead in _CHANGING:
        line = pattern.sub(instead, line)
    return line.rstrip()


def is_printed(wanted: Sequence[str], printed: Sequence[str]) -> bool:
    """True when the lines are the wanted ones; `...` among those stands for any number of lines."""
    if not wanted:
        return not printed
    if wanted[0] == "...":
        return any(is_printed(wanted[1:], printed[skipped:]) for skipped in range(len(printed) + 1))
    return bool(printed) and normal(wanted[0]) == normal(printed[0]) and is_printed(wanted[1:], printed[1:])
