"""A run for machines: one JSON object a line on standard output, as things happen, and the summary at the end."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from proctor.records.json_value import storable
from proctor.records.run_events import (
    Ended,
    Graded,
    NotOk,
    Planned,
    Progress,
    RunEvent,
    SaidFault,
    Started,
    Summary,
)

if TYPE_CHECKING:
    from proctor.cli.run_watch import View
    from proctor.engine.happenings import Event, RunSummary
    from proctor.records.fault import Fault
    from proctor.records.report import Report


class EventLines:
    """Writes the lines. Safe for several threads.

    Args:
        group: the group's folder.
        agent: as it was named.
        suite: its name.
    """

    def __init__(self, group: Path, agent: str, suite: str) -> None:
        self._group, self._agent, self._suite = storable(str(group)), agent, suite
        self._lock = threading.Lock()

    def on_event(self, event: Event) -> None:
        """Say what has happened."""
        cell = event.cell
        if cell is None:
            self._write(
                Planned(
                    at=_now(),
                    group=self._group,
                    agent=self._agent,
                    suite=self._suite,
                    planned=event.planned,
                    parallel=event.parallel,
                )
            )
        elif event.kind in ("ended", "lost"):
            self._write(
                Ended(
                    event=event.kind,
                    at=_now(),
                    run=cell.run_dir,
                    test=cell.test,
                    trial=cell.trial,
                    attempt=event.attempt,
                    ending=event.ending,
                    reason=event.reason,
                    fault=_fault(event.fault),
                    duration_s=round(event.duration_s, 3),
                    cost_usd=event.cost_usd,
                    again_in_s=event.again_in_s,
                )
            )
        else:
            self._write(
                Started(at=_now(), run=cell.run_dir, test=cell.test, trial=cell.trial, attempt=event.attempt)
            )

    def on_minute(self, view: View) -> None:
        """Say that the run goes on."""
        self._write(
            Progress(
                at=_now(),
                planned=view.planned,
                done=view.done,
                running=view.running,
                endings=view.endings,
                elapsed_s=round(view.elapsed_s, 3),
                left_s=None if view.left_s is None else round(view.left_s, 3),
                cost_usd=view.cost_usd,
            )
        )

    def summary(self, summary: RunSummary) -> None:
        """Say what the run did: the last line, unless it is graded."""
        self._write(
            Summary(
                at=_now(),
                group=self._group,
                planned=summary.planned,
                endings={ending.value: count for ending, count in summary.endings.items()},
                not_ok=tuple(_not_ok(summary)),
                stopped=summary.stopped,
                not_started=summary.not_started,
                repeated=summary.repeated,
                cost=summary.cost,
                exit_code=int(summary.exit_code),
            )
        )

    def report(self, report: Report) -> None:
        """Say what the grades come to: the last line of a run that is graded."""
        self._write(Graded(at=_now(), report=report))

    def _write(self, event: RunEvent) -> None:
        line = msgspec.json.encode(event)
        with self._lock:
            sys.stdout.buffer.write(line + b"\n")
            sys.stdout.buffer.flush()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _not_ok(summary: RunSummary) -> Iterator[NotOk]:
    for event in (*summary.not_ok, *summary.lost):
        if event.cell is not None:
            yield NotOk(
                run=event.cell.run_dir,
                test=event.cell.test,
                trial=event.cell.trial,
                ending=event.ending,
                reason=event.reason,
                fault=_fault(event.fault),
            )


def _fault(fault: Fault | None) -> SaidFault | None:
    if fault is None:
        return None
    return SaidFault(owner=fault.owner, kind=fault.kind, rule=fault.rule, retry=fault.retry)
