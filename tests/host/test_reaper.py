"""What is left of a run, a grading, or an agent when proctor itself is killed with SIGKILL: nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
import time
import uuid
from pathlib import Path

import pytest

from proctor.host.reaper import Reaper

ESCAPEES = """
import os, subprocess, sys, time
def escape():
    subprocess.Popen(["sleep", "60"])
    subprocess.Popen(["sleep", "60"], start_new_session=True)
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.closerange(0, 256)
            time.sleep(60)
        os._exit(0)
    open("escaped", "w").close()
"""


def processes(token: str) -> dict[int, str]:
    """The living processes that have the token in their environment or arguments."""
    found = {}
    for process in Path("/proc").iterdir():
        if not process.name.isdigit() or int(process.name) == os.getpid():
            continue
        try:
            arguments = (process / "cmdline").read_bytes()
            said = arguments + (process / "environ").read_bytes()
            state = (process / "stat").read_text("latin-1").rpartition(")")[2].split()[0]
        except OSError:
            continue
        if token.encode() in said and state not in "ZX":
            found[int(process.name)] = arguments.replace(b"\0", b" ").decode()
    return found


def wait_until(claim, seconds: float = 20) -> bool:
    give_up = time.monotonic() + seconds
    while not claim():
        if time.monotonic() > give_up:
            return False
        time.sleep(0.02)
    return True


@pytest.fixture
def suite(tmp_path):
    folder = tmp_path / "suite" / "one"
    folder.mkdir(parents=True)
    (folder / "test.json").write_text(json.dumps({"input": "x", "goal": "y"}))
    return folder.parent


@pytest.fixture
def token() -> str:
    return f"reaper-{uuid.uuid4().hex}"


@pytest.fixture
def start(tmp_path, token):
    started = []

    def run(*words: str) -> subprocess.Popen[bytes]:
        with (tmp_path / "said").open("wb") as said:
            process = subprocess.Popen(
                [sys.executable, "-m", "proctor", *words],
                cwd=tmp_path,
                env={**os.environ, "T": token},
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
            )
        started.append(process)
        return process

    yield run
    for process in started:
        process.kill()
        process.wait()


def reapers() -> set[int]:
    found = set()
    for process in Path("/proc").iterdir():
        try:
            if (
                process.name.isdigit()
                and b"proctor.host.reaper_process" in (process / "cmdline").read_bytes()
            ):
                found.add(int(process.name))
        except OSError:
            continue
    return found


def arguments_of(pid: int) -> list[bytes]:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return []


def reaper_of(process: subprocess.Popen[bytes]) -> int:
    """The reaper that a proctor has started."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    return next(iter(reapers() & set(map(int, children))))


def has_escaped(tmp_path: Path) -> bool:
    return any(tmp_path.rglob("escaped"))


@pytest.mark.parametrize("kind", ["command", "function"])
def test_killed_proctor_leaves_nothing_of_its_agents(kind, tmp_path, suite, start, token):
    """After a SIGKILL of proctor the agent, its group, its escapees, its server and the reaper are gone."""
    (tmp_path / "agent.py").write_text(
        ESCAPEES
        + textwrap.dedent("""
            def main(text):
                escape()
                time.sleep(60)
            if __name__ == "__main__":
                main("")
        """)
    )
    agent = ["--agent-cmd", f"{sys.executable} agent.py"] if kind == "command" else ["agent.py:main"]
    proctor = start("run", *agent, "--suite", "suite", "-o", "group", "--work-root", str(tmp_path))

    assert wait_until(lambda: has_escaped(tmp_path)), (tmp_path / "said").read_text()
    reaper = reaper_of(proctor)
    proctor.kill()
    proctor.wait()

    assert wait_until(lambda: not processes(token), 5), processes(token)
    assert wait_until(lambda: reaper not in reapers(), 5)


def test_agent_that_kills_proctor(tmp_path, suite, start, token):
    """An agent may kill proctor, whose user it is: then it is ended too, with all that it started."""
    script = tmp_path / "agent.sh"
    script.write_text("setsid sleep 60 & sleep 0.1; kill -9 $PPID; sleep 60")
    proctor = start("run", "--agent-cmd", "sh agent.sh", "--suite", "suite", "-o", "group")

    assert -9 == proctor.wait(20)
    assert wait_until(lambda: not processes(token), 5), processes(token)


def test_killed_grading_leaves_nothing_of_its_workers(tmp_path, suite, start, token):
    """After a SIGKILL of a grading, its workers and what escaped from them are gone."""
    (suite / "one" / "test.json").write_text(json.dumps({"input": "x"}))
    mark = tmp_path / "escaped"
    (suite / "one" / "graders.py").write_text(
        ESCAPEES.replace('"escaped"', repr(str(mark)))
        + textwrap.dedent("""
            from proctor import grader
            @grader(timeout=60)
            def endless(output):
                escape()
                time.sleep(60)
            graders = [endless]
        """)
    )
    ran = start("run", "noop", "--suite", "suite", "-o", "group")

    assert 0 == ran.wait(30), (tmp_path / "said").read_text()
    grading = start("grade", "group")

    assert wait_until(mark.exists), (tmp_path / "said").read_text()
    grading.kill()
    grading.wait()

    assert wait_until(lambda: not processes(token), 5), processes(token)


def test_grader_that_is_ended_leaves_nothing(tmp_path, suite, start, token):
    """What escaped from a grader that was late is gone when the grading is, and what it held is not held."""
    (suite / "one" / "test.json").write_text(json.dumps({"input": "x"}))
    (suite / "one" / "graders.py").write_text(
        ESCAPEES
        + textwrap.dedent("""
            from proctor import grader
            @grader(timeout=0.5)
            def endless(output):
                escape()
                time.sleep(60)
            graders = [endless]
        """)
    )

    assert 0 == start("run", "noop", "--suite", "suite", "-o", "group").wait(30), (
        tmp_path / "said"
    ).read_text()
    grading = start("grade", "group")

    assert 3 == grading.wait(30), (tmp_path / "said").read_text()
    assert {} == processes(token)


def test_stopped_proctor_that_is_killed_leaves_nothing(tmp_path, suite, start, token):
    """A run that was killed with a reaper that got SIGTERM and SIGINT before is cleared away all the same."""
    proctor = start(
        "run",
        "--agent-cmd",
        "sh -c 'setsid sleep 60 & touch escaped; sleep 60'",
        "--suite",
        "suite",
        "-o",
        "group",
        "--work-root",
        str(tmp_path),
    )

    assert wait_until(lambda: has_escaped(tmp_path)), (tmp_path / "said").read_text()
    for number in (15, 2, 1):
        os.kill(reaper_of(proctor), number)
    proctor.send_signal(19)
    proctor.kill()
    proctor.wait()

    assert wait_until(lambda: not processes(token), 5), processes(token)


def test_normal_end_leaves_no_reaper(tmp_path, suite, start, token):
    """A run that ends by itself takes its reaper with it."""
    proctor = start("run", "noop", "--suite", "suite", "-o", "group")

    assert 0 == proctor.wait(30), (tmp_path / "said").read_text()
    assert {} == processes(token)
    assert [] == [pid for pid in reapers() if str(proctor.pid).encode() in arguments_of(pid)]


def test_reaper_that_does_not_listen_holds_nobody_up():
    """A reaper that is gone, or stopped with a full pipe, costs no more than one second, once."""
    gone = Reaper()
    os.kill(gone.pid, 9)
    os.waitid(os.P_PID, gone.pid, os.WEXITED | os.WNOWAIT)
    for _ in range(10):
        gone.begin("0" * 36)
    gone.close()
    stopped = Reaper()
    os.kill(stopped.pid, 19)
    started = time.monotonic()
    for _ in range(60_000):
        stopped.begin("0" * 36)
    stopped.close()

    assert time.monotonic() - started < 4


def test_reaper_imports_next_to_nothing():
    """It imports next to nothing: neither `signal` nor `enum` nor `contextlib`, which would double its start."""
    done = subprocess.run(
        [
            sys.executable,
            "-I",
            "-S",
            "-c",
            "import sys; sys.path.append(sys.argv[1]); import proctor.host.reaper_process; print(*sys.modules)",
            "src",
        ],
        capture_output=True,
        text=True,
        check=True,
    )

    assert set() == {"signal", "enum", "contextlib", "re", "typing", "threading"} & set(done.stdout.split())
