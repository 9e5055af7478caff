"""Means and rates in words: what they are over, how far they can be trusted, and what could still change them."""

from __future__ import annotations

from collections.abc import Iterator

from proctor.cli.output import clean, counted, number, shorten, table
from proctor.records.estimate import Bounds, Estimate, Figures, Reliability
from proctor.records.report import GroupReport, Report

MOST_TESTS = 30
"""Tests of which `grade` and `list` show the reliability one by one; the JSON has all."""


def group_lines(group: GroupReport) -> Iterator[str]:
    """The mean and the pass rate of a group, each with its interval and bounds."""
    figures = group.figures
    yield f"mean {estimated(figures.objective)}{could_be(group.bounds)}"
    counts = (
        f"; {figures.passed} of {counted(figures.conclusive, 'trial')} passed" if figures.conclusive else ""
    )
    yield f"pass rate {estimated(figures.pass_rate)}{counts}{could_be(figures.pass_bounds)}"


def reliability_lines(figures: Figures) -> Iterator[str]:
    """How reliable the agent is, or that too few trials were made to tell."""
    if not figures.conclusive:
        return
    found = figures.reliability
    if found is None:
        yield "smoke: no test has 3 trials, so that nothing is said about reliability"
    else:
        yield f"reliability over {_covered(found)}: {' '.join(_both(found))}"
    if figures.trials_sd is not None:
        yield (
            f"noise between trials of a test: standard deviation {number(figures.trials_sd)} "
            f"over {counted(figures.repeated, 'test')}"
        )
    if figures.flaky:
        yield f"flaky: {shorten(', '.join(map(clean, figures.flaky)), 200)}"
    if found is not None and 1 < len(figures.tests) <= MOST_TESTS:
        yield from table(list(_by_test(figures)))


def report_lines(report: Report) -> Iterator[str]:
    """The mean and the pass rate over all groups."""
    yield f"all groups  mean {estimated(report.objective)}{could_be(report.bounds)}"
    yield f"all groups  pass rate {estimated(report.pass_rate)}"


def estimated(estimate: Estimate) -> str:
    """`0.750 over 4 tests, 95% from 0.420 to 0.930 (error 0.120)`."""
    text = f"{number(estimate.value)} over {counted(estimate.tests, 'test')}"
    interval = estimate.interval
    if estimate.value is None:
        return text
    if interval is None:
        return f"{text}, no interval"
    # Where all are the same, the error is 0 and says nothing; the interval knows better.
    error = f" (error {number(estimate.se)})" if estimate.se and estimate.se >= 0.0005 else ""
    return f"{text}, {interval.level:.0%} from {interval.low:.3f} to {interval.high:.3f}{error}"


def could_be(bounds: Bounds) -> str:
    """What a number can be with everything that is missing; empty where nothing is."""
    if bounds.is_exact:
        return ""
    return f"; with what is missing, from {bounds.low:.3f} to {bounds.high:.3f}"


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
            _span(ours.pass_at_k) if ours is not None else "-",
            _span(ours.pass_hat_k) if ours is not None else "-",
        )


def _covered(found: Reliability) -> str:
    if found.left_out:
        return f"{found.tests} of {found.tests + found.left_out} tests"
    return counted(found.tests, "test")


def _both(found: Reliability) -> Iterator[str]:
    yield f"pass@{found.k} {_span(found.pass_at_k)}"
    yield f"pass^{found.k} {_span(found.pass_hat_k)}"


def _span(bounds: Bounds) -> str:
    return number(bounds.low) if bounds.is_exact else f"{bounds.low:.3f}..{bounds.high:.3f}"
