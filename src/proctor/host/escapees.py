"""What escapes from a trial: processes that left its session and lost their parent, found again and ended.

This process makes itself a child subreaper, so that an orphan below it becomes its own child. After a trial its
children are looked at: one small read, never a search through all processes. Whose an orphan is, is told by its
session, by the mark in its environment, and by who stands above it. One that has wiped its environment and is
its own session is ended as soon as no trial runs. Linux only; elsewhere nothing is found.
"""

from __future__ import annotations

import gc
import os
import sys
import time
from _thread import allocate_lock
from contextlib import suppress
from typing import Protocol

from proctor.host import procfs

_SET_CHILD_SUBREAPER = 36
_LONGEST_S = 2.0


class Watcher(Protocol):
    """Is told what is to be ended if this process is killed."""

    def begin(self, mark: str) -> None:
        """Something with this mark is about to start."""
        ...

    def started(self, mark: str, pid: int) -> None:
        """It has started, and leads a session and a process group."""
        ...

    def end(self, mark: str) -> None:
        """It is gone."""
        ...


class Started:
    """One process that was started here, from before its start until it is reaped.

    Attributes:
        mark: stands in its environment, and in no other.
        value: of the variable `procfs.MARK`, for its environment.
        pid: it leads a session of this id; 0 before the start.
    """

    __slots__ = ("mark", "pid", "value")

    def __init__(self, mark: str, value: str) -> None:
        self.mark, self.value, self.pid = mark, value, 0


class Household:
    """The children of this process: those that are somebody's, and those that nobody knows."""

    def __init__(self) -> None:
        self._reset()

    def _reset(self) -> None:
        # Not of `threading`: what that does in every fork would cost each trial of a function.
        self._lock = allocate_lock()
        self._process = os.getpid()
        self._marks: procfs.Marks | None = None
        self._own_marks: list[str] = []
        self._adopts = False
        self._strangers: frozenset[int] = frozenset()
        self._owned: dict[int, Started] = {}
        self._trials: set[str] = set()
        self._known: dict[str, Started] = {}
        self._watcher: Watcher | None = None

    def adopt(self) -> procfs.Marks:
        """Make this process adopt orphans, and take what are its children now for strangers. Done once."""
        if self._process != os.getpid():
            # A fork of whoever had this: the children are the other's.
            self._reset()
        with self._lock:
            if self._marks is None:
                self._marks = procfs.Marks()
                self._own_marks = procfs.marks_of(os.getpid())
                self._adopts = _become_subreaper()
                self._strangers = frozenset(procfs.adopted()) if self._adopts else frozenset()
            return self._marks

    def begin(self, made: Started | None = None, *, is_trial: bool = True) -> Started:
        """Say that something is about to be started, and get its mark.

        Args:
            made: a mark that somebody else made for it.
            is_trial: while it lives, an unknown orphan may be its own.
        """
        started = made or Started(*self.adopt().make())
        with self._lock:
            self._known[started.mark] = started
            if is_trial:
                self._trials.add(started.mark)
            if self._watcher is not None:
                self._watcher.begin(started.mark)
        return started

    def own(self, started: Started, pid: int) -> None:
        """It is there: whoever started it reaps it."""
        with self._lock:
            started.pid = pid
            self._owned[pid] = started
            if self._watcher is not None:
                self._watcher.started(started.mark, pid)

    def disown(self, started: Started) -> None:
        """It has been reaped, or was never started."""
        with self._lock:
            self._owned.pop(started.pid, None)
            self._trials.discard(started.mark)
            self._known.pop(started.mark, None)
            if self._watcher is not None:
                self._watcher.end(started.mark)

    def spare(self, *pids: int) -> None:
        """Take these children for strangers, which are nobody's escapees; all that are there when none is named."""
        with self._lock:
            self._strangers |= frozenset(pids or procfs.adopted())

    @property
    def is_watched(self) -> bool:
        """True while a watcher of this process is told."""
        return self._watcher is not None and self._process == os.getpid()

    def tell(self, watcher: Watcher | None) -> None:
        """From now on this watcher is told, first of what lives; None for nobody."""
        with self._lock:
            self._watcher = watcher
            for started in self._known.values() if watcher is not None else ():
                assert watcher is not None
                watcher.begin(started.mark)
                if started.pid:
                    watcher.started(started.mark, started.pid)

    def sweep(self, started: Started) -> bool:
        """End what escaped from a process that has ended, as far as it can be seen now.

        Called until it is True: then nothing of it is among the children of this process. Its leader may be a
        zombie still, and should be: then the id of its session cannot be anybody else's.
        """
        if not self._adopts or self._process != os.getpid():
            return True
        with self._lock:
            self._trials.discard(started.mark)
            children = procfs.adopted()
            self._strangers = self._strangers.intersection(children)
            unknown = [pid for pid in children if pid not in self._owned and pid not in self._strangers]
            found = self._escapees(unknown, started) if unknown else []
            for pid in found:
                procfs.end_subtree(pid)
                with suppress(ChildProcessError):
                    os.waitpid(pid, os.WNOHANG)
            return not found

    def clear(self, started: Started) -> None:
        """End what escaped from a process that has ended, and wait until it is gone; 2 seconds at most."""
        wait_for(lambda: self.sweep(started))

    def _escapees(self, pids: list[int], started: Started) -> list[int]:
        mine: list[int] = []
        unclear: list[int] = []
        ours, maker = os.getsid(0), procfs.owner_of(started.mark)
        for pid in pids:
            process = procfs.seen(pid)
            # Whoever an agent starts can never come back into our session.
            if process is None or process.session == ours:
                continue
            chain = procfs.marks_of(pid)
            marks = [mark for mark in chain if procfs.owner_of(mark) == maker]
            if started.pid in (process.session, process.group) or started.mark in marks:
                mine.append(pid)
            elif chain and chain == self._own_marks:
                continue  # started by code of this very process, which may need it
            elif marks and not any(mark in self._known for mark in marks):
                mine.append(pid)  # of a trial that is over
            elif not marks and not self._trials:
                unclear.append(pid)
        return mine + (_without_popens(unclear) if unclear else [])


HOUSEHOLD = Household()
"""The one of this process: the system, too, knows one set of children and one subreaper for each process."""


def wait_for(is_done: _Question) -> bool:
    """Ask, more and more seldom, until the answer is True; False when it is not after 2 seconds."""
    if is_done():
        return True
    give_up = time.monotonic() + _LONGEST_S
    pause_s = 0.0002
    while not is_done():
        if time.monotonic() > give_up:
            return False
        time.sleep(pause_s)
        pause_s = min(2 * pause_s, 0.02)
    return True


class _Question(Protocol):
    def __call__(self) -> bool: ...


def end_all_children() -> None:
    """End whatever this process has started or adopted, with all that stands below it; 2 seconds at most."""

    def are_gone() -> bool:
        children = procfs.children_of(os.getpid())
        for pid in children:
            procfs.end_subtree(pid)
            with suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
        return not children

    wait_for(are_gone)


def _become_subreaper() -> bool:
    if sys.platform != "linux":
        return False
    import ctypes

    with suppress(OSError, AttributeError):
        return ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0
    return False


def _without_popens(pids: list[int]) -> list[int]:
    """Those that no `subprocess.Popen` of this process stands for, whoever made it. None while one is starting."""
    library = sys.modules.get("subprocess")
    if library is None:
        return pids
    # The type, not `isinstance`: that would run code of lazy proxies that are none of our business.
    popens = [thing for thing in gc.get_objects() if library.Popen in type(thing).__mro__]
    taken = {popen.pid for popen in popens if popen.returncode is None}
    return [] if None in taken else [pid for pid in pids if pid not in taken]
