"""The label screen: one run beside the checklist. It draws a session, and hands it what was typed."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Final

from rich.text import Text
from textual import events
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical
from textual.widgets import Static

from proctor.engine.label_content import RunContent, content_of, file_text
from proctor.engine.labelling import Session
from proctor.errors import ProctorError, StoreError, UsageError
from proctor.records.checklist import Answer, Question
from proctor.tui.checklist_pane import ChecklistPane
from proctor.tui.editor import Editor
from proctor.tui.keys import HELP, HINTS
from proctor.tui.text_pane import TextPane, inert

TABS: Final = ("run", "files", "calls", "expected", "grades")
NARROW: Final = 70
"""With fewer columns the checklist stands below the run."""


class LabelApp(App[int]):
    """The screen.

    Args:
        session: what is labelled; it is closed by whoever opened it.

    Attributes:
        failure: why the session ended by itself; None when it did not.
    """

    ENABLE_COMMAND_PALETTE = False
    AUTO_FOCUS = None
    CSS = """
    Screen { layout: vertical; }
    #head, #item, #tabs, #keys, #said { height: 1; width: 1fr; padding: 0 1; }
    #head { text-style: bold reverse; }
    #keys { text-style: reverse; }
    #said { text-style: bold; }
    #both { layout: horizontal; height: 1fr; }
    #left { width: 3fr; height: 1fr; }
    #right { width: 2fr; height: 1fr; border-left: solid $foreground; }
    #both.-narrow { layout: vertical; }
    #both.-narrow #left { width: 1fr; height: 3fr; }
    #both.-narrow #right { width: 1fr; height: 2fr; border-left: none; border-top: solid $foreground; }
    TextPane { padding: 0 0 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+c", "leave", "quit", priority=True, show=False),
        Binding("ctrl+q", "leave", "quit", priority=True, show=False),
        Binding("tab", "turn(1)", "view", priority=True, show=False),
        Binding("shift+tab", "turn(-1)", "view", priority=True, show=False),
    ]

    def __init__(self, session: Session) -> None:
        super().__init__(ansi_color=True)
        self.session = session
        self.failure: ProctorError | None = None
        self._content: RunContent | None = None
        self._cursor = 0
        self._tab = 0
        self._file = 0
        self._is_helping = False
        self._said = ""
        self._text = TextPane()
        self._checklist = ChecklistPane()
        self._editor = Editor()

    def compose(self) -> ComposeResult:
        """Head, the run beside the checklist, what was said, the editor, the keys."""
        yield Static(id="head")
        yield Static(id="item")
        with Container(id="both"):
            with Vertical(id="left"):
                yield Static(id="tabs")
                yield self._text
            with Vertical(id="right"):
                yield self._checklist
        yield Static(id="said")
        yield self._editor
        yield Static(HINTS, id="keys", markup=False)

    def on_mount(self) -> None:
        """Show the run that the session is at."""
        self._said = "; ".join(self.session.warnings)
        self._show_run()

    def on_resize(self, event: events.Resize) -> None:
        """A narrow terminal has the checklist below."""
        self.query_one("#both").set_class(event.size.width < NARROW, "-narrow")

    def on_key(self, event: events.Key) -> None:
        """A key is a command, unless somebody types."""
        event.stop()
        if self._editor.is_open:
            self._editor.take(event.key, event.character)
            if not self._editor.is_open:
                self._draw()
            return
        commands = self._commands()
        command = commands.get(event.key) or commands.get(event.character or "")
        if command is None:
            return
        if self._is_helping:
            self._help()
        else:
            self._do(command)

    def on_paste(self, event: events.Paste) -> None:
        """What is pasted is typed, where somebody types."""
        event.stop()
        if self._editor.is_open:
            self._editor.insert(event.text)

    def action_leave(self) -> None:
        """Quit; while somebody types, close the line."""
        if self._editor.is_open:
            self._editor.take("escape", None)
            self._draw()
        else:
            self.exit(0)

    def action_turn(self, step: int) -> None:
        """Show the next view, or the one before."""
        if not self._editor.is_open:
            self._do(lambda: self._turn(step))

    def _commands(self) -> dict[str, Callable[[], object]]:
        session = self.session
        commands: dict[str, Callable[[], object]] = {
            "up": lambda: self._move(-1),
            "down": lambda: self._move(1),
            "left": lambda: self._go(session.index - 1),
            "right": lambda: self._go(session.index + 1),
            "space": self._toggle,
            "enter": self._sign_off,
            "y": lambda: self._answer(True),
            "n": lambda: self._answer(False),
            "c": lambda: self._answer(None),
            "backspace": self._take_back,
            "s": self._skip,
            "o": self._next_open,
            "a": lambda: self._type("a further question of yes or no", self._add),
            "d": self._delete,
            "m": lambda: self._type("note", session.note, session.state().note),
            "slash": lambda: self._type("look for", self._search),
            "ctrl+n": lambda: self._tell_hit(self._text.next_hit(1)),
            "ctrl+p": lambda: self._tell_hit(self._text.next_hit(-1)),
            "g": self._grades,
            "full_stop": lambda: self._next_file(1),
            "comma": lambda: self._next_file(-1),
            "question_mark": self._help,
            "q": lambda: self.exit(0),
            "home": lambda: self._text.scroll_home(animate=False),
            "end": lambda: self._text.scroll_end(animate=False),
        }
        for key, share in (("ctrl+f", 1.0), ("pagedown", 1.0), ("ctrl+d", 0.5)):
            commands[key] = lambda share=share: self._text.page(share)
        for key, share in (("ctrl+b", 1.0), ("pageup", 1.0), ("ctrl+u", 0.5)):
            commands[key] = lambda share=share: self._text.page(-share)
        for number in range(10):
            commands[str(number)] = lambda number=number: self._choose(number or 10)
        return commands

    def _do(self, command: Callable[[], object]) -> None:
        """Run a command; a failure to save ends the screen, anything else is said in its place."""
        self._said = ""
        try:
            command()
        except UsageError as error:
            self._said = f"{error.what}; c answers `cannot tell`"
            self._to_unanswered()
        except StoreError as error:
            self.failure = error
            self.exit(1)
            return
        if not self._editor.is_open:
            self._draw()

    def _type(self, prompt: str, done: Callable[[str], None], text: str = "") -> None:
        self._editor.begin(prompt, lambda typed: self._do(lambda: done(typed.strip())), text)

    @property
    def _question(self) -> Question:
        return self.session.questions[self._cursor]

    def _move(self, step: int) -> None:
        self._cursor = max(0, min(self._cursor + step, len(self.session.questions) - 1))

    def _go(self, index: int) -> None:
        before = self.session.index
        self.session.go(index)
        if self.session.index == before:
            self._said = "this is the first run" if index < before else "this is the last run"
        else:
            self._show_run()

    def _toggle(self) -> None:
        question = self._question
        given = self.session.state().answers.get(question.id)
        if question.kind == "yes-no":
            self._answer(given is not True)
        elif question.kind == "scale":
            points = question.points or 2
            self._answer(given % points + 1 if isinstance(given, int) else 1, stay=True)
        else:
            place = question.choices.index(str(given)) + 1 if given is not None else 0
            self._answer(question.choices[place % len(question.choices)], stay=True)

    def _choose(self, number: int) -> None:
        """A digit is a point of a scale, or the number of a choice."""
        question = self._question
        if question.kind == "scale" and number <= (question.points or 0):
            self._answer(number)
        elif question.kind == "choice" and number <= len(question.choices):
            self._answer(question.choices[number - 1])
        else:
            self._said = f"{number} is no answer to this question"

    def _answer(self, answer: Answer, *, stay: bool = False) -> None:
        question = self._question
        if question.deleted:
            self._said = "this question is deleted; d restores it"
            return
        if isinstance(answer, bool) and question.kind != "yes-no":
            self._said = "this question takes a number: 1, 2, 3 ..., or c for cannot tell"
            return
        self.session.answer(question.id, answer)
        if not stay:
            self._move(1)

    def _take_back(self) -> None:
        self.session.take_back(self._question.id)

    def _sign_off(self) -> None:
        if self.session.sign_off():
            self._after_sign_off("signed off")
        elif not self.session.live:
            self._said = "there is no question to answer: a adds one, d restores one"
        else:
            self._after_sign_off("nothing new to sign off")

    def _after_sign_off(self, said: str) -> None:
        if self.session.go_on():
            self._show_run()
            self._said = f"{said}; the next run"
        else:
            self._said = f"{said}; all {len(self.session.runs)} runs are labelled: q quits"

    def _skip(self) -> None:
        if self.session.skip():
            self._show_run()
            self._said = "skipped; it comes again at the end"

    def _next_open(self) -> None:
        if self.session.go_on():
            self._show_run()
        else:
            self._said = "all runs are labelled"

    def _add(self, text: str) -> None:
        if not text:
            return
        self.session.add_question(text)
        self._cursor = len(self.session.questions) - 1
        self._said = "added; it is published when you sign off, and the other runs will be stale then"

    def _delete(self) -> None:
        question = self._question
        self.session.toggle_deleted(question.id)
        word = "restored" if question.deleted else "deleted"
        self._said = f"{word}; it is published when you sign off"

    def _grades(self) -> None:
        self.session.show_grades()
        self._tab = TABS.index("grades")
        self._show_text()

    def _turn(self, step: int) -> None:
        self._tab = (self._tab + step) % len(self._tabs)
        self._show_text()

    def _next_file(self, step: int) -> None:
        files = self._content.files if self._content else ()
        if files:
            self._tab = TABS.index("files")
            self._file = (self._file + step) % len(files)
            self._show_text()

    def _help(self) -> None:
        self._is_helping = not self._is_helping
        self.query_one("#right").display = not self._is_helping
        self._show_text()

    def _search(self, text: str) -> None:
        count = self._text.search(text)
        if text:
            self._said = f"{count} {'line holds' if count == 1 else 'lines hold'} {inert(text)!r}"
            if count:
                self._said += ": ctrl-n the next, ctrl-p the one before"

    def _tell_hit(self, hit: tuple[int, int]) -> None:
        self._said = f"{hit[0]} of {hit[1]}" if hit[1] else "nothing is looked for: / does"

    def _to_unanswered(self) -> None:
        unanswered = self.session.state().score.unanswered
        places = [place for place, one in enumerate(self.session.questions) if one.id in unanswered]
        if places:
            self._cursor = places[0]

    @property
    def _tabs(self) -> tuple[str, ...]:
        """The grades have a tab only once they were asked for: people label blind."""
        run = self.session.current
        return TABS if self.session.saw_grades(run) else TABS[:-1]

    def _show_run(self) -> None:
        self._content = content_of(self.session.current)
        self._cursor, self._tab, self._file = 0, 0, 0
        self._to_unanswered()
        self._text.search("")
        self._show_text()
        self._draw()

    def _show_text(self) -> None:
        content = self._content
        assert content is not None
        if self._is_helping:
            self._text.show([("keys", HELP)])
            return
        tab = self._tabs[self._tab] if self._tab < len(self._tabs) else "run"
        if tab == "run":
            note = f"output ({content.output_note})" if content.output_note else "output"
            parts = [] if content.input is None else [("input", content.input)]
            parts.append((note, content.output if content.output is not None else "(nothing)"))
        elif tab == "files":
            parts = self._files(content)
        elif tab == "calls":
            parts = [("calls", "\n\n".join(content.calls) or "(none were recorded)")]
        elif tab == "expected":
            parts = [("expected", "(the test has none)" if content.expected is None else content.expected)]
            parts += [("goal", content.goal)] if content.goal else []
        else:
            parts = [("grades", "\n\n".join(content.grades))]
        self._text.show(parts)

    def _files(self, content: RunContent) -> list[tuple[str, str]]:
        if not content.files:
            return [("files", "(no files were kept)")]
        place = min(self._file, len(content.files) - 1)
        name = content.files[place]
        listed = "\n".join(
            f"{'>' if one == place else ' '} {file}" for one, file in enumerate(content.files[:200])
        )
        more = len(content.files) - 200
        if more > 0:
            listed += f"\n  and {more} more"
        title = f"file {place + 1} of {len(content.files)} (. the next, , the one before): {name}"
        return [(title, file_text(self.session.current, name)), ("all files", listed)]

    def _draw(self) -> None:
        session = self.session
        state, progress = session.state(), session.progress
        counts = [f"{progress.labelled}/{progress.total} labelled", f"{progress.left} left"]
        counts += [
            f"{count} {word}"
            for count, word in ((progress.stale, "stale"), (progress.skipped, "skipped"))
            if count
        ]
        head = f"{'  '.join(counts)}  |  {session.checklist.name}  |  {session.annotator}"
        self._static("head", inert(head))
        run, score = session.current, state.score
        told = f"score {score.score:.2f}" if score.score is not None else "score -"
        if score.score is None and not score.unanswered and score.bounds.low < score.bounds.high:
            told = f"score {score.bounds.low:.2f} to {score.bounds.high:.2f}"
        self._static(
            "item", inert(f"{session.index + 1} of {progress.total}  {run.name}  {state.status}  {told}")
        )
        tabs = Text(no_wrap=True, overflow="ellipsis")
        for place, name in enumerate(self._tabs):
            is_shown = place == self._tab
            tabs.append(f"[{name}]" if is_shown else f" {name} ", "bold" if is_shown else "dim")
        self.query_one("#tabs", Static).update(tabs)
        self._static("said", inert(self._said))
        self._checklist.show(session.questions, state, self._cursor)

    def _static(self, name: str, text: str) -> None:
        self.query_one(f"#{name}", Static).update(Text(text, no_wrap=True, overflow="ellipsis"))
