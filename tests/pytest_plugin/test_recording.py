"""What pytest ran is recorded as `proctor run` would have recorded it, whatever becomes of the session."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from proctor import evaluation
from proctor.pytesting.open_group import Asked, OpenGroup, Place
from tests.conftest import Project
from tests.pytest_plugin.conftest import Pytest, summary_of

SLEEPY = """
import time
from pathlib import Path

def main(text):
    if text == "Where?":
        Path(__file__).with_name("started").touch()
        time.sleep(120)
    return "1879"

def quick(text):
    return "1879"
"""


def numbers(group: Path | str) -> list[Any]:
    """What the report of a group says, without what no two runs share: the place, and how long things took."""
    said: dict[str, Any] = msgspec.to_builtins(evaluation.report(group))
    for one in said["groups"]:
        one["path"] = ""
        for run in one["runs"]:
            run["duration_s"] = 0
    return said["groups"]


def test_with_and_without_workers_the_report_is_that_of_proctor_run(typed: Pytest, project: Project) -> None:
    """One group, the same tests, the same figures; nothing in it is out of order, and nothing is left in staging."""
    project("run", "agent.py", "--suite", "evals/facts", "--out", "plain", "--trials", 2, "--grade")
    alone = typed.on("--proctor-trials", 2, "--tb=no", out="alone")
    workers = typed.on("--proctor-trials", 2, "--tb=no", "-p", "xdist", "-n", 2, out="workers")

    assert numbers("plain") == numbers("alone") == numbers("workers")
    assert summary_of(alone) == summary_of(workers)
    for group in ("alone", "workers"):
        verified = project("verify", group)
        assert 0 == verified.code, verified
        assert not (typed.root / group / ".staging").exists()
        listed = project("list", group).out.splitlines()
        assert (
            next(line for line in listed if line.startswith("mean "))
            in (alone.out + workers.out).splitlines()
        )


@pytest.mark.parametrize("workers", [(), ("-p", "xdist", "-n", "2")], ids=["alone", "workers"])
def test_an_interruption_keeps_what_has_ended_and_proctor_run_goes_on(
    typed: Pytest, project: Project, workers: tuple[str, ...]
) -> None:
    """Ctrl-C ends the running trial, which is recorded as interrupted; `proctor run --resume` makes what is missing."""
    project.write("agent.py", SLEEPY)
    words = ("--proctor", "evals/facts", "--proctor-agent", "agent.py", "--proctor-out", "out", *workers)
    # A group of its own, as a terminal has it: Ctrl-C reaches pytest and its workers alike.
    process = subprocess.Popen(
        typed.command(*words),
        cwd=typed.root,
        env=typed.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        process_group=0,
    )
    with process:
        _wait_for(typed.root / "started")
        _wait_for(typed.root / "out" / "birthday" / "annotations.jsonl")
        time.sleep(0.2)  # the interruption comes while pytest waits for the trial
        process.send_signal(signal.SIGINT) if not workers else _interrupt_all(process)
        out = process.communicate(timeout=120)[0]

    assert 2 == process.returncode, out
    assert "runs: out" in out.splitlines()
    endings = {run.test: run.ending.value for run in evaluation.report("out").runs}
    assert ("ok", "interrupted") == (endings["birthday"], endings["birthplace"])
    project.write("agent.py", SLEEPY.replace("120", "0"))
    changed = project("run", "agent.py", "--suite", "evals/facts", "--out", "out", "--resume")
    assert "has changed since the group was begun" in changed.err
    project.write("agent.py", SLEEPY)
    resumed = project(
        "run", "agent.py", "--suite", "evals/facts", "--out", "out", "--resume", "--timeout", "2"
    )
    assert "missing" in resumed.err
    assert {"birthday", "joke", "wife"} <= {
        run.test for run in evaluation.report("out").runs if run.ending == "ok"
    }


def test_a_worker_that_is_killed_takes_nothing_with_it(typed: Pytest, project: Project) -> None:
    """pytest-xdist starts another one, which writes into the same group."""
    project.write(
        "test_kill.py", "import os, signal\ndef test_kill(): os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    said = typed.on("-p", "xdist", "-n", 2, "--tb=no", "test_kill.py", "evals/facts", agent="agent.py:right")

    assert 1 == said.code
    assert "worker 'gw" in said.out
    assert ["FAILED test_kill.py::test_kill", "INCONCLUSIVE evals/facts::joke"] == summary_of(said)
    ended = {run.test: run.outcome.value for run in evaluation.report("out").runs}
    assert {"birthday": "pass", "birthplace": "pass", "joke": "inconclusive", "wife": "pass"} == ended
    assert 0 == project("verify", "out").code


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (
            ("--proctor", "nowhere", "--proctor-agent", "agent.py"),
            "nowhere  There is no such file or folder.",
        ),
        (("--proctor", "evals/facts"), "no agent is named"),
        (("--proctor", "--proctor-agent", "agent.py"), "no suite is named"),
        (
            ("--proctor", "evals/facts", "--proctor-agent", "agent.py:nobody"),
            "agent.py has no function 'nobody'",
        ),
        (
            (
                "--proctor",
                "evals/facts",
                "--proctor-agent",
                "agent.py:nobody",
                "-p",
                "xdist",
                "-n",
                "1",
            ),
            "agent.py has no function 'nobody'",
        ),
        (
            ("--proctor", "evals/facts", "--proctor-agent", "agent.py", "evals/facts::birthdya"),
            "Did you mean 'birthday'?",
        ),
        (
            ("--proctor", "evals/facts", "--proctor-agent", "agent.py", "--proctor-trials", "0"),
            "--proctor-trials is '0'",
        ),
        (
            ("--proctor", "evals/facts", "--proctor-agent", "agent.py", "--proctor-min-pass-rate", "80"),
            "--proctor-min-pass-rate is '80'",
        ),
        (
            ("--proctor", "evals/facts", "--proctor-agent", "agent.py", "--proctor-out", "full"),
            "already holds runs",
        ),
    ],
)
def test_mistakes_are_told_before_anything_runs(
    typed: Pytest, project: Project, words: tuple[str, ...], what: str
) -> None:
    """They are usage errors of pytest: what is the case, where, what to do, and no traceback."""
    project.write("full/birthday/run.json", {})
    said = typed(*words, "-q")

    assert 4 == said.code
    assert what in said.err
    assert "Traceback" not in said.err + said.out
    assert not (typed.root / "runs").exists()


def test_a_broken_grader_is_told_before_anything_runs(typed: Pytest, project: Project) -> None:
    """Its module is loaded first, as `proctor run --grade` does."""
    project.write("evals/facts/joke/graders.py", "from proctor import Nothing\n")
    said = typed.on("-q")

    assert 4 == said.code
    assert "graders.py" in said.err
    assert not (typed.root / "out").exists()


def test_asked_again_a_trial_that_says_something_is_not_made_again(typed: Pytest, project: Project) -> None:
    """Plugins that repeat failed tests get the answer that there is; retrying until it passes proves nothing."""
    asked = Asked(suite=evaluation.load_suite("evals/facts"), agent=evaluation.pick_agent("agent.py"))
    place = Place(path=Path("out").absolute(), group="0" * 32, created_at="2026-01-01", writer="main")
    group = OpenGroup(asked, place)
    try:
        first, second = group.evaluate("birthplace"), group.evaluate("birthplace")
    finally:
        group.close()

    assert first.runs == second.runs
    assert ["birthplace"] == [path.parent.name for path in Path("out").glob("*/run.json")]


def _interrupt_all(process: subprocess.Popen[str]) -> None:
    """What a terminal does on Ctrl-C."""
    import os

    os.killpg(process.pid, signal.SIGINT)


def _wait_for(path: Path) -> None:
    deadline = time.monotonic() + 120
    while not path.exists():
        assert time.monotonic() < deadline, path
        time.sleep(0.05)
