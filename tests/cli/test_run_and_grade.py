"""The main job from end to end, as a user types it: whole output and exit codes."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import Project, is_running

EINSTEIN = """
from proctor import Contains, ExactMatch, Similarity, grader

graders = [
    grader(lambda output: "1879" in str(output), name="mentions-year"),
    ExactMatch(must_pass=True),
    Contains(name="has-date"),
    Similarity(weight=0.5),
]
"""


def einstein(project: Project) -> None:
    project.test("einstein", EINSTEIN, input="March 14, 1879", expected="March 14, 1879")


def test_run_says_how_it_went_and_what_to_type_next(project: Project) -> None:
    """Result on standard output, progress on standard error, exit code 0."""
    einstein(project)
    said = project.run()

    assert (0, "1/1 ended ok\nruns: group\nnext: proctor grade group\n") == (said.code, said.out)
    assert "agent.py:main on suite: 1 trial, 1 at once" == said.err.splitlines()[0]


def test_grade_prints_every_grade_the_mean_and_the_counts(project: Project) -> None:
    """The whole output, and exit code 0."""
    einstein(project)
    project.run()
    said = project("grade", "group")

    assert 0 == said.code
    assert (
        "group\n"
        "  einstein  1.000  pass\n"
        "    mentions-year  pass\n"
        "    exact-match    pass  gate\n"
        "    has-date       pass\n"
        "    similarity     1.000  weight 0.5\n"
        "\n"
        "mean 1.000 over 1 test, 95% from 0.207 to 1.000\n"
        "pass rate 1.000 over 1 test, 95% from 0.207 to 1.000; 1 of 1 trial passed\n"
        "planned 1 = graded 1 + inconclusive 0 + errored 0 + harness failures 0 + interrupted 0\n"
        "smoke: no test has 3 trials, so that nothing is said about reliability\n"
    ) == said.out


def test_a_failed_gate_makes_the_objective_0_and_every_grader_still_runs(project: Project) -> None:
    """Exit code 2, and the other grades are there to see."""
    project.test("einstein", EINSTEIN, input="in 1879", expected="March 14, 1879")
    project.run()
    said = project("grade", "group")

    assert 2 == said.code
    assert "  einstein  0.000  fail\n" in said.out
    assert '    exact-match    fail  gate\n        expected "March 14, 1879", got "in 1879"\n' in said.out
    assert "    similarity     0.357  weight 0.5\n" in said.out  # 9 of 14 characters differ: 5/14
    assert said.out.endswith("gate failed: einstein\n")


def test_a_crashing_agent_is_counted_as_0(project: Project) -> None:
    """`run` exits with 4; `grade` with 2, since its test has a gate; the grader never sees it."""
    einstein(project)
    ran = project.run("agent.py:crash")
    said = project.grade()
    (group,) = said.json["groups"]

    assert (4, "0/1 ended ok\n  einstein  error  on purpose\n") == (
        ran.code,
        ran.out[: ran.out.index("runs:")],
    )
    assert (2, 0.0, 1, []) == (said.code, group["mean"], group["errored"], group["runs"][0]["grades"])


def test_one_failing_test_never_stops_the_others(project: Project) -> None:
    """Three tests, the middle one crashes: three run directories."""
    project.write(
        "agent.py", "def main(text):\n    if text == 'b': raise ValueError('no b')\n    return text\n"
    )
    for name in "abc":
        project.test(
            name, "from proctor import ExactMatch\ngraders = ExactMatch()", input=name, expected=name
        )
    ran = project.run()

    assert 4 == ran.code
    assert ["a", "b", "c"] == sorted(path.parent.name for path in project.root.glob("group/*/run.json"))
    assert 2 / 3 == pytest.approx(project.grade().json["mean"])


def test_trials_get_run_directories_of_their_own(project: Project) -> None:
    """`--trials 3` gives einstein--1 to einstein--3, of one test."""
    einstein(project)
    project.run("agent.py:main", "--trials", 3, "-n", 2)
    (group,) = project.grade().json["groups"]

    assert ["einstein--1", "einstein--2", "einstein--3"] == [run["run"] for run in group["runs"]]
    assert (3, 1, 3) == (group["planned"], group["n"], group["graded"])


def test_the_report_has_the_documented_fields(project: Project) -> None:
    """`schema`, groups with their counts, runs with their grades, and the mean."""
    einstein(project)
    project.run()
    report = project.grade().json
    (group,) = report["groups"]
    (run,) = group["runs"]

    assert "proctor.report/1" == report["schema"]
    assert {"mean", "groups"} <= set(report)
    counts = {"planned", "graded", "inconclusive", "errored", "harness_failures", "interrupted"}
    assert {"path", "mean", "bounds", "runs", *counts} <= set(group)
    run_fields = {
        "run",
        "test",
        "trial",
        "ending",
        "outcome",
        "objective",
        "bounds",
        "gates_passed",
        "grades",
    }
    assert run_fields <= set(run)
    assert {
        "grader": "exact-match",
        "score": 1.0,
        "outcome": "pass",
        "scale": "binary",
        "weight": 1.0,
        "must_pass": True,
        "threshold": 0.0,
        "feedback": "",
        "cause": None,
        "defect": None,
        "samples": [],
        "mean": None,
        "spread": None,
        "count": None,
        "judging": [],
    } == run["grades"][1]


def test_list_and_show_and_grade_give_one_number(project: Project) -> None:
    """All three call the same function over the same rows; only a grading decides."""
    project.test("a", EINSTEIN, input="March 14, 1979", expected="March 14, 1879")
    project.test(
        "b", "from proctor import Similarity\ngraders = [Similarity()]", input="hella", expected="hello"
    )
    project.run()
    graded = project.grade().json
    listed = project("list", "group", "--json").json
    shown = project("show", "group/b", "--json").json

    assert {"verdict": "failed", "exit_code": 2, "demands": []} == graded["decision"]
    assert {**graded, "decision": None} == listed
    assert graded["groups"][0]["runs"][1] == shown["report"]
    assert 0.4 == pytest.approx(graded["mean"])  # (0 by the failed gate + 0.8) / 2


def test_editing_the_graders_never_changes_what_an_old_run_scores(project: Project) -> None:
    """The run holds its own copy; suite, agent and project may all be gone, and the run elsewhere."""
    einstein(project)
    project.run()
    before = project.grade().json["groups"][0]["runs"]
    shutil.rmtree(project.root / "suite")
    (project.root / "agent.py").unlink()
    shutil.copytree(project.root / "group", project.root / "elsewhere")
    shutil.rmtree(project.root / "group")

    assert before[0]["grades"] == project.grade(path="elsewhere").json["groups"][0]["runs"][0]["grades"]


def test_each_grading_appends_one_round_and_rewrites_nothing(project: Project) -> None:
    """Four rows, then eight, and the first four are the same bytes."""
    einstein(project)
    project.run()
    rows = project.root / "group/einstein/annotations.jsonl"
    project.grade()
    first = rows.read_bytes()
    project.grade()

    assert 4 == first.count(b"\n")
    assert 8 == rows.read_bytes().count(b"\n")
    assert rows.read_bytes().startswith(first)
    assert 2 == project("list", "group", "--json").json["groups"][0]["runs"][0]["rounds"]


def test_what_a_grading_module_prints_never_mixes_with_the_report(project: Project) -> None:
    """Standard output is one JSON document."""
    project.test(
        "t", "print('loading')\nimport os; os.write(1, b'raw')\n" + EINSTEIN, input="x", expected="x"
    )
    project.run()

    assert 1 == len(json.loads(project("grade", "group", "--json").out)["groups"])


def test_a_report_can_be_written_to_a_file(project: Project) -> None:
    """`-o FILE` writes the JSON and still prints the text."""
    einstein(project)
    project.run()
    said = project("grade", "group", "-o", "report.json")

    assert said.out.startswith("group\n")
    assert 1.0 == json.loads((project.root / "report.json").read_text())["mean"]


def test_run_can_grade_at_once_and_the_worse_code_wins(project: Project) -> None:
    """`--grade` grades from what was written; with --json the last line is the report."""
    project.test("einstein", EINSTEIN, input="no", expected="March 14, 1879")
    said = project.run("agent.py:main", "--grade", "--json")

    assert (2, 0.0) == (said.code, json.loads(said.out.splitlines()[-1])["report"]["mean"])


def test_a_group_that_holds_runs_is_refused_before_anything_starts(project: Project) -> None:
    """Exit code 1, and the runs that are there are untouched."""
    einstein(project)
    project.run()
    before = (project.root / "group/einstein/run.json").read_bytes()
    said = project.run()

    assert (1, "") == (said.code, said.out)
    assert "proctor: the group 'group' already holds runs\n    Name another folder with --out" in said.err
    assert before == (project.root / "group/einstein/run.json").read_bytes()


def test_the_default_group_is_named_by_date(project: Project) -> None:
    """`runs/<date>-<random>`, below the folder that one stands in."""
    einstein(project)
    said = project("run", "agent.py", "--suite", "suite")

    assert re.search(r"^runs: (runs/\d{4}-\d\d-\d\d-\d{6}-\w{6})$", said.out, re.MULTILINE)
    assert 0 == project("grade", "runs").code


def test_a_test_with_a_goal_alone_is_inconclusive_without_a_judge(project: Project) -> None:
    """It says what to set; exit code 3."""
    project.test("polite", goal="The answer is polite.")
    project.run()
    said = project("grade", "group")

    assert 3 == said.code
    assert "[no_judge] no judge model is configured\n" in said.out
    assert "Name one with --judge-model PROVIDER/NAME, PROCTOR_JUDGE_MODEL or `judge_model`" in said.err


def test_one_input_without_a_suite(project: Project) -> None:
    """`--input TEXT` runs one test, which nothing grades."""
    said = project("run", "agent.py", "--input", "hello", "--out", "group")

    assert 0 == said.code
    assert "hello" == project("show", "group/input", "--json").json["output"]


def test_a_command_is_an_agent_too(project: Project) -> None:
    """{input} is one inert argument; the output is what it printed, less one line end."""
    project.test(
        "t",
        "from proctor import ExactMatch\ngraders = [ExactMatch()]",
        input="; rm -rf /",
        expected="; rm -rf /",
    )
    said = project(
        "run", "--agent-cmd", "printf '%s\\n' {input}", "--suite", "suite", "--out", "group", "--grade"
    )

    assert 0 == said.code


def test_a_workdir_is_seeded_kept_and_outside_the_project(project: Project) -> None:
    """The agent finds the test's files and nothing else; what it leaves is in the run."""
    folder = project.test(
        "t",
        "from proctor import grader\ngraders = grader(lambda workdir: (workdir / 'out.txt').read_text() == 'seed', name='copied')",
    )
    project.write("suite/t/files/in.txt", "seed")
    project.write(
        "agent.py",
        """
        import os
        from pathlib import Path

        def main(text):
            Path("out.txt").write_text(Path("in.txt").read_text())
            return [str(Path.cwd()), sorted(os.listdir())]
        """,
    )
    project.run()
    where, names = project("show", "group/t", "--json").json["output"]

    assert ["in.txt", "out.txt"] == names
    assert not Path(where).is_relative_to(project.root)
    assert not Path(where).exists()
    assert 1.0 == project.grade().json["mean"]
    assert folder.is_dir()


def test_the_agent_never_sees_what_is_expected(project: Project) -> None:
    """Neither in its environment, nor in its arguments, nor near its workdir."""
    project.test("t", EINSTEIN, expected="the secret answer", goal="the secret goal")
    project.write(
        "agent.py",
        """
        import os, sys
        from pathlib import Path

        def main(text):
            seen = [str(dict(os.environ)), str(sys.argv), str(sorted(Path.cwd().parent.rglob("*")))]
            seen += [path.read_text(errors="replace") for path in Path.cwd().parent.rglob("*") if path.is_file()]
            return "the secret" in "".join(seen)
        """,
    )
    project.run()

    assert False is project("show", "group/t", "--json").json["output"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run", "--suite", "suite"], "no agent is named"),
        (["run", "agent.py", "--agent-cmd", "x", "--suite", "suite"], "two agents are named"),
        (["run", "agent.py"], "no suite is named"),
        (["run", "agent.py", "--suite", "nowhere"], "nowhere"),
        (["run", "agent.py:mian", "--suite", "suite"], "Did you mean 'main'?"),
        (["run", "agent.py", "--suite", "suite", "-n", "0"], "a whole number of 1 or more is wanted"),
        (
            ["run", "agent.py", "--suite", "suite", "--timeout", "nan"],
            "a number of seconds above 0 is wanted",
        ),
        (["run", "agent.py", "--suite", "suite", "--trails", "3"], "Did you mean --trials?"),
        (["grade"], "the following arguments are required: PATH"),
        (["grade", "nowhere"], "'nowhere' does not exist"),
        (["grade", "suite"], "there is no run in 'suite'"),
        (["show", "group"], "does not exist"),
        (["garde", "x"], "Did you mean 'grade'?"),
    ],
)
def test_a_mistake_gets_a_sentence_a_fix_and_exit_code_1(
    project: Project, words: list[str], said: str
) -> None:
    """On standard error, without a traceback, and nothing is written."""
    einstein(project)
    before = sorted(project.root.rglob("*"))
    answer = project(*words)

    assert (1, "") == (answer.code, answer.out)
    assert said in answer.err
    assert answer.err.startswith("proctor: ")
    assert "Traceback" not in answer.err
    assert before == [path for path in sorted(project.root.rglob("*")) if "__pycache__" not in path.parts]


@pytest.mark.parametrize(
    ("graders", "said"),
    [
        ("graders = []", "`graders` is an empty list"),
        ("x = 1", "the module does not define `graders`"),
        ("graders = [", "SyntaxError"),
        ("import nowhere_at_all\ngraders = []", "No module named 'nowhere_at_all'"),
        (
            "from proctor import *\ngraders = [ExactMatch(), ExactMatch()]",
            "two graders are named 'exact-match'",
        ),
        ("from proctor import *\ngraders = [ExactMatch(weight=0)]", "every grader has weight 0"),
        ("from proctor import *\ngraders = [ExactMatch]", "graders[0] is the class ExactMatch, not a grader"),
        ("graders = ['exact-match']", "graders[0] is str 'exact-match', not a grader"),
        (
            "from proctor import *\ngraders = [ExactMatch()]",
            "compares with 'expected', which test 't' does not have",
        ),
        (
            "from proctor import *\ngraders = [Contains(scope=['x'], any_of=['a'])]",
            "no grader of t/graders.py applies",
        ),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("import os; os._exit(3)", "the module ended its process"),
    ],
)
def test_graders_are_checked_before_the_first_agent_starts(project: Project, graders: str, said: str) -> None:
    """Exit code 1, the module's name, and no group."""
    project.test("t", graders)
    answer = project.run()

    assert (1, "") == (answer.code, answer.out)
    assert said in answer.err
    assert "t/graders.py" in answer.err or "suite/t" in answer.err
    assert not (project.root / "group").exists()


def test_a_gate_that_cannot_fail_is_warned_about(project: Project) -> None:
    """A scalar gate whose threshold is 0."""
    project.test("t", "from proctor import *\ngraders = [Similarity(must_pass=True)]", expected="x")

    assert "gate 'similarity' gives scores and its threshold is 0, so it cannot fail" in project.run().err


def test_ctrl_c_keeps_what_is_finished_and_records_the_rest_as_interrupted(project: Project) -> None:
    """Exit code 130; the finished run is whole, the running one is recorded, nothing is half there."""
    project.write("agent.py", "import time\ndef main(text):\n    time.sleep(float(text))\n    return text\n")
    for name, wait in (("a", "0"), ("b", "60"), ("c", "60")):
        project.test(name, input=wait)
    command = [sys.executable, "-m", "proctor", "run", "agent.py", "--suite", "suite", "--out", "group"]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    _wait_for(project.root / "group/a/run.json")
    _wait_for_started(project.root / "group/attempts.jsonl", 2)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=30)

    assert 130 == running.returncode
    assert "1/3 ended ok\n  b  interrupted" in out
    assert "  1 not started (interrupted)\n" in out
    assert "Traceback" not in err
    assert ["a", "b"] == sorted(path.parent.name for path in project.root.glob("group/*/run.json"))
    said = project("list", "group", "--json").json["groups"][0]
    assert (3, 2, 1) == (said["planned"], said["interrupted"], said["inconclusive"])


def test_an_agent_past_its_limit_is_ended_with_its_whole_group(project: Project) -> None:
    """`timeout` in the test; what it had written and printed is kept."""
    project.write(
        "agent.py",
        """
        import subprocess, sys, time
        from pathlib import Path

        def main(text):
            child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
            Path("pid").write_text(str(child.pid))
            print("before the end", flush=True)
            time.sleep(60)
        """,
    )
    project.test("t", input="x", timeout=1)
    started = time.monotonic()
    said = project.run()
    pid = int((project.root / "group/t/workdir/pid").read_text())

    assert 4 == said.code
    assert "  t  timeout  " in said.out
    assert time.monotonic() - started < 15
    assert "before the end\n" == (project.root / "group/t/stdout.log").read_text()
    assert not is_running(pid)


def test_help_shows_an_example_for_every_command(project: Project) -> None:
    """Each command's --help has one."""
    from proctor.cli.main import COMMANDS

    for name in COMMANDS:
        with pytest.raises(SystemExit) as ended:
            project(name, "--help")
        assert 0 == ended.value.code


def test_version(project: Project) -> None:
    """The same that the package says."""
    import proctor

    assert (0, f"proctor {proctor.__version__}\n") == project("--version")[:2]


def _wait_for(path: Path, seconds: float = 20) -> None:
    until = time.monotonic() + seconds
    while not path.exists():
        assert time.monotonic() < until, f"{path.name} did not appear"
        time.sleep(0.02)


def _wait_for_started(path: Path, count: int, seconds: float = 20) -> None:
    until = time.monotonic() + seconds
    while path.read_text().count('"started"') < count:
        assert time.monotonic() < until
        time.sleep(0.02)
