"""Pictures of what the program prints in a terminal, as SVG."""

from __future__ import annotations

import html
import io
import re
from collections.abc import Iterable, Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

FEWEST_COLUMNS = 80
THEME = TerminalTheme(
    (24, 33, 41),
    (214, 222, 228),
    [
        (24, 33, 41),
        (240, 113, 120),
        (133, 199, 125),
        (240, 179, 95),
        (124, 196, 238),
        (199, 146, 234),
        (128, 203, 196),
        (214, 222, 228),
    ],
)
_FONT_FACE = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)
_PIECES = re.compile("\x1b\\[[0-9;?]*[a-zA-Z]|\n|\r|[^\x1b\n\r]+")
_UNFINISHED = re.compile("\x1b(\\[[0-9;?]*)?$")
_LINE = re.compile(r'<text[^>]*\by="([\d.]+)"[^>]*\bclip-path="[^"]*line-\d+\)"[^>]*>(.*?)</text>', re.DOTALL)


def svg_of(lines: Sequence[str], title: str) -> str:
    """A terminal as wide as these lines need; those that begin with `$ ` were typed."""
    columns = max(FEWEST_COLUMNS, *map(cell_len, lines))
    console = Console(
        record=True, width=columns, file=io.StringIO(), force_terminal=True, legacy_windows=False
    )
    for line in lines:
        text = Text(line)
        if line.startswith("$ "):
            text.stylize("bold")
        console.print(text, soft_wrap=False, highlight=False)
    made = console.export_svg(title=title, theme=THEME, unique_id="terminal")
    return without_fonts(made)


def wrapped(lines: Iterable[str], columns: int) -> list[str]:
    """The lines as a terminal of so many columns breaks them."""
    return [line[at : at + columns] for line in lines for at in range(0, max(1, len(line)), columns)]


def without_fonts(svg: str) -> str:
    """A picture without the font that comes from elsewhere: a page loads nothing from other sites."""
    return _FONT_FACE.sub("", svg).replace("Fira Code", "monospace")


def text_of(svg: str) -> list[str]:
    """The lines of text in a picture of a terminal, from the top."""
    lines: dict[float, str] = {}
    for height, text in _LINE.findall(svg):
        plain = html.unescape(re.sub(r"<[^>]*>", "", text)).replace("\xa0", " ")
        lines[float(height)] = lines.get(float(height), "") + plain
    return [lines[height].rstrip() for height in sorted(lines)]


class Screen:
    """What a terminal shows of a program that goes back to paint its lines again: returns, up, and erasing."""

    def __init__(self) -> None:
        self._lines = [""]
        self._row = self._column = 0
        self._held = ""

    def write(self, text: str) -> None:
        """Show what a program has written; the beginning of a sequence is held until its end is there."""
        text = self._held + text
        end = _UNFINISHED.search(text)
        self._held = text[end.start() :] if end else ""
        for piece in _PIECES.findall(text.removesuffix(self._held) if self._held else text):
            self._show(piece)

    @property
    def lines(self) -> list[str]:
        """The lines, from the top."""
        return "\n".join(line.rstrip() for line in self._lines).rstrip("\n").split("\n")

    def _show(self, piece: str) -> None:
        if piece == "\n":
            self._row += 1
            if self._row == len(self._lines):
                self._lines.append("")
        elif piece == "\r":
            self._column = 0
        elif piece.startswith("\x1b"):
            self._obey(piece[-1], int(re.sub(r"\D", "", piece) or 0))
        else:
            line = self._lines[self._row].ljust(self._column)
            self._lines[self._row] = line[: self._column] + piece + line[self._column + len(piece) :]
            self._column += len(piece)

    def _obey(self, what: str, number: int) -> None:
        if what == "A":
            self._row = max(0, self._row - max(1, number))
        elif what == "J":
            del self._lines[self._row + 1 :]
            self._lines[self._row] = self._lines[self._row][: self._column]
        elif what == "K":
            self._lines[self._row] = "" if number == 2 else self._lines[self._row][: self._column]
