"""expect_command: a program says whether the work is done, and the agent cannot steer it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from proctor.eval import expect_command
from proctor.host.readonly import read_only
from proctor.ports import RunView
from proctor.records.grade import Cause, Grade, Outcome
from tests.conftest import Project, is_running

PROGRAM = "def double(n):\n    return n * 2\n"
TESTS = """
import unittest
from program import double

class Double(unittest.TestCase):
    def test_double(self):
        self.assertEqual(4, double(2))
"""
HIDDEN = TESTS.replace("4, double(2)", "10, double(5)")
UNITTEST = "python -m unittest discover -s tests -t ."


def write(folder: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


@pytest.fixture
def finished(view: Callable[..., RunView], tmp_path: Path) -> Callable[..., RunView]:
    """A run whose workdir is the fixture with the agent's files written over it."""

    def make(agent: Mapping[str, str], *, hidden: Mapping[str, str] | None = None) -> RunView:
        fixture = {"program.py": PROGRAM, "tests/__init__.py": "", "tests/test_double.py": TESTS}
        return msgspec.structs.replace(
            view(),
            workdir=write(tmp_path / "workdir", {**fixture, **agent}),
            fixture=write(tmp_path / "fixture", fixture),
            holdout=write(tmp_path / "holdout", hidden) if hidden else None,
            environment=dict(os.environ),
        )

    return make


def outcome(run: RunView, command: str = UNITTEST, **options: Any) -> Grade:
    return expect_command(command, **options).grade(run)


def test_exit_code_0_passes_and_another_fails_with_what_was_printed(finished) -> None:
    """The workdir itself is left as it was."""
    run = finished({})
    before = sorted(path.name for path in run.workdir.rglob("*"))
    assert Outcome.PASS is outcome(run).outcome
    (run.workdir / "program.py").write_text("def double(n):\n    return n\n")
    grade = outcome(run)

    assert Outcome.FAIL is grade.outcome
    assert "exit code 1:" in grade.feedback
    assert "AssertionError: 4 != 2" in grade.feedback
    assert "proctor-check" not in grade.feedback
    assert before == sorted(path.name for path in run.workdir.rglob("*"))


BROKEN = {"program.py": "def double(n):\n    return n\n"}


@pytest.mark.parametrize(
    "cheat",
    [
        {"tests/test_double.py": ""},
        {"tests/__init__.py": "import os; os._exit(0)"},
        {"unittest.py": "print('OK')"},
        {"unittest/__main__.py": "print('OK')", "unittest/__init__.py": ""},
        {"argparse.py": "import os; os._exit(0)"},
        {"sitecustomize.py": "import os; os._exit(0)"},
        {"tests/test_double/__init__.py": "import os; os._exit(0)"},
        {"tests/test_more.py": "import os; os._exit(0)"},
    ],
    ids=lambda cheat: next(iter(cheat)),
)
def test_what_the_agent_did_to_the_check_is_undone(finished, cheat: dict[str, str]) -> None:
    """Tests come from the fixture, what was added to them goes, and so does what hides a module of Python."""
    grade = outcome(finished({**BROKEN, **cheat}))

    assert Outcome.FAIL is grade.outcome
    assert "4 != 2" in grade.feedback
    assert next(iter(cheat)).split("/")[0] in str(grade.evidence)


def test_a_compiled_file_does_not_stand_for_its_source(finished) -> None:
    """The cache of a module, marked never to be checked against the source, is left behind."""
    run = finished(BROKEN)
    source = run.workdir / "tests" / "test_double.py"
    source.write_text("import os; os._exit(0)")
    code = "import py_compile, sys; py_compile.compile(sys.argv[1], invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)"
    subprocess.run([sys.executable, "-c", code, str(source)], check=True)

    assert Outcome.FAIL is outcome(run).outcome


def test_nothing_is_written_through_a_link(finished, tmp_path: Path) -> None:
    """A folder of tests that became a link is a folder again, and what it led to is untouched."""
    run = finished(BROKEN, hidden={"tests/test_hidden.py": HIDDEN})
    elsewhere = write(tmp_path / "elsewhere", {"__init__.py": "", "test_double.py": "x"})
    for path in sorted((run.workdir / "tests").iterdir()):
        path.unlink()
    (run.workdir / "tests").rmdir()
    (run.workdir / "tests").symlink_to(elsewhere)

    assert Outcome.FAIL is outcome(run, holdout=True).outcome
    assert ["__init__.py", "test_double.py"] == sorted(path.name for path in elsewhere.iterdir())
    assert "x" == (elsewhere / "test_double.py").read_text()


def test_held_out_files_are_laid_over(finished) -> None:
    """They are in the copy alone, and what the agent had put in their place is gone."""
    cheat = {
        "program.py": "def double(n):\n    return 4\n",
        "tests/test_hidden.py": "",
        "checks/__init__.py": "1/0",
    }
    run = finished(cheat, hidden={"tests/test_hidden.py": HIDDEN, "checks/test_x.py": HIDDEN})

    assert Outcome.PASS is outcome(run).outcome
    assert "10 != 4" in outcome(run, holdout=True).feedback
    assert "10 != 4" in outcome(run, "python -m unittest checks.test_x", holdout=True).feedback


def test_text_that_must_be_printed_catches_an_early_end(finished) -> None:
    """Code under test runs inside the tests, and can end them with exit code 0."""
    run = finished({"program.py": "import os; os._exit(0)"})

    assert Outcome.PASS is outcome(run).outcome
    assert "was not printed" in outcome(run, prints="OK").feedback
    assert Outcome.PASS is outcome(run, "echo OK", prints="OK").outcome


def result(text: str) -> dict[str, str]:
    return {"report.py": f"import os; open(os.environ['PROCTOR_RESULT'], 'w').write('''{text}''')"}


@pytest.mark.parametrize(
    ("text", "score", "said", "cause"),
    [
        ('{"score": 0.75}', 0.75, None, None),
        ('{"outcome": "fail", "detail": "no"}', None, "fail", None),
        ('{"outcome": "pass"}', None, "pass", None),
        ('{"outcome": "inconclusive"}', None, "inconclusive", None),
        ('{"score": 1.5}', None, "inconclusive", Cause.GRADER_RETURNED_NONSENSE),
        ('{"score": NaN}', None, "inconclusive", Cause.GRADER_RETURNED_NONSENSE),
        ('{"score": true}', None, "inconclusive", Cause.GRADER_RETURNED_NONSENSE),
        ('{"score": 1, "outcome": "pass"}', None, "inconclusive", Cause.GRADER_RETURNED_NONSENSE),
        ('{"outcome": "great"}', None, "inconclusive", Cause.GRADER_RETURNED_NONSENSE),
        ("", None, "inconclusive", Cause.GRADER_RETURNED_NONSENSE),
        ("[1]", None, "inconclusive", Cause.GRADER_RETURNED_NONSENSE),
    ],
)
def test_a_result_that_was_written_counts(finished, text: str, score: Any, said: Any, cause: Any) -> None:
    """Instead of the exit code; one that is no result is a defect of the check."""
    grade = outcome(finished(result(text)), "python report.py")

    assert (score, said, cause) == (grade.score, grade.outcome, grade.cause)


def test_a_score_passes_from_its_threshold_on() -> None:
    """All of it, unless the author says otherwise."""
    assert (1.0, 0.5) == (
        expect_command("x").options.threshold,
        expect_command("x", threshold=0.5).options.threshold,
    )


@pytest.mark.parametrize(
    ("command", "cause"),
    [
        ("no-such-program --at-all", Cause.HARNESS_FAILURE),
        ("./program.py", Cause.HARNESS_FAILURE),
        ("sleep 60", Cause.GRADER_TIMEOUT),
        ("sh -c 'kill -9 $$'", Cause.GRADER_DIED),
    ],
)
def test_what_could_not_be_had_is_inconclusive(finished, command: str, cause: Cause) -> None:
    """A program that is not there or not executable, a time limit, a kill."""
    grade = outcome(finished({}), command, timeout=0.5)

    assert (Outcome.INCONCLUSIVE, cause) == (grade.outcome, grade.cause)


def test_the_command_meets_nothing_of_the_machine_that_it_does_not_need(finished) -> None:
    """No secrets, no Python settings, a home of its own, closed input; what is named is passed on."""
    given = {"PATH": os.environ["PATH"], "OPENAI_API_KEY": "x", "PYTHONPATH": "/x", "JAVA_HOME": "/java"}
    run = msgspec.structs.replace(finished({}), environment=given)
    look = "python -c 'import os, sys; print(sorted(os.environ), os.listdir(os.environ[\"HOME\"]), sys.stdin.read()); sys.exit(1)'"
    plain, named = outcome(run, look).feedback, outcome(run, look, env=["JAVA_HOME"]).feedback

    assert all(word not in plain for word in ("OPENAI", "PYTHONPATH", "JAVA_HOME"))
    assert plain.endswith(" []")
    assert "JAVA_HOME" in named


def test_a_background_process_ends_with_the_command(finished) -> None:
    """The whole tree is gone when there is a grade."""
    seconds = f"60.{os.getpid()}"
    assert Outcome.PASS is outcome(finished({}), f"sh -c 'sleep {seconds} & echo started'").outcome

    assert [] == [path for path in Path("/proc").glob("[0-9]*") if seconds in _words(path)]


def _words(process: Path) -> str:
    try:
        return (process / "cmdline").read_text()
    except OSError:
        return ""


def test_a_command_can_write_nothing_but_its_copy(finished, tmp_path: Path) -> None:
    """Where the system has bubblewrap, neither the run nor anything else is in reach of what the agent wrote."""
    if read_only(["/bin/true"], os.environ, writable=[]) is None and "CI" not in os.environ:
        pytest.skip("bubblewrap cannot be used here")
    run = finished({"result.json": "{}"})
    target = run.workdir / "result.json"
    reached = outcome(run, f"sh -c 'echo changed > {target}'", name="reached")
    elsewhere = outcome(run, f"sh -c 'touch {Path.cwd()}/planted'", name="elsewhere")
    tmp = outcome(run, "sh -c 'echo x > /tmp/mine && echo y > result.json'", name="tmp")

    assert [Outcome.FAIL, Outcome.FAIL, Outcome.PASS] == [reached.outcome, elsewhere.outcome, tmp.outcome]
    assert "{}" == target.read_text()
    assert not Path("planted").exists()
    assert not Path("/tmp/mine").exists()


def test_a_command_does_not_outlive_a_worker_that_is_killed(tmp_path: Path) -> None:
    """An interrupted grading leaves nothing running."""
    code = (
        "import pathlib, sys; from proctor.host.limited import run_limited; from proctor.records.run import Limits\n"
        "here = pathlib.Path(sys.argv[1])\n"
        "run_limited(['/bin/sh', '-c', 'echo $$ > pid; exec sleep 60'], cwd=here, env={'PATH': '/bin:/usr/bin'},\n"
        "            stdout=here / 'out', stderr=here / 'err', limits=Limits())\n"
    )
    worker = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], start_new_session=True)
    pid, give_up = tmp_path / "pid", time.monotonic() + 10
    while not (pid.exists() and pid.read_text().strip()) and time.monotonic() < give_up:
        time.sleep(0.01)
    time.sleep(0.1)
    os.killpg(worker.pid, signal.SIGKILL)
    worker.wait()
    while is_running(int(pid.read_text())) and time.monotonic() < give_up:
        time.sleep(0.01)

    assert not is_running(int(pid.read_text()))


def test_a_special_file_of_the_agent_does_not_hold_the_check(finished) -> None:
    """It is left out of the copy."""
    run = finished({})
    os.mkfifo(run.workdir / "pipe")
    (run.workdir / "locked").mkdir(mode=0o500)

    assert Outcome.PASS is outcome(run).outcome


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: expect_command(""), "names no program"),
        (lambda: expect_command("say 'x"), "never closed"),
        (lambda: expect_command("x", protect="tests/**"), "are lists"),
        (lambda: expect_command("x", hold=True), "no option 'hold'"),
    ],
)
def test_a_check_that_makes_no_sense_is_refused_where_it_is_written(
    make: Callable[[], Any], said: str
) -> None:
    """Before anything runs."""
    with pytest.raises(ValueError, match=said):
        make()


# Held-out files, from the suite to the run


@pytest.fixture
def held(project: Project) -> Project:
    """A suite of one test whose held-out check.py wants the file `done`."""
    project.test(
        "one",
        "from proctor.eval import expect_command\ngraders = [expect_command('python check.py', holdout=True, name='check')]",
    )
    project.write("suite/one/holdout/check.py", "import pathlib; assert pathlib.Path('done').exists()")
    project.write("suite/one/solution.sh", "touch done")
    return project


def test_held_out_files_are_kept_with_the_run_and_shared(held: Project) -> None:
    """Once for the group; a copy of the run grades alike, and one that was tampered with is inconclusive."""
    project = held
    assert (0, 0) == (project.run("solution").code, project.grade().code)
    kept = project.root / "group" / "one" / "inputs" / "holdout" / "check.py"
    assert 2 == kept.stat().st_nlink
    subprocess.run(["cp", "-r", "group/one", "copied"], check=True)
    assert 1.0 == project.grade(path="copied").json["mean"]
    copied = project.root / "copied" / "inputs" / "holdout" / "check.py"
    copied.chmod(0o644)
    copied.write_text("pass")
    said = project.grade(path="copied")

    assert (3, "inputs_unusable") == (said.code, said.json["groups"][0]["runs"][0]["grades"][0]["cause"])


def test_a_fixture_that_is_gone_is_not_the_agents_fault(held: Project) -> None:
    """What is protected could not be put back; the run is inconclusive."""
    project = held
    project.write("suite/one/files/tests/test_it.py", "pass")
    project.run("solution")
    shutil.rmtree(project.root / "group" / "one" / "inputs" / "files")
    said = project.grade()

    assert (3, "inputs_unusable") == (said.code, said.json["groups"][0]["runs"][0]["grades"][0]["cause"])


def test_a_program_has_more_address_space_than_its_worker(project: Project) -> None:
    """The limit of a grader's memory is not that of what it starts."""
    graders = """
        from proctor.eval import expect_command
        graders = [expect_command("sh -c 'test $(ulimit -v) != 4194304'")]
    """
    project.test("one", graders)
    project.run("noop")

    assert 1.0 == project.grade().json["mean"]


def test_todays_held_out_files_grade_an_old_run_on_request(held: Project) -> None:
    """Without --suite the run's own are used."""
    project = held
    project.run("solution")
    project.write("suite/one/holdout/check.py", "raise SystemExit('stricter')")

    assert 1.0 == project.grade().json["mean"]
    assert 0.0 == project.grade("--suite", "suite").json["mean"]


def test_a_grader_that_reads_held_out_files_needs_them(held: Project) -> None:
    """That a test has none is found before anything runs."""
    project = held
    (project.root / "suite/one/holdout/check.py").unlink()
    (project.root / "suite/one/holdout").rmdir()
    said = project.run("solution")

    assert 1 == said.code
    assert "grader 'check' reads held-out files, and test 'one' has none" in said.err


def test_a_function_may_ask_for_the_fixture_and_the_held_out_files(project: Project) -> None:
    """As folders; the fixture is kept only where a grader reads it."""
    graders = "from proctor import grader\n@grader\ndef same(workdir, fixture, holdout):\n    return (workdir / 'a').read_text() == (fixture / 'a').read_text() == (holdout / 'a').read_text()\ngraders = [same]"
    project.test("one", graders)
    project.test("two", "from proctor import FileExists\ngraders = [FileExists(path='a')]")
    for name in ("one/files/a", "one/holdout/a", "two/files/a"):
        project.write(f"suite/{name}", "x")
    project.run("noop")

    assert 1.0 == project.grade().json["mean"]
    assert (True, False) == tuple(
        (project.root / "group" / name / "inputs").exists() for name in ("one", "two")
    )
