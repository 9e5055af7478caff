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
    "pytest.mark.proctor(suite='evals/facts', agent=answer, timeout=float('nan'))": "a number that is out of range",
    "pytest.mark.proctor(suite='evals/facts', agent=answer, timeout=float('inf'))": "a number that is out of range",
    "pytest.mark.proctor(suite='evals/facts', agent=answer, min_pass_rate=float('nan'))": "that is out of range",
    "pytest.mark.proctor(suite='evals/facts', agent=lambda text: text)": "is no function of a module",
    "pytest.mark.proctor('evals/facts', agent=answer)": "takes its arguments by name",
    "pytest.mark.filterwarnings('error')": "the fixture `evaluated` is for functions with the marker `proctor`",
}


def test_a_mark_that_cannot_work_is_an_error_of_the_collection(typed: Pytest, project: Project) -> None:
    """It says what to write instead, without a traceback."""
    for number, mark in enumerate(WRONG):
        project.write(
            f"test_{number:02}.py",
            f"import pytest\ndef answer(text): return text\n@{mark}\ndef test_facts(evaluated): pass\n",
        )
    said = typed("--continue-on-collection-errors")
    sections = said.out.split("ERROR collecting ")

    assert (1, len(WRONG) + 1) == (said.code, len(sections))
    for section, what in zip(sections[1:], WRONG.values(), strict=True):
        assert what in section
    assert "Traceback" not in said.out
    assert "another exception" not in said.out, "each error is said once"
    assert "marked.py" not in said.out


def test_a_mark_that_would_run_nothing_is_an_error(typed: Pytest, project: Project) -> None:
    """A function that names a suite and takes nothing of it would pass, whatever the agent does."""
    project.write(
        "test_idle.py",
        """
        import pytest

        @pytest.mark.proctor(suite="evals/facts", agent="agent.py")
        def test_facts():
            pass

        class TestFacts:
            @pytest.mark.proctor(suite="evals/facts", agent="agent.py", trials=3)
            def test_method(self):
                pass
        """,
    )
    said = typed("test_idle.py")

    assert 2 == said.code
    assert "test_facts has the marker `proctor` and takes no `evaluated`, so that no agent" in said.out
    assert "Let it take it: def test_facts(evaluated)." in said.out
    assert "Traceback" not in said.out


def test_a_mark_may_be_a_word_to_select_by(typed: Pytest, project: Project) -> None:
    """A bare one on a test that runs an agent on its own; and that of a class, beside a function that needs no agent."""
    project.write(
        "test_words.py",
        """
        import pytest

        @pytest.mark.proctor
        def test_alone():
            pass

        @pytest.mark.proctor(suite="evals/facts", agent=len)
        class TestFacts:
            def test_needs_none(self):
                pass
        """,
    )

    assert 0 == typed("test_words.py").code
    assert "2 deselected" in typed("test_words.py", "-m", "not proctor").out


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


def test_a_function_may_have_any_name(typed: Pytest, project: Project) -> None:
    """Its group is a folder, whose name cannot be as long as that of a function."""
    name = f"test_{'x' * 300}"
    project.write("test_it.py", OWN.replace("test_facts(", f"{name}("))
    said = typed(f"test_it.py::{name}", "--proctor-out", "out", "--tb=no", "-k", "birthday")
    [group] = typed.root.glob("out-*")

    assert 0 == said.code
    assert group.name.startswith("out-test_it-test_xxx")
    assert 2 == evaluation.report(group).groups[0].planned
