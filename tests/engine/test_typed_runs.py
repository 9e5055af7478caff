"""Typed suites from the file to the report: cases, hosts, exit codes, evidence, and whose failure it was."""

from __future__ import annotations

import json
import shutil
from typing import Any

import pytest

from tests.conftest import Project

SUITE = """
from helpers import HOSTS
from proctor import ExactMatch, grader
from proctor.eval import case, define_eval_suite, expect_exit_code, expect_file, expect_tool_call, explicit

suite = define_eval_suite(
    name="service",
    cases=[
        case(
            id="repair",
            prompt="3",
            fixture={"path": "files", "git": True},
            hosts=HOSTS,
            assertions=[expect_exit_code(3), expect_file("config.json", contains="port")],
        ),
        case(
            id="ask",
            prompt="0",
            hosts={**HOSTS, "pi": {"model": "m-3"}},
            invocation=explicit("notes"),
            assertions=[expect_exit_code(0), ExactMatch(name="answer"), grader(lambda output: len(output), name="short")],
            expected="done",
            trials=2,
        ),
    ],
)
"""

AGENT = "#!/bin/sh\nprintf done\nexit $1\n"


@pytest.fixture
def typed(project: Project) -> Project:
    """A project with a typed suite below `evals/`, and a command as agent."""
    project.write("evals/service_eval.py", SUITE)
    project.write("evals/helpers.py", "HOSTS = {'claude': {'model': 'm-1'}, 'codex': {'model': 'm-2'}}")
    project.write("evals/files/config.json", '{"port": 1}')
    project.write("agent.sh", AGENT).chmod(0o755)
    return project


def reports(project: Project, *words: object) -> dict[str, Any]:
    said = project("grade", "group", "--json", *words)
    return {run["run"]: run for run in said.json["groups"][0]["runs"]}


def run(project: Project, *words: object, agent: str = "./agent.sh {input}") -> Any:
    return project("run", "--agent-cmd", agent, "--out", "group", *words)


def test_a_typed_suite_is_found_run_and_graded(typed: Project) -> None:
    """Without being named; prompt, fixture, trials and assertions are those of its cases."""
    said = run(typed)
    assert 0 == said.code, said.err
    runs = reports(typed)

    assert ["ask--1", "ask--2", "repair"] == sorted(runs)
    assert {"exit-code 3": "pass", "file config.json": "pass"} == {
        grade["grader"]: grade["outcome"] for grade in runs["repair"]["grades"]
    }
    assert ["exit-code 0", "answer", "short"] == [grade["grader"] for grade in runs["ask--1"]["grades"]]
    facts = json.loads((typed.root / "group/repair/run.json").read_text())
    assert ("service", "repair", 3) == (facts["suite"]["name"], facts["test"]["case"], facts["exit_code"])
    assert {"claude": {"model": "m-1"}, "codex": {"model": "m-2"}} == facts["test"]["hosts"]
    assert 2 == len(facts["test"]["assertions"])


def test_an_expected_exit_code_is_a_good_end_and_another_is_none(typed: Project) -> None:
    """It fails the agent, its row says so, and nothing else is asked of the run."""
    run(typed, "--test", "repair", agent="./agent.sh 4")
    report = reports(typed)["repair"]
    rows = [
        json.loads(line) for line in (typed.root / "group/repair/annotations.jsonl").read_text().splitlines()
    ]

    assert ("error", "fail", 0.0) == (report["ending"], report["outcome"], report["objective"])
    assert {"owner": "agent", "code": "EVAL_PLUGIN_PROCESS_FAILED"} == report["failure"]
    assert [("exit-code 3", "fail", "the exit code is 4, and 3 is expected")] == [
        (row["name"], row["outcome"], row["feedback"]) for row in rows
    ]


def test_the_run_grades_when_the_suite_is_gone(typed: Project) -> None:
    """The suite's file and what it imports are its graders' code, and are stored with the run."""
    run(typed)
    shutil.rmtree(typed.root / "evals")

    assert {"pass"} == {grade["outcome"] for grade in reports(typed)["repair"]["grades"]}


def test_editing_an_expectation_is_another_grader_and_another_test(typed: Project) -> None:
    """Digests of case and of graders tell; an old run keeps what it had, and --suite grades it with today's."""
    run(typed)
    before = json.loads((typed.root / "group/repair/run.json").read_text())
    typed.write("evals/service_eval.py", SUITE.replace('contains="port"', 'contains="host"'))
    assert "pass" == reports(typed)["repair"]["outcome"]
    assert "fail" == reports(typed, "--suite", "evals/service_eval.py")["repair"]["outcome"]
    shutil.rmtree(typed.root / "group")
    run(typed)
    after = json.loads((typed.root / "group/repair/run.json").read_text())

    assert before["graders"]["digest"] != after["graders"]["digest"]
    assert before["test_digest"] != after["test_digest"]
    assert before["fixture_digest"] == after["fixture_digest"]


def test_a_case_is_found_again_whatever_it_is_loaded_with(typed: Project) -> None:
    """Alone it is `repair`; beside another suite with that id it is `service.repair`, and the same case."""
    run(typed, "--test", "repair")
    other = SUITE.replace('name="service"', 'name="other"').replace('contains="port"', 'contains="host"')
    typed.write("evals/other_eval.py", other)

    assert "pass" == reports(typed, "--suite", "evals")["repair"]["outcome"]
    assert "inconclusive" == reports(typed, "--suite", "evals/other_eval.py")["repair"]["outcome"]


def test_a_host_is_given_its_own_cases(typed: Project) -> None:
    """One that no case lists has none, which is said before it is looked for."""
    typed.write(
        "evals/service_eval.py",
        SUITE.replace("hosts={**HOSTS, ", "hosts={").replace("hosts=HOSTS", 'hosts={"pi": {"model": "m"}}'),
    )
    said = typed("run", "claude", "--out", "group")

    assert 1 == said.code
    assert "EVAL_SELECTION_EMPTY  no test is for the host 'claude'" in said.err
    assert "The tests that are selected are for: pi." in said.err


def test_the_list_of_tests_shows_hosts_and_skills(typed: Project) -> None:
    """As they are pinned."""
    said = typed("tests", "evals/service_eval.py")

    assert (
        "repair\n  claude (m-1), codex (m-2)\n"
        "ask\n  claude (m-1), codex (m-2), pi (m-3)  skill notes\n2 tests\n"
    ) == said.out


def test_where_typed_suites_are_looked_for_is_a_setting(typed: Project) -> None:
    """Globs relative to the settings' file, which may not leave its folder."""
    (typed.root / "evals").rename(typed.root / "quality")
    typed.write("proctor.toml", 'evals = ["quality/*_eval.py"]\n')
    assert "2 tests" in typed("tests").out
    typed.write("proctor.toml", 'evals = ["../*_eval.py"]\n')
    said = typed("tests")

    assert (1, True) == (said.code, "EVAL_CONFIG_INVALID  `evals` holds '../*_eval.py'" in said.err)


@pytest.mark.parametrize(
    ("agent", "assertion", "outcome", "failure"),
    [
        ("./agent.sh 0", "expect_file('a', exists=False)", "pass", None),
        ("./agent.sh 0", "expect_file('a')", "fail", ("agent", "EVAL_PLUGIN_ASSERTION_FAILED", None)),
        ("./agent.sh 1", "expect_file('a')", "fail", ("agent", "EVAL_PLUGIN_PROCESS_FAILED", None)),
        ("sleep 20", "expect_file('a')", "fail", ("agent", "EVAL_PLUGIN_TIMED_OUT", None)),
        (
            "./agent.sh 0",
            "expect_outcome('broken.py')",
            "inconclusive",
            ("harness", "EVAL_GRADER_FAILED", "grader"),
        ),
        ("./agent.sh 0", "expect_tool_call('search')", "inconclusive", None),
    ],
)
def test_a_trial_has_one_failure_or_none(
    project: Project, agent: str, assertion: str, outcome: str, failure: tuple[str, str, str | None] | None
) -> None:
    """The agent's or the harness's, never both; too little evidence is neither."""
    project.write("agent.sh", AGENT).chmod(0o755)
    project.write("evals/broken.py", "def grade(context): raise RuntimeError")
    project.write(
        "evals/a_eval.py",
        "from proctor.eval import *\n"
        "suite = define_eval_suite(name='a', cases=[case(id='c', prompt='p', hosts={'pi': {'model': 'm'}}, "
        f"timeout=2, assertions=[{assertion}])])",
    )
    run(project, agent=agent)
    report = reports(project)["c"]
    told = report.get("failure")

    assert outcome == report["outcome"]
    assert failure == (told and (told["owner"], told["code"], told.get("stage")))


def test_a_fixture_that_is_gone_is_a_harness_failure_and_enters_no_rate(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Inconclusive, with code and stage."""
    project.write("evals/files/a", "1")
    project.write(
        "evals/a_eval.py",
        "from proctor.eval import *\n"
        "suite = define_eval_suite(name='a', cases=[case(id=one, prompt='p', fixture='files', "
        "hosts={'pi': {'model': 'm'}}, assertions=[expect_file('a')]) for one in ('c', 'd')])",
    )
    project.write(
        "agent.py",
        "import shutil, os\ndef main(text):\n    shutil.rmtree(os.environ['EVALS_FILES'], ignore_errors=True)",
    )
    monkeypatch.setenv("EVALS_FILES", str(project.root / "evals/files"))
    project("run", "agent.py:main", "--out", "group", "--pass-env", "EVALS_FILES")
    said = project("grade", "group", "--json").json["groups"][0]
    runs = {run["run"]: run for run in said["runs"]}

    assert ("harness-failure", "inconclusive") == (runs["d"]["ending"], runs["d"]["outcome"])
    assert {"owner": "harness", "code": "EVAL_FIXTURE_UNAVAILABLE", "stage": "fixture"} == runs["d"][
        "failure"
    ]
    assert (1, 1) == (said["n"], said["harness_failures"])


CHANGES = """
from proctor import grader

def careful(workdir):
    return (workdir / "a.txt").read_text() == "left"

def careless(workdir):
    (workdir / "a.txt").write_text("changed")
    (workdir / "new.txt").touch()
    return True

def clumsy(workdir):
    (workdir / "a.txt").unlink()
    raise RuntimeError("on purpose")

graders = [grader(careful), grader(careless), grader(lambda output: True, name="fine"), grader(clumsy)]
"""


def test_a_grader_that_changed_the_recorded_workdir_is_to_blame(project: Project) -> None:
    """Its own grade is inconclusive, whatever it returned or raised; the others are not touched by it."""
    project.write("agent.py", "from pathlib import Path\ndef main(text): Path('a.txt').write_text('left')")
    project.test("t", CHANGES)
    project.run()
    grades = {grade["grader"]: grade for grade in project.grade().json["groups"][0]["runs"][0]["grades"]}

    assert {
        "careful": None,
        "careless": "grader_changed_workdir",
        "fine": None,
        "clumsy": "grader_changed_workdir",
    } == {name: grade["cause"] for name, grade in grades.items()}
    assert "added 'new.txt', changed 'a.txt'" in grades["careless"]["feedback"]
    assert "removed 'a.txt'" in grades["clumsy"]["feedback"]


ASKS_GIT = """
import os, subprocess
from proctor import grader

def clean(workdir):
    # Not even told, as graders are, to leave git's cache alone.
    told = {"PATH": os.environ["PATH"]}
    return not subprocess.check_output(["git", "status", "--porcelain"], cwd=workdir, env=told)

graders = [grader(clean)]
"""


def test_a_grader_that_asks_git_for_the_status_has_changed_nothing(project: Project) -> None:
    """Git writes its own cache anew for that, and nothing that the agent left is another for it."""
    project.write("agent.py", "def main(text): pass")
    project.test("t", ASKS_GIT, files={"path": "files", "git": True})
    project.write("suite/t/files/a.txt", "as it was")
    project.run()
    index = project.root / "group/t/workdir/.git/index"
    before = index.stat().st_mtime_ns
    grades = project.grade().json["groups"][0]["runs"][0]["grades"]

    assert [("pass", None)] == [(grade["outcome"], grade["cause"]) for grade in grades]
    assert before != index.stat().st_mtime_ns
