"""What `proctor run` says when it has ended."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from proctor.cli.output import clean, counted, money, shorten, typed
from proctor.records.run import Ending

if TYPE_CHECKING:
    from proctor.engine.happenings import Event, RunSummary
    from proctor.engine.planning import RunOptions
    from proctor.records.run import Shard
    from proctor.records.suite import Suite

_LONGEST_REASON = 200
_MERGE = "proctor merge SHARD... --out GROUP, when all shards are there; then grade that"


def shard_line(suite: Suite, shard: Shard) -> str:
    """Which part of the tests a run has: `shard 2/3: 4 of 12 tests`."""
    from proctor.loading import shard_of

    return f"shard {shard}: {len(shard_of(suite, shard).tests)} of {counted(len(suite.tests), 'test')}"


def empty_shard_lines(path: Path, options: RunOptions) -> Iterator[str]:
    """That a shard has no test, which is no failure and no success."""
    yield (
        f"shard {options.shard} has no test, since there are more shards than tests: nothing was run, and nothing "
        f"is known"
    )
    yield f"runs: {clean(str(path))}"
    yield f"next: {_MERGE}"


def summary_lines(path: Path, summary: RunSummary, options: RunOptions, *, is_graded: bool) -> Iterator[str]:
    """How the trials ended, what they cost, and what to type next.

    Args:
        path: the group's folder.
        summary: of the run.
        options: how it was run.
        is_graded: the grades follow.
    """
    max_cost_usd = options.max_cost_usd
    if not summary.planned:
        yield "nothing was left to run"
    else:
        yield f"{summary.endings.get(Ending.OK, 0)}/{summary.planned} ended ok"
    for event in (*summary.not_ok, *summary.lost):
        yield _not_ok(event)
    if summary.not_started:
        yield f"  {summary.not_started} not started ({summary.stopped})"
    if summary.repeated:
        yield f"  {counted(summary.repeated, 'attempt')} made again"
    yield from _cost(summary, max_cost_usd)
    if summary.stopped in ("max-cost", "max-time"):
        yield f"the budget is used up; to go on: the same command with --resume --out {typed(path)}"
    yield f"runs: {clean(str(path))}"
    if not is_graded:
        yield f"next: {_MERGE if options.shard is not None else f'proctor grade {typed(path)}'}"


def _not_ok(event: Event) -> str:
    assert event.cell is not None
    ending = event.ending.value if event.ending else "not recorded"
    whose = f" ({event.fault.owner.value}: {clean(event.fault.kind)})" if event.fault is not None else ""
    reason = " ".join(event.reason.split())
    return f"  {event.cell.run_dir}  {ending}{whose}  {shorten(clean(reason), _LONGEST_REASON)}".rstrip()


def _cost(summary: RunSummary, max_cost_usd: float | None) -> Iterator[str]:
    cost = summary.cost
    if not cost.known_usd and (max_cost_usd is None or not cost.known + cost.unknown):
        return
    of = "" if max_cost_usd is None else f" of {money(max_cost_usd)}"
    unknown = ""
    if cost.unknown:
        what = "counts" if cost.unknown == 1 else "count"
        unknown = f"; what {counted(cost.unknown, 'attempt')} cost is not known, and {what} for nothing"
    yield f"cost {money(cost.known_usd)}{of}{unknown}"
