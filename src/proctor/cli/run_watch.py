"""Following a run while it goes on: what its events come to at any moment."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from proctor.engine.happenings import Event, Seen


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """A trial that is running.

    Attributes:
        run: name of the run directory that it will have.
        state: what is being done.
        elapsed_s: seconds since its start.
        cost_usd: what it has cost so far, as far as that is known; None where nobody can tell.
        line: the last line that it printed; not fit for a terminal.
    """

    run: str
    state: str = "preparing"
    elapsed_s: float = 0.0
    cost_usd: float | None = None
    line: str = ""


class View(msgspec.Struct, frozen=True, kw_only=True):
    """A run at this moment.

    Attributes:
        planned: number of trials.
        done: of these, those that have ended for good.
        endings: how often each ending came, by its name; `not recorded` for those that were lost.
        running: number of trials that are running.
        rows: of these, the ones that have been running longest.
        again: trials that wait to be made again.
        elapsed_s: seconds since the beginning.
        left_s: seconds that it will still take, if the trials that are left take as long as those that have ended
            did; None while none has.
        cost_usd: what is known of what all have cost; None where nothing is.
        unpriced: trials that have ended, and whose cost is not known.
    """

    planned: int
    done: int
    endings: dict[str, int]
    running: int
    rows: tuple[Row, ...]
    again: int
    elapsed_s: float
    left_s: float | None
    cost_usd: float | None
    unpriced: int


class RunWatch:
    """Keeps count of a run's events. Safe for several threads.

    clock: seconds, from any beginning.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._began = clock()
        self._planned, self._parallel = 0, 1
        self._started: dict[str, tuple[float, Callable[[], Seen] | None]] = {}
        self._endings: dict[str, int] = {}
        self._again: set[tuple[str, int]] = set()
        self._spent_usd = 0.0
        self._priced = self._unpriced = 0
        self._taken_s = 0.0
        self._attempts = 0

    def on_event(self, event: Event) -> None:
        """Take note of what has happened."""
        with self._lock:
            if event.kind == "planned":
                self._planned, self._parallel, self._began = event.planned, event.parallel, self._clock()
            elif event.cell is not None and event.kind == "started":
                self._started[event.cell.run_dir] = (self._clock(), event.seen)
                self._again.discard((event.cell.test, event.cell.trial))
            elif event.cell is not None:
                self._end(event, event.cell.run_dir, (event.cell.test, event.cell.trial))

    def _end(self, event: Event, run: str, trial: tuple[str, int]) -> None:
        started, _ = self._started.pop(run, (self._clock(), None))
        self._taken_s += self._clock() - started
        self._attempts += 1
        if event.cost_usd is None:
            self._unpriced += 1
        else:
            self._priced += 1
            self._spent_usd += event.cost_usd
        if event.again_in_s is not None:
            self._again.add(trial)
            return
        name = event.ending.value if event.ending is not None else "not recorded"
        self._endings[name] = self._endings.get(name, 0) + 1

    def view(self, most_rows: int = 0) -> View:
        """The run at this moment, with up to so many of the trials that are running."""
        with self._lock:
            now = self._clock()
            running = sorted(self._started.items(), key=lambda item: item[1][0])
            done = sum(self._endings.values())
            view = View(
                planned=self._planned,
                done=done,
                endings=dict(self._endings),
                running=len(running),
                rows=(),
                again=len(self._again),
                elapsed_s=now - self._began,
                left_s=self._left_s(now, done),
                cost_usd=None,
                unpriced=self._unpriced,
            )
            cost_usd = self._spent_usd if self._priced else None
        # Looking at a trial reads files: nobody shall wait for that.
        rows: list[Row] = []
        for number, (run, (_, seen)) in enumerate(running):
            if seen is None:
                rows.append(Row(run=run))
                continue
            found = seen()
            if found.cost_usd is not None:
                cost_usd = (cost_usd or 0.0) + found.cost_usd
            if number < most_rows:
                rows.append(
                    Row(
                        run=run,
                        state=found.state,
                        elapsed_s=found.elapsed_s,
                        cost_usd=found.cost_usd,
                        line=found.line,
                    )
                )
        return msgspec.structs.replace(view, rows=tuple(rows[:most_rows]), cost_usd=cost_usd)

    def _left_s(self, now: float, done: int) -> float | None:
        if not self._attempts:
            return None
        mean = self._taken_s / self._attempts
        waiting = self._planned - done - len(self._started)
        running = sum(max(0.0, mean - (now - started)) for started, _ in self._started.values())
        return (waiting * mean + running) / max(1, self._parallel)
