"""A clean, single-threaded Python that has prepared something once, and forks a child from it on request.

A fork costs a millisecond or two where a new interpreter with the same modules costs hundreds. The server is
exec'd, never forked from us: it holds none of our memory, threads, locks or descriptors.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from proctor.errors import ProctorError
from proctor.host import channel as wire
from proctor.host import procfs
from proctor.host.child import Child
from proctor.host.escapees import HOUSEHOLD, Started, wait_for
from proctor.host.interpreter import python_command
from proctor.host.reaped import Reaped, usage
from proctor.records.grade import Defect
from proctor.records.json_value import Json

_CLOSE_S = 5.0
_ANSWER_S = 30.0
_SLOW_ANSWER_S = 0.25


class ZygoteError(ProctorError):
    """The server could not prepare what it was told to, or is gone.

    Attributes:
        defect: type, message and stack of what was raised there.
    """

    def __init__(self, what: str, *, fix: str, defect: Defect, where: str = "") -> None:
        super().__init__(what, fix=fix, where=where)
        self.defect = defect


class Zygote:
    """A server that has called `prepare` once and forks children from what that left in memory.

    `prepare` and every `entry` are names of the form "package.module:function". A prepare function gets
    `argument` and returns JSON; an entry gets a request and a list of descriptors, and returns an exit code
    or nothing.

    Args:
        prepare: called in the server, once.
        argument: JSON for `prepare`.
        entries: modules of these are imported before anything is prepared, so that no child has to.
        env: the server's environment; that of this process when None.
        cwd: where the server stands; where this process stands when None.
        stderr: receives what the server prints, on both streams; thrown away when None.

    Attributes:
        reply: what `prepare` returned.
        threads: how many threads the server has; a fork is safe only with one.

    Raises:
        ZygoteError: `prepare` raised, or ended the server.
    """

    reply: Json
    threads: int

    def __init__(
        self,
        prepare: str,
        argument: Json = None,
        *,
        entries: Sequence[str] = (),
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        stderr: Path | None = None,
    ) -> None:
        self._lock = threading.Lock()
        self._entry = HOUSEHOLD.begin(is_trial=False)
        self._channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            with theirs:
                command = python_command("proctor.host.zygote_server:serve", str(theirs.fileno()))
                self._server = _start_server(command, theirs.fileno(), self._entry.value, env, cwd, stderr)
        except BaseException:
            self._channel.close()
            HOUSEHOLD.disown(self._entry)
            raise
        HOUSEHOLD.own(self._entry, self._server.pid)
        try:
            asked = {"prepare": prepare, "argument": argument, "entries": list(entries)}
            answer, _ = self._ask(asked)
        except BaseException:
            self._end()
            raise
        if "defect" in answer:
            self._end()
            defect = Defect(**answer["defect"])
            raise ZygoteError(
                f"{prepare} raised {defect.type}: {defect.message}", fix="See its traceback.", defect=defect
            )
        self.reply, self.threads = answer["reply"], answer["threads"]
        # A child can stop its parent, and that must not stop us. Preparing may take its time.
        self._channel.settimeout(_ANSWER_S)

    def spawn(
        self,
        entry: str,
        request: Json,
        *,
        fds: Sequence[int] = (),
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        stdout: Path | int = -1,
        stderr: Path | int = -1,
        bounds: dict[str, Any] | None = None,
    ) -> Child:
        """Fork a child that runs `entry(request, fds)` in a session of its own. May be called by any thread.

        Its environment is `env`, a mark by which what escapes from it is found, and what `prepare` changed in
        the server's; its standard input is empty; `stdout` and `stderr` are files to create or open descriptors,
        and nothing where they are -1. The descriptors in `fds` reach the entry under numbers of its own.
        `bounds` is what `Bounds.told` gave: limits that it puts on itself before anything else.

        Raises:
            ZygoteError: the server is gone.
            OSError: a file for a stream cannot be opened, or the system starts no more processes.
        """
        entry_here = HOUSEHOLD.begin()
        with ExitStack() as opened:
            on_failure = opened.enter_context(ExitStack())
            on_failure.callback(HOUSEHOLD.disown, entry_here)

            def stream(target: Path | int) -> int:
                if isinstance(target, int) and target >= 0:
                    return target
                path = os.devnull if isinstance(target, int) else target
                descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
                opened.callback(os.close, descriptor)
                return descriptor

            message = {
                "do": "spawn",
                "entry": entry,
                "request": request,
                "cwd": None if cwd is None else str(cwd),
                "env": None if env is None else dict(env),
                "mark": [entry_here.mark, entry_here.value],
                "bounds": bounds,
            }
            started = time.monotonic()
            answer, given = self._ask(message, [stream(stdout), stream(stderr), *fds])
            if "errno" in answer:
                raise OSError(answer["errno"], answer["strerror"])
            HOUSEHOLD.own(entry_here, answer["pid"])
            on_failure.pop_all()
        return _ForkedChild(self, entry_here, given[0] if given else None, started)

    def close(self) -> None:
        """End the server, and with it every child that still lives. A second call does nothing."""
        self._end()

    def reap(self, pid: int) -> Reaped:
        """End what escaped from a child that has ended, and free its process id; for the children themselves."""
        told: list[Any] = []

        def has_told() -> bool:
            # One pass each time: the server must not be the one to wait.
            told[:] = self._ask({"do": "reap", "pid": pid, "anyway": False})[0] or ()
            return bool(told)

        if not wait_for(has_told):
            told, _ = self._ask({"do": "reap", "pid": pid, "anyway": True})
        status, rss, cpu_s = told
        return usage(int(status), int(rss), cpu_s)

    def has_ended(self, pid: int) -> bool:
        """True when a child has ended; for the children themselves."""
        return self._ask({"do": "ended", "pid": pid})[0]

    def _ask(self, message: Json, descriptors: Sequence[int] = ()) -> tuple[Any, list[int]]:
        with self._lock:
            try:
                wire.send(self._channel, message, descriptors)
                self._wake()
                received = wire.receive(self._channel)
            except BaseException as err:
                # A late answer to this question would be taken for that to the next one.
                with suppress(OSError):
                    self._channel.shutdown(socket.SHUT_RDWR)
                if not isinstance(err, OSError):
                    raise
                received = None
        if received is None:
            raise self._gone()
        return received

    def _wake(self) -> None:
        """Continue a server that is slow to answer: a child can stop its parent, and could hold us up with that."""
        if self._channel.gettimeout() is None:
            return
        poller = select.poll()
        poller.register(self._channel, select.POLLIN)
        give_up = time.monotonic() + _ANSWER_S
        while not poller.poll(int(_SLOW_ANSWER_S * 1000)) and time.monotonic() < give_up:
            self._server.send_signal(signal.SIGCONT)

    def _gone(self) -> ZygoteError:
        try:
            code = self._server.wait(_CLOSE_S)
            how = f"has ended (exit code {code})"
        except subprocess.TimeoutExpired:
            how = "does not answer"
        return ZygoteError(
            f"The process that starts the children {how}.",
            fix="Look at what the code that it imports does when it is imported, and for lack of memory.",
            defect=Defect(type="ended", message=f"the process {how}"),
        )

    def _end(self) -> None:
        with suppress(OSError):
            self._channel.shutdown(socket.SHUT_RDWR)
        with self._lock:
            self._channel.close()
        self._server.send_signal(signal.SIGCONT)
        try:
            self._server.wait(_CLOSE_S)
        except subprocess.TimeoutExpired:
            self._server.kill()
            self._server.wait()
        HOUSEHOLD.clear(self._entry)
        HOUSEHOLD.disown(self._entry)


class _ForkedChild:
    """A child of the server. The server opened the pidfd before anybody could have reaped the process."""

    def __init__(self, zygote: Zygote, entry: Started, pidfd: int | None, started: float) -> None:
        self.pid = entry.pid
        self._entry = entry
        self.pidfd = pidfd
        self.started = started
        self._zygote = zygote

    def has_ended(self) -> bool:
        return self._zygote.has_ended(self.pid)

    def reap(self) -> Reaped:
        # The server must not be the one to wait: it has other children to start.
        if self.pidfd is not None:
            poller = select.poll()
            poller.register(self.pidfd, select.POLLIN)
            poller.poll()
        else:
            while not self.has_ended():
                time.sleep(0.01)
        try:
            return self._zygote.reap(self.pid)
        except ZygoteError:
            # It was its server's child, and is ours when it has ended its server.
            HOUSEHOLD.clear(self._entry)
            with suppress(ChildProcessError):
                _, status, used = os.wait4(self.pid, 0)
                return usage(status, used.ru_maxrss, used.ru_utime + used.ru_stime)
            raise
        finally:
            HOUSEHOLD.disown(self._entry)
            if self.pidfd is not None:
                os.close(self.pidfd)
                self.pidfd = None


def _start_server(
    command: list[str],
    descriptor: int,
    mark: str,
    env: Mapping[str, str] | None,
    cwd: Path | None,
    stderr: Path | None,
) -> subprocess.Popen[bytes]:
    """Start the server in a session of its own: a Ctrl-C in the terminal does not reach it."""
    if env is not None:
        env = {**env, procfs.MARK: mark}
    elif (program := shutil.which("env")) is not None:
        # It inherits our environment, which is not read here.
        command = [program, f"{procfs.MARK}={mark}", *command]
    with ExitStack() as opened:
        printed = os.open(stderr or os.devnull, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        opened.callback(os.close, printed)
        return subprocess.Popen(
            command,
            env=env,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=printed,
            pass_fds=[descriptor],
            start_new_session=True,
        )
