"""The label screen, driven by keys: what it shows, what it saves, and what it does not do."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot

from proctor.engine.labelling import Session
from proctor.tui.app import LabelApp
from proctor.tui.text_pane import TextPane, inert, wrapped
from tests.labelling.builders import checklist_file, grade_run, make_run, rows_of
from tests.labelling.conftest import Open

Keys = Callable[[Pilot[int]], Awaitable[None]]


def drive(session: Session, keys: Keys, size: tuple[int, int] = (80, 24)) -> LabelApp:
    """Open the screen, press keys, and close it."""
    app = LabelApp(session)

    async def run() -> None:
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            await keys(pilot)
            await pilot.pause()

    asyncio.run(run())
    return app


def lines(app: LabelApp | Pilot[int]) -> list[str]:
    """What stands on the screen, line by line."""
    screen = (app.app if isinstance(app, Pilot) else app).screen
    return [
        "".join(segment.text for segment in strip).rstrip() for strip in screen._compositor.render_strips()
    ]


def text(pilot: Pilot[int]) -> str:
    return "\n".join(lines(pilot))


def test_a_run_stands_beside_the_checklist_with_how_far_one_is(open_session: Open) -> None:
    """At 80 columns and 24 lines: progress, the run, input and output, questions with their answers, keys."""

    async def look(pilot: Pilot[int]) -> None:
        shown = lines(pilot)
        assert 24 == len(shown)
        assert shown[0].startswith(" 0/3 labelled  3 left  |  good  |  ada")
        assert shown[1].startswith(" 1 of 3  a  open")
        for part in (
            "question a",
            "answer a",
            "> 1. Is it right?",
            "2. Is it polite?",
            "unanswered",
            "q quit",
        ):
            assert part in text(pilot), part

    drive(open_session(), look)


def test_keys_answer_and_sign_off_and_go_on(group: Path, open_session: Open) -> None:
    session = open_session()

    async def label(pilot: Pilot[int]) -> None:
        await pilot.press("y", "n")
        assert "[yes]" in text(pilot)
        assert "[no]" in text(pilot)
        await pilot.press("enter")
        await pilot.pause()
        assert "1/3 labelled  2 left" in text(pilot)
        assert "2 of 3  b" in text(pilot)

    drive(session, label)
    (row,) = rows_of(group / "a")
    assert [True, False] == list(row["answers"].values())


def test_space_turns_yes_and_no_and_goes_to_the_next_question(open_session: Open) -> None:
    session = open_session()

    async def press(pilot: Pilot[int]) -> None:
        await pilot.press("space", "up", "space", "space")
        await pilot.pause()

    drive(session, press)
    assert [False, True] == [session.state().answers[question.id] for question in session.live]


def test_a_sign_off_with_an_unanswered_question_goes_to_it(group: Path, open_session: Open) -> None:
    async def press(pilot: Pilot[int]) -> None:
        await pilot.press("y", "up", "enter")
        await pilot.pause()
        assert "1 question is unanswered" in text(pilot)
        assert "> 2. Is it polite?" in text(pilot)

    drive(open_session(), press)
    assert [] == rows_of(group / "a")


def test_points_and_choices_are_answered_by_number(tmp_path: Path, open_session: Open) -> None:
    file = checklist_file(
        tmp_path,
        {"text": "How warm?", "kind": "scale", "points": 5},
        {"text": "What tone?", "kind": "choice", "choices": ["kind", "rude"]},
        name="other",
    )
    session = open_session(file=file)

    async def press(pilot: Pilot[int]) -> None:
        await pilot.press("y", "6")
        await pilot.pause()
        assert "6 is no answer to this question" in text(pilot)
        await pilot.press("4", "2", "c", "2")

    drive(session, press)
    assert [4, "rude"] == [session.state().answers[question.id] for question in session.live]


def test_while_somebody_types_keys_are_letters(group: Path, open_session: Open) -> None:
    """q, y, n, digits and tab do nothing else; a note of any letters is the note."""
    session = open_session()

    async def type_a_note(pilot: Pilot[int]) -> None:
        await pilot.press("m", *"quit, yes/no", "left", "left", "backspace", "tab", "enter")
        await pilot.pause()
        assert "quit, yesno" in text(pilot)
        await pilot.press("m", *" xx", "escape")
        await pilot.press("y", "y", "enter")

    app = drive(session, type_a_note)
    assert (1, "quit, yesno") == (session.index, rows_of(group / "a")[0]["note"])
    assert app.failure is None


def test_a_question_is_added_and_deleted(open_session: Open) -> None:
    session = open_session()

    async def press(pilot: Pilot[int]) -> None:
        await pilot.press("a", *"Is it short?", "enter")
        await pilot.pause()
        assert "> 3. Is it short?" in text(pilot)
        await pilot.press("up", "d")
        await pilot.pause()
        assert "deleted; d restores it" in text(pilot)

    drive(session, press)
    assert ["Is it right?", "Is it short?"] == [question.text for question in session.live]


def test_what_is_pasted_is_one_line(open_session: Open) -> None:
    session = open_session()

    async def paste(pilot: Pilot[int]) -> None:
        from textual.events import Paste

        pilot.app.post_message(Paste("q\nnot typed"))
        await pilot.press("m")
        pilot.app.post_message(Paste("one\r\ntwo\tthree\x1b[31m"))
        await pilot.pause()
        await pilot.press("enter")

    drive(session, paste)
    assert "one two three[31m" == session.state().note


def test_grades_are_shown_on_request_only_and_that_is_recorded(tmp_path: Path, open_session: Open) -> None:
    grade_run(make_run(tmp_path / "graded", "a"), {"judge": 1.0})
    make_run(tmp_path / "graded", "b")
    session = open_session(tmp_path / "graded")

    async def press(pilot: Pilot[int]) -> None:
        for _ in range(5):
            assert "judge" not in text(pilot)
            assert "grades" not in text(pilot)
            await pilot.press("tab")
            await pilot.pause()
        await pilot.press("g")
        await pilot.pause()
        assert "judge  pass" in text(pilot)
        await pilot.press("right")
        await pilot.pause()
        assert "grades" not in text(pilot)

    drive(session, press)
    assert [True, False] == [session.saw_grades(run) for run in session.runs]


def test_views_show_files_calls_and_what_was_expected(open_session: Open) -> None:
    async def press(pilot: Pilot[int]) -> None:
        for wanted in ("notes of a", "(none were recorded)", "right", "answer a"):
            await pilot.press("tab")
            await pilot.pause()
            assert wanted in text(pilot), wanted

    drive(open_session(), press)


def test_a_long_output_scrolls_and_is_searched(tmp_path: Path, open_session: Open) -> None:
    make_run(tmp_path / "long", "a", output="\n".join(f"line {n}" for n in range(5000)))
    session = open_session(tmp_path / "long")

    async def press(pilot: Pilot[int]) -> None:
        assert "line 4000" not in text(pilot)
        await pilot.press("slash", *"LINE 4000", "enter")
        await pilot.pause()
        assert "1 line holds 'LINE 4000'" in text(pilot)
        assert "line 4000" in text(pilot)
        await pilot.press("ctrl+f")
        await pilot.pause()
        assert "line 4020" in text(pilot)
        await pilot.press("ctrl+u", "end")
        await pilot.pause()
        assert "line 4999" in text(pilot)
        await pilot.press("home", "pagedown", "pageup")
        await pilot.pause()
        assert "line 0" in text(pilot)
        await pilot.press("slash", *"line 12", "enter", "ctrl+n", "ctrl+n", "ctrl+p")
        await pilot.pause()
        assert "2 of 111" in text(pilot)

    drive(session, press)


EVIL = "a\x1b[31mb\x07c \u202ed [bold]e[/bold] [@click=app.bell]f[/]\rg\x00h"


def test_what_an_agent_wrote_moves_no_cursor_and_styles_nothing(tmp_path: Path, open_session: Open) -> None:
    """Control and format characters are shown as escapes, wherever they come from; markup is text."""
    make_run(tmp_path / "evil", "a", output=EVIL, files={"x\x1b[2J.txt": EVIL})
    file = checklist_file(tmp_path, "Is \x1b[31mit [bold]right?", name="evil")
    session = open_session(tmp_path / "evil", file=file)
    session.note(EVIL)

    async def press(pilot: Pilot[int]) -> None:
        for _ in range(2):
            shown = text(pilot)
            assert all(line.isprintable() for line in lines(pilot))
            assert "\\u{1b}[31mb\\u{7}c" in shown
            assert "[bold]e[/bold]" in shown
            await pilot.press("tab")
            await pilot.pause()

    drive(session, press, size=(160, 24))


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (60, 20), (40, 12), (24, 8)])
def test_it_works_in_every_size(group: Path, open_session: Open, size: tuple[int, int]) -> None:
    """Progress and how many are left are always in view, and labelling works."""
    session = open_session()

    async def press(pilot: Pilot[int]) -> None:
        assert "0/3 labelled  3 left"[: size[0] - 2] in text(pilot)
        await pilot.press("y", "y", "enter")
        await pilot.pause()
        assert "1/3 labelled  2 left"[: size[0] - 2] in text(pilot)

    drive(session, press, size)
    assert 1 == len(rows_of(group / "a"))


def test_a_failure_to_save_ends_the_screen_and_is_said(group: Path, open_session: Open) -> None:
    session = open_session()
    shutil.rmtree(next(group.glob("checklists/*/drafts")))
    next(group.glob("checklists/*")).joinpath("drafts").write_text("in the way")

    async def press(pilot: Pilot[int]) -> None:
        await pilot.press("y")

    app = drive(session, press)
    assert app.failure is not None
    assert not app.is_running


def test_help_is_shown_and_any_key_closes_it(open_session: Open) -> None:
    session = open_session()

    async def press(pilot: Pilot[int]) -> None:
        await pilot.press("question_mark")
        await pilot.pause()
        assert "signs off this run" in text(pilot)
        await pilot.press("y")
        await pilot.pause()
        assert "signs off this run" not in text(pilot)

    drive(session, press)
    assert {} == session.state().answers


def test_without_an_output_the_models_last_message_is_shown_as_such(
    tmp_path: Path, open_session: Open
) -> None:
    make_run(tmp_path / "silent", "a", output=None)
    session = open_session(tmp_path / "silent")

    async def look(pilot: Pilot[int]) -> None:
        assert "output (no output was recorded)" in text(pilot)

    drive(session, look)


@pytest.mark.parametrize("width", [10, 13, 40])
def test_lines_are_broken_by_what_they_take_on_the_screen(width: int) -> None:
    """Wide characters take two cells; nothing is lost, and nothing is wider."""
    from rich.cells import cell_len

    line = inert("中文宽字符 and words that are long, 很长很长\tend")
    rows = wrapped(line, width)

    assert line == "".join(rows)
    assert all(cell_len(row) <= width for row in rows)


def test_a_very_long_text_is_drawn_without_being_drawn_whole(open_session: Open, tmp_path: Path) -> None:
    """Half a million characters: only what is seen becomes strips."""
    make_run(tmp_path / "huge", "a", output="x" * 500_000)

    async def look(pilot: Pilot[int]) -> None:
        pane = pilot.app.query_one(TextPane)
        assert pane.virtual_size.height > 5000
        await pilot.press("end")

    drive(open_session(tmp_path / "huge"), look)
