"""Control groups of Linux: what all processes of a trial use together, limited, measured, and ended at once.

Version 2 has one tree, version 1 one for each kind of resource; a machine may have both. A group is made below
the one that this process is in, or below one of those above where that is allowed. Its name says which proctor
made it, so that `proctor doctor` finds those that a killed proctor has left.
"""

from __future__ import annotations

import os
import re
import secrets
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Final

import msgspec

from proctor.host import procfs

_NAME: Final = re.compile(r"proctor-(?P<owner>[0-9a-f]{20})-[0-9a-f]{12}")
_PROBED_LEVELS: Final = 4
_LONGEST_S: Final = 2.0
_FILES: Final = {
    2: {
        "memory": ("memory.max", "memory.peak", "memory.events"),
        "pids": ("pids.max", "pids.peak", "pids.events"),
    },
    1: {
        "memory": ("memory.limit_in_bytes", "memory.max_usage_in_bytes", "memory.oom_control"),
        "pids": ("pids.max", "pids.peak", "pids.events"),
    },
}
"""By version and controller: the limit, the peak, and where it is counted what ran into the limit."""


class Tree(msgspec.Struct, frozen=True, kw_only=True):
    """A folder below which groups can be made.

    Attributes:
        folder: it.
        version: 1 or 2.
        controllers: what its groups can limit, of `memory` and `pids`.
    """

    folder: Path
    version: int
    controllers: tuple[str, ...]


class ControlGroup:
    """One trial's group: a folder in each tree that it needs. To be removed.

    Args:
        trees: with the controllers of these.
        memory_bytes: what all of its processes may use together.
        processes: how many processes and threads they may be.

    Raises:
        OSError: it cannot be made.
    """

    def __init__(
        self, trees: Sequence[Tree], *, memory_bytes: int | None = None, processes: int | None = None
    ) -> None:
        name = f"proctor-{procfs.owner_tag()}-{secrets.token_hex(6)}"
        limits = {"memory": memory_bytes, "pids": processes}
        self._trees = tuple(trees)
        self._name = name
        try:
            for tree in self._trees:
                (tree.folder / name).mkdir()
                for controller in tree.controllers:
                    limit = limits[controller]
                    if limit is not None:
                        _write(tree.folder / name / _FILES[tree.version][controller][0], str(limit))
                        if controller == "memory":
                            _forbid_swap(tree.folder / name, tree.version, limit)
        except OSError:
            self.remove()
            raise

    @property
    def doors(self) -> tuple[str, ...]:
        """The files that a process writes itself into before it does anything else."""
        return tuple(str(tree.folder / self._name / "cgroup.procs") for tree in self._trees)

    @property
    def memory_peak(self) -> int | None:
        """Bytes that its processes used together at most; None where the system does not tell."""
        return self._number("memory", 1)

    @property
    def processes_peak(self) -> int | None:
        """How many processes and threads there were at most; None where the system does not tell."""
        return self._number("pids", 1)

    @property
    def ended_for_memory(self) -> int:
        """How many processes the system has ended because the group was out of memory."""
        return self._count("memory", "oom_kill")

    @property
    def refused_processes(self) -> int:
        """How often a process could not be started because there were too many."""
        return self._count("pids", "max")

    def remove(self) -> None:
        """End what is left in it, and remove it."""
        for tree in self._trees:
            remove_group(tree.folder / self._name)

    def _number(self, controller: str, which: int) -> int | None:
        for file in self._files(controller, which):
            with suppress(OSError, ValueError):
                return int(file.read_text())
        return None

    def _count(self, controller: str, name: str) -> int:
        for file in self._files(controller, 2):
            with suppress(OSError, ValueError):
                for line in file.read_text().splitlines():
                    key, _, value = line.partition(" ")
                    if key == name:
                        return int(value)
        return 0

    def _files(self, controller: str, which: int) -> Iterator[Path]:
        for tree in self._trees:
            if controller in tree.controllers:
                yield tree.folder / self._name / _FILES[tree.version][controller][which]


def trees_for(controllers: Sequence[str]) -> tuple[Tree, ...]:
    """The trees in which groups with these controllers can be made here; those that cannot be had are left out."""
    found: list[Tree] = []
    missing = list(controllers)
    for tree in _usable():
        mine = tuple(controller for controller in tree.controllers if controller in missing)
        if mine:
            found.append(msgspec.structs.replace(tree, controllers=mine))
            missing = [controller for controller in missing if controller not in mine]
    return tuple(found)


def left_groups() -> list[Path]:
    """The groups of proctors that are gone, in all trees that this process is in."""
    found: list[Path] = []
    for place in {folder for mount in _mounts() for folder in _levels(mount)}:
        with suppress(OSError):
            for child in place.iterdir():
                named = _NAME.fullmatch(child.name)
                if named and procfs.is_owner_gone(named["owner"]):
                    found.append(child)
    return sorted(found)


def remove_group(folder: Path) -> bool:
    """End all processes of a group, and remove its folder; False when it is still there after two seconds."""
    give_up = time.monotonic() + _LONGEST_S
    pause_s = 0.0005
    while True:
        try:
            folder.rmdir()
        except FileNotFoundError:
            return True
        except OSError:
            _end_all(folder)
        else:
            return True
        if time.monotonic() > give_up:
            return False
        time.sleep(pause_s)
        pause_s = min(2 * pause_s, 0.05)


def _end_all(folder: Path) -> None:
    with suppress(OSError):
        _write(folder / "cgroup.kill", "1")
        return
    with suppress(OSError):
        for pid in (folder / "cgroup.procs").read_text().split():
            procfs.end_subtree(int(pid))


def _forbid_swap(folder: Path, version: int, limit: int) -> None:
    # Otherwise a limit would only move the rest to the disk. Not every kernel counts swap.
    file, most = ("memory.swap.max", "0") if version == 2 else ("memory.memsw.limit_in_bytes", str(limit))
    with suppress(OSError):
        _write(folder / file, most)


@lru_cache(maxsize=1)
def _usable() -> tuple[Tree, ...]:
    """The trees that can be used, tried out: made, entered by a process, and removed."""
    found: list[Tree] = []
    for mount in _mounts():
        for folder in _levels(mount)[:_PROBED_LEVELS]:
            controllers = _controllers_at(mount, folder)
            if controllers and _works(folder):
                found.append(Tree(folder=folder, version=mount.version, controllers=controllers))
                break
    return tuple(found)


class _Mount(msgspec.Struct, frozen=True, kw_only=True):
    """A mounted tree, and where in it this process is."""

    folder: Path
    version: int
    controllers: tuple[str, ...]
    own: Path


def _mounts() -> list[_Mount]:
    own: dict[str, str] = {}
    found: list[_Mount] = []
    with suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            number, names, path = line.split(":", 2)
            own.update(dict.fromkeys(names.split(",") if number != "0" else ["2"], path))
        for line in Path("/proc/self/mountinfo").read_text().splitlines():
            before, _, after = line.partition(" - ")
            root, point = before.split()[3:5]
            kind, _, options = after.split(" ", 2)
            names = options.split(",")
            if kind == "cgroup2" and "2" in own:
                place = _below(point, root, own["2"])
                found.append(_Mount(folder=Path(point), version=2, controllers=(), own=place))
            elif kind == "cgroup":
                mine = tuple(name for name in ("memory", "pids") if name in names and name in own)
                if mine:
                    place = _below(point, root, own[mine[0]])
                    found.append(_Mount(folder=Path(point), version=1, controllers=mine, own=place))
    return found


def _below(point: str, root: str, path: str) -> Path:
    """Where a group stands that the system names by its path from the top, of which a mount may show a part."""
    inside = os.path.relpath(path, root) if root != "/" else path.lstrip("/")
    return Path(point) if inside.startswith("..") else Path(point, inside)


def _levels(mount: _Mount) -> list[Path]:
    """The process's own group, and those above it."""
    levels = [mount.own]
    while levels[-1] != mount.folder and mount.folder in levels[-1].parents:
        levels.append(levels[-1].parent)
    return levels


def _controllers_at(mount: _Mount, folder: Path) -> tuple[str, ...]:
    if mount.version == 1:
        return mount.controllers
    with suppress(OSError):
        handed_on = (folder / "cgroup.subtree_control").read_text().split()
        return tuple(name for name in ("memory", "pids") if name in handed_on)
    return ()


def _works(folder: Path) -> bool:
    import subprocess

    probe = folder / f"proctor-{procfs.owner_tag()}-{secrets.token_hex(6)}"
    try:
        probe.mkdir()
    except OSError:
        return False
    try:
        script = 'echo $$ > "$1"'
        done = subprocess.run(
            ["/bin/sh", "-c", script, "sh", str(probe / "cgroup.procs")],
            capture_output=True,
            check=False,
            timeout=5,
        )
        return done.returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False
    finally:
        remove_group(probe)


def _write(file: Path, text: str) -> None:
    with file.open("w") as target:
        target.write(text)
