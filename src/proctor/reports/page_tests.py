"""The table of tests on the page: a line for each, why it did not pass below it, and all of its trials inside."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final
from xml.etree import ElementTree as ET

from proctor.records.details import Details
from proctor.records.report import Report, RunReport
from proctor.reports.elements import Content, element
from proctor.reports.outcomes import STATUSES, Status, TestLine, reasons, status_of, test_lines
from proctor.reports.page_run import test_content
from proctor.reports.phrases import counted, first_line, money, number, seconds
from proctor.reports.pictures import share_picture

GLYPHS: Final[dict[Status, str]] = {"pass": "✓", "fail": "✗", "error": "!", "inconclusive": "?"}
MOST_GLYPHS: Final = 12
"""Trials that have a sign each; of more, their numbers alone."""
MOST_REASONS: Final = 3

_ENDS: Final = "none"


def tests_section(report: Report, details: Details) -> ET.Element:
    """All tests, those that need a look first."""
    lines = test_lines(report)
    columns = [
        "outcome",
        "test",
        *(["group"] if len(report.groups) > 1 else []),
        "trials",
        "objective",
        "time",
    ]
    if any(run.metrics is not None and run.metrics.cost_usd_total is not None for run in report.runs):
        columns.append("cost")
    return element(
        "section",
        element("h2", "Tests", id="tests"),
        _controls(lines),
        element("div", _table(lines, columns, details), class_="framed"),
        element("p", "No test matches.", id="nothing", hidden=True),
        element("button", "Show more", type="button", id="more", hidden=True),
        aria_labelledby="tests",
    )


def _controls(lines: Sequence[TestLine]) -> ET.Element:
    """Filters; without a script they are not there."""
    counts = {status: sum(line.status == status for line in lines) for status in STATUSES}
    flaky = sum(line.figures.is_flaky for line in lines)
    buttons = [_button("", f"all {len(lines)}", is_pressed=True)]
    buttons += [_button(status, f"{status} {count}") for status, count in counts.items() if count]
    if flaky:
        buttons.append(_button("flaky", f"flaky {flaky}"))
    return element(
        "div",
        element("div", buttons, role="group", aria_label="Show tests by outcome", class_="filters"),
        element(
            "label",
            element("span", "Search", class_="unseen"),
            element("input", type="search", id="search", placeholder="Search tests, reasons, outputs"),
        ),
        element("p", f"{counted(len(lines), 'test')}", id="shown", aria_live="polite"),
        class_="controls",
        hidden=True,
    )


def _button(value: str, text: str, *, is_pressed: bool = False) -> ET.Element:
    return element(
        "button",
        text,
        type="button",
        data_filter=value,
        aria_pressed="true" if is_pressed else "false",
        class_=f"filter {value}".strip(),
    )


def _table(lines: Sequence[TestLine], columns: Sequence[str], details: Details) -> ET.Element:
    head = element("tr", (element("th", name, scope="col", data_sort=name, class_=name) for name in columns))
    table = element(
        "table",
        element("caption", "Tests, those that did not pass first", class_="unseen"),
        element("thead", head),
        class_="tests",
        id="table",
    )
    for place, line in enumerate(lines, 1):
        table.append(_body(line, place, columns, details))
    return table


def _body(line: TestLine, place: int, columns: Sequence[str], details: Details) -> ET.Element:
    cells: list[Content] = [
        element("td", element("span", line.status, class_=f"mark {line.status}"), class_="outcome"),
        element("th", element("span", line.test, class_="name"), _flaky(line), scope="row", class_="test"),
        element("td", line.group.path, class_="group") if "group" in columns else None,
        element("td", _trials(line), class_="trials"),
        element(
            "td",
            element("span", number(line.figures.mean), class_="number"),
            share_picture(line.figures.mean),
            data_value=_value(line.figures.mean),
            class_="objective",
        ),
        _ranged([run.duration_s for run in line.runs], "time"),
        _ranged([run.metrics.cost_usd_total if run.metrics else None for run in line.runs], "cost")
        if "cost" in columns
        else None,
    ]
    summary = list(_why(line)) or ["details"]
    inside = element(
        "details", element("summary", *summary), element("div", test_content(line, details), class_="inside")
    )
    return element(
        "tbody",
        element("tr", cells, class_="line"),
        element("tr", element("td"), element("td", inside, colspan=str(len(columns) - 1)), class_="below"),
        id=f"test-{place}",
        class_=line.status,
        data_status=line.status,
        data_flaky="yes" if line.figures.is_flaky else None,
        data_place=str(place),
    )


def _flaky(line: TestLine) -> list[Content]:
    return [" ", element("span", "flaky", class_="tag")] if line.figures.is_flaky else []


def _trials(line: TestLine) -> Iterator[Content]:
    figures = line.figures
    if 1 < len(line.runs) <= MOST_GLYPHS:
        signs = [
            element("span", GLYPHS[status_of(run)], class_=f"sign {status_of(run)}", aria_hidden="true")
            for run in sorted(line.runs, key=lambda run: run.trial)
        ]
        yield element("span", signs, class_="signs")
    known = figures.passed + figures.failed
    yield f"{figures.passed}/{known}"
    yield element("span", " passed", class_="unseen")
    if figures.planned > known:
        yield f", {figures.planned - known} unclear"


def _ranged(values: Sequence[float | None], name: str) -> ET.Element:
    """The least and the most of the trials."""
    known = sorted(value for value in values if value is not None)
    word = seconds if name == "time" else money
    ends = list(dict.fromkeys(word(value) for value in (known[:1] + known[-1:])))
    return element("td", "–".join(ends), data_value=_value(known[-1] if known else None), class_=name)


def _value(value: float | None) -> str:
    """For sorting; what is undefined stands last."""
    return _ENDS if value is None else f"{value:.9g}"


def _why(line: TestLine) -> Iterator[Content]:
    """Why the first of its gravest trials did not pass."""
    if line.status == "pass":
        return
    run = _gravest(line)
    if len(line.runs) > 1:
        yield element("span", f"trial {run.trial}: ", class_="quiet")
    found = reasons(run)
    for place, why in enumerate(found[:MOST_REASONS]):
        if place:
            yield "; "
        if why.grader:
            yield element("b", why.grader)
            yield " "
        yield first_line(why.text, 240)
    if len(found) > MOST_REASONS:
        yield f"; and {len(found) - MOST_REASONS} more"


def _gravest(line: TestLine) -> RunReport:
    return next(run for run in line.runs if status_of(run) == line.status)
