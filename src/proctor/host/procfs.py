"""What the system says of its processes (/proc), and the mark that tells whose a process is.

Every process that proctor starts has `PROCTOR_TRIAL` in its environment. Its value is a chain of marks, the
newest last, because an agent may run proctor itself; each mark is random and names the proctor that made it.
Where there is no /proc, there are no processes to see.
"""

from __future__ import annotations

import os

# Nothing more is imported, not even `signal`: the reaper must start fast, and a fork of a server must stay small.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator

MARK = "PROCTOR_TRIAL"
_BETWEEN = "."
_RANDOM_BYTES = 8
_READ = 1 << 16
_SIGKILL, _SIGSTOP = 9, 19  # on Linux, and there is no /proc elsewhere


class Seen:
    """One process, as its `stat` file told: ids, and `started` in ticks since the system came up."""

    __slots__ = ("group", "parent", "session", "started", "state")

    def __init__(self, fields: list[str]) -> None:
        self.state = fields[0]
        self.parent, self.group, self.session = map(int, fields[1:4])
        self.started = int(fields[19])

    @property
    def has_ended(self) -> bool:
        """True for a zombie: it holds its process id, and does nothing."""
        return self.state in "ZX"


def seen(pid: int) -> Seen | None:
    """The process; None when there is none."""
    fields = stat_fields(pid)
    return Seen(fields) if fields else None


def stat_fields(pid: int) -> list[str]:
    """What stands in `stat` behind the program's name, which may hold anything; empty when there is none."""
    return _read(f"/proc/{pid}/stat").decode("latin-1").rpartition(")")[2].split()


def marks_of(pid: int) -> list[str]:
    """The marks in the environment that the process was started with; none for a zombie or a stranger."""
    chain = variable_of(pid, MARK)
    return chain.split(_BETWEEN) if chain else []


def variable_of(pid: int, name: str) -> str:
    """A variable in the environment that the process was started with; empty when it has none."""
    _, found, rest = (b"\0" + _read(f"/proc/{pid}/environ")).partition(f"\0{name}=".encode())
    return os.fsdecode(rest.partition(b"\0")[0]) if found else ""


def environment_of(pid: int) -> str:
    """The whole environment that a process was started with, separated by NUL."""
    return os.fsdecode(_read(f"/proc/{pid}/environ"))


def children_of(pid: int) -> list[int]:
    """The children of all threads of a process."""
    found: list[int] = []
    for thread in _listed(f"/proc/{pid}/task"):
        found += map(int, _read(f"/proc/{pid}/task/{thread}/children").split())
    return found


def adopted() -> list[int]:
    """The children of this process's main thread: those that it forked itself, and all that it has adopted."""
    own = os.getpid()
    return [int(word) for word in _read(f"/proc/{own}/task/{own}/children").split()]


def all_pids() -> list[int]:
    """Every process that can be seen."""
    return [int(name) for name in _listed("/proc") if name.isdigit()]


def owner_tag() -> str:
    """This process, so that nobody who gets its id later is taken for it: namespace, id and start, in 20 hex digits."""
    started = seen(os.getpid())
    ticks = started.started if started is not None else 0
    return f"{_namespace(os.getpid()):04x}{os.getpid():06x}{ticks & 0xFFFFFFFFFF:010x}"


def is_owner_gone(tag: str) -> bool:
    """True when the process of a tag has ended; False also where that cannot be told from here."""
    try:
        namespace, pid, ticks = int(tag[:4], 16), int(tag[4:10], 16), int(tag[10:], 16)
    except ValueError:
        return False
    if namespace != _namespace(os.getpid()):
        return False
    found = seen(pid)
    return found is None or found.has_ended or found.started & 0xFFFFFFFFFF != ticks


def owner_of(mark: str) -> str:
    """The tag of the proctor that made a mark."""
    return mark[2 * _RANDOM_BYTES :]


def place_of_mark() -> int:
    """Where this process's own environment holds the mark's value, as an address in memory; 0 when it does not."""
    fields = stat_fields(os.getpid())
    start = int(fields[47]) if len(fields) > 47 else 0
    before, found, _ = (b"\0" + _read(f"/proc/{os.getpid()}/environ")).partition(f"\0{MARK}=".encode())
    return start + len(before) + len(MARK) + 1 if found and start else 0


def take_mark(address: int, value: str) -> None:
    """Write a mark over that of the process that this one was forked from, which is as long.

    Others see in /proc the environment that a program began with, and a fork has that of its parent.
    """
    try:
        memory = os.open("/proc/self/mem", os.O_WRONLY)
    except OSError:
        return
    try:
        os.pwrite(memory, value.encode(), address)
    except OSError:
        return
    finally:
        os.close(memory)


class Marks:
    """Makes marks for what this process starts."""

    def __init__(self) -> None:
        self._chain = _BETWEEN.join([*marks_of(os.getpid()), ""])
        self._owner = owner_tag()

    def make(self) -> tuple[str, str]:
        """A new mark, and the whole value of the variable: what this process was itself started with goes first."""
        mark = os.urandom(_RANDOM_BYTES).hex() + self._owner
        return mark, self._chain + mark


def end_subtree(pid: int) -> None:
    """Kill a process and all its descendants. They are stopped first, so that none starts another meanwhile."""
    for found in list(_stopping(pid)):
        _send(found, _SIGKILL)


def _stopping(pid: int) -> Iterator[int]:
    waiting, known = [pid], {os.getpid()}
    while waiting:
        found = waiting.pop()
        if found not in known and _send(found, _SIGSTOP):
            yield found
            waiting += children_of(found)
        known.add(found)


def _send(pid: int, number: int) -> bool:
    try:
        os.kill(pid, number)
    except OSError:
        return False
    return True


def _namespace(pid: int) -> int:
    try:
        name = os.readlink(f"/proc/{pid}/ns/pid")  # noqa: PTH115
    except OSError:
        return 0
    number = name.rstrip("]").rpartition("[")[2]
    return int(number) & 0xFFFF if number.isdigit() else 0


def _listed(folder: str) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208
    except OSError:
        return []


def _read(path: str) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return b""
    content = b""
    try:
        while part := os.read(descriptor, _READ):
            content += part
    except OSError:
        return b""
    finally:
        os.close(descriptor)
    return content
