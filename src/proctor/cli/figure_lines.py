"""Means and rates in words: what they are over, how far they can be trusted, and what could still change them."""

from __future__ import annotations

from collections.abc import Iterator

from proctor.cli.output import clean, number, shorten, table
from proctor.records.estimate import Figures
from proctor.records.report import GroupReport, Report
from proctor.reports.phrases import (
    could_be,
    estimated,
    noise_of_trials,
    passed_of,
    reliability_of,
    span,
)

MOST_TESTS = 30
"""Tests of which `grade` and `list` show the reliability one by one; the JSON has all."""


def group_lines(group: GroupReport) -> Iterator[str]:
    """The mean and the pass rate of a group, each with its interval and bounds."""
    figures = group.figures
    yield f"mean {estimated(figures.objective)}{could_be(group.bounds)}"
    counts = f"; {passed_of(figures)}" if figures.conclusive else ""
    yield f"pass rate {estimated(figures.pass_rate)}{counts}{could_be(figures.pass_bounds)}"


def reliability_lines(figures: Figures) -> Iterator[str]:
    """How reliable the agent is, or that too few trials were made to tell."""
    if not figures.conclusive:
        return
    found = figures.reliability
    yield reliability_of(figures)
    if noise := noise_of_trials(figures):
        yield noise
    if figures.flaky:
        yield f"flaky: {shorten(', '.join(map(clean, figures.flaky)), 200)}"
    if found is not None and 1 < len(figures.tests) <= MOST_TESTS:
        yield from table(list(_by_test(figures)))


def report_lines(report: Report) -> Iterator[str]:
    """The mean and the pass rate over all groups."""
    yield f"all groups  mean {estimated(report.objective)}{could_be(report.bounds)}"
    yield f"all groups  pass rate {estimated(report.pass_rate)}"


def _by_test(figures: Figures) -> Iterator[tuple[str, ...]]:
    k = figures.reliability.k if figures.reliability is not None else 0
    yield ("TEST", "PASSED", "UNCLEAR", "MEAN", f"PASS@{k}", f"PASS^{k}")
    for test in figures.tests:
        ours = test.reliability
        yield (
            clean(test.test),
            f"{test.passed}/{test.passed + test.failed}",
            str(test.inconclusive),
            number(test.mean),
            span(ours.pass_at_k) if ours is not None else "-",
            span(ours.pass_hat_k) if ours is not None else "-",
        )
