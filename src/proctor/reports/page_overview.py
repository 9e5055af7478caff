"""The top of the page: the numbers with their intervals, how the runs add up, and what else was noticed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final
from xml.etree import ElementTree as ET

from proctor.core.report import state_of
from proctor.records.estimate import Bounds, Estimate
from proctor.records.report import Demand, GroupReport, Report, RunReport
from proctor.reports.elements import Content, element, table
from proctor.reports.outcomes import base_of, demand_because, status_of
from proctor.reports.phrases import (
    counted,
    counts_of,
    demanded,
    judging_took,
    labels_of,
    noise_in_words,
    noise_of_trials,
    number,
    passed_of,
    reliability_of,
    spread,
)
from proctor.reports.pictures import estimate_picture, parts_picture

PARTS: Final = ("pass", "fail", "error", "inconclusive", "harness-failure", "interrupted")
"""What the planned runs fall into; each run is in one of them."""

_PLURALS: Final = {
    "pass": "passed",
    "fail": "failed",
    "error": "error",
    "inconclusive": "inconclusive",
    "harness-failure": "harness failure",
    "interrupted": "interrupted",
}

MOST_REMARKS: Final = 12
"""Remarks that are shown without being asked for."""


def overview(report: Report) -> ET.Element:
    """Numbers first, then counts, then remarks."""
    several = len(report.groups) > 1
    figures = None if several or not report.groups else report.groups[0].figures
    demands = {one.what: one for one in report.decision.demands} if report.decision is not None else {}
    counts = passed_of(figures) if figures is not None else ""
    return element(
        "section",
        element("h2", "Overview", id="overview"),
        element(
            "div",
            _card("Objective", report.objective, report.bounds, demands.get("objective")),
            _card(
                "Pass rate",
                report.pass_rate,
                figures.pass_bounds if figures is not None else None,
                demands.get("pass rate"),
                counts,
            ),
            _parts_card(report.runs),
            class_="cards",
        ),
        _demands(report, demands.values()),
        _groups(report) if several else None,
        _remarks(report),
        aria_labelledby="overview",
    )


def moved_section(report: Report) -> list[ET.Element]:
    """What the last grading says otherwise than the one before; nothing where that was not asked."""
    if not report.moved:
        return []
    rows = (
        (move.run, move.grader, move.before or "none", move.after or "none", move.why)
        for move in report.moved
    )
    return [
        element(
            "section",
            element("h2", "Moved against the round before", id="moved"),
            _scrolled(table(("run", "grader", "before", "now", "why"), rows)),
            aria_labelledby="moved",
        )
    ]


def _card(
    title: str, estimate: Estimate, bounds: Bounds | None, demand: Demand | None, counts: str = ""
) -> ET.Element:
    interval = estimate.interval
    said = [f"over {counted(estimate.tests, 'test')}"]
    if estimate.value is not None:
        said.insert(0, "no interval" if interval is None else f"{interval.level:.0%} {spread(interval)}")
    if counts:
        said.append(counts)
    if bounds is not None and not bounds.is_exact:
        said.append(f"with what is missing, from {bounds.low:.3f} to {bounds.high:.3f}")
    least = demand.at_least if demand is not None else None
    return element(
        "div",
        element("h3", title),
        element("p", number(estimate.value), class_="figure"),
        estimate_picture(demand.estimate or estimate if demand is not None else estimate, bounds, least),
        element("p", *_joined(said), class_="said"),
        class_="card",
    )


def _joined(parts: Sequence[str]) -> Iterator[Content]:
    for place, part in enumerate(parts):
        if place:
            yield element("br")
        yield part


def _parts_card(runs: Sequence[RunReport]) -> ET.Element:
    counts = Counter(map(_part, runs))
    parts = [(name, counts[name]) for name in PARTS]
    legend = [
        element("li", element("b", str(count)), f" {_PLURALS[name]}", class_=f"of {name}")
        for name, count in parts
        if count
    ]
    return element(
        "div",
        element("h3", "Runs"),
        element("p", str(len(runs)), " ", element("small", "planned"), class_="figure"),
        parts_picture(parts),
        element("ul", legend, class_="legend"),
        class_="card",
    )


def _part(run: RunReport) -> str:
    state = state_of(run)
    return {"harness_failures": "harness-failure", "interrupted": "interrupted"}.get(state, status_of(run))


def _demands(report: Report, demands: Iterable[Demand]) -> ET.Element | None:
    rows = [
        (demanded(one, base_of(report)), _mark(one.outcome), demand_because(one, report)) for one in demands
    ]
    if not rows:
        return None
    return element(
        "div",
        element("h3", "What was demanded"),
        _scrolled(table(("demand", "outcome", "because"), rows, class_="short")),
        class_="block",
    )


def _mark(outcome: str) -> ET.Element:
    name = {"reached": "pass", "missed": "fail"}.get(outcome, "inconclusive")
    return element("span", outcome, class_=f"mark {name}")


def _groups(report: Report) -> ET.Element:
    rows: list[list[Content]] = []
    for group in report.groups:
        figures = group.figures
        rows.append(
            [
                group.path,
                number(group.mean),
                estimate_picture(figures.objective, group.bounds),
                number(figures.pass_rate.value),
                str(group.n),
                str(group.planned),
                parts_picture(list(_counted_parts(group))),
            ]
        )
    heads = ("group", "objective", "interval", "pass rate", "tests", "runs", "passed, failed, unclear")
    return element(
        "div", element("h3", "Groups"), _scrolled(table(heads, rows, class_="groups")), class_="block"
    )


def _counted_parts(group: GroupReport) -> Iterator[tuple[str, int]]:
    counts = Counter(map(_part, group.runs))
    yield from ((name, counts[name]) for name in PARTS)


def _remarks(report: Report) -> ET.Element | None:
    said: list[Content] = []
    for group in report.groups:
        of = f"{group.path}: " if len(report.groups) > 1 else ""
        said += [f"{of}{line}" for line in _of_group(group) if line]
    said += [f"warning: {text}" for text in report.warnings]
    if not said:
        return None
    listed = element("ul", (element("li", line) for line in said), class_="remarks")
    if len(said) <= MOST_REMARKS:
        return listed
    return element("details", element("summary", "How the runs of each group add up"), listed, class_="block")


def _of_group(group: GroupReport) -> Iterator[str]:
    figures = group.figures
    yield counts_of(group)
    yield reliability_of(figures)
    yield noise_of_trials(figures)
    if figures.flaky:
        yield f"flaky, passed in one trial and failed in another: {', '.join(figures.flaky)}"
    if group.labels is not None:
        yield labels_of(group.labels, group.planned)
    if group.set_aside:
        yield f"{counted(len(group.set_aside), 'further attempt')} set aside: {', '.join(group.set_aside)}"
    for one in group.judging:
        yield f"judged by {one.judge}: {judging_took(one)}"
    for one in group.noise:
        yield f"noise of {one.grader}: {noise_in_words(one)}"


def _scrolled(content: ET.Element) -> ET.Element:
    """A wide table scrolls in its own place, and not the page."""
    return element("div", content, class_="scrolled", tabindex="0", role="group")
