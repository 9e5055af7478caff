"""What stands at the end of pytest's output: where runs were recorded, and what they come to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from proctor import evaluation
from proctor.cli.output import clean, number, table, typed
from proctor.cli.summary import summary_lines
from proctor.errors import ProctorError
from proctor.pytesting.words import shown_path
from proctor.records.report import GroupReport


def write_summary(reporter: pytest.TerminalReporter, groups: Sequence[str], *, is_measured: bool) -> None:
    """Write the numbers of each group, as `proctor list` has them.

    Args:
        reporter: of pytest.
        groups: paths.
        is_measured: at least one test passed or failed.
    """
    reporter.section("proctor")
    for position, group in enumerate(groups):
        if position:
            reporter.line("")
        shown = shown_path(Path(group))
        path = clean(shown)
        try:
            report = evaluation.report(group)
        except ProctorError as error:
            reporter.line(f"{path}: {clean(error.what)}")
            continue
        for line in summary_lines(report):
            reporter.line(line)
        if reporter.config.get_verbosity() > 0:
            for line in table(list(_by_test(report.groups[0]))):
                reporter.line(line)
        reporter.line(f"runs: {path}")
        reporter.line(f"next: proctor list {typed(shown)}")
    if not is_measured:
        reporter.line("nothing was measured: no test passed, and none failed", red=True)


def _by_test(group: GroupReport) -> Iterator[tuple[str, ...]]:
    yield ("TEST", "PASSED", "UNCLEAR", "OBJECTIVE")
    for test in group.figures.tests:
        unclear = test.planned - test.passed - test.failed
        yield (clean(test.test), f"{test.passed}/{test.planned}", str(unclear), number(test.mean))
