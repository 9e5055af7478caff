"""Limits that the system itself holds an agent to: commands and forked functions, with and without a sandbox."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from proctor.agents.command import CommandAgent
from proctor.agents.function import FunctionAgent
from proctor.errors import UsageError
from proctor.host import cgroups
from proctor.host.bounds import Bounds, BoundsPlan, plan_bounds
from proctor.host.cancel import Cancel
from proctor.host.cgroups import ControlGroup, left_groups, remove_group, trees_for
from proctor.host.isolation import isolate
from proctor.host.premises import Premises
from proctor.host.sandbox import OVERHEAD
from proctor.ports import Launch
from proctor.records.run import Attempt, Ending, Limits
from proctor.records.suite import Test

from .sandboxes import sandbox

MIB = 1 << 20
TEST = Test(id="t")
AGENT = """
import os, time

def takes_memory(): return len(bytearray(300 << 20))

def takes_memory_in_a_child():
    pid = os.fork()
    if pid == 0:
        bytearray(300 << 20); os._exit(0)
    return os.waitpid(pid, 0)[1]

def two_halves():
    pids = []
    for _ in range(2):
        pid = os.fork()
        if pid == 0:
            kept = bytearray(70 << 20); time.sleep(1); os._exit(0)
        pids.append(pid)
    return sorted(os.waitpid(pid, 0)[1] for pid in pids)

def forks():
    started = 0
    try:
        for _ in range(40):
            if os.fork() == 0:
                time.sleep(5); os._exit(0)
            started += 1
    except OSError as error:
        return [started, error.strerror]
    return started

def spins():
    while True: pass

def writes():
    with open("large", "wb") as file: file.write(bytes(3 << 20))
    return "written"

def small(): return "done"
"""

has_memory_groups = any("memory" in tree.controllers for tree in trees_for(["memory"]))
has_process_groups = any("pids" in tree.controllers for tree in trees_for(["pids"]))
needs_memory_groups = pytest.mark.skipif(
    not has_memory_groups, reason="no control group for memory can be made here"
)
needs_process_groups = pytest.mark.skipif(
    not has_process_groups, reason="no control group for processes can be made here"
)


@pytest.fixture(params=["function", "command", "function in the sandbox", "command in the sandbox"])
def trial(request, tmp_path):
    """Runs one of the functions above with limits: forked, or as a command."""
    tmp_path.chmod(0o755)
    (tmp_path / "agent.py").write_text(AGENT)
    is_confined = "sandbox" in request.param

    def run(name: str, **given) -> Attempt:
        limits = Limits(timeout_s=20, grace_s=0.5, **given)
        theirs = {"PATH": os.environ["PATH"], "HOME": str(tmp_path / "home")}
        bounds = plan_bounds(limits, is_confined=is_confined, overhead=OVERHEAD if is_confined else 0)
        enclosure = sandbox(tmp_path) if is_confined else None
        with Premises(
            isolated=isolate(theirs), work_root=tmp_path, enclosure=enclosure, bounds=bounds
        ) as ours:
            if request.param.startswith("function"):
                agent = FunctionAgent(f"agent.py:{name}", launch_dir=tmp_path)
            else:
                code = f"import sys; sys.path.insert(0, '{tmp_path}'); import agent; print(agent.{name}())"
                agent = CommandAgent(f'{sys.executable} -c "{code}"', launch_dir=tmp_path)
            agent.prepare([TEST], ours.surroundings)
            place = ours.place(TEST, limits)
            try:
                return place.settle(agent.attempt(TEST, place, limits, Cancel()))
            finally:
                place.remove()
                agent.close()

    yield run
    own = f"proctor-{cgroups.procfs.owner_tag()}"
    assert [] == [folder for tree in trees_for(["memory", "pids"]) for folder in tree.folder.glob(f"{own}*")]


@needs_memory_groups
def test_one_that_uses_up_its_memory_is_killed_and_told_of_its_limit(trial):
    attempt = trial("takes_memory", memory_bytes=100 * MIB)

    assert (Ending.KILLED, "SIGKILL") == (attempt.ending, attempt.signal)
    assert attempt.defect is not None
    assert ("memory-limit", "The system ended it because it used up its memory, 100 MiB.") == (
        attempt.defect.type,
        attempt.defect.message,
    )
    assert attempt.usage is not None
    assert 90 * MIB < (attempt.usage.memory_bytes or 0) <= 100 * MIB


@needs_memory_groups
def test_memory_is_that_of_all_processes_together(trial):
    """Two that use 70 MiB each have no room in 100, and the peak says what they used."""
    short, enough = trial("two_halves", memory_bytes=110 * MIB), trial("two_halves", memory_bytes=400 * MIB)

    assert "9" in str(short.output)
    assert "[0, 0]" == str(enough.output), enough.defect
    assert enough.usage is not None
    assert 140 * MIB < (enough.usage.memory_bytes or 0) < 250 * MIB


@needs_memory_groups
def test_a_child_that_used_up_the_memory_is_noted(trial):
    """The agent went on without it, and ends by itself."""
    attempt = trial("takes_memory_in_a_child", memory_bytes=100 * MIB)

    assert (Ending.OK, "9") == (attempt.ending, str(attempt.output)), attempt.defect
    assert (
        "A process of it was ended by the system because the memory of 100 MiB was used up.",
    ) == attempt.notes


@needs_process_groups
def test_the_number_of_processes_is_held(trial):
    """It counts itself; what the sandbox needs is not counted."""
    attempt = trial("forks", processes=20)

    assert "[19, 'Resource temporarily unavailable']" == str(attempt.output), attempt.defect
    assert ("It could not start some of its processes: it may have 20 at a time.",) == attempt.notes


def test_one_that_uses_up_its_processor_time_is_killed_and_told_of_its_limit(trial):
    attempt = trial("spins", cpu_s=1)

    assert Ending.KILLED is attempt.ending
    assert attempt.defect is not None
    assert ("cpu-limit", "The system ended it because it used up its processor time, 1 s.") == (
        attempt.defect.type,
        attempt.defect.message,
    )


def test_a_file_grows_to_its_limit_and_no_further(trial):
    attempt = trial("writes", file_bytes=MIB)

    assert Ending.ERROR is attempt.ending
    assert "File too large" in str(attempt.defect)


def test_what_it_used_is_told_without_any_limit(trial):
    """The memory of its largest process, and the processor time of all."""
    attempt = trial("small")

    assert "done" == attempt.output, attempt.defect
    assert attempt.usage is not None
    assert (attempt.usage.memory_bytes or 0) > MIB
    assert attempt.usage.cpu_s is not None
    assert attempt.usage.processes is None


def test_limits_are_in_force_before_the_first_instruction(trial, tmp_path):
    """A program reads its own limits, and the group that it is in, as the first thing it does."""
    with (tmp_path / "agent.py").open("a") as file:
        file.write(
            "import resource\nFIRST = [resource.getrlimit(resource.RLIMIT_FSIZE)[0], resource.getrlimit(resource.RLIMIT_CPU)[0]]\n"
            "def first(): return [resource.getrlimit(resource.RLIMIT_FSIZE)[0], resource.getrlimit(resource.RLIMIT_CPU)[0]]\n"
        )
    attempt = trial("first", file_bytes=MIB, cpu_s=7)

    assert f"[{MIB}, 7]" == str(attempt.output), attempt.defect


@needs_memory_groups
def test_a_limit_that_cannot_be_put_on_is_not_the_agents_fault(tmp_path):
    """Its group is gone before it starts, so that the agent never begins; an exit code of 125 of its own stays its own."""
    limits = Limits(timeout_s=20, memory_bytes=100 * MIB)
    bounds = plan_bounds(limits, is_confined=False).bounds(limits)
    for door in bounds.around(Launch(argv=("true",), environment={}, cwd=tmp_path)).argv[4:-1]:
        Path(door).parent.rmdir()
    launch = bounds.around(Launch(argv=("true",), environment={}, cwd=tmp_path))
    code = subprocess.run(launch.argv, check=False, capture_output=True).returncode
    settled = bounds.settle(Attempt(ending=Ending.ERROR, exit_code=code))

    assert (125, Ending.HARNESS_FAILURE) == (code, settled.ending)
    assert Ending.ERROR is Bounds(limits).settle(Attempt(ending=Ending.ERROR, exit_code=125)).ending


def test_a_trial_without_limits_is_started_as_it_is(tmp_path):
    """No shell and no group stand between."""
    launch = Launch(argv=("/bin/true",), environment={}, cwd=tmp_path)

    assert launch == Bounds(Limits()).around(launch)
    assert BoundsPlan() == plan_bounds(Limits(), is_confined=False)
    assert Bounds(Limits()).told is None


def test_without_a_group_the_memory_of_each_process_is_held(tmp_path):
    """By the system's own limit on data, which a process meets as a failed allocation."""
    (tmp_path / "agent.py").write_text(AGENT)
    limits = Limits(timeout_s=20, memory_bytes=100 * MIB)
    agent = FunctionAgent("agent.py:takes_memory", launch_dir=tmp_path)
    with Premises(isolated=isolate({}), work_root=tmp_path, bounds=BoundsPlan()) as ours:
        agent.prepare([TEST], ours.surroundings)
        attempt = agent.attempt(TEST, ours.place(TEST, limits), limits, Cancel())
        agent.close()

    assert Ending.ERROR is attempt.ending
    assert "MemoryError" == (attempt.defect.type if attempt.defect else "")


def test_a_number_of_processes_that_nobody_can_hold_is_refused(monkeypatch):
    """Where no group can be made, and no sandbox counts: said before the first trial, not found out later."""
    monkeypatch.setattr(cgroups, "_mounts", list)
    cgroups._usable.cache_clear()
    try:
        with pytest.raises(UsageError, match="cannot be limited here") as refused:
            plan_bounds(Limits(processes=5), is_confined=False)
        assert not plan_bounds(Limits(processes=5), is_confined=True).is_counted
    finally:
        cgroups._usable.cache_clear()

    assert "--sandbox bwrap" in refused.value.fix


@needs_process_groups
def test_a_group_ends_what_is_in_it_when_it_is_removed():
    """Also processes that left their session and have nothing of their parents."""
    group = ControlGroup(trees_for(["pids"]))
    door = group.doors[0]
    pid = os.fork()
    if pid == 0:
        Path(door).write_text("0")
        os.execv("/bin/sh", ["sh", "-c", "setsid env -i sleep 61.3 & exec setsid env -i sleep 61.3"])
    assert _waits_until(lambda: len(Path(door).read_text().split()) == 2)
    group.remove()
    os.waitpid(pid, 0)

    assert not Path(door).parent.exists()
    assert not _sleepers()


@needs_process_groups
def test_a_group_of_a_killed_proctor_is_found_and_removed():
    """Its name says whose it was; one of a living proctor is left alone."""
    tree = trees_for(["pids"])[0]
    gone = tree.folder / f"proctor-{cgroups.procfs.owner_tag()[:4]}3fffff0000000001-0123456789ab"
    gone.mkdir()
    own = ControlGroup([tree])
    try:
        assert gone in left_groups()
        assert Path(own.doors[0]).parent not in left_groups()
        assert remove_group(gone)
        assert not gone.exists()
    finally:
        remove_group(gone)
        own.remove()


def _sleepers() -> list[str]:
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if file.read_bytes() == b"sleep\x0061.3\0":
                found.append(str(file))
        except OSError:
            continue
    return found


def _waits_until(is_so) -> bool:
    give_up = time.monotonic() + 10
    while time.monotonic() < give_up:
        if is_so():
            return True
        time.sleep(0.02)
    return False
