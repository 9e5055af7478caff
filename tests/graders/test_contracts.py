"""Every built-in grader keeps to the contract that third parties are given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from proctor import (
    Contains,
    ExactMatch,
    FileContains,
    FileEquals,
    FileExists,
    GraderBase,
    IsJson,
    Number,
    OneOf,
    Outcome,
    Regex,
    RunView,
    Similarity,
    Test,
    grader,
    inconclusive,
)
from proctor.graders.number import numbers_in
from proctor.testing import GraderContract, a_run, grade


class TestExactMatch(GraderContract):
    grader = ExactMatch()
    passes = a_run({"a": [1, 2.0]}, expected={"a": [1.0, 2]})
    fails = a_run({"a": [2, 1]}, expected={"a": [1, 2]})


class TestContains(GraderContract):
    grader = Contains()
    passes = a_run("in 1879", expected="1879")
    fails = a_run("in 1880", expected="1879")


class TestSimilarity(GraderContract):
    grader = Similarity(threshold=0.8)
    passes = a_run("hella", expected="hello")
    fails = a_run("help", expected="hello")


class TestRegex(GraderContract):
    grader = Regex(pattern=r"\d{4}-\d\d-\d\d")
    passes = a_run("on 1879-03-14")
    fails = a_run("in March")


class TestIsJson(GraderContract):
    grader = IsJson(
        schema={"type": "object", "required": ["year"], "properties": {"year": {"type": "integer"}}}
    )
    passes = a_run('{"year": 1879}')
    fails = a_run('{"year": "1879"}')


class TestNumber(GraderContract):
    grader = Number(tolerance=0.01)
    passes = a_run("about 3.14", expected=3.1416)
    fails = a_run("about 3.2", expected=3.1416)


class TestOneOf(GraderContract):
    grader = OneOf(values=["yes", True], ignore_case=True)
    passes = a_run("YES")
    fails = a_run("no")


class TestFileExists(GraderContract):
    grader = FileExists(path="out/result.txt")
    passes = a_run(files={"out/result.txt": ""})
    fails = a_run(files={"result.txt": ""})


class TestFileContains(GraderContract):
    grader = FileContains(path="log.txt", contains="done")
    passes = a_run(files={"log.txt": "all done\n"})
    fails = a_run(files={"log.txt": "started\n"})


class TestFileEquals(GraderContract):
    grader = FileEquals(path="total.txt", strip=True)
    passes = a_run(files={"total.txt": "42\n"}, expected="42")
    fails = a_run(files={"total.txt": "43\n"}, expected="42")


class TestFunction(GraderContract):
    grader = grader(
        lambda output: inconclusive("no log") if output is None else output == "x", name="function"
    )
    passes = a_run("x")
    fails = a_run("y")
    cannot_tell = a_run()

    def test_it_fails_what_is_wrong_and_says_why(self) -> None:
        """A bare False says no more than that."""
        assert Outcome.FAIL is grade(self.grader, self.fails).outcome


@dataclass(frozen=True, kw_only=True)
class Short(GraderBase):
    default_name = "short"
    most: int = 10

    def grade(self, run: RunView) -> float:
        return 1.0 if len(str(run.output)) <= self.most else 0.0


class TestOwnGrader(GraderContract):
    grader = Short(threshold=1)
    passes = a_run("brief")
    fails = a_run("far too long an answer")


def test_the_contract_finds_a_grader_that_breaks_it() -> None:
    """A grader that remembers is not the same the second time."""

    class Remembers(TestFunction):
        seen: list[int] = []
        grader = grader(lambda output: bool(Remembers.seen.append(1)) or len(Remembers.seen) == 1, name="g")

    with pytest.raises(AssertionError):
        Remembers().test_it_says_the_same_twice()


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("3388", [3388]),
        ("total: 3,388.50 EUR", [3388.5]),
        ("-1.5e3", [-1500]),
        ("+7", [7]),
        (".5", [0.5]),
        ("1, 2 and 3", [1, 2, 3]),
        ("1,2", []),  # neither a group of three nor two numbers beyond doubt
        ("v1.2.3", []),
        ("2024-01-05", []),
        ("B52", []),
        ("no number", []),
        ("", []),
        ("1e999", []),
        ("42.", [42]),
        ("(42)", [42]),
        ("$42!", [42]),
        (True, []),
        (None, []),
        (7, [7]),
        ([7], []),
    ],
)
def test_which_numbers_stand_in_a_text(text: Any, numbers: list[float]) -> None:
    """Dates, versions and names with digits hold none."""
    assert numbers == numbers_in(text)


@pytest.mark.parametrize(
    ("made", "output", "outcome"),
    [
        (Number(), "1 or 2", "fail"),
        (Number(relative_tolerance=0.1), 11, "pass"),
        (Number(relative_tolerance=0.1), 11.1, "fail"),
        (Number(tolerance=0.1), 10.1, "pass"),
        (Number(), None, "fail"),
        (OneOf(), "x", "fail"),
        (Regex(pattern="a+", full=True), "aab", "fail"),
        (Regex(pattern="A+", ignore_case=True), "aab", "pass"),
        (Regex(pattern="."), None, "fail"),
        (IsJson(), "{'a': 1}", "fail"),
        (IsJson(), '{"a": 1, "a": 2}', "fail"),
        (IsJson(), "NaN", "fail"),
        (IsJson(), "[" * 100_000, "fail"),
        (IsJson(), {"a": 1}, "pass"),
        (IsJson(), None, "fail"),
        (IsJson(schema={"type": "array"}), "[]", "pass"),
    ],
)
def test_the_edges(made: Any, output: Any, outcome: str) -> None:
    """Against an expected 10."""
    assert outcome == grade(made, a_run(output, expected=[10] if isinstance(made, OneOf) else 10)).outcome


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Regex(pattern="("), "'(' is no regular expression"),
        (lambda: FileExists(path="/etc/passwd"), "path is relative to the workdir"),
        (lambda: FileExists(path="../x"), "path is relative to the workdir"),
        (lambda: FileExists(path=""), "path is relative to the workdir"),
        (lambda: Number(tolerance=-1), "tolerance is a number of 0 or more"),
        (lambda: OneOf(values="yes"), "values is a list"),
        (lambda: Contains(any_of="yes"), "any_of is a list of texts"),
        (lambda: ExactMatch(match_on="expected"), "match_on is a list of keys"),
    ],
)
def test_a_grader_that_makes_no_sense_is_refused_where_it_is_written(make: Any, said: str) -> None:
    """With its name, and what it should be."""
    with pytest.raises(ValueError) as caught:
        make()

    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("made", "expected", "said"),
    [
        (Number(), "many", "compares with a number, and test 't' has \"many\""),
        (OneOf(), "x", "compares with a list, and test 't' has \"x\""),
        (IsJson(schema={"type": "no such type"}), "x", "the schema is no JSON Schema"),
    ],
)
def test_what_a_test_lacks_is_found_before_the_run(made: Any, expected: Any, said: str) -> None:
    """By name of grader and test."""
    (lack,) = made.needs(Test(id="t", expected=expected))

    assert said in lack


def test_a_link_out_of_the_workdir_is_not_the_agents_work() -> None:
    """The file that it leads to counts as not there."""
    run = a_run(files={"in.txt": "x"})
    (run.workdir / "passwd").symlink_to("/etc/passwd")
    (run.workdir / "alias").symlink_to("in.txt")

    assert Outcome.FAIL is grade(FileExists(path="passwd"), run).outcome
    assert Outcome.PASS is grade(FileContains(path="alias", contains="x"), run).outcome


def test_a_file_that_is_no_text_fails_and_says_so() -> None:
    """Bytes that are no UTF-8."""
    run = a_run()
    (run.workdir / "x").write_bytes(b"\xff\xfe")

    assert "'x' is no UTF-8 text" == grade(FileContains(path="x", contains="a"), run).feedback
