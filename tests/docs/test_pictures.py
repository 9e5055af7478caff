"""The pictures show what the program prints today."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs.images.label_screen import label_pictures
from docs.images.make import HERE
from docs.images.scenes import SCENES, lines_of
from docs.images.terminal_pictures import Screen, svg_of, text_of, wrapped
from tests.docs.pages import normal

ADVICE = "make them again with `make pictures`, and look at them"


def shown(name: str) -> list[str]:
    """The lines of a picture."""
    return text_of((HERE / f"{name}.svg").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", ["grade", "compare"])
def test_a_picture_of_a_terminal_shows_what_is_printed_now(tmp_path: Path, name: str) -> None:
    """Word for word, but for what is another time every time."""
    printed = lines_of(SCENES[name], tmp_path)

    assert [steady(line) for line in printed] == [steady(line) for line in shown(name)], ADVICE


def test_the_picture_of_the_board_shows_a_board_as_it_is_now(tmp_path: Path) -> None:
    """The same lines and columns; how far the trials were is another time every time."""
    printed, pictured = lines_of(SCENES["board"], tmp_path), shown("board")

    assert printed[:3] == pictured[:3], ADVICE
    for lines in (printed, pictured):
        assert re.fullmatch(r"\d+/16 done, 4 running, [\d.]+s, about [\dms.]+ left, \$0\.\d+", lines[3])
        assert ["TRIAL", "STATE", "TIME", "COST", "LAST", "LINE"] == lines[4].split()
        assert 4 == len(lines[5:])
        for line in lines[5:]:
            assert re.fullmatch(r"  \w+--[12] +running +[\d.]+s +\$0\.\d+ +word \d of \d+: \S+", line)


def test_a_picture_of_the_label_screen_shows_it_as_it_is_now() -> None:
    """Of both sizes."""
    assert {name: text_of(picture) for name, picture in label_pictures().items()} == {
        name: shown(name) for name in ("label-80x24", "label-120x40")
    }, ADVICE


@pytest.mark.parametrize("name", sorted(path.name for path in HERE.glob("*.svg")))
def test_a_picture_loads_nothing(name: str) -> None:
    """No font and no other file; and it is XML that a browser can read."""
    from xml.etree import ElementTree as ET

    text = (HERE / name).read_text(encoding="utf-8")

    assert not re.search(r"@font-face|@import|url\((?!#)|href=\"http", text)
    assert ET.fromstring(text).tag.endswith("svg")


def test_what_a_picture_holds_can_be_read_back() -> None:
    """So that it can be compared."""
    lines = ["$ proctor list runs", "RUN   <OUTCOME> & more", "", "  中文  pass"]

    assert lines == text_of(svg_of(lines, "proctor"))


@pytest.mark.parametrize(
    ("written", "lines"),
    [
        (["one\r\ntwo\r\n"], ["one", "two"]),
        (["one\r\ntwo\r\n\r\x1b[2A\x1b[Jthree\r\n"], ["three"]),
        (["done 1/3\r\x1b[Kdone 2/3\r\x1b[2Kdone\r\n"], ["done"]),
        (["one\r\ntwo\r\n\r\x1b", "[1", "A\x1b[Jthree\r\n"], ["one", "three"]),
        (["abc\rX"], ["Xbc"]),
    ],
)
def test_a_screen_shows_what_a_terminal_would(written: list[str], lines: list[str]) -> None:
    """Lines that are painted again, also where a sequence arrives in pieces."""
    screen = Screen()
    for text in written:
        screen.write(text)

    assert lines == screen.lines


def test_a_long_line_is_broken_as_a_terminal_breaks_it() -> None:
    """Where its last column is, and an empty line stays."""
    assert ["abcd", "ef", "", "gh"] == wrapped(["abcdef", "", "gh"], 4)


def steady(line: str) -> str:
    """A line without durations, and without the digits of the row that measures time."""
    return re.sub(r"[\d.+-]+ *", "# ", line) if line.startswith("time, s") else normal(line)
