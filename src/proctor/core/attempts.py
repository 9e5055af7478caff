"""Which of several attempts at one trial counts."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from proctor.core.faults import row_of
from proctor.records.report import RunReport


class Attempts(msgspec.Struct, frozen=True, kw_only=True):
    """The runs of a group, told apart.

    Attributes:
        in_force: one for each trial, in the order of the runs.
        set_aside: the other attempts, in the order of the runs.
    """

    in_force: tuple[RunReport, ...]
    set_aside: tuple[RunReport, ...]


def tell_apart(runs: Iterable[RunReport]) -> Attempts:
    """For each trial, the attempt that counts.

    A later attempt replaces an earlier one only when that says nothing about the agent (a failure of the harness,
    an interruption), or when the later one was made to supersede it. Otherwise the first stays in force: an agent
    does not get better by being asked until it succeeds.
    """
    members = tuple(runs)
    counts: dict[tuple[str, int], RunReport] = {}
    for run in sorted(members, key=lambda run: run.attempt):
        key = (run.test, run.trial)
        before = counts.get(key)
        if before is None or row_of(before.ending).scored_by == "nobody" or run.supersedes:
            counts[key] = run
    kept = {id(run) for run in counts.values()}
    return Attempts(
        in_force=tuple(run for run in members if id(run) in kept),
        set_aside=tuple(run for run in members if id(run) not in kept),
    )
