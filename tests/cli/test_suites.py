"""Suites on the command line: which tests, which settings, which files, and what is said of a mistake."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.conftest import Project

GRADERS = "from proctor import ExactMatch\ngraders = [ExactMatch()]"


def table(project: Project) -> None:
    project.write("suite/graders.py", GRADERS)
    project.write(
        "suite/tests.csv",
        "id,input,expected,tags,graders\n"
        'one,1,1,"odd,small",graders.py\ntwo,2,2,"even,small",graders.py\nten,10,10,even,graders.py\n',
    )


@pytest.mark.parametrize(
    ("flags", "ids"),
    [
        ([], ["one", "two", "ten"]),
        (["--test", "t*"], ["two", "ten"]),
        (["--test", "one", "--test", "ten"], ["one", "ten"]),
        (["--tags", "even,small"], ["two"]),
        (["--tags", "even", "--tags", "small"], ["two"]),
        (["--limit", "2"], ["one", "two"]),
        (["--test", "t*", "--tags", "small"], ["two"]),
    ],
)
def test_tests_and_run_select_alike(project: Project, flags: list[str], ids: list[str]) -> None:
    """`tests`, `run --dry-run` and `run` go through one function."""
    table(project)
    listed = [test["id"] for test in project("tests", "suite", "--json", *flags).json]
    planned = [cell["test"] for cell in project.run("agent.py", "--dry-run", "--json", *flags).json]
    project.run("agent.py", *flags)

    assert ids == listed == planned
    assert sorted(ids) == sorted(path.parent.name for path in project.root.glob("group/*/run.json"))


def test_a_sample_is_the_same_for_the_same_seed(project: Project) -> None:
    """Another seed may draw another one; the order is the suite's."""
    project.write("suite.json", {"inputs": [{"id": f"t{n}", "input": "x"} for n in range(50)]})

    def drawn(seed: int) -> list[str]:
        return [
            test["id"]
            for test in project("tests", "suite.json", "--json", "--sample", 5, "--seed", seed).json
        ]

    assert drawn(1) == drawn(1)
    assert drawn(1) != drawn(2)
    assert sorted(drawn(1), key=lambda name: int(name[1:])) == drawn(1)


def test_a_selection_of_nothing_lists_what_there_is(project: Project) -> None:
    """Exit code 1, ids and tags."""
    table(project)
    said = project("tests", "suite", "--tags", "prime")

    assert 1 == said.code
    assert "Tests: one, two, ten. Tags: odd, small, even." in said.err


def test_a_dry_run_prints_the_plan_and_runs_nothing(project: Project) -> None:
    """With the limit of each trial, after test and flag."""
    project.test("slow", input="x", timeout=300, trials=2)
    project.test("fast", input="x")
    said = project.run("agent.py", "--dry-run")

    assert (
        "function agent.py:main on suite: 3 trials\n"
        "  fast  limit 60 s  graded by nothing\n"
        "  slow--1  limit 300 s  graded by nothing\n"
        "  slow--2  limit 300 s  graded by nothing\n"
    ) == said.out
    assert not (project.root / "group").exists()
    assert "limit 5 s" in project.run("agent.py", "--dry-run", "--timeout", 5).out


@pytest.mark.parametrize("flags", [["-x"], ["--max-failures", "1"]])
def test_a_run_can_stop_after_failures(project: Project, flags: list[str]) -> None:
    """What was not started is said, and stays planned."""
    for name in "abc":
        project.test(name)
    said = project.run("agent.py:crash", *flags)

    assert 4 == said.code
    assert "0/3 ended ok\n  a  error  on purpose\n  2 not started (max-failures)\n" in said.out
    assert 3 == project("list", "group", "--json").json["groups"][0]["planned"]


def test_settings_come_from_the_nearest_file_upward(project: Project) -> None:
    """`config` says which line; a flag wins."""
    table(project)
    project.write("proctor.toml", 'suite = "suite"\ntrials = 2\nparallel = 2\n')
    said = project("config")

    rows = [line.split()[:3] for line in said.out.splitlines()]

    assert ["trials", "2", "proctor.toml:2"] in rows
    assert ["timeout", "60", "default"] in rows
    assert 6 == len(project("run", "agent.py", "--dry-run", "--json").json)
    assert 3 == len(project("run", "agent.py", "--dry-run", "--json", "--trials", 1).json)


def test_a_setting_that_is_none_is_refused_with_a_proposal(project: Project) -> None:
    """File, line, and the nearest name."""
    project.write("proctor.toml", "trails = 2\n")
    said = project("config")

    assert 1 == said.code
    assert "proctor.toml:1" in said.err
    assert "trials" in said.err


def test_defaults_of_a_suite_hold_where_a_test_says_nothing(project: Project) -> None:
    """Flag, then test, then suite, then settings."""
    project.write("proctor.toml", "timeout = 7\ntrials = 1\n")
    project.write(
        "suite.json",
        {
            "defaults": {"timeout": 20, "tags": ["all"]},
            "inputs": [{"id": "a", "input": "x"}, {"id": "b", "input": "x", "timeout": 30, "tags": ["own"]}],
        },
    )
    said = project("run", "agent.py", "--suite", "suite.json", "--dry-run")

    assert "  a  limit 20 s" in said.out
    assert "  b  limit 30 s" in said.out
    assert ["a", "b"] == [
        test["id"] for test in project("tests", "suite.json", "--tags", "all", "--json").json
    ]


@pytest.mark.parametrize("name", ["suite", "test", "settings"])
def test_schemas_are_there_for_editors(project: Project, name: str) -> None:
    """JSON Schema, draft 2020-12."""
    import jsonschema

    jsonschema.Draft202012Validator.check_schema(project("schema", name).json)


def test_all_faults_of_a_suite_are_said_at_once(project: Project) -> None:
    """Each with file, line, field, value and fix; exit code 1, and nothing is written."""
    project.write(
        "suite.json",
        """\
        {"inputs": [
          {"id": "a", "input": "x", "expcted": 1},
          {"id": "b", "input": 7},
          {"id": "a", "input": "x", "timeout": -1}
        ]}
        """,
    )
    said = project("run", "agent.py", "--suite", "suite.json", "--out", "group")

    assert 1 == said.code
    for part in ("suite.json:2", "expcted", "expected", "suite.json:3", "7", "suite.json:4", "timeout", "-1"):
        assert part in said.err
    assert not (project.root / "group").exists()


def test_very_many_faults_are_cut(project: Project) -> None:
    """Fifty are shown, and the rest counted."""
    project.write("suite.json", {"inputs": [{"id": f"t{n}", "input": n} for n in range(70)]})
    said = project("tests", "suite.json")

    assert said.err.rstrip().endswith("... and 20 more")


def test_a_suite_from_git_is_pinned_and_said_to_run_code(project: Project) -> None:
    """The commit is in the plan and in each run; a branch that moves later does not matter to what was run."""
    project.test("t", GRADERS, input="x", expected="x")
    _git(project.root / "suite", "init", "-q", "-b", "main")
    _git(project.root / "suite", "add", "-A")
    _git(project.root / "suite", "commit", "-q", "-m", "one")
    commit = _git(project.root / "suite", "rev-parse", "HEAD").strip()
    project.write("proctor.toml", 'git_cache = "cache"\n')
    said = project("run", "agent.py", "--suite", f"suite?ref={commit[:10]}", "--out", "group", "--grade")
    facts = json.loads((project.root / "group/t/run.json").read_text())

    assert 0 == said.code
    assert f"suite at commit {commit[:12]}; its graders are code that will run here" in said.err
    assert commit == facts["suite"]["commit"]
    assert commit == json.loads((project.root / "group/group.json").read_text())["suite"]["commit"]


def test_a_fixture_that_changes_while_a_suite_runs_is_nobodys_evidence(project: Project) -> None:
    """The trial is a failure of the harness, and the agent never saw it."""
    project.write(
        "agent.py",
        """
        from pathlib import Path

        def main(text):
            Path(text).write_text("changed")
        """,
    )
    for name in ("a", "b"):
        project.test(name, GRADERS, input=str(project.root / "suite/b/files/in.txt"), expected="x")
        project.write(f"suite/{name}/files/in.txt", "as planned")
    said = project.run()

    assert 3 == said.code
    assert (
        "  b  harness-failure (test: fixture)  The file 'in.txt' of the fixture has changed since the run was planned."
        in said.out
    )
    assert 1 == project.grade().json["groups"][0]["harness_failures"]


def test_a_fixture_may_be_part_of_a_folder_and_a_repository(project: Project) -> None:
    """`{path, include, git}`."""
    project.write("suite/data/keep.csv", "1")
    project.write("suite/data/drop.bin", "2")
    project.write(
        "suite/suite.json",
        {"inputs": [{"id": "t", "input": "x", "files": {"path": "data", "include": ["*.csv"], "git": True}}]},
    )
    project(
        "run", "--agent-cmd", "git log --format=%s --stat", "--suite", "suite/suite.json", "--out", "group"
    )
    output = project("show", "group/t", "--json").json["output"]

    assert output.startswith("fixture")
    assert "keep.csv" in output
    assert "drop.bin" not in output


def test_a_fixture_that_cannot_be_given_is_refused_before_anything_runs(project: Project) -> None:
    """A link that leads out; no group is made."""
    project.test("t")
    project.write("suite/t/files/a.txt", "x")
    (project.root / "suite/t/files/out").symlink_to("/etc/passwd")
    said = project.run()

    assert 1 == said.code
    assert "'out' leads out to '/etc/passwd'" in said.err
    assert not (project.root / "group").exists()


def test_old_runs_can_be_graded_with_the_graders_of_today(project: Project) -> None:
    """`--suite` takes today's graders and `expected`, by test id."""
    project.test("t", GRADERS, input="x", expected="y")
    project.run()
    project.test("t", "from proctor import Contains\ngraders = [Contains()]", input="x", expected="x")

    assert 0.0 == project.grade().json["mean"]
    assert 1.0 == project.grade("--suite", "suite").json["mean"]
    assert 0.0 == project.grade().json["mean"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            lambda suite: (suite / "t/test.json").write_text('{"input": "other", "expected": "x"}'),
            "input has changed",
        ),
        (lambda suite: (suite / "t/files/in.txt").write_text("other"), "files have changed"),
        (lambda suite: shutil.move(suite / "t", suite / "renamed"), "has no test 't' now"),
    ],
)
def test_a_run_of_another_question_is_not_graded_with_todays_suite(
    project: Project, change: object, said: str
) -> None:
    """Where input or fixture changed, or the id is gone, it is inconclusive."""
    project.test("t", GRADERS, input="x", expected="x")
    project.write("suite/t/files/in.txt", "one")
    project.run()
    change(project.root / "suite")  # pyright: ignore
    answer = project.grade("--suite", "suite")
    (grade,) = answer.json["groups"][0]["runs"][0]["grades"]

    assert (3, "test_changed") == (answer.code, grade["cause"])
    assert said in grade["feedback"]


def _git(folder: Path, *words: str) -> str:
    identity = ["-c", "user.name=t", "-c", "user.email=t@localhost", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", *identity, *words], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout
