"""Reading groups into the Report: what `grade`, `list` and `show` draw."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path

from proctor.core.movement import moves
from proctor.core.report import RecordedRun, never_ended, report, report_group, report_run, unreadable
from proctor.core.rounds import complete_rounds
from proctor.errors import StoreError
from proctor.records.checklist import Checklist
from proctor.records.json_value import storable
from proctor.records.report import GroupReport, Move, Report, RunReport
from proctor.stores.checklists import ChecklistStore
from proctor.stores.discover import FoundGroup, discover
from proctor.stores.group import GroupDir
from proctor.stores.rundir import RunDir


def report_paths(paths: Iterable[Path]) -> Report:
    """The report of everything that the paths name, from what is on disk now.

    Raises:
        StoreError: a path does not exist, or holds no run.
    """
    return report_found(discover(paths))


def report_found(groups: Iterable[FoundGroup], warnings: Iterable[str] = ()) -> Report:
    """The report of groups that were found; `warnings` are passed on with those that reading them gives."""
    members = tuple(groups)
    read = [_group(found) for found in members]
    return report(read, [*warnings, *_warnings(read), *_shards(members)])


class GroupChecklists:
    """The checklists of a group, read when the first label asks for them.

    Args:
        group: the folder that holds the runs.
    """

    def __init__(self, group: Path) -> None:
        self._group = group

    @cached_property
    def current(self) -> Mapping[str, Checklist]:
        """The revision in force of each."""
        return ChecklistStore(self._group).current()


def read_run(run: RunDir, checklists: GroupChecklists | None = None) -> RunReport:
    """One run with its numbers; one that cannot be read says so, and counts as a failure of the harness.

    checklists: those of its group; by default of the folder that it lies in.
    """
    try:
        facts = run.facts()
        trace = run.trace(facts)
        annotations = run.annotations()
        asked = checklists or GroupChecklists(run.path.absolute().parent)
        recorded = RecordedRun(
            run=storable(run.name),
            facts=facts,
            annotations=annotations,
            metrics=trace.metrics if trace else None,
            checklists=asked.current if annotations.labels else {},
        )
        return report_run(recorded)
    except StoreError as error:
        return unreadable(storable(run.name), storable(f"{error.what} ({error.faults[0].where})"))


def moved_in(runs: Iterable[RunDir]) -> tuple[Move, ...]:
    """What the last complete round of each run says otherwise than the one before it."""
    moved: list[Move] = []
    for run in runs:
        try:
            annotations = run.annotations()
        except StoreError:
            continue  # its report says so
        rounds = complete_rounds(annotations.scores, annotations.retractions)
        if len(rounds) > 1:
            moved += moves(run.name, rounds[-2], rounds[-1])
    return tuple(moved)


def _group(found: FoundGroup) -> GroupReport:
    return report_group(storable(str(found.path)), _runs(found))


def _runs(found: FoundGroup) -> Iterator[RunReport]:
    """The group's runs, and the planned trials that have none, by name."""
    there: set[tuple[str, int]] = set()
    checklists = GroupChecklists(found.path) if found.is_group else None
    for run in found.runs:
        read = read_run(run, checklists)
        there.add((read.test, read.trial))
        yield read
    if found.is_group and (plan := GroupDir(found.path).plan()) is not None:
        yield from (never_ended(cell) for cell in plan.cells if (cell.test, cell.trial) not in there)


def _shards(groups: Iterable[FoundGroup]) -> Iterator[str]:
    """Of each group that is a part of a plan, that it is not the whole."""
    for found in groups:
        plan = GroupDir(found.path).plan() if found.is_group else None
        if plan is not None and plan.shard is not None:
            here, whole = ({cell.test for cell in cells} for cells in (plan.cells, plan.shard.whole))
            yield (
                f"{storable(str(found.path))} is shard {plan.shard.shard}: it has {len(here)} of the {len(whole)} "
                f"tests of its plan, and says nothing about the others; `proctor merge` puts shards together"
            )


def _warnings(groups: Iterable[GroupReport]) -> Iterator[str]:
    for group in groups:
        for run in group.runs:
            if run.unread_rows:
                yield (
                    f"{group.path}/{run.run}: {run.unread_rows} rows of annotations.jsonl are of a newer format, or "
                    f"damaged; they are kept, and count for nothing here"
                )
