"""Going on with a group: only what is missing or says nothing about the agent, never a finished run."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time

import pytest

from tests.conftest import Project

GRADERS = "from proctor import Contains\ngraders = [Contains(any_of=['fine'])]"

FLAKY = """
from pathlib import Path

def main(text):
    tries = Path(text)
    with tries.open("a") as log:
        log.write("x")
    if len(tries.read_text()) < 2:
        raise RuntimeError("the first time it fails")
    return "fine"
"""


def flaky(project: Project) -> None:
    project.write("agent.py", FLAKY)
    for name in ("a", "b"):
        project.test(name, GRADERS, input=str(project.root / f"{name}.tries"))


def rows(project: Project) -> list[dict[str, object]]:
    return [json.loads(line) for line in (project.root / "group/attempts.jsonl").read_text().splitlines()]


def test_every_start_and_every_end_is_a_row(project: Project) -> None:
    """The end names the digest of the run's facts."""
    project.test("t", GRADERS)
    project.run()
    started, ended = rows(project)

    assert ("started", "t", 1) == (started["event"], started["run_dir"], started["attempt"])
    assert ("ended", "ok") == (ended["event"], ended["ending"])
    assert str(ended["facts"]).startswith("sha256:")


def test_a_finished_group_has_nothing_left_to_run(project: Project) -> None:
    """The plan is said first, and no byte changes."""
    project.test("t", GRADERS)
    project.run()
    before = {path: path.read_bytes() for path in (project.root / "group").rglob("*") if path.is_file()}
    said = project.run("agent.py", "--resume")

    assert 0 == said.code
    assert "resuming group: of 1 trial 1 finished; to run: missing 0" in said.err
    assert before == {
        path: path.read_bytes() for path in (project.root / "group").rglob("*") if path.is_file()
    }


def test_a_killed_run_goes_on_where_it_stopped(project: Project) -> None:
    """What is finished is left alone; what had started and never ended is run again; no manual step."""
    project.write(
        "agent.py", "import time\ndef main(text):\n    time.sleep(float(text))\n    return 'fine'\n"
    )
    for name, wait in (("a", "0"), ("b", "2"), ("c", "0")):
        project.test(name, GRADERS, input=wait)
    command = [sys.executable, "-m", "proctor", "run", "agent.py", "--suite", "suite", "--out", "group"]
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _wait_until((project.root / "group/a/run.json").exists)
    _wait_until(lambda: len(rows(project)) == 3)
    running.send_signal(signal.SIGKILL)
    running.wait()
    listed = project("list", "group", "--json").json["groups"][0]
    first = (project.root / "group/a/run.json").read_bytes()
    said = project.run("agent.py", "--resume")

    assert (3, 2) == (listed["planned"], listed["interrupted"])
    assert "of 3 trials 1 finished; to run: missing 2" in said.err
    assert 0 == said.code
    assert first == (project.root / "group/a/run.json").read_bytes()
    assert 1.0 == project.grade().json["mean"]
    assert not (project.root / "group/.staging").exists()


def test_an_interrupted_trial_is_run_again_beside_the_old_one(project: Project) -> None:
    """The later attempt counts, since the first says nothing about the agent."""
    project.test("t", GRADERS, input="fine")
    project.run()
    facts = project.root / "group/t/run.json"
    facts.write_text(facts.read_text().replace('"ending": "ok"', '"ending": "interrupted"'))
    said = project.run("agent.py", "--resume")
    group = project.grade().json["groups"][0]

    assert "to run: missing 0, interrupted 1" in said.err
    assert (["t--1.a2"], ["t"], 1) == (
        [run["run"] for run in group["runs"]],
        group["set_aside"],
        group["planned"],
    )
    assert 1.0 == group["mean"]


@pytest.mark.parametrize(("flags", "mean", "counts"), [([], 0.0, "a"), (["--supersede"], 1.0, "a--1.a2")])
def test_a_retry_stands_beside_the_first_attempt(
    project: Project, flags: list[str], mean: float, counts: str
) -> None:
    """It counts only when it was made to supersede; the report says how many were set aside."""
    flaky(project)
    project.run()
    said = project.run("agent.py", "--resume", "--retry", "error,timeout", *flags)
    group = project.grade().json["groups"][0]

    assert "of 2 trials 0 finished; to run: missing 0, error 2" in said.err
    assert (mean, counts, 2) == (group["mean"], group["runs"][0]["run"], len(group["set_aside"]))
    assert "2 further attempts set aside: " in project("grade", "group").out
    assert {"a", "a--1.a2", "b", "b--1.a2"} == {
        path.parent.name for path in project.root.glob("group/*/run.json")
    }


def test_an_error_is_finished_unless_a_retry_is_asked_for(project: Project) -> None:
    """An agent does not get a second try for nothing."""
    flaky(project)
    project.run()

    assert "2 finished; to run: missing 0" in project.run("agent.py", "--resume").err


def change_test(project: Project) -> None:
    project.test("t", GRADERS, input="other")


def change_agent(project: Project) -> None:
    project.write("agent.py", "def main(text):\n    return 'other'\n")


def add_test(project: Project) -> None:
    project.test("u", GRADERS)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (change_test, "test 't' has changed since the group was begun"),
        (change_agent, "the agent 'agent.py:main' has changed since the group was begun"),
        (add_test, "trial 1 of test 'u' is not in the group's plan"),
    ],
)
def test_another_suite_or_agent_is_refused(project: Project, change: object, said: str) -> None:
    """A group holds one thing; nothing is written."""
    project.test("t", GRADERS)
    project.run()
    change(project)  # pyright: ignore
    answer = project.run("agent.py", "--resume")

    assert 1 == answer.code
    assert said in answer.err


def test_how_many_run_at_once_is_no_part_of_what_a_trial_is(project: Project) -> None:
    """Neither is the time limit."""
    project.test("t", GRADERS)
    project.run()

    assert 0 == project.run("agent.py", "--resume", "-n", 4, "--timeout", 5).code


def test_resume_needs_a_group_that_is_there(project: Project) -> None:
    """A mistyped name makes no new group."""
    project.test("t", GRADERS)

    assert "there is no group 'group' to resume" in project.run("agent.py", "--resume").err
    assert "--retry and --supersede belong to --resume" in project.run("agent.py", "--retry", "error").err
    assert "an ending is one of error, timeout" in project.run("agent.py", "--resume", "--retry", "ok").err


def test_two_runs_never_write_into_one_group(project: Project) -> None:
    """The second is refused at once; the lock dies with its process."""
    project.write("agent.py", "import time\ndef main(text):\n    time.sleep(30)\n")
    project.test("t", GRADERS)
    command = [sys.executable, "-m", "proctor", "run", "agent.py", "--suite", "suite", "--out", "group"]
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _wait_until((project.root / "group/attempts.jsonl").exists)
    said = project.run("agent.py", "--resume")
    running.kill()
    running.wait()

    assert 1 == said.code
    assert "another process is writing into this group" in said.err


def _wait_until(condition: object, seconds: float = 20) -> None:
    until = time.monotonic() + seconds
    while not condition():  # pyright: ignore
        assert time.monotonic() < until
        time.sleep(0.02)
