"""The line at the bottom into which a person types: a note, a question, or what is looked for.

It takes its keys from the app and never has the focus: what is typed fast arrives in order, in one queue.
"""

from __future__ import annotations

from collections.abc import Callable

from rich.cells import cell_len
from rich.text import Text
from textual.widgets import Static

Done = Callable[[str], None]


class Editor(Static, can_focus=False):
    """One line. While it is open, keys are letters and no commands."""

    DEFAULT_CSS = "Editor { height: 1; padding: 0 1; }"

    def __init__(self) -> None:
        super().__init__()
        self.display = False
        self._prompt = ""
        self._text = ""
        self._cursor = 0
        self._done: Done | None = None

    @property
    def is_open(self) -> bool:
        """True while somebody types."""
        return self._done is not None

    def begin(self, prompt: str, done: Done, text: str = "") -> None:
        """Open the line.

        Args:
            prompt: stands before what is typed.
            done: gets what was typed; it is not called when that is cancelled.
            text: to start from.
        """
        self._prompt, self._done, self._text, self._cursor = prompt, done, text, len(text)
        self.display = True
        self._draw()

    def take(self, key: str, character: str | None) -> None:
        """A key."""
        text, at = self._text, self._cursor
        if key in ("enter", "escape", "ctrl+c"):
            done, self._done = self._done, None
            self.display = False
            if key == "enter" and done is not None:
                done(text)
            return
        if key == "backspace":
            self._become(text[: max(0, at - 1)] + text[at:], at - 1)
        elif key == "delete":
            self._become(text[:at] + text[at + 1 :], at)
        elif key in ("left", "right"):
            self._become(text, at + (1 if key == "right" else -1))
        elif key in ("home", "ctrl+a"):
            self._become(text, 0)
        elif key in ("end", "ctrl+e"):
            self._become(text, len(text))
        elif key == "ctrl+u":
            self._become(text[at:], 0)
        elif key == "ctrl+w":
            kept = text[:at].rstrip().rpartition(" ")
            before = kept[0] + kept[1]
            self._become(before + text[at:], len(before))
        elif character is not None and character.isprintable():
            self.insert(character)

    def insert(self, pasted: str) -> None:
        """Put a text where the cursor is: line ends and tabs become blanks, other controls are dropped."""
        text = one_line(pasted)
        self._become(self._text[: self._cursor] + text + self._text[self._cursor :], self._cursor + len(text))

    def on_resize(self) -> None:
        """Another width shows another part."""
        self._draw()

    def _become(self, text: str, cursor: int) -> None:
        self._text, self._cursor = text, max(0, min(cursor, len(text)))
        self._draw()

    def _draw(self) -> None:
        """The prompt and the part of the text around the cursor that there is room for."""
        room = max(8, self.screen.size.width - 4 - cell_len(self._prompt))
        start = 0
        while cell_len(self._text[start : self._cursor]) >= room:
            start += 1
        shown = Text(no_wrap=True, overflow="crop")
        shown.append(f"{self._prompt}: ", "bold")
        shown.append(self._text[start : self._cursor])
        shown.append(self._text[self._cursor : self._cursor + 1] or " ", "reverse")
        shown.append(self._text[self._cursor + 1 :])
        self.update(shown)


def one_line(text: str) -> str:
    r"""The text on one line, and nothing in it that is no text.

    >>> one_line("a\r\nb\tc\x1b[31md")
    'a b c[31md'
    """
    flat = text.replace("\r\n", " ").replace("\n", " ").replace("\r", " ").replace("\t", " ")
    return "".join(character for character in flat if character.isprintable())
