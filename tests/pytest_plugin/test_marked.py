"""Test functions of a project that are given each test of a suite, run and graded."""

from __future__ import annotations

from proctor import evaluation
from tests.conftest import Project
from tests.pytest_plugin.conftest import Pytest, cases, summary_of

OWN = """
import pytest
from proctor.pytesting import Evaluated

@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    # Paths are relative to the folder that pytest was started in, wherever a test has gone.
    monkeypatch.chdir(tmp_path)

def answer(text: str) -> str:
    return {"When?": "1879", "Who?": "Elsa"}.get(text, "Munich")

@pytest.mark.proctor(suite="evals/facts", agent=answer, trials=2)
def test_facts(evaluated: Evaluated) -> None:
    evaluated.assert_passed()

@pytest.mark.proctor(suite="evals/facts", agent_cmd="echo 1879")
def test_measured(evaluated: Evaluated) -> None:
    assert evaluated.objective is not None

def test_own() -> None:
    pass
"""


def test_each_test_of_the_suite_is_a_test_of_the_function(typed: Pytest, project: Project) -> None:
    """The function decides; each function has a group of its own, which holds everything whatever it decided."""
    project.write("tests/test_facts.py", OWN)
    said = typed("tests", "--proctor-out", "runs/mine", "--tb=short")

    assert [
        "FAILED tests/test_facts.py::test_facts[birthplace]",
        "FAILED tests/test_facts.py::test_facts[joke]",
        "FAILED tests/test_facts.py::test_measured[joke]",
    ] == summary_of(said)
    assert (
        'E   AssertionError: 0 of 2 trials passed, 2 must; gate exact-match failed: expected "Ulm", got "Munich"'
        in said.out.splitlines()
    )
    assert "E    +  where None = <joke: inconclusive, 0 of 1 passed, objective unknown>.objective" in said.out
    assert "evaluated.py" not in said.out
    facts = evaluation.report("runs/mine-tests-test_facts-test_facts").groups[0]
    assert (8, 4, 6) == (facts.planned, facts.figures.passed, facts.figures.conclusive)
    assert 4 == evaluation.report("runs/mine-tests-test_facts-test_measured").groups[0].planned


def test_they_are_selected_and_shared_out_as_any_other_test(typed: Pytest, project: Project) -> None:
    """-k, -m and -n; what is not selected is in no plan."""
    project.write("tests/test_facts.py", OWN)
    words = ("tests", "--proctor-out", "out", "-p", "xdist", "-n", 2, "--junitxml=report.xml")
    said = typed(*words, "-k", "not joke", "-m", "dates or places or people", "--tb=no")

    assert ["FAILED tests/test_facts.py::test_facts[birthplace]"] == summary_of(said)
    assert 6 == evaluation.report("out-tests-test_facts-test_facts").groups[0].planned
    outcomes = {
        name: [
            one.attrib["value"] for one in case.iter("property") if one.attrib["name"] == "proctor_outcome"
        ]
        for name, case in cases(typed.root / "report.xml").items()
    }
    assert (["fail"], ["fail"]) == (outcomes["test_facts[birthplace]"], outcomes["test_measured[wife]"])


def test_marked_functions_are_left_out_by_their_mark(typed: Pytest, project: Project) -> None:
    """So that what costs money is one word away from what does not."""
    project.write("tests/test_facts.py", OWN)
    said = typed("tests", "-m", "not proctor", "-q")

    assert (0, True) == (said.code, "1 passed, 8 deselected" in said.out)
    assert not (typed.root / "runs").exists()


WRONG = {
    "pytest.mark.proctor(agent=answer)": "the marker `proctor` names no suite",
    "pytest.mark.proctor(suite='evals/facts')": "no agent is named",
    "pytest.mark.proctor(suite='nowhere', agent=answer)": "There is no such file or folder.",
    "pytest.mark.proctor(suite='evals/facts', agent=answer, trial=3)": "Did you mean 'trials'?",
    "pytest.mark.proctor(suite='evals/facts', agent=answer, trials='3')": "Expected `int | null`",
    "pytest.mark.proctor(suite='evals/facts', agent=answer, trials=0)": "a number that is out of range",
    "pytest.mark.proctor(suite='evals/facts', agent=lambda text: text)": "is no function of a module",
    "pytest.mark.proctor('evals/facts', agent=answer)": "takes its arguments by name",
    "pytest.mark.filterwarnings('error')": "the fixture `evaluated` is for functions with the marker `proctor`",
}


def test_a_mark_that_cannot_work_is_an_error_of_the_collection(typed: Pytest, project: Project) -> None:
    """It says what to write instead, without a traceback."""
    for number, mark in enumerate(WRONG):
        project.write(
            f"test_{number}.py",
            f"import pytest\ndef answer(text): return text\n@{mark}\ndef test_facts(evaluated): pass\n",
        )
    said = typed("--continue-on-collection-errors")
    sections = said.out.split("ERROR collecting ")

    assert (1, len(WRONG) + 1) == (said.code, len(sections))
    for section, what in zip(sections[1:], WRONG.values(), strict=True):
        assert what in section
    assert "Traceback" not in said.out
    assert "marked.py" not in said.out


def test_a_conftest_may_name_the_agent_of_a_suite(typed: Pytest, project: Project) -> None:
    """A function that is defined in it, called in processes of its own; an option of the command line comes first."""
    project.write(
        "conftest.py",
        """
        def answer(text):
            return {"When?": "1879"}.get(text)

        def pytest_proctor_agent(config):
            return answer
        """,
    )
    words = ("--proctor", "evals/facts", "-k", "birthday", "-q")

    assert 0 == typed(*words, "--proctor-out", "one").code
    assert "conftest.py:answer" == evaluation_label(typed, "one")
    typed(*words, "--proctor-out", "two", "--proctor-agent-cmd", "echo 1879")
    assert "echo 1879" == evaluation_label(typed, "two")


def evaluation_label(typed: Pytest, group: str) -> str:
    """The agent that a group was made with."""
    import json

    return json.loads((typed.root / group / "group.json").read_text())["agent"]["label"]
