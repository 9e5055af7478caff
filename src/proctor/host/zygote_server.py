"""The server side of a zygote: a single-threaded process that forks children on request.

It lives as long as its channel; when the other side is gone, it kills what lives below it and ends. Only the
standard library is imported here.
"""

from __future__ import annotations

import gc
import os
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import Any

from proctor.host import channel as wire
from proctor.host import procfs
from proctor.host.bounds_inside import put_on
from proctor.host.escapees import HOUSEHOLD, Started, end_all_children


def serve(descriptor: str) -> None:
    """Answer requests on the socket that was inherited as `descriptor` until its other end is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.argv = [""]
    for stream in (sys.stdout, sys.stderr):
        # For the children: what one printed before a kill is to be in its file.
        stream.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    channel = socket.socket(fileno=int(descriptor))
    # Only an exec is to close it in programs that the prepared code starts.
    channel.set_inheritable(False)
    _Server(channel).run()


def resolve(entry: str) -> Callable[..., Any]:
    """The function that "package.module:function" names."""
    module, _, name = entry.partition(":")
    return getattr(import_module(module), name)


class _Server:
    def __init__(self, channel: socket.socket) -> None:
        self.channel = channel
        self.children: dict[int, Started] = {}
        self.mark_at = 0
        self.ended: dict[int, list[float]] = {}
        self.made: dict[str, str | None] = {}

    def run(self) -> None:
        HOUSEHOLD.adopt()
        try:
            if self.prepare():
                # What the prepared code has started serves all children.
                HOUSEHOLD.spare()
                self.mark_at = procfs.place_of_mark()
                gc.collect()
                # Children then leave these pages alone, and share them.
                gc.freeze()
                self.answer()
        finally:
            for pid in self.children:
                with suppress(OSError):
                    os.killpg(pid, signal.SIGKILL)
                with suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            end_all_children()
        # Not by the interpreter's way out: threads and exit functions of prepared code must not hold it.
        os._exit(0)

    def prepare(self) -> bool:
        received = wire.receive(self.channel)
        if received is None:
            return False
        message, _ = received
        before = dict(os.environ)
        try:
            for entry in message["entries"]:
                resolve(entry)
            reply = resolve(message["prepare"])(message["argument"])
            answer = {"reply": reply, "threads": _thread_count()}
        except BaseException as err:  # noqa: BLE001  what is prepared is somebody else's code
            import traceback

            stack = traceback.format_exc()
            answer = {"defect": {"type": type(err).__name__, "message": str(err), "stack": stack}}
        # A module that loads a .env file when it is imported has it in every child.
        self.made = _changes(before, dict(os.environ))
        # Ignored, as a prepared module may have it, the system would reap our children itself.
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        _flush()
        wire.send(self.channel, answer)
        return "reply" in answer

    def answer(self) -> None:
        while True:
            try:
                received = wire.receive(self.channel)
            except OSError:
                return
            if received is None:
                return
            message, descriptors = received
            pidfd: int | None = None
            if message["do"] == "spawn":
                try:
                    pid = self.fork(message, descriptors)
                    pidfd = _open_pidfd(pid)
                    reply: Any = {"pid": pid}
                except OSError as err:
                    reply = {"errno": err.errno, "strerror": err.strerror}
            elif message["do"] == "ended":
                reply = self.has_ended(message["pid"])
            else:
                reply = self.reap(message["pid"], anyway=message["anyway"])
            for opened in descriptors:
                os.close(opened)
            try:
                wire.send(self.channel, reply, () if pidfd is None else (pidfd,))
            except OSError:
                return
            if pidfd is not None:
                os.close(pidfd)

    def fork(self, message: dict[str, Any], descriptors: list[int]) -> int:
        _flush()
        # Here, and not in the child, which pays for every page that it touches first.
        changes: dict[str, str | None] = {}
        if message["env"] is not None:
            changes = _changes(dict(os.environ), message["env"]) | self.made
        entry = HOUSEHOLD.begin(Started(*message["mark"]))
        changes[procfs.MARK] = entry.value
        try:
            pid = os.fork()
        except OSError:
            HOUSEHOLD.disown(entry)
            raise
        if pid == 0:
            code = 70
            try:
                code = self.be_child(message, descriptors, changes)
            finally:
                os._exit(code)
        self.children[pid] = entry
        HOUSEHOLD.own(entry, pid)
        return pid

    def be_child(
        self, message: dict[str, Any], descriptors: list[int], changes: dict[str, str | None]
    ) -> int:
        """Turn into the child and run its entry; the exit code. Never returns into the server's loop."""
        os.setsid()
        if self.mark_at:
            procfs.take_mark(self.mark_at, changes[procfs.MARK] or "")
        self.channel.close()
        out, err, *given = descriptors
        os.dup2(out, 1)
        os.dup2(err, 2)
        os.close(out)
        os.close(err)
        try:
            if message["bounds"] is not None:
                put_on(message["bounds"])
            signal.signal(signal.SIGINT, signal.default_int_handler)
            if message["cwd"] is not None:
                os.chdir(message["cwd"])
            for name, value in changes.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value
            answer = resolve(message["entry"])(message["request"], given)
            return answer if isinstance(answer, int) else 0
        except SystemExit as err:
            return err.code if isinstance(err.code, int) else int(err.code is not None)
        except BaseException:  # noqa: BLE001  the child's last words go to its own standard error
            import traceback

            traceback.print_exc()
            return 1
        finally:
            _flush()

    def has_ended(self, pid: int) -> bool:
        if pid not in self.ended:
            self.wait(pid, os.WNOHANG)
        return pid in self.ended

    def reap(self, pid: int, *, anyway: bool) -> list[float] | None:
        """What the system keeps of a child; None while something that escaped from it is still to be ended."""
        if pid not in self.ended:
            if not (HOUSEHOLD.sweep(self.children[pid]) or anyway):
                return None
            self.wait(pid, 0)
        return self.ended.pop(pid)

    def wait(self, pid: int, flags: int) -> None:
        found, status, used = os.wait4(pid, flags)
        if found:
            HOUSEHOLD.disown(self.children.pop(pid))
            self.ended[pid] = [status, used.ru_maxrss, used.ru_utime + used.ru_stime]


def _changes(before: dict[str, str], after: dict[str, str]) -> dict[str, str | None]:
    """What makes one environment into the other; None for a variable that goes."""
    gone: dict[str, str | None] = {name: None for name in before if name not in after}
    return gone | {name: value for name, value in after.items() if before.get(name) != value}


def _open_pidfd(pid: int) -> int | None:
    if sys.platform == "linux":
        with suppress(OSError):
            return os.pidfd_open(pid)
    return None


def _thread_count() -> int:
    try:
        return len(os.listdir("/proc/self/task"))  # noqa: PTH208
    except OSError:
        import threading

        return threading.active_count()


def _flush() -> None:
    # What is still in a buffer at a fork would be written by every child.
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()
