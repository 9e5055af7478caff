"""What judging took, and how much of it is chance, as lines of a report."""

from __future__ import annotations

from collections.abc import Iterable

from proctor.cli.output import clean
from proctor.records.report import GroupReport, Report
from proctor.reports.phrases import judging_took, noise_in_words


def judging_lines(report: Report) -> Iterable[str]:
    """For each group that was judged: who judged it, at what cost, and the noise. None of it is the agent's."""
    for group in report.groups:
        label = f"{clean(group.path)}  " if len(report.groups) > 1 else ""
        yield from (f"{label}{line}" for line in _of_group(group))


def _of_group(group: GroupReport) -> Iterable[str]:
    for one in group.judging:
        yield f"judged by {clean(one.judge)}: {judging_took(one)}"
    for one in group.noise:
        yield f"noise of {clean(one.grader)}: {noise_in_words(one)}"
