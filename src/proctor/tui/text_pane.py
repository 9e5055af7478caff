"""A long text that scrolls and is searched: wrapped once for each width, drawn by line, nothing in it alive."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rich.cells import cell_len, chop_cells
from rich.segment import Segment
from rich.style import Style
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from proctor.core.fencing import visible

TAB: Final = 4
MOST_CHARACTERS: Final = 1_000_000
"""Of a longer text the beginning is shown, and how much is left out."""

HEADING: Final = "\x00"
"""A line that begins with it is a heading of ours; no text of an agent can hold it, since it is shown as an escape."""


class TextPane(ScrollView, can_focus=False):
    """A pane of text."""

    DEFAULT_CSS = "TextPane { height: 1fr; scrollbar-size-vertical: 1; }"

    def __init__(self) -> None:
        super().__init__()
        self._lines: list[str] = []
        self._rows: list[str] = []
        self._width = 0
        self._sought = ""
        self._hits: list[int] = []
        self._hit = -1

    def show(self, parts: list[tuple[str, str]]) -> None:
        """Show parts, each a heading and a text; an empty heading draws none. It begins at the top."""
        self._lines = []
        for heading, text in parts:
            if heading:
                self._lines.append(HEADING + inert(heading).replace("\n", " "))
            left = len(text) - MOST_CHARACTERS
            self._lines += inert(text[:MOST_CHARACTERS]).split("\n")
            if left > 0:
                self._lines.append(HEADING + f"{left} characters more are not shown")
            self._lines.append("")
        self._wrap()
        self.scroll_home(animate=False)
        if self._sought:
            self._find()

    def search(self, sought: str) -> int:
        """Look for a text, whatever its case; how many lines hold it. The first one below is shown."""
        self._sought = sought
        self._find()
        self._hit = -1
        if self._hits:
            below = [place for place, row in enumerate(self._hits) if row >= int(self.scroll_offset.y)]
            self._hit = (below[0] if below else 0) - 1
            self.next_hit(1)
        self.refresh()
        return len(self._hits)

    def next_hit(self, step: int) -> tuple[int, int]:
        """Show the next or the previous line that holds what was looked for: its number, and how many there are."""
        if not self._hits:
            return 0, 0
        self._hit = (self._hit + step) % len(self._hits)
        self.scroll_to(y=max(0, self._hits[self._hit] - 2), animate=False)
        self.refresh()
        return self._hit + 1, len(self._hits)

    def page(self, share: float) -> None:
        """Scroll by a share of what is seen; negative is up."""
        step = int(share * max(1, self.size.height))
        self.scroll_to(y=self.scroll_offset.y + step, animate=False)

    def on_resize(self) -> None:
        """Another width wraps anew."""
        if self._wrap_width != self._width:
            self._wrap()
            self._find()

    def render_line(self, y: int) -> Strip:
        """One row of the screen."""
        row = int(self.scroll_offset.y) + y
        width = self.size.width
        if row >= len(self._rows):
            return Strip.blank(width, self.rich_style)
        text = self._rows[row]
        style = self.rich_style
        if text.startswith(HEADING):
            segments = [Segment(text[1:], style + Style(bold=True, underline=True))]
        else:
            segments = list(self._marked(text, style, row))
        return Strip(segments).adjust_cell_length(width, style)

    def _marked(self, text: str, style: Style, row: int) -> Iterator[Segment]:
        folded, sought = text.casefold(), self._sought.casefold()
        if not sought or len(folded) != len(text):
            yield Segment(text, style)
            return
        is_current = 0 <= self._hit < len(self._hits) and self._hits[self._hit] == row
        mark = style + Style(reverse=True, bold=is_current, underline=is_current)
        start = 0
        while (found := folded.find(sought, start)) >= 0:
            yield Segment(text[start:found], style)
            yield Segment(text[found : found + len(sought)], mark)
            start = found + len(sought)
        yield Segment(text[start:], style)

    @property
    def _wrap_width(self) -> int:
        # The bar has its column always, so that text does not move when it appears.
        return max(10, self.size.width - 2)

    def _wrap(self) -> None:
        self._width = self._wrap_width
        self._rows = [row for line in self._lines for row in wrapped(line, self._width)]
        self.virtual_size = Size(self._width, len(self._rows))
        self.refresh()

    def _find(self) -> None:
        sought = self._sought.casefold()
        self._hits = [place for place, row in enumerate(self._rows) if sought and sought in row.casefold()]


def inert(text: str) -> str:
    """Text that moves no cursor and hides nothing: control and format characters are escapes, tabs are blanks."""
    return visible(text).expandtabs(TAB)


def wrapped(line: str, width: int) -> list[str]:
    """A line as rows of at most so many cells, broken at blanks where there are some; wide characters take two."""
    rows: list[str] = []
    at = 0
    while at < len(line):
        # More characters than cells are never on a row, but for those that take none.
        piece = line[at : at + width + 1]
        if cell_len(piece) <= width:
            rows.append(piece)
            at += len(piece)
            continue
        head = chop_cells(piece, width)[0]
        cut = head.rfind(" ")
        if cut > len(head) // 2:
            head = head[: cut + 1]
        rows.append(head)
        at += len(head)
    return rows or [""]
