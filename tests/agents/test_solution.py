"""The agents that come with a suite."""

from __future__ import annotations

from pathlib import Path

import pytest

from proctor.agents.solution import NoopAgent, SolutionAgent
from proctor.errors import AgentError
from proctor.records.run import Ending, Limits
from proctor.records.suite import Test
from tests.agents.conftest import HERE
from tests.conftest import Project


def script(folder: Path, text: str, name: str = "solution.sh") -> SolutionAgent:
    (folder / name).write_text(text)
    return SolutionAgent({"t": folder / name})


def test_it_stands_in_the_workdir_and_is_given_what_a_command_is(tmp_path, place_for, attempt):
    """The input is a file outside, the output another; what is printed counts where there is none."""
    agent = script(tmp_path, 'pwd > here; cat "$PROCTOR_INPUT"')
    place = place_for(Test(id="t", input="a question"))
    done = attempt(agent, Test(id="t", input="a question"), place=place)

    assert (Ending.OK, "a question") == (done.ending, done.output)
    assert f"{place.workdir}\n" == (place.workdir / "here").read_text()


def test_it_runs_out_of_sight_of_the_suite(tmp_path, place_for, attempt):
    """From a copy in the trial's own folder: what lies beside it in the suite is not beside it here."""
    (tmp_path / "secret").write_text("answer")
    agent = script(
        tmp_path,
        "import os, sys\nopen(os.environ['PROCTOR_OUTPUT'], 'w').write(__file__ + str(os.listdir(sys.path[0])))",
        "solution.py",
    )
    said = attempt(agent).output

    assert said.endswith("/solution.py['solution.py']")
    assert said.startswith(str(tmp_path / "work"))


@pytest.mark.parametrize(
    ("text", "limits", "ending"),
    [
        ("exit 3", Limits(timeout_s=10), Ending.ERROR),
        ("sleep 60", Limits(timeout_s=0.2, grace_s=0.2), Ending.TIMEOUT),
    ],
)
def test_it_ends_as_a_command_does(tmp_path, attempt, text, limits, ending):
    """An exit code is an error, and the limits hold."""
    assert ending is attempt(script(tmp_path, text), limits=limits).ending


def test_a_test_without_a_solution_is_found_before_anything_runs(project: Project) -> None:
    """Every such test is named, and no group is made."""
    for name in ("one", "two"):
        project.test(name)
    said = project.run("solution")

    assert (1, False) == (said.code, (project.root / "group").exists())
    assert "test 'one' has no solution" in said.err
    assert "test 'two' has no solution" in said.err
    with pytest.raises(AgentError):
        SolutionAgent({}).prepare([Test(id="t")], HERE)


def test_noop_does_nothing(place_for, attempt):
    """It ends at once, says nothing, and leaves the workdir alone."""
    place = place_for(Test(id="t"))
    done = attempt(NoopAgent(), place=place)

    assert (Ending.OK, None, []) == (done.ending, done.output, list(place.workdir.iterdir()))


def test_both_are_named_on_the_command_line(project: Project) -> None:
    """`proctor run solution`, `proctor run noop`."""
    project.test("one", "from proctor import ExactMatch\ngraders = [ExactMatch()]", expected="yes")
    project.write("suite/one/solution.py", "print('yes')")

    assert (0, 0) == (project.run("solution", out="a").code, project.run("noop", out="b").code)
    assert (1.0, 0.0) == tuple(project.grade(path=group).json["mean"] for group in "ab")


def test_an_agent_sees_neither_solutions_nor_held_out_files(project: Project) -> None:
    """Nothing of them is in its workdir, its folder, its environment, or above."""
    project.test("one", input="x")
    for name in ("solution.py", "wrong/lazy.sh", "holdout/tests/hidden.py", "files/given.txt"):
        project.write(f"suite/one/{name}", "pass")
    project.write("look.sh", 'find "$PWD/.."; env; find / -maxdepth 1 -name holdout')
    said = project("run", "--agent-cmd", "sh look.sh", "--suite", "suite", "--out", "group")
    seen = project("show", "group/one", "--json").out

    assert 0 == said.code
    assert "given.txt" in seen
    assert all(word not in seen for word in ("/solution.py", "lazy.sh", "hidden.py"))


@pytest.mark.parametrize("hidden", ["solution.py", "wrong/lazy.sh", "holdout/secret.txt"])
def test_files_that_would_show_them_are_refused(project: Project, hidden: str) -> None:
    """A fixture that is the test's own folder."""
    project.test("one", input="x", files=".")
    project.write(f"suite/one/{hidden}", "pass")
    said = project.run("noop")

    assert 1 == said.code
    assert "to the agent" in said.err


def test_two_solutions_of_one_test_are_refused(project: Project) -> None:
    """Nobody could say which one is meant."""
    project.test("one", input="x")
    project.write("suite/one/solution.py", "pass")
    project.write("suite/one/solution.sh", "true")

    assert "solution.sh" in project("tests", "suite").err
