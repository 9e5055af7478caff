"""What the system itself holds a trial's processes to: rlimits of each, and a control group of all together.

They are in force before the first instruction of the agent: a command is started by a shell that puts them on and
then becomes the command, and a forked function puts them on before it is called.
"""

from __future__ import annotations

import resource
import signal
from contextlib import suppress
from math import ceil
from typing import Any, Final

import msgspec

from proctor.core.sizes import size_text
from proctor.errors import UsageError
from proctor.host.cgroups import ControlGroup, Tree, trees_for
from proctor.ports import Launch
from proctor.records.grade import Defect
from proctor.records.isolation import Usage
from proctor.records.run import Attempt, Ending, Limits

SHELL: Final = "/bin/sh"
_LETTERS: Final = {
    resource.RLIMIT_CPU: ("t", 1),
    resource.RLIMIT_FSIZE: ("f", 512),
    resource.RLIMIT_DATA: ("d", 1024),
}
"""Of the shell's `ulimit`, with their units in bytes or seconds: the same in every shell that is called `sh`."""
_NOT_HELD: Final = 125
_SCRIPT: Final = 'for door in {doors}; do echo $$ > "$door" || exit 125; done; {ulimits}exec "$@"'


class BoundsPlan(msgspec.Struct, frozen=True, kw_only=True):
    """How limits are held here; the same for all trials of an invocation.

    Attributes:
        trees: where groups can be made.
        is_counted: the number of processes is held by a group.
        overhead: processes of the sandbox's own.
    """

    trees: tuple[Tree, ...] = ()
    is_counted: bool = False
    overhead: int = 0

    def bounds(self, limits: Limits) -> Bounds:
        """What holds one trial.

        Raises:
            OSError: its group cannot be made.
        """
        wanted = [("memory", limits.memory_bytes), ("pids", limits.processes)]
        needed = {name for name, limit in wanted if limit is not None}
        trees = [tree for tree in self.trees if needed & set(tree.controllers)]
        if not trees:
            return Bounds(limits, None)
        processes = None if limits.processes is None else limits.processes + self.overhead
        group = ControlGroup(trees, memory_bytes=limits.memory_bytes, processes=processes)
        return Bounds(limits, group)


def plan_bounds(limits: Limits, *, is_confined: bool, overhead: int = 0) -> BoundsPlan:
    """How these limits can be held on this machine.

    Args:
        limits: the widest that any trial has; None where none has one.
        is_confined: programs run in a sandbox, which has process ids of its own.
        overhead: processes of the sandbox's own.

    Raises:
        UsageError: the number of processes cannot be limited here.
    """
    wanted = [
        name
        for name, limit in (("memory", limits.memory_bytes), ("pids", limits.processes))
        if limit is not None
    ]
    trees = trees_for(wanted) if wanted else ()
    is_counted = any("pids" in tree.controllers for tree in trees)
    if limits.processes is not None and not (is_counted or is_confined):
        raise UsageError(
            "the number of an agent's processes cannot be limited here: no control group (cgroup) can be made",
            where="--max-processes",
            fix="Add --sandbox bwrap, which counts them by itself; or start proctor where it may make control "
            "groups, as with `systemd-run --user --scope -p Delegate=yes`.",
        )
    return BoundsPlan(trees=trees, is_counted=is_counted, overhead=overhead)


class Bounds:
    """What holds one trial. To be removed when it is over."""

    def __init__(self, limits: Limits | None = None, group: ControlGroup | None = None) -> None:
        self._limits, self._group = limits or Limits(), group

    @property
    def processes(self) -> int | None:
        """How many there may be at a time; None for any number."""
        return self._limits.processes

    @property
    def _rlimits(self) -> list[tuple[int, int, int]]:
        """Kind, soft and hard limit."""
        limits = self._limits
        found: list[tuple[int, int, int]] = []
        if limits.cpu_s is not None:
            soft = max(1, ceil(limits.cpu_s))
            # The first says so, with SIGXCPU; the second ends whoever does not listen.
            found.append((resource.RLIMIT_CPU, soft, soft + max(1, ceil(limits.grace_s))))
        if limits.file_bytes is not None:
            found.append((resource.RLIMIT_FSIZE, limits.file_bytes, limits.file_bytes))
        if limits.memory_bytes is not None and not self.counts_memory:
            found.append((resource.RLIMIT_DATA, limits.memory_bytes, limits.memory_bytes))
        return found

    @property
    def counts_memory(self) -> bool:
        """True when all processes are counted together, and not each for itself."""
        return self._group is not None and self._group.memory_peak is not None

    @property
    def told(self) -> dict[str, Any] | None:
        """What a forked process has to put on itself, as JSON; None when that is nothing."""
        rlimits, doors = self._rlimits, () if self._group is None else self._group.doors
        return {"rlimits": rlimits, "doors": doors} if rlimits or doors else None

    def around(self, launch: Launch) -> Launch:
        """The program started under these."""
        rlimits, doors = self._rlimits, () if self._group is None else self._group.doors
        if not rlimits and not doors:
            return launch
        ulimits = ""
        for kind, soft, hard in rlimits:
            letter, unit = _LETTERS[kind]
            # The soft one first: it must never be above the hard one.
            ulimits += f"ulimit -S{letter} {ceil(soft / unit)} && ulimit -H{letter} {ceil(hard / unit)} || exit 125; "
        given = [f'"${{{number}}}"' for number in range(1, len(doors) + 1)]
        script = _SCRIPT.format(doors=" ".join(given), ulimits=f"shift {len(doors)}; {ulimits}")
        return msgspec.structs.replace(launch, argv=(SHELL, "-c", script, "sh", *doors, *launch.argv))

    def settle(self, attempt: Attempt) -> Attempt:
        """The attempt with what it used at its peak, and with the limit that ended it by name."""
        used = attempt.usage or Usage()
        memory = None if self._group is None else self._group.memory_peak
        if memory is None and attempt.max_rss_kb is not None:
            memory = attempt.max_rss_kb * 1024
        processes = None if self._group is None else self._group.processes_peak
        used = msgspec.structs.replace(used, memory_bytes=memory, processes=processes)
        attempt = msgspec.structs.replace(attempt, usage=used)
        if attempt.exit_code == _NOT_HELD and self._was_never_entered:
            defect = Defect(
                type="not-held", message="Its limits could not be put on, so that it never began."
            )
            return msgspec.structs.replace(attempt, ending=Ending.HARNESS_FAILURE, defect=defect)
        if attempt.ending is Ending.KILLED and (why := self._why_killed(attempt)) is not None:
            return msgspec.structs.replace(attempt, defect=Defect(type=why[0], message=why[1]))
        return msgspec.structs.replace(attempt, notes=(*attempt.notes, *self._notes()))

    def remove(self) -> None:
        """End what is left, and remove what was made."""
        if self._group is not None:
            with suppress(OSError):
                self._group.remove()

    def _why_killed(self, attempt: Attempt) -> tuple[str, str] | None:
        limits = self._limits
        if attempt.signal == "SIGKILL" and self._was_out_of_memory and limits.memory_bytes is not None:
            size = size_text(limits.memory_bytes)
            return "memory-limit", f"The system ended it because it used up its memory, {size}."
        # The first limit of processor time sends SIGXCPU, the second SIGKILL.
        used_up = attempt.usage is not None and (attempt.usage.cpu_s or 0) >= (limits.cpu_s or 0)
        if limits.cpu_s is not None and (
            attempt.signal == signal.SIGXCPU.name or (attempt.signal == "SIGKILL" and used_up)
        ):
            return (
                "cpu-limit",
                f"The system ended it because it used up its processor time, {limits.cpu_s:g} s.",
            )
        if limits.file_bytes is not None and attempt.signal == signal.SIGXFSZ.name:
            size = size_text(limits.file_bytes)
            return "file-limit", f"The system ended it because it wrote a file of more than {size}."
        return None

    @property
    def _was_never_entered(self) -> bool:
        """True when no process has ever been in the group."""
        return self._group is not None and not self._group.memory_peak and not self._group.processes_peak

    @property
    def _was_out_of_memory(self) -> bool:
        return self._group is not None and self._group.ended_for_memory > 0

    def _notes(self) -> list[str]:
        notes: list[str] = []
        if self._was_out_of_memory:
            assert self._limits.memory_bytes is not None
            size = size_text(self._limits.memory_bytes)
            notes.append(f"A process of it was ended by the system because the memory of {size} was used up.")
        if self._group is not None and self._limits.processes is not None and self._group.refused_processes:
            notes.append(
                f"It could not start some of its processes: it may have {self._limits.processes} at a time."
            )
        return notes
