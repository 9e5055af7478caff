"""The comparison on the page: the answer, and a row for each number with a picture of the difference."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final
from xml.etree import ElementTree as ET

from proctor.records.comparison import Comparison, Contrast
from proctor.reports.comparison_words import (
    columns,
    difference_rows,
    headline,
    moved_tests,
    moved_title,
    remarks,
)
from proctor.reports.elements import Content, element, table
from proctor.reports.phrases import number
from proctor.reports.pictures import difference_picture, reach_of

MOST_OPEN: Final = 12
"""Tests that moved which are shown without being asked for."""


def comparison_sections(found: Comparison) -> list[ET.Element]:
    """A section for each candidate."""
    return [_section(one, found, place) for place, one in enumerate(found.contrasts, 1)]


def _section(one: Contrast, found: Comparison, place: int) -> ET.Element:
    name = f"comparison-{place}"
    answer, _, numbers = headline(one, found).partition(": ")
    return element(
        "section",
        element("h2", "Comparison", id=name),
        element(
            "p",
            element("span", answer, class_=f"mark {answer.replace(' ', '-')}"),
            f" {numbers}",
            class_="answer",
        ),
        element(
            "div",
            table([*_heads(found)], _rows(one, found), class_="comparison"),
            class_="scrolled",
            tabindex="0",
            role="group",
            aria_labelledby=name,
        ),
        element("ul", (element("li", line.strip()) for line in remarks(one, found)), class_="remarks"),
        _moved(one),
        aria_labelledby=name,
    )


def _heads(found: Comparison) -> Iterator[Content]:
    what, base, candidate, difference, interval, chance, tests, verdict = columns(found)
    yield from (what or "what", base.lower(), candidate.lower(), difference.lower())
    yield f"{interval} interval"
    yield from ("picture", chance.lower(), tests.lower(), verdict.lower())


def _rows(one: Contrast, found: Comparison) -> Iterator[list[Content]]:
    scored = (one.objective, one.pass_rate, *one.graders)
    reach = reach_of([line.interval for line in scored])
    for place, cells in enumerate(difference_rows(one)):
        what, base, candidate, difference, interval, chance, tests, verdict = cells
        drawn = difference_picture(scored[place], reach, found.margin) if place < len(scored) else None
        # The last cell of what the agent used is a ratio, and says nothing of better or worse.
        told = (
            element("span", verdict, class_=f"mark {verdict.replace(' ', '-')}")
            if drawn is not None
            else verdict
        )
        yield [what, base, candidate, difference, interval, drawn, chance, tests, told]


def _moved(one: Contrast) -> ET.Element | None:
    moved = moved_tests(one)
    if not moved:
        return None
    rows = ((test, number(base), number(candidate)) for test, base, candidate in moved)
    return element(
        "details",
        element("summary", moved_title(moved)),
        element(
            "div",
            table(("test", "base", "candidate"), rows, class_="short"),
            class_="scrolled",
            tabindex="0",
            role="group",
            aria_label="tests with another objective",
        ),
        class_="block",
        open=len(moved) <= MOST_OPEN,
    )
