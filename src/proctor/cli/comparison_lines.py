"""A comparison in words: the answer first, then the numbers, then what was left out and what would settle it."""

from __future__ import annotations

from collections.abc import Iterator

from proctor.cli.output import clean, table
from proctor.records.comparison import Comparison, Contrast
from proctor.records.report import Report
from proctor.reports.comparison_words import columns, difference_rows, headline, remarks
from proctor.reports.phrases import demanded, estimated

MOST_ROWS = 20
"""Tests that are named one by one; the JSON has all."""


def comparison_lines(found: Comparison) -> Iterator[str]:
    """What `compare` prints."""
    for place, one in enumerate(found.contrasts):
        if place:
            yield ""
        yield from _contrast(one, found)
    if len(found.contrasts) > 1:
        yield ""
        yield f"all candidates: {found.verdict.value}"


def decision_lines(report: Report) -> Iterator[str]:
    """Whether a grading reached what was demanded; nothing where nothing was."""
    decision = report.decision
    if decision is None or not decision.demands:
        return
    if report.comparison is not None:
        yield ""
        yield from comparison_lines(report.comparison)
    yield ""
    for demand in decision.demands:
        if demand.estimate is not None and demand.at_least is not None:
            yield f"{demanded(demand)}: {demand.outcome}; {estimated(demand.estimate)}"
        elif report.comparison is not None:
            yield f"against {clean(report.comparison.base)}: {report.comparison.verdict.value}"
    yield f"verdict: {decision.verdict}, exit code {decision.exit_code}"


def _contrast(one: Contrast, found: Comparison) -> Iterator[str]:
    yield clean(headline(one, found))
    yield ""
    yield from table([columns(found), *(tuple(map(clean, row)) for row in difference_rows(one))])
    yield ""
    yield from map(clean, remarks(one, found, most=MOST_ROWS))
