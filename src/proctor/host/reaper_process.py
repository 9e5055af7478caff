"""What runs in the reaper: it waits until its proctor is gone, and ends what was left running.

It starts with SIGINT, SIGTERM and SIGHUP blocked, and is gone a moment after its proctor. Almost nothing is
imported.
"""

from __future__ import annotations

import os
import select
import time

from proctor.host import procfs

_READ_EVERY_S = 1.0
_LONGEST_S = 10.0
_PAUSE_S = 0.02


def watch(parent: int) -> None:
    """Wait until the other end of standard input is closed, or the parent gone; then end what was left running."""
    os.set_blocking(0, False)
    heard = _Heard()
    poller = select.poll()
    # Only its end wakes us, not each line.
    poller.register(0, 0)
    pidfd = _pidfd(parent)
    if pidfd is not None:
        poller.register(pidfd, select.POLLIN)
    while os.getppid() == parent and not poller.poll(int(_READ_EVERY_S * 1000)):
        heard.read()
    heard.read()
    give_up = time.monotonic() + _LONGEST_S
    quiet = 0
    # Twice, because what had not come to its `exec` when proctor died has no mark yet.
    while quiet < 2 and time.monotonic() < give_up:
        quiet = 0 if end_marked(heard.marks, set(heard.leaders.values())) else quiet + 1
        time.sleep(_PAUSE_S)


def _pidfd(pid: int) -> int | None:
    """A descriptor that tells of its end, also while a fork of it holds the pipe; None where there is no such thing."""
    try:
        return os.pidfd_open(pid)
    except OSError:
        return None


class _Heard:
    def __init__(self) -> None:
        self.marks: set[str] = set()
        self.leaders: dict[str, int] = {}
        self._half = b""

    def read(self) -> None:
        while True:
            try:
                part = os.read(0, 1 << 16)
            except BlockingIOError:
                return
            if not part:
                return
            *lines, self._half = (self._half + part).split(b"\n")
            for line in lines:
                self._take(line.decode())

    def _take(self, line: str) -> None:
        mark, _, pid = line[1:].partition(" ")
        if line.startswith("+"):
            self.marks.add(mark)
        elif line.startswith("="):
            self.leaders[mark] = int(pid)
        else:
            self.marks.discard(mark)
            self.leaders.pop(mark, None)


def end_marked(marks: set[str], sessions: set[int]) -> bool:
    """Kill each process with one of the marks or of the sessions, and what stands below it; True when there was one."""
    found = False
    for pid in procfs.all_pids():
        process = procfs.seen(pid)
        if process is None or process.has_ended or pid == os.getpid():
            continue
        if (
            process.session in sessions
            or process.group in sessions
            or not marks.isdisjoint(procfs.marks_of(pid))
        ):
            found = True
            procfs.end_subtree(pid)
    return found
