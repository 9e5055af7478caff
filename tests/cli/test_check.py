"""`proctor check`: a suite is tried out on its own solutions before anybody pays."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.conftest import Project

SMOKE = Path(__file__).parents[2] / "examples" / "smoke"
TEST = "total-a-csv"


@pytest.fixture
def ladder(project: Project) -> Path:
    """A copy of the smoke suite to break; the folder of one of its tests."""
    shutil.copytree(SMOKE, project.root / "smoke")
    return project.root / "smoke" / TEST


def check(project: Project, *words: object) -> tuple[int, str]:
    said = project("check", "smoke", "--test", TEST, *words)
    return said.code, said.out


def table(verdict: str, ceiling: str, floor: str, *runs: tuple[str, str], finding: str = "") -> str:
    """The table of the one test: the outcome and score of reference, no-op and the two wrong solutions."""
    names = ("reference", "no-op", "wrong/drops-the-refund", "wrong/splits-at-commas")
    lines = [
        f"{'TEST':<24}  VERDICT  CEILING  FLOOR",
        f"{TEST:<24}  {verdict:<7}  {ceiling:<7}  {floor}",
    ]
    for name, (outcome, score) in zip(names, runs, strict=True):
        gap = "" if name == "reference" else " " * 9
        lines.append(f"  {name:<22}  {outcome:<7}  {gap}{score}")
    counts = ", ".join(f"{int(verdict == one)} {one}" for one in ("ok", "broken", "unclear"))
    said = f"{finding}\n\n" if finding else ""
    return "\n".join(lines) + f"\n\n{said}1 test: {counts}\n"


GOOD = (("pass", "1.000"), ("fail", "0.000"), ("fail", "0.000"), ("fail", "0.000"))


def graders(folder: Path, *more: str) -> None:
    (folder / "graders.py").write_text(
        "import random\nfrom intact import intact\n"
        "from proctor import ExactMatch, grader, inconclusive, passed, scalar\n"
        f"graders = [ExactMatch(must_pass=True), intact(), {', '.join(more)}]\n"
    )


def test_a_suite_that_tells_right_from_wrong_is_ok(project: Project, ladder: Path) -> None:
    """Exit code 0, and ceiling and floor of each test."""
    assert (0, table("ok", "1.000", "0.000", *GOOD)) == check(project)


def test_a_reference_that_is_wrong_breaks_the_test(project: Project, ladder: Path) -> None:
    """Nobody could pass it."""
    (ladder / "solution.py").write_text("print(1834.74)")
    expected = table(
        "broken",
        "0.000",
        "0.000",
        ("fail", "0.000"),
        *GOOD[1:],
        finding=f"{TEST}  broken: the reference scores 0.000 and not 1: exact-match",
    )

    assert (2, expected) == check(project)


def test_a_wrong_solution_that_passes_breaks_the_test(project: Project, ladder: Path) -> None:
    """The graders do not see what is wrong with it."""
    (ladder / "wrong" / "splits-at-commas.sh").write_text("echo 1834.75")
    expected = table(
        "broken",
        "1.000",
        "1.000",
        *GOOD[:3],
        ("pass", "1.000"),
        finding=f"{TEST}  broken: wrong/splits-at-commas passes, with 1.000",
    )

    assert (2, expected) == check(project)


def test_doing_nothing_must_not_pass(project: Project, ladder: Path) -> None:
    """An agent that does nothing has done nothing."""
    (ladder / "graders.py").write_text(
        "from intact import intact\nfrom proctor import grader\n"
        "graders = [grader(lambda output: output in (None, '1834.75'), name='total', must_pass=True), intact()]"
    )
    expected = table(
        "broken",
        "1.000",
        "1.000",
        GOOD[0],
        ("pass", "1.000"),
        *GOOD[2:],
        finding=f"{TEST}  broken: the no-op passes, with 1.000",
    )

    assert (2, expected) == check(project)


def test_a_grader_must_say_the_same_twice(project: Project, ladder: Path) -> None:
    """One that draws at random draws again, also where what it says changes no outcome."""
    graders(ladder, "grader(lambda output: output == '1834.75' or scalar(random.random() / 2), name='mood')")
    expected = table(
        "broken",
        "1.000",
        "0.000",
        *GOOD,
        finding=f"{TEST}  broken: mood says different things of the same run: "
        "the no-op, wrong/drops-the-refund, wrong/splits-at-commas",
    )

    assert (2, expected) == check(project)


def test_a_grader_that_cannot_tell_leaves_the_test_unclear(project: Project, ladder: Path) -> None:
    """Exit code 3: it is neither shown to work nor shown not to."""
    graders(ladder, "grader(lambda output: inconclusive('no idea'), name='oracle')")
    expected = table(
        "unclear",
        "-",
        "0.000",
        ("pass", "-"),
        *GOOD[1:],
        finding=f"{TEST}  unclear: oracle cannot tell about the reference, the no-op, wrong/drops-the-refund, "
        "wrong/splits-at-commas: [undecided] no idea",
    )

    assert (3, expected) == check(project)


def test_a_grader_that_never_failed_is_named(project: Project, ladder: Path) -> None:
    """It may be right to pass all of them; nothing shows that it can fail."""
    graders(ladder, "grader(lambda output: True, name='kind')")
    code, out = check(project)

    assert 3 == code
    assert f"{TEST}  unclear: kind never failed: nothing shows that it can; add a wrong solution" in out


def test_a_gate_of_scores_without_a_bar_cannot_fail(project: Project, ladder: Path) -> None:
    """A score of 0 meets a threshold of 0."""
    graders(ladder, "grader(lambda output: float(output == '1834.75'), name='near', must_pass=True)")
    code, out = check(project)

    assert 2 == code
    assert "near cannot fail: it is a gate that gives scores, and its threshold is 0" in out


def test_a_test_without_a_reference_is_unclear(project: Project) -> None:
    """Exit code 3; without wrong solutions, that is noted and no more."""
    project.test("bare", "from proctor import ExactMatch\ngraders = [ExactMatch()]", expected="x")
    said = project("check", "suite", "--json")
    (test,) = said.json["tests"]

    assert (3, "unclear", None) == (said.code, test["verdict"], test["ceiling"])
    assert [("unclear", "there is no reference"), ("ok", "there are no wrong solutions")] == [
        (finding["weight"], finding["said"].partition(":")[0].partition(";")[0])
        for finding in test["findings"]
    ]


def test_a_solution_that_crashes_is_a_finding_and_a_wrong_one_that_crashes_shows_nothing(
    project: Project,
) -> None:
    """No grader saw either; the reference is to work, so its test is broken."""
    project.test("one", "from proctor import ExactMatch\ngraders = [ExactMatch()]", expected="x")
    project.write("suite/one/solution.py", "raise SystemExit(3)")
    project.write("suite/one/wrong/lazy.sh", "exit 3")
    said = project("check", "suite", "--json")
    (test,) = said.json["tests"]

    assert (2, ["reference", "no-op", "lazy"]) == (said.code, [tried["name"] for tried in test["tried"]])
    assert ["broken", "unclear"] == [finding["weight"] for finding in test["findings"]]
    assert "wrong/lazy ended with error, so no grader saw it" in test["findings"][1]["said"]


def test_scores_without_any_bar_are_wanting_below_one(project: Project) -> None:
    """Where no grade has a bar, every run passes; a wrong solution is told by its score."""
    project.test("near", "from proctor import Similarity\ngraders = [Similarity()]", expected="abc")
    project.write("suite/near/solution.sh", "echo abc")
    project.write("suite/near/wrong/close.sh", "echo abd")
    said = project("check", "suite", "--json")
    (test,) = said.json["tests"]

    assert (0, "ok", 1.0) == (said.code, test["verdict"], test["ceiling"])
    assert pytest.approx(2 / 3) == test["floor"]


def test_what_cannot_be_graded_is_refused(project: Project) -> None:
    """Exit code 1, as before a run that is to be graded."""
    project.test("bare", input="x")

    assert 1 == project("check", "suite").code
