"""A program under limits that does not outlive whoever asked for it, even one that is killed."""

from __future__ import annotations

import os
import resource
import signal
import warnings
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from proctor.host.child import Exit, start_command, supervise
from proctor.host.escapees import HOUSEHOLD
from proctor.records.run import Limits


def run_limited(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    stdout: Path,
    stderr: Path,
    limits: Limits,
    stdin: Path | None = None,
) -> Exit:
    """Run a program to its end or to its limit, with its streams in files; standard input is empty without one.

    Its whole process group is gone when this returns, and also when this process dies before.

    Raises:
        OSError: it could not be started.
        ValueError: an argument holds a NUL character.
    """
    with own_address_space():
        child = start_command(argv, cwd=cwd, env=env, stdout=stdout, stderr=stderr, stdin=stdin)
    guard = _Guard(child.pid)
    try:
        return supervise(child, limits)
    finally:
        guard.dismiss()


@contextmanager
def own_address_space() -> Generator[None]:
    """Lift the soft limit of this process's address space while a program is started, which inherits it."""
    soft, most = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, most))


class _Guard:
    """A forked process that kills a process group when this process dies before it dismisses the guard."""

    def __init__(self, group: int) -> None:
        reader, self._writer = os.pipe()
        with warnings.catch_warnings():
            # The child calls the system alone, so that locks of other threads cannot hold it.
            warnings.simplefilter("ignore", DeprecationWarning)
            self._pid = os.fork()
        if self._pid == 0:
            _watch(reader, group)
        os.close(reader)
        HOUSEHOLD.spare(self._pid)

    def dismiss(self) -> None:
        os.write(self._writer, b"x")
        os.close(self._writer)
        os.waitpid(self._pid, 0)


def _watch(reader: int, group: int) -> None:
    try:
        os.setsid()
        os.dup2(reader, 0)
        os.closerange(1, os.sysconf("SC_OPEN_MAX"))
        if not os.read(0, 1):
            with suppress(OSError):
                os.killpg(group, signal.SIGKILL)
    finally:
        os._exit(0)
