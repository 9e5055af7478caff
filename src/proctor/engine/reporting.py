"""Reading groups into the Report: what `grade`, `list` and `show` draw."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from proctor.core.report import RecordedRun, never_ended, report, report_group, report_run, unreadable
from proctor.errors import StoreError
from proctor.records.report import GroupReport, Report, RunReport
from proctor.stores.discover import FoundGroup, discover
from proctor.stores.group import GroupDir
from proctor.stores.rundir import RunDir


def report_paths(paths: Iterable[Path]) -> Report:
    """The report of everything that the paths name, from what is on disk now.

    Raises:
        StoreError: a path does not exist, or holds no run.
    """
    return report_found(discover(paths))


def report_found(groups: Iterable[FoundGroup]) -> Report:
    """The report of groups that were found."""
    return report([_group(found) for found in groups])


def read_run(run: RunDir) -> RunReport:
    """One run with its numbers; one that cannot be read says so, and counts as a failure of the harness."""
    try:
        return report_run(RecordedRun(run=run.name, facts=run.facts(), rows=run.score_rows()))
    except StoreError as error:
        return unreadable(run.name, f"{error.what} ({error.faults[0].where})")


def _group(found: FoundGroup) -> GroupReport:
    return report_group(str(found.path), _runs(found))


def _runs(found: FoundGroup) -> Iterator[RunReport]:
    """The group's runs, and the planned trials that have none, by name."""
    yield from (read_run(run) for run in found.runs)
    if found.is_group and (plan := GroupDir(found.path).plan()) is not None:
        there = {run.name for run in found.runs}
        yield from (never_ended(cell) for cell in plan.cells if cell.run_dir not in there)
