"""Each test of a suite is an item of pytest, with everything that pytest can do with items."""

from __future__ import annotations

from tests.conftest import Project
from tests.pytest_plugin.conftest import Pytest, cases, summary_of

FAILURES = [
    "FAILED evals/facts::birthplace",
    "FAILED evals/facts::wife",
    "INCONCLUSIVE evals/facts::joke",
]


def test_three_answers_and_an_error_of_the_agent(typed: Pytest) -> None:
    """Only what was seen to pass is a pass; each other test says why in a line, and no traceback is ours."""
    said = typed.on("-rA", "-v")

    assert (1, [*FAILURES, "PASSED evals/facts::birthday"]) == (said.code, summary_of(said))
    for line in (
        'gate exact-match failed: expected "Ulm", got "Munich"',
        "the agent ended with error: the model did not answer",
        "inconclusive: funny cannot tell (undecided): humour is a matter of taste",
        "    output: Munich",
        "see more: proctor show out/birthplace",
        "birthplace  0/1     0        0.000",
        "planned 4 = graded 2 + inconclusive 1 + errored 1 + harness failures 0 + interrupted 0",
        "runs: out",
    ):
        assert line in said.out.splitlines()
    assert "Traceback" not in said.out + said.err
    assert "open_group.py" not in said.out + said.err


def test_collecting_alone_runs_and_records_nothing(typed: Pytest) -> None:
    """`--collect-only` lists the ids, and needs no agent."""
    said = typed("--proctor", "evals/facts", "--collect-only", "-q", "--proctor-out", "out")

    assert said.out.splitlines()[:4] == [
        "evals/facts::birthday",
        "evals/facts::birthplace",
        "evals/facts::joke",
        "evals/facts::wife",
    ]
    assert not (typed.root / "out").exists()


def test_items_are_selected_by_word_by_tag_and_by_id(typed: Pytest) -> None:
    """Tags are registered markers; one that pytest itself would act on selects by -k alone, and skips nothing."""
    strict = ("--strict-markers", "--strict-config", "-W", "error", "--collect-only", "-q")

    def selected(*words: str) -> list[str]:
        said = typed("--proctor", "evals/facts", *strict, *words)
        return [line.partition("::")[2] for line in said.out.splitlines() if "::" in line]

    assert ["birthday", "birthplace"] == selected("-k", "birth")
    assert ["birthday", "birthplace"] == selected("-m", "dates or places")
    assert ["birthday", "birthplace", "joke", "wife"] == selected("-m", "proctor")
    assert ["wife"] == selected("-k", "skip")
    assert ["wife", "joke"] == selected("evals/facts::wife", "evals/facts::joke")
    assert ["birthday", "joke", "wife"] == selected("--deselect", "evals/facts::birthplace")


def test_the_suite_stands_alone_unless_arguments_name_tests_beside_it(
    typed: Pytest, project: Project
) -> None:
    """Files that an agent is given are no tests of the project, whatever they are called."""
    project.write("tests/test_own.py", "def test_own(): pass")
    project.write("evals/facts/birthday/files/test_mend_me.py", "def test_broken(): assert False")
    look = ("--proctor", "evals/facts", "--collect-only", "-q", "-k", "own or birthday or broken")

    assert ["evals/facts::birthday"] == typed(*look).out.splitlines()[:1]
    assert {"tests/test_own.py::test_own", "evals/facts::birthday", ""} == set(
        typed(*look, "tests", "evals").out.splitlines()[:3]
    )


def test_last_failed_runs_those_that_did_not_pass(typed: Pytest) -> None:
    """The ids are the same from run to run, so that pytest's cache knows them; a new group holds only these."""
    typed.on("--tb=no", "-q")
    again = typed.on("--lf", "--tb=no", agent="agent.py:right", out="again")

    assert ["INCONCLUSIVE evals/facts::joke"] == summary_of(again)
    assert {"birthplace", "joke", "wife"} == {
        path.parent.name for path in (typed.root / "again").glob("*/run.json")
    }


def test_what_was_not_reached_is_planned_and_not_recorded(typed: Pytest) -> None:
    """`-x` stops the session; the group says what it had set out to do."""
    said = typed.on("-x", "--tb=no")

    assert (
        "planned 4 = graded 2 + inconclusive 0 + errored 0 + harness failures 0 + interrupted 2" in said.out
    )


def test_junitxml_holds_what_the_grader_says(typed: Pytest) -> None:
    """The message begins with the reason, and properties say the outcome, the objective and the group."""
    typed.on("--junitxml=report.xml", "-q", "--tb=no")
    found = cases(typed.root / "report.xml")
    failure = found["birthplace"].find("failure")

    assert failure is not None
    assert failure.attrib["message"].startswith('gate exact-match failed: expected "Ulm", got "Munich"')
    assert found["birthday"].find("failure") is None
    properties = {one.attrib["name"]: one.attrib["value"] for one in found["joke"].iter("property")}
    assert properties == {
        "proctor_group": str(typed.root / "out"),
        "proctor_outcome": "inconclusive",
        "proctor_objective": "",
    }


def test_enough_trials_must_pass(typed: Pytest) -> None:
    """All of them, unless --proctor-min-pass-rate or the configuration of pytest asks for less."""
    words = ("--proctor-trials", "4", "--tb=short", "-k", "birthday")
    strict = typed.on(*words, agent="agent.py:flaky")

    assert 1 == strict.code
    assert (
        '2 of 4 trials passed, 4 must; gate exact-match failed: expected "1879", got "perhaps"'
        in strict.out.splitlines()
    )
    assert "flaky: birthday" in strict.out.splitlines()
    (typed.root / "pytest.ini").write_text(
        "[pytest]\nproctor_agent = agent.py:flaky\nproctor_min_pass_rate = 0.5\n"
    )
    assert 0 == typed("--proctor", "evals/facts", "--proctor-out", "half", *words).code


def test_an_inconclusive_test_may_be_skipped_but_measuring_nothing_is_never_green(typed: Pytest) -> None:
    """Skipped tests hide in a green session; a session of nothing else is not one."""
    skip = ("--proctor-inconclusive", "skip", "-rs")
    alone = typed.on(*skip, "-k", "joke", out="alone")
    beside = typed.on(*skip, "-k", "joke or birthday", out="beside")

    assert (1, True) == (alone.code, "nothing was measured" in alone.out)
    assert "inconclusive: funny cannot tell (undecided): humour is a matter of taste" in alone.out
    assert 0 == beside.code
    assert "1 passed, 1 skipped" in beside.out


def test_a_budget_that_is_used_up_starts_nothing_more(typed: Pytest, project: Project) -> None:
    """What was not started was not seen, and says so."""
    project.write("proctor.toml", "max_time = 0.000001\n")
    said = typed.on("-k", "birthday")

    assert 1 == said.code
    assert "not started: the budget of the whole invocation is used up (max-time)" in said.out.splitlines()
    assert "nothing was measured: no test passed, and none failed" in said.out.splitlines()
    assert "INCONCLUSIVE evals/facts::birthday" in summary_of(said)
