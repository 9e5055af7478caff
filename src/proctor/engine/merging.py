"""Putting groups together: the shards of one run, or the parts of it that several processes made.

Everything is looked at before anything is written; the groups that are named are only read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

import msgspec

from proctor.core.merging import JoinedPlan, PartPlan, isolation_text, join_plans, place_of
from proctor.errors import Fault, StoreError, UsageError
from proctor.loading.faults import listed
from proctor.records.json_value import storable
from proctor.records.merged import Merged, MergedPart
from proctor.records.run import Cell, GroupPlan
from proctor.stores.discover import discover
from proctor.stores.group import GroupDir
from proctor.stores.merged_checklists import merge_checklists
from proctor.stores.merging import at_rest, fuller, left_behind, merging_into
from proctor.stores.rundir import RunDir

__all__ = ["Merged", "merge_groups"]


class _Known(msgspec.Struct, frozen=True):
    """What merging has to know of a run. Of very many runs, their outputs are not held."""

    test: str
    trial: int
    attempt: int
    test_digest: str
    isolation: str | None


class _Part(msgspec.Struct, frozen=True, kw_only=True):
    """One of the groups: its plan, and its runs; None for one of which the facts cannot be read."""

    path: Path
    plan: GroupPlan
    runs: tuple[tuple[RunDir, _Known | None], ...]


def merge_groups(
    parts: Sequence[Path],
    out: Path,
    *,
    allow_missing: bool = False,
    on_start: Callable[[int], None] = lambda _: None,
    on_done: Callable[[str], None] = lambda _: None,
) -> Merged:
    """Put groups together into a new one, which every command reads as if one run had made it.

    The parts are the shards of one plan, or groups of one plan that are no shards: the same suite, agent and
    settings, of which each has run some of the trials. `core.merging.join_plans` says what the plan of the whole is.
    A run is in one of the parts only, or is the same in all of them; of copies that were graded further, the one with
    more rows counts. Files are copied, and share blocks with what they are copied from where the disk can do that.
    When this returns, the group is on the disk; before, there is nothing at `out`, whenever the machine stops.

    Args:
        parts: groups, or folders of groups; one that is named twice counts once.
        out: the new group's folder; there is nothing in it.
        allow_missing: shards may be missing; their trials are planned, and count as never run.
        on_start: called with the number of run directories.
        on_done: called with the name of each that was copied.

    Raises:
        UsageError: the parts do not belong together, with every reason; or `out` is taken, or lies in a part.
        StoreError: a part cannot be read, or is being written; or the new group cannot be written.
    """
    with ExitStack() as stack:
        members = sorted(_parts(parts, stack), key=lambda part: place_of(part.plan, str(part.path)))
        _check_place(members, out)
        joined = join_plans([_planned(part) for part in members], allow_missing=allow_missing)
        runs = _runs_of(members, joined.plan)
        staged = stack.enter_context(merging_into(out))
        on_start(len(runs))
        for part in members:
            staged.keep_store(part.path)
        for run in runs:
            staged.take(run)
            on_done(run.name)
        groups = [part.path for part in members]
        staged.log_attempts(groups)
        merge_checklists(groups, staged.path)
        staged.appear(joined.plan, out)
        return _merged(members, joined, runs, out)


def _parts(paths: Sequence[Path], stack: ExitStack) -> Iterator[_Part]:
    """The groups that are named, which nobody writes into meanwhile."""
    for found in discover(paths):
        if not found.is_group:
            raise UsageError(
                f"{str(found.path)!r} is one run, and groups are merged",
                fix="Name the folder that it lies in.",
            )
        stack.enter_context(at_rest(found.path))
        plan = GroupDir(found.path).plan()
        if plan is None:
            raise UsageError(
                f"the group {str(found.path)!r} has no plan (group.json): no `proctor run` made it",
                fix="Merge groups that `proctor run` wrote; other commands read several groups side by side.",
            )
        # Read again, now that it rests.
        runs = discover([found.path])[0].runs
        yield _Part(path=found.path, plan=plan, runs=tuple((run, _known(run)) for run in runs))


def _known(run: RunDir) -> _Known | None:
    try:
        facts = run.facts()
    except StoreError:
        return None  # it is taken along as it is, and its report says so
    return _Known(
        facts.test.id,
        facts.trial,
        facts.attempt,
        facts.test_digest,
        None if facts.isolation is None else isolation_text(facts.isolation),
    )


def _check_place(parts: Sequence[_Part], out: Path) -> None:
    where = out.resolve()
    if Path.cwd().is_relative_to(where):
        # The new group takes the place of what lies there, and nobody would stand in it any more.
        raise UsageError(
            f"{str(out)!r} is the folder that you are in, or one above it",
            fix="Name another folder with --out.",
        )
    for part in parts:
        inside = part.path.resolve()
        if where.is_relative_to(inside) or inside.is_relative_to(where):
            raise UsageError(
                f"{str(out)!r} and the group {str(part.path)!r} lie in each other",
                fix="Name a folder beside the groups with --out.",
            )


def _planned(part: _Part) -> PartPlan:
    kept_apart = {
        known.isolation for _, known in part.runs if known is not None and known.isolation is not None
    }
    return PartPlan(path=storable(str(part.path)), plan=part.plan, isolation=frozenset(kept_apart))


def _runs_of(parts: Sequence[_Part], plan: GroupPlan) -> tuple[RunDir, ...]:
    """The run directories of the merged group, by name.

    Raises:
        UsageError: one of them is not what the plan says, or a trial was run in two parts.
    """
    cells = {(cell.test, cell.trial): cell for cell in plan.cells}
    taken: dict[str, RunDir] = {}
    tried: dict[tuple[str, int, int], RunDir] = {}
    faults: list[Fault] = []
    twice: dict[tuple[Path, Path], list[str]] = {}
    for run, known in (one for part in parts for one in part.runs):
        there = taken.setdefault(run.name, run)
        if there is not run:
            chosen = fuller(there, run)
            if chosen is None:
                twice.setdefault((there.path.parent, run.path.parent), []).append(run.name)
            else:
                taken[run.name] = chosen
            continue
        if known is None:
            continue
        faults += _strange(run, known, cells)
        first = tried.setdefault((known.test, known.trial, known.attempt), run)
        if first is not run:
            twice.setdefault((first.path.parent, run.path.parent), []).append(run.name)
    faults += [_ran_twice(*pair, names) for pair, names in twice.items()]
    if faults:
        raise UsageError.of(faults)
    return tuple(taken[name] for name in sorted(taken))


def _ran_twice(one: Path, other: Path, names: Sequence[str]) -> Fault:
    return Fault(
        f"{str(one)!r} and {str(other)!r} both have a run of the same trial, and not the same one: {listed(names)}",
        "",
        "The trials were run twice, or a run was changed; leave out the group that is not to count.",
    )


def _strange(run: RunDir, known: _Known, cells: Mapping[tuple[str, int], Cell]) -> Iterator[Fault]:
    cell = cells.get((known.test, known.trial))
    if cell is not None and cell.test_digest != known.test_digest:
        yield Fault(
            f"the run is of another test {known.test!r} than the one that is planned",
            str(run.path),
            "It came from another suite; take it out of the group.",
        )


def _merged(parts: Sequence[_Part], joined: JoinedPlan, runs: Sequence[RunDir], out: Path) -> Merged:
    planned = {(cell.test, cell.trial) for cell in joined.plan.cells}
    recorded = {(known.test, known.trial) for part in parts for _, known in part.runs if known is not None}
    left = [
        f"not taken along from {storable(str(part.path))}: {', '.join(map(storable, beside))}"
        for part in parts
        if (beside := left_behind(part.path, (run.name for run, _ in part.runs)))
    ]
    shards = [part.plan.shard for part in parts if part.plan.shard is not None]
    return Merged(
        path=storable(str(out)),
        parts=tuple(
            MergedPart(
                path=storable(str(part.path)),
                runs=len(part.runs),
                shard=part.plan.shard.shard if part.plan.shard is not None else None,
            )
            for part in parts
        ),
        planned=len(planned),
        recorded=len(planned & recorded),
        runs=len(runs),
        of=shards[0].of if shards else None,
        missing=joined.missing,
        warnings=(*joined.warnings, *left),
    )
