"""Whose an orphan is, and who is never touched."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from proctor.host import procfs
from proctor.host.child import start_command, supervise
from proctor.host.escapees import HOUSEHOLD
from proctor.records.run import Limits

LIMITS = Limits(timeout_s=20, grace_s=0.3)


def start(folder: Path, script: str):
    folder.mkdir(exist_ok=True)
    return start_command(
        ["/bin/sh", "-c", script],
        cwd=folder,
        env={"PATH": os.environ["PATH"]},
        stdout=folder / "stdout",
        stderr=folder / "stderr",
    )


def is_alive(pid: int) -> bool:
    process = procfs.seen(pid)
    return process is not None and not process.has_ended


def written(path: Path) -> int:
    give_up = time.monotonic() + 10
    while time.monotonic() < give_up:
        if path.exists() and path.read_text().strip():
            return int(path.read_text())
        time.sleep(0.01)
    raise AssertionError(path)


def test_daemon_lives_as_long_as_its_own_trial(tmp_path):
    """The end of one trial ends its own daemon, and not that of another that still runs."""
    daemon = "setsid sh -c 'echo $$ > daemon; sleep 60' & "
    longer = start(tmp_path / "longer", daemon + "sleep 60")
    other = written(tmp_path / "longer" / "daemon")
    shorter = start(tmp_path / "shorter", daemon + "sleep 0.3")
    supervise(shorter, LIMITS)

    assert [False, True] == [is_alive(written(tmp_path / "shorter" / "daemon")), is_alive(other)]
    supervise(longer, Limits(timeout_s=0.1, grace_s=0.1))

    assert not is_alive(other)


def test_wiped_environment_is_ended_when_no_trial_runs(tmp_path):
    """A process that nobody can tell whose it is lives until the last trial ends, and no longer."""
    longer = start(tmp_path / "longer", "sleep 60")
    wiped = "env -i setsid sh -c 'echo $$ > daemon; sleep 60' & sleep 0.3"
    supervise(start(tmp_path / "shorter", wiped), LIMITS)
    daemon = written(tmp_path / "shorter" / "daemon")

    assert is_alive(daemon)
    supervise(longer, Limits(timeout_s=0.1, grace_s=0.1))

    assert not is_alive(daemon)


@pytest.mark.parametrize("own_session", [True, False])
def test_processes_of_the_host_program_are_spared(tmp_path, own_session):
    """What somebody else in this Python has started with `subprocess` is neither ended nor reaped."""
    living = subprocess.Popen(["sleep", "60"], start_new_session=own_session, env={})
    ended = subprocess.Popen(["sh", "-c", "exit 7"], start_new_session=own_session, env={})
    try:
        os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
        supervise(start(tmp_path / "one", "setsid sleep 60 & sleep 0.2"), LIMITS)

        assert (None, 7) == (living.poll(), ended.wait())
    finally:
        living.kill()
        living.wait()


def test_zombies_do_not_pile_up(tmp_path):
    """Orphans that end by themselves are reaped, of whatever session they were."""
    others = set(procfs.adopted())
    for number in range(3):
        supervise(
            start(tmp_path / str(number), "setsid true & setsid setsid true & true & sleep 0.1"), LIMITS
        )
    zombies = [pid for pid in procfs.adopted() if pid not in others and not is_alive(pid)]

    assert [] == zombies


def test_many_trials_at_once_end_only_their_own(tmp_path):
    """Of sixteen trials at once with daemons, each ends as it would alone, and nothing is left."""
    codes: dict[int, int | None] = {}
    daemon = "setsid sh -c 'echo $$ > daemon; sleep 60' & sleep 0.2; exit "

    def one(number: int) -> None:
        codes[number] = supervise(start(tmp_path / str(number), f"{daemon}{number}"), LIMITS).code

    threads = [threading.Thread(target=one, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert {number: number for number in range(16)} == codes
    assert [] == [n for n in range(16) if is_alive(written(tmp_path / str(n) / "daemon"))]


def test_nested_proctor_is_ended_by_the_outer_one(tmp_path):
    """What a proctor started that was itself an agent goes with the outer trial, also when it is killed."""
    inner = (
        "import os, sys, time; from pathlib import Path\n"
        "from proctor.host.child import start_command\n"
        "here = Path.cwd()\n"
        "start_command(['/bin/sh', '-c', 'echo $$ > inner; sleep 60'], cwd=here, env={'PATH': os.environ['PATH']},"
        " stdout=here / 'o', stderr=here / 'e')\n"
        "time.sleep(0.5); os.kill(os.getpid(), 9)\n"
    )
    (tmp_path / "inner.py").write_text(inner)
    child = start_command(
        [sys.executable, str(tmp_path / "inner.py")],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"]},
        stdout=tmp_path / "stdout",
        stderr=tmp_path / "stderr",
    )
    ended = supervise(child, LIMITS)

    assert "SIGKILL" == ended.signal
    assert not is_alive(written(tmp_path / "inner"))


def test_start_that_fails_is_forgotten(tmp_path):
    """A program that cannot be started leaves no trial behind that others would wait for."""
    with pytest.raises(FileNotFoundError):
        start_command(["/none"], cwd=tmp_path, env={}, stdout=tmp_path / "o", stderr=tmp_path / "e")

    assert set() == HOUSEHOLD._trials


def test_tag_says_who_it_was():
    """The tag of a living process is not that of one that is gone, and another's namespace tells nothing."""
    own = procfs.owner_tag()
    gone = own[:4] + f"{2**22 - 3:06x}" + own[10:]
    other_start = own[:10] + f"{1:010x}"
    other_space = f"{int(own[:4], 16) ^ 1:04x}" + gone[4:]

    assert [False, True, True, False, False] == [
        procfs.is_owner_gone(tag) for tag in (own, gone, other_start, other_space, "nonsense")
    ]


def test_cost_of_a_trial_is_small(tmp_path):
    """To find that nothing escaped takes far less than a millisecond."""
    spent = []
    for _ in range(200):
        started = time.perf_counter()
        entry = HOUSEHOLD.begin()
        HOUSEHOLD.own(entry, 1)
        HOUSEHOLD.sweep(entry)
        HOUSEHOLD.disown(entry)
        spent.append(time.perf_counter() - started)

    assert sorted(spent)[20] < 0.000_15
