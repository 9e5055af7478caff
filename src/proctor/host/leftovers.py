"""What earlier proctors left behind when they were killed: processes that live on, and temporary folders.

What a living proctor has, what any living process uses, and what is another user's or of another name is never
taken for a leftover. Where there is no /proc none of this can be told, and nothing is found.
"""

from __future__ import annotations

import os
import re
import stat
import time
from contextlib import suppress
from pathlib import Path

import msgspec

from proctor.host import procfs
from proctor.host.escapees import wait_for
from proctor.host.tree import remove_tree

_MARK = re.compile("[0-9a-f]{36}")
_FOLDER = re.compile(r"proctor-(?:[a-z]+-)?(?:(?P<owner>[0-9a-f]{20})-)?[a-z0-9_]{8}")


class LeftProcess(msgspec.Struct, frozen=True, kw_only=True):
    """A living process whose proctor is gone.

    Attributes:
        pid: its process id.
        started: ticks since the system came up, so that nobody who gets the id later is taken for it.
        command: its arguments, separated by spaces.
    """

    pid: int
    started: int
    command: str


class LeftFolder(msgspec.Struct, frozen=True, kw_only=True):
    """A temporary folder of proctor's that no living process uses."""

    path: Path


def left_processes() -> list[LeftProcess]:
    """The living processes of this user that carry a mark, and whose marks' proctors are all gone."""
    found: list[LeftProcess] = []
    for pid in _own_pids():
        marks = procfs.marks_of(pid)
        process = procfs.seen(pid)
        if process is None or process.has_ended or not marks:
            continue
        if all(_MARK.fullmatch(mark) and procfs.is_owner_gone(procfs.owner_of(mark)) for mark in marks):
            command = " ".join(_arguments(pid))
            found.append(LeftProcess(pid=pid, started=process.started, command=command))
    return found


def left_folders(temporary: Path) -> list[LeftFolder]:
    """Folders that proctor made in `temporary`, whose makers are gone and which no process of this user uses.

    Real folders of this user alone, closed to everybody else; links and sockets of such names are nobody's.
    """
    folders: dict[Path, str | None] = {}
    with suppress(OSError), os.scandir(temporary.resolve()) as listing:
        for entry in listing:
            named = _FOLDER.fullmatch(entry.name)
            if named and _is_private(entry):
                folders[Path(entry.path)] = named["owner"]
    if not folders or not Path("/proc/self/stat").exists():
        return []
    used = _used_of(folders)
    return [
        LeftFolder(path=path)
        for path, owner in sorted(folders.items())
        if path not in used and (_has_no_maker(path) if owner is None else procfs.is_owner_gone(owner))
    ]


def end_process(left: LeftProcess) -> bool:
    """Kill a process that was left, with all that stands below it; False when it lives after two seconds."""

    def is_gone() -> bool:
        process = procfs.seen(left.pid)
        if process is None or process.has_ended or process.started != left.started:
            return True
        procfs.end_subtree(left.pid)
        return False

    return wait_for(is_gone)


def remove_folder(left: LeftFolder) -> bool:
    """Remove a folder that was left; False when a part of it stays."""
    with suppress(OSError):
        remove_tree(left.path)
    return not os.path.lexists(left.path)


def _own_pids() -> list[int]:
    own, user = os.getpid(), os.geteuid()
    found: list[int] = []
    for pid in procfs.all_pids():
        with suppress(OSError):
            if pid != own and Path(f"/proc/{pid}").stat().st_uid == user:
                found.append(pid)
    return found


def _is_private(entry: os.DirEntry[str]) -> bool:
    with suppress(OSError):
        status = entry.stat(follow_symlinks=False)
        # A group may pass through one that was a trial's in a sandbox.
        closed = not stat.S_IMODE(status.st_mode) & 0o067
        return stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid() and closed
    return False


def _used_of(folders: dict[Path, str | None]) -> set[Path]:
    """Those in which a process stands or has a file open, and those that its arguments or environment name."""
    named: set[str] = set()
    for pid in _own_pids():
        said = "\0".join([*_links_of(pid), *_arguments(pid), procfs.environment_of(pid)])
        named.update(match[0] for match in _FOLDER.finditer(said))
    return {folder for folder in folders if folder.name in named}


def _links_of(pid: int) -> list[str]:
    found: list[str] = []
    names = [f"/proc/{pid}/cwd", f"/proc/{pid}/root", f"/proc/{pid}/exe"]
    with suppress(OSError):
        names += [entry.path for entry in os.scandir(f"/proc/{pid}/fd")]
    for name in names:
        with suppress(OSError):
            found.append(os.readlink(name))  # noqa: PTH115
    return found


def _arguments(pid: int) -> list[str]:
    with suppress(OSError):
        return os.fsdecode(Path(f"/proc/{pid}/cmdline").read_bytes()).rstrip("\0").split("\0")
    return []


def _has_no_maker(folder: Path) -> bool:
    """True when no Python lives that is older than a folder whose name does not say who made it."""
    with suppress(OSError, ValueError):
        up_s = float(Path("/proc/uptime").read_text().split()[0])
        # The folder's own time changes when something is put into it, and never before it is made.
        age_s = max(0.0, time.time() - folder.lstat().st_mtime)
        for pid in _own_pids():
            process = procfs.seen(pid)
            if process is None or not any("python" in word or "proctor" in word for word in _program(pid)):
                continue
            if up_s - process.started / os.sysconf("SC_CLK_TCK") >= age_s - 1:
                return False
        return True
    return False


def _program(pid: int) -> list[str]:
    return [*_arguments(pid)[:2], *_links_of(pid)[2:3]]
