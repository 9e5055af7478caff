"""A process that imports proctor once and forks for each command line, which it can kill at any storage call.

Started as `python -m tests.stores.killing`; requests and answers are lines of JSON on its standard streams. The
storage calls are wrapped from outside, in the forked child: nothing in proctor knows of this.
"""

from __future__ import annotations

import builtins
import io
import json
import os
import select
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

MARK = "KILL_CASE"
"""The environment variable by which everything that a case starts is found again."""

_CALLS = (
    "rename", "replace", "link", "symlink", "mkdir", "rmdir", "unlink", "ftruncate", "fsync", "chmod",
)  # fmt: skip


class Storage:
    """Counts storage calls of this process, and kills it at one of them.

    Args:
        kill_at: number of the call, from 0; None to count only.
        when: `before` the call, in its `middle` (half of the bytes written), or `after` it.
    """

    def __init__(self, kill_at: int | None, when: str, log: Path) -> None:
        self.kill_at, self.when, self.log = kill_at, when, log
        self.seen: list[str] = []
        self._lock = threading.RLock()
        self._owner = os.getpid()
        self._write = os.write
        self._open = os.open

    def install(self) -> None:
        from proctor.host import durable

        for name in _CALLS:
            setattr(os, name, self._wrapped(name, getattr(os, name)))
        os.write = self._os_write
        os.open = self._os_open
        durable._sync_file_system = self._wrapped("syncfs", durable._sync_file_system)
        builtins.open = io.open = self._opening(io.open)

    def _at(self, kind: str, call: Callable[[], Any], half: Callable[[], Any] | None = None) -> Any:
        if os.getpid() != self._owner:
            return call()
        with self._lock:
            number = len(self.seen)
            self.seen.append(kind if half is None else f"{kind}+")
            if number == self.kill_at:
                self._kill(kind, call, half)
            return call()

    def _kill(self, kind: str, call: Callable[[], Any], half: Callable[[], Any] | None) -> None:
        if self.when == "middle" and half is not None:
            half()
        elif self.when == "after":
            # A call that is refused, such as of a folder that is there already, is one that was made.
            with suppress(OSError):
                call()
        descriptor = self._open(self.log, os.O_WRONLY | os.O_CREAT)
        self._write(descriptor, f"{kind} {self.when}".encode())
        os.kill(os.getpid(), signal.SIGKILL)

    def _wrapped(self, kind: str, original: Callable[..., Any]) -> Callable[..., Any]:
        def called(*args: Any, **kwargs: Any) -> Any:
            return self._at(kind, lambda: original(*args, **kwargs))

        return called

    def _os_write(self, descriptor: int, content: Any) -> int:
        original = self._write
        # Pipes and sockets hold nothing for later.
        if not stat.S_ISREG(os.fstat(descriptor).st_mode) or descriptor < 3:
            return original(descriptor, content)
        half = bytes(content)[: len(content) // 2]
        return self._at("write", lambda: original(descriptor, content), lambda: original(descriptor, half))

    def _os_open(self, path: Any, flags: int, *args: Any, **kwargs: Any) -> int:
        original = self._open
        if not flags & os.O_CREAT:
            return original(path, flags, *args, **kwargs)
        return self._at("create", lambda: original(path, flags, *args, **kwargs))

    def _opening(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def opened(file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
            if not set(mode) & set("wax+") or isinstance(file, int):
                return original(file, mode, *args, **kwargs)
            return _File(self._at("create", lambda: original(file, mode, *args, **kwargs)), self)

        return opened


class _File:
    """A file that is open for writing."""

    def __init__(self, file: Any, storage: Storage) -> None:
        self._file, self._storage = file, storage

    def write(self, content: Any) -> int:
        half = content[: len(content) // 2]

        def written(part: Any) -> int:
            count = self._file.write(part)
            self._file.flush()
            return count

        return self._storage._at("write", lambda: written(content), lambda: written(half))

    def __enter__(self) -> _File:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


def _be_the_case(case: dict[str, Any]) -> int:
    """Run one command line in this forked process; its exit code, as if it had been typed."""
    for number, name in ((1, "out"), (2, "err")):
        descriptor = os.open(case[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(descriptor, number)
        os.close(descriptor)
    os.chdir(case["cwd"])
    os.environ.update({MARK: case["mark"], "TMPDIR": case["tmp"]})
    tempfile.tempdir = case["tmp"]
    storage = Storage(case["kill_at"], case["when"], Path(case["log"]))
    storage.install()
    from proctor.cli.main import main

    code = main(case["argv"])
    sys.stdout.flush()
    sys.stderr.flush()
    if case["count"]:
        descriptor = storage._open(case["log"], os.O_WRONLY | os.O_CREAT)
        storage._write(descriptor, json.dumps(storage.seen).encode())
    return code


def _run(case: dict[str, Any]) -> dict[str, Any]:
    pid = os.fork()
    if pid == 0:
        code = 99
        try:
            code = _be_the_case(case)
        finally:
            os._exit(code)
    if case["after_s"] is not None:
        pidfd = os.pidfd_open(pid)
        poller = select.poll()
        poller.register(pidfd, select.POLLIN)
        if not poller.poll(case["after_s"] * 1000):
            os.kill(pid, signal.SIGKILL)
        os.close(pidfd)
    _, status = os.waitpid(pid, 0)
    return {"code": os.waitstatus_to_exitcode(status), "alive": survivors(case["mark"])}


def survivors(mark: str, patience_s: float = 3.0) -> list[str]:
    """The command lines of processes that a case started and that are alive after a while."""
    until = time.monotonic() + patience_s
    while True:
        found = _marked(f"{MARK}={mark}".encode())
        if not found or time.monotonic() > until:
            return found
        time.sleep(0.01)


def _marked(mark: bytes) -> list[str]:
    found: list[str] = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            is_marked = mark in (process / "environ").read_bytes().split(b"\0")
            if is_marked and (process / "stat").read_text().rpartition(") ")[2][0] not in "ZX":
                found.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode())
    return found


def serve() -> None:
    """Answer requests until standard input ends."""
    import importlib
    import pkgutil

    import proctor

    for module in pkgutil.walk_packages(proctor.__path__, "proctor."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    answers = os.fdopen(os.dup(1), "w")
    for line in sys.stdin:
        answers.write(json.dumps(_run(json.loads(line))) + "\n")
        answers.flush()


class Driver:
    """The other side: asks the process for cases."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.stores.killing"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
        )

    def ask(self, case: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(case) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


if __name__ == "__main__":
    serve()
