"""Every exit code, with a situation of each command that gives it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from proctor.records.exits import ExitCode
from tests.conftest import Project

PASSES = "from proctor import ExactMatch\n\ngraders = [ExactMatch()]\n"
GATE = "from proctor import ExactMatch\n\ngraders = [ExactMatch(must_pass=True)]\n"
UNCLEAR = "from proctor import grader, inconclusive\n\ngraders = [grader(lambda output: inconclusive('?'), name='g')]\n"
ALWAYS = "from proctor import grader\n\ngraders = [grader(lambda output: True, name='g')]\n"
SPENDER = """
from proctor.trace import llm_call

def main(question):
    with llm_call("m") as call:
        call.usage(tokens_in=1, tokens_out=1, cost_usd=0.02)
    return question
"""


def recorded(
    project: Project, graders: str, *, expected: str = "q", agent: str = "main", tests: int = 1
) -> None:
    """Some tests with one grading module, run once each; `main` repeats its input `q`."""
    for n in range(tests):
        project.test(f"t{n}", graders, input="q", expected=expected)
    project.run(f"agent.py:{agent}")


def graded(
    project: Project, graders: str = PASSES, *words: str, expected: str = "q", agent: str = "main"
) -> int:
    recorded(project, graders, expected=expected, agent=agent)
    return project("grade", "group", *words).code


def compared(project: Project, *words: str, flipped: bool = False) -> int:
    """`group` repeats its input, which is right; `crashed` never answers."""
    recorded(project, PASSES, tests=7)
    project("grade", "group")
    project.run("agent.py:crash", out="crashed")
    project("grade", "crashed")
    return project("compare", *(("group", "crashed") if flipped else ("crashed", "group")), *words).code


def checked(project: Project, graders: str) -> int:
    folder = project.test("t", graders, input="q", expected="q")
    solution = folder / "solution"
    solution.mkdir()
    (solution / "output.txt").write_text("q")
    return project("check", "suite").code


def verified(project: Project, *, changed: bool) -> int:
    recorded(project, PASSES)
    if changed:
        facts = project.root / "group" / "t0" / "run.json"
        facts.chmod(0o644)
        facts.write_text(facts.read_text().replace('"q"', '"p"'))
    return project("verify", "group").code


def spent(project: Project) -> int:
    project.write("spender.py", SPENDER)
    for name in "abc":
        project.test(name, PASSES, input="q", expected="q")
    return project.run("spender.py", "--max-cost", "0.01").code


SITUATIONS: dict[tuple[str, int], Callable[[Project], int]] = {
    ("run, every trial ended ok", 0): lambda p: (p.test("t", PASSES, input="q", expected="q"), p.run().code)[
        1
    ],
    ("run, no suite", 1): lambda p: p("run", "agent.py:main", "--suite", "nowhere").code,
    ("run, an agent crashed", 4): lambda p: (
        p.test("t", PASSES, input="q", expected="q"),
        p.run("agent.py:crash").code,
    )[1],
    ("run --grade, the worse of the two", 2): lambda p: (
        p.test("t", GATE, input="q", expected="x"),
        p.run("agent.py:main", "--grade").code,
    )[1],
    ("grade, every gate passed", 0): lambda p: graded(p, GATE),
    ("grade, a bar without a gate was missed", 0): lambda p: graded(p, PASSES, expected="x"),
    ("grade, no such path", 1): lambda p: p("grade", "nowhere").code,
    ("grade, a gate failed", 2): lambda p: graded(p, GATE, expected="x"),
    ("grade, an agent crashed before a gate", 2): lambda p: graded(p, GATE, agent="crash"),
    ("grade, an agent crashed without a gate", 4): lambda p: graded(p, PASSES, agent="crash"),
    ("grade, inconclusive, so that nothing was measured", 3): lambda p: graded(p, UNCLEAR),
    ("grade, a demand was reached", 0): lambda p: graded(p, PASSES, "--min-pass-rate", "0.2"),
    ("grade, a demand was missed", 2): lambda p: graded(p, PASSES, "--min-pass-rate", "0.9", expected="x"),
    ("grade, a demand cannot be told", 3): lambda p: graded(p, PASSES, "--min-pass-rate", "0.9"),
    ("run, the budget ran out", 5): spent,
    ("compare, better", 0): compared,
    ("compare, worse", 2): lambda p: compared(p, flipped=True),
    ("compare, cannot tell", 3): lambda p: compared(p, "--confidence", "0.999"),
    ("compare, let pass", 0): lambda p: compared(p, "--confidence", "0.999", "--fail-on", "worse"),
    ("compare, no such path", 1): lambda p: p("compare", "nowhere", "neither").code,
    ("check, a grader that cannot fail", 2): lambda p: checked(p, ALWAYS),
    ("verify, nothing was changed", 0): lambda p: verified(p, changed=False),
    ("verify, something was changed", 2): lambda p: verified(p, changed=True),
    ("agree, nothing was labelled", 3): lambda p: (recorded(p, PASSES), p("agree", "group").code)[1],
    ("tests, wrong usage", 1): lambda p: p("tests", "--no-such-option").code,
}


@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda one: f"{one[0]} {one[1]}")
def test_a_situation_has_its_exit_code(project: Project, situation: tuple[str, int]) -> None:
    """The table in the documentation says the same."""
    assert situation[1] == SITUATIONS[situation](project)


@pytest.mark.parametrize(("raised", "code"), [(RuntimeError("ours"), 70), (KeyboardInterrupt(), 130)])
def test_a_defect_is_70_and_ctrl_c_is_130(
    project: Project, monkeypatch: pytest.MonkeyPatch, raised: BaseException, code: int
) -> None:
    """Whatever the command is."""
    import proctor.cli.tests_command as command

    def fails(_: object) -> int:
        raise raised

    monkeypatch.setattr(command, "main", fails)

    assert code == project("tests", "suite").code


def test_every_exit_code_has_a_situation() -> None:
    """None is promised that nothing gives."""
    assert set(ExitCode) == {code for _, code in SITUATIONS} | {70, 130}
