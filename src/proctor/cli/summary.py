"""What `grade` and `list` print of a report: its runs, and the numbers of its groups."""

from __future__ import annotations

from collections.abc import Iterable

from proctor.cli.figure_lines import group_lines, reliability_lines, report_lines
from proctor.cli.output import clean, counted, ended, grade_lines, number, shorten
from proctor.records.report import Report, RunReport
from proctor.reports.phrases import counts_of, label_summary, labels_of


def grading_lines(report: Report) -> Iterable[str]:
    """What `grade` prints."""
    for group in report.groups:
        yield clean(group.path)
        for run in group.runs:
            yield from _graded_run(run)
        yield ""
    yield from summary_lines(report)


def summary_lines(report: Report) -> Iterable[str]:
    """The numbers of each group, and of all where there are several."""
    for group in report.groups:
        label = f"{clean(group.path)}  " if len(report.groups) > 1 else ""
        yield from (f"{label}{line}" for line in group_lines(group))
        yield f"{label}{counts_of(group)}"
        yield from (f"{label}{line}" for line in reliability_lines(group.figures))
        if group.labels is not None:
            yield f"{label}{labels_of(group.labels, group.planned)}"
        if group.set_aside:
            yield (
                f"{label}{counted(len(group.set_aside), 'further attempt')} set aside: "
                f"{shorten(', '.join(map(clean, group.set_aside)), 200)}"
            )
    if len(report.groups) > 1:
        yield from report_lines(report)
    several = len(report.groups) > 1
    failed = [
        clean(f"{group.path}/{run.run}" if several else run.run)
        for group in report.groups
        for run in group.runs
        if run.has_gate and run.gates_passed is False
    ]
    if failed:
        yield f"gate failed: {shorten(', '.join(failed), 200)}"


def _graded_run(run: RunReport) -> Iterable[str]:
    trial = f"  trial {run.trial}" if run.run != run.test else ""
    shown = number(run.objective)
    if run.objective is None and run.ending.is_evidence:
        shown = f"{run.bounds.low:.3f} to {run.bounds.high:.3f}"
    ending = "" if run.ending == "ok" else f"  ended: {ended(run)}"
    yield f"  {clean(run.test)}{trial}  {shown}  {run.outcome.value}{ending}"
    if run.description:
        yield f"    {shorten(clean(run.description), 200)}"
    if run.reason:
        yield f"    not graded: {shorten(clean(run.reason.split(chr(10))[0]), 300)}"
    yield from grade_lines(run.grades)
    if run.labels:
        yield f"    {label_summary(run)}"
