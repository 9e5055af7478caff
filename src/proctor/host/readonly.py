"""Programs that may read the machine and write next to nothing: a view of it that is read-only, by bubblewrap."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final

_PROBE_S: Final = 10.0
_TMP: Final = "/tmp"
_KEPT_CAPABILITIES: Final = ("CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_DAC_READ_SEARCH", "CAP_FOWNER", "CAP_KILL")
"""What root keeps inside: it reads what an agent with another user has left, and still mounts nothing."""


def read_only(
    argv: Sequence[str], environment: Mapping[str, str], *, writable: Sequence[Path], tmp: Path | None = None
) -> list[str] | None:
    """The arguments that start a program where everything but `writable` is read-only.

    It dies with whoever starts it, and everything that it starts dies with it. Its exit code is that of the
    program, or 128 and the number of the signal that ended it.

    Args:
        argv: the program and its arguments.
        environment: in whose PATH `bwrap` is looked for, and whose programs must be there.
        writable: what may be written; they are there.
        tmp: a folder that stands in for /tmp. Of what else lies there, the folders of programs, of Python and
            those in `writable` are seen.

    Returns None where the system has no such thing: no bubblewrap, or no right to use it.

    Raises:
        OSError: the program cannot be started: from inside, that could not be told from its own failure.
    """
    base = _base(environment.get("PATH", os.defpath))
    if base is None:
        return None
    _check(argv[0])
    words = list(base)
    if tmp is not None:
        words += ["--bind", str(tmp), _TMP]
        for folder in dict.fromkeys(_needed(environment)):
            words += ["--ro-bind-try", folder, folder]
    for folder in writable:
        words += ["--bind", str(folder), str(folder)]
    return [*words, "--", *argv]


@cache
def _base(path: str) -> tuple[str, ...] | None:
    """The arguments of bubblewrap that work here; found out by trying, once in a process."""
    program = shutil.which("bwrap", path=path) if sys.platform == "linux" else None
    if program is None:
        return None
    user = ("--unshare-user",)
    if os.geteuid() == 0:
        # Without a user namespace of its own, which would not let it read the files of other users.
        user = tuple(word for name in _KEPT_CAPABILITIES for word in ("--cap-add", name))
    common = (
        program,
        "--ro-bind",
        "/",
        "/",
        "--dev",
        "/dev",
        "--die-with-parent",
        "--cap-drop",
        "ALL",
        *user,
    )
    # Inside some containers no /proc can be mounted.
    for more in (("--unshare-pid", "--unshare-ipc", "--proc", "/proc"), ()):
        if _works([*common, *more, "--", "/bin/sh", "-c", ":"]):
            return (*common, *more)
    return None


def _check(program: str) -> None:
    """What starting the program would raise, or starting the interpreter that its first line names."""
    with open(program, "rb") as file:  # noqa: PTH123
        first = file.readline(512)
    if not os.access(program, os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), program)
    if not first.strip():
        raise OSError(errno.ENOEXEC, os.strerror(errno.ENOEXEC), program)
    words = os.fsdecode(first[2:]).split() if first.startswith(b"#!") else []
    if words and not os.access(words[0], os.X_OK):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), words[0])


def _works(argv: Sequence[str]) -> bool:
    try:
        done = subprocess.run(
            argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=_PROBE_S, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return done.returncode == 0


def _needed(environment: Mapping[str, str]) -> Iterator[str]:
    """The folders below /tmp without which programs would not start."""
    named = [
        *environment.get("PATH", "").split(os.pathsep),
        *environment.get("PYTHONPATH", "").split(os.pathsep),
    ]
    for folder in (
        *sys.path,
        sys.prefix,
        sys.base_prefix,
        sys.exec_prefix,
        str(Path(__file__).parents[2]),
        *named,
    ):
        if folder.startswith(f"{_TMP}/"):
            yield folder
