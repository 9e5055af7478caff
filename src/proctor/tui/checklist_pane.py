"""The questions and their answers, one of them the current one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from rich.cells import cell_len
from rich.text import Text
from textual.containers import VerticalScroll
from textual.widgets import Static

from proctor.core.labels import answer_text
from proctor.engine.labelling import State
from proctor.records.checklist import Answer, Question
from proctor.tui.text_pane import inert, wrapped

INDENT: Final = 4


class ChecklistPane(VerticalScroll, can_focus=False):
    """The checklist. What is marked is marked by signs as well as by style, for terminals without colour."""

    DEFAULT_CSS = """
    ChecklistPane { height: 1fr; scrollbar-size-vertical: 1; }
    ChecklistPane > Static { width: 1fr; height: auto; margin-bottom: 1; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._statics: list[Static] = []
        self._questions: Sequence[Question] = ()
        self._state: State | None = None
        self._cursor = 0

    def show(self, questions: Sequence[Question], state: State, cursor: int) -> None:
        """Draw the questions with what they are answered, and the cursor before one of them."""
        self._questions, self._state, self._cursor = questions, state, cursor
        self._draw()

    def on_resize(self) -> None:
        """Another width breaks lines elsewhere."""
        self._draw()

    def _draw(self) -> None:
        state = self._state
        if state is None:
            return
        width = max(16, self.size.width - 1)
        texts = [
            _question(question, place, state, width, is_current=place == self._cursor)
            for place, question in enumerate(self._questions)
        ]
        texts.append(_note(state.note, width))
        while len(self._statics) < len(texts):
            static = Static()
            self._statics.append(static)
            self.mount(static)
        for static, text in zip(self._statics, texts, strict=False):
            static.update(text)
        for place, static in enumerate(self._statics):
            static.display = place < len(texts)
        self.call_after_refresh(self._show_cursor)

    def _show_cursor(self) -> None:
        if self._cursor < len(self._statics):
            self._statics[self._cursor].scroll_visible(animate=False)


def _question(question: Question, place: int, state: State, width: int, *, is_current: bool) -> Text:
    text = Text(no_wrap=True)
    style = "strike dim" if question.deleted else "bold" if is_current else ""
    head = f"{place + 1}. "
    for number, row in enumerate(_rows(inert(question.text), width - 2 - len(head))):
        beginning = ("> " if is_current else "  ") + head if number == 0 else " " * (2 + len(head))
        text.append(("\n" if number else "") + beginning, "bold")
        text.append(row, style)
    if question.deleted:
        text.append("\n     deleted; d restores it", "dim")
        return text
    left = 0
    for piece, is_given in _pieces(question, state):
        if left < cell_len(piece) + 1:
            text.append("\n" + " " * INDENT)
            left = width - INDENT
        text.append(piece, "reverse bold" if is_given else "dim")
        text.append(" ")
        left -= cell_len(piece) + 1
    return text


def _pieces(question: Question, state: State) -> list[tuple[str, bool]]:
    """The answers that are offered, the given one in brackets, and how it stands with the question."""
    pieces = [
        (f"[{piece}]" if is_given else f" {piece} ", is_given)
        for piece, is_given in _offered(question, state.answers)
    ]
    if question.id not in state.answers:
        pieces.append((" unanswered", False))
    elif question.id in state.unsigned:
        pieces.append((" *", False))
    return pieces


def _rows(text: str, width: int) -> list[str]:
    return [row for line in text.split("\n") for row in wrapped(line, width)]


def _offered(question: Question, answers: Mapping[str, Answer]) -> list[tuple[str, bool]]:
    """What can be answered, and whether it was."""
    possible: list[Answer]
    if question.kind == "yes-no":
        possible = [True, False, None]
    elif question.kind == "scale":
        possible = [*range(1, (question.points or 2) + 1), None]
    else:
        possible = [*question.choices, None]
    is_answered = question.id in answers
    given = answers.get(question.id)
    offered: list[tuple[str, bool]] = []
    for number, answer in enumerate(possible, start=1):
        key = f"{number}:" if question.kind == "choice" and answer is not None else ""
        is_given = is_answered and type(answer) is type(given) and answer == given
        offered.append((key + inert(answer_text(answer)), is_given))
    return offered


def _note(note: str, width: int) -> Text:
    if not note:
        return Text("  no note; m writes one", "dim")
    text = Text("  note", "bold", no_wrap=True)
    for row in _rows(inert(note), width - INDENT):
        text.append("\n" + " " * INDENT + row, "not bold")
    return text
