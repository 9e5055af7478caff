"""One process tree under a time limit: started, waited for, ended as a whole, and only then reaped.

Every child leads a session and a process group of its own. Its standard streams are files: nothing has to be
drained, and no grandchild that holds a pipe can keep anybody waiting.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from enum import Enum
from math import ceil
from pathlib import Path
from typing import Protocol

import msgspec

from proctor.host import procfs
from proctor.host.escapees import HOUSEHOLD, Started
from proctor.host.group import wait_until_gone
from proctor.host.reaped import Reaped, as_told, usage
from proctor.ports import Cancel, Exceeded
from proctor.records.run import Limits

_POLL_WITHOUT_PIDFD_S = 0.01
_LONGEST_POLL_S = 3600.0
_WATCH_EVERY_S = 0.2


class Exit(msgspec.Struct, frozen=True, kw_only=True):
    """How a supervised process tree ended. Exactly one of `code` and `signal` is there.

    Attributes:
        code: exit code of the leader; None when a signal ended it.
        signal: name of the signal that ended the leader, ours included.
        timed_out: it was ended because its time was up.
        cancelled: it was ended because the operator asked.
        duration_s: wall-clock time from start to the leader's end.
        max_rss_kb: peak memory of the tree's largest member in KiB. Linux counts the memory of whoever
            started a process as that process's own until its `exec`, so this is never below ours.
        exceeded: what it was ended for having used up; None when it was not.
        cpu_s: processor time of the leader and of the children that it waited for, in seconds.
        unstarted: why what it was to become could never be started; None when it was.
    """

    code: int | None
    signal: str | None
    timed_out: bool
    cancelled: bool
    duration_s: float
    max_rss_kb: int | None
    exceeded: Exceeded | None = None
    cpu_s: float | None = None
    unstarted: str | None = None


class Child(Protocol):
    """A started process that leads its own process group and has not been reaped."""

    @property
    def pid(self) -> int:
        """Its process id, and the id of its group."""
        ...

    @property
    def pidfd(self) -> int | None:
        """A descriptor that becomes readable when it ends; None where the system has no such thing."""
        ...

    @property
    def started(self) -> float:
        """When it was started, in seconds of `time.monotonic`."""
        ...

    def has_ended(self) -> bool:
        """True when it has ended. Asked only where there is no pidfd."""
        ...

    def reap(self) -> Reaped:
        """Wait for its end, end what escaped from it, free its process id, and close the pidfd. Called once."""
        ...


def open_pidfd(pid: int) -> int | None:
    """A descriptor for a child that has not been reaped; None where the system cannot give one."""
    if sys.platform == "linux":
        with suppress(OSError):
            return os.pidfd_open(pid)
    return None


class CommandChild:
    """A direct child of this process."""

    def __init__(
        self, process: subprocess.Popen[bytes], started: float, entry: Started, told: Path | None
    ) -> None:
        self.pid = process.pid
        self.pidfd = open_pidfd(process.pid)
        self.started = started
        self._entry = entry
        self._process = process
        self._told = told
        self._reaped: Reaped | None = None

    def has_ended(self) -> bool:
        """True when it has ended; where only reaping can tell, it is reaped by this."""
        if self._reaped is not None:
            return True
        if sys.platform != "darwin":
            return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        pid, _ = self._wait(os.WNOHANG)
        return pid != 0

    def reap(self) -> Reaped:
        """Wait for its end, end what escaped from it, free its process id, and close the pidfd."""
        if self._reaped is None:
            if sys.platform != "darwin":
                os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
                HOUSEHOLD.clear(self._entry)
            self._wait(0)
        HOUSEHOLD.disown(self._entry)
        if self.pidfd is not None:
            os.close(self.pidfd)
            self.pidfd = None
        assert self._reaped is not None
        return self._reaped

    def _wait(self, flags: int) -> tuple[int, int]:
        pid, status, used = os.wait4(self.pid, flags)
        if pid:
            reaped = usage(status, used.ru_maxrss, used.ru_utime + used.ru_stime)
            self._reaped = reaped if self._told is None else as_told(reaped, self._told)
            # Popen must know, or it would wait for a process id that may be somebody else's by then.
            self._process.returncode = os.waitstatus_to_exitcode(status)
        return pid, status


def start_command(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    stdout: Path,
    stderr: Path,
    stdin: Path | None = None,
    status: Path | None = None,
) -> CommandChild:
    """Start a program as the leader of a session of its own.

    Its streams are the files `stdout` and `stderr`, emptied first, and `stdin`, or nothing when that is None.
    Its environment is `env`, and a mark by which what escapes from it is found.

    Args:
        status: a file that will say how the program ended, where `argv` starts another that starts it.

    Raises:
        OSError: it could not be started: no such program, not executable, arguments too long, no such folder.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    with ExitStack() as opened:

        def opening(path: Path | str, how: int) -> int:
            descriptor = os.open(path, how, 0o600)
            opened.callback(os.close, descriptor)
            return descriptor

        source = opening(stdin or os.devnull, os.O_RDONLY)
        out, err = opening(stdout, flags), opening(stderr, flags)
        entry = HOUSEHOLD.begin()
        started = time.monotonic()
        try:
            process = subprocess.Popen(
                argv,
                cwd=cwd,
                env={**env, procfs.MARK: entry.value},
                stdin=source,
                stdout=out,
                stderr=err,
                start_new_session=True,
                close_fds=True,
            )
        except BaseException:
            HOUSEHOLD.disown(entry)
            raise
        HOUSEHOLD.own(entry, process.pid)
    return CommandChild(process, started, entry, status)


class _Woken(Enum):
    ENDED = 1
    CANCELLED = 2
    TIME_UP = 3
    EXCEEDED = 4


def supervise(
    child: Child,
    limits: Limits,
    cancel: Cancel | None = None,
    watch: Callable[[], Exceeded | None] | None = None,
) -> Exit:
    """Wait for the child's end, make it end in time, and leave nothing of its process group alive.

    At the limit, when the operator cancels, or when `watch` says that something is used up, the group is asked
    to end (SIGTERM), and killed `grace_s` later. What is left of the group when its leader has ended is killed
    too. The child is always reaped.

    Args:
        watch: asked several times a second what is used up.
    """
    seen: list[Exceeded] = []
    try:
        why = _wait(child, cancel, child.started + limits.timeout_s, watch, seen)
        if why is not _Woken.ENDED:
            # A stopped process takes its SIGTERM only when it is continued.
            _signal_group(child, signal.SIGTERM)
            _signal_group(child, signal.SIGCONT)
            if _wait(child, None, time.monotonic() + limits.grace_s) is not _Woken.ENDED:
                _signal_group(child, signal.SIGKILL)
                _wait(child, None, float("inf"))
        duration_s = time.monotonic() - child.started
    finally:
        # Before the leader is reaped, so that its group's id cannot be anybody else's.
        _signal_group(child, signal.SIGKILL)
        reaped = child.reap()
        wait_until_gone(child.pid)
    code = os.waitstatus_to_exitcode(reaped.status)
    return Exit(
        code=code if code >= 0 else None,
        signal=signal_name(-code) if code < 0 else None,
        timed_out=why is _Woken.TIME_UP,
        cancelled=why is _Woken.CANCELLED,
        duration_s=duration_s,
        max_rss_kb=reaped.max_rss_kb,
        exceeded=seen[0] if seen else None,
        cpu_s=reaped.cpu_s,
        unstarted=reaped.unstarted,
    )


def signal_name(number: int) -> str:
    """`SIGKILL` for 9; `SIG40` for one without a name of its own."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"SIG{number}"


def _wait(
    child: Child,
    cancel: Cancel | None,
    until: float,
    watch: Callable[[], Exceeded | None] | None = None,
    seen: list[Exceeded] | None = None,
) -> _Woken:
    poller = select.poll()
    if child.pidfd is not None:
        poller.register(child.pidfd, select.POLLIN)
    if cancel is not None:
        poller.register(cancel.fileno(), select.POLLIN)
    longest_s = _LONGEST_POLL_S if child.pidfd is not None else _POLL_WITHOUT_PIDFD_S
    if watch is not None:
        longest_s = min(longest_s, _WATCH_EVERY_S)
    while True:
        left_s = max(0.0, until - time.monotonic())
        ready = [descriptor for descriptor, _ in poller.poll(ceil(min(left_s, longest_s) * 1000))]
        if child.pidfd in ready or (child.pidfd is None and child.has_ended()):
            return _Woken.ENDED
        if ready:
            return _Woken.CANCELLED
        if not left_s:
            return _Woken.TIME_UP
        if watch is not None and seen is not None and (exceeded := watch()) is not None:
            seen.append(exceeded)
            return _Woken.EXCEEDED


def _signal_group(child: Child, number: signal.Signals) -> None:
    # The system says "not permitted" where all that is left of a group is a zombie (macOS), or somebody
    # else's process, which is not ours to end.
    with suppress(PermissionError):
        try:
            os.killpg(child.pid, number)
        except ProcessLookupError:
            # A child that was forked a moment ago has not made its own group yet.
            if sys.platform == "linux" and child.pidfd is not None:
                with suppress(ProcessLookupError):
                    signal.pidfd_send_signal(child.pidfd, number)
