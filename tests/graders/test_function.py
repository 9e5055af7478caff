"""Function graders ask for what they need by name, and return what they found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from proctor import Grade, Outcome, Test, failed, grader, passed, scalar
from proctor.graders.returned import NotAGrade, as_grade
from proctor.ports import RunView

Views = Callable[..., RunView]


def test_a_function_gets_what_it_asks_for(view: Views) -> None:
    """By parameter name, in any order."""

    @grader
    def all_of_it(
        record: Any, expected: Any, output: Any, input: Any, test: Any, workdir: Any, judge: Any
    ) -> list[Any]:
        return [output, expected, input, test.id, workdir.is_dir(), record.ending, callable(judge)]

    assert ["o", "e", "i", "t", True, "ok", True] == all_of_it.grade(view("o", expected="e", input="i"))


def test_the_decorator_takes_options(view: Views) -> None:
    """`@grader(weight=2)` is `grader(function, weight=2)`, named after the function."""

    @grader(weight=2, must_pass=True)
    def short(output: str) -> bool:
        return len(output) < 5

    assert ("short", 2.0, True) == (short.options.name, short.options.weight, short.options.must_pass)
    assert short.grade(view("abc"))


def test_a_missing_value_is_found_before_the_run_unless_it_has_a_default(view: Views) -> None:
    """A parameter with a default keeps it."""

    @grader
    def strict(output: Any, expected: Any) -> bool:
        return output == expected

    @grader
    def lenient(output: Any, expected: Any = "nothing") -> Any:
        return expected

    assert ("grader 'strict' asks for 'expected', which test 't' does not have",) == strict.needs(
        Test(id="t")
    )
    assert () == lenient.needs(Test(id="t"))
    assert "nothing" == lenient.grade(view("x"))


@dataclass
class Answer:
    year: int
    place: str = "?"


@pytest.mark.parametrize("output", [{"year": 1879}, '{"year": 1879}'])
def test_an_annotated_parameter_is_decoded(view: Views, output: Any) -> None:
    """From JSON values, and from text that holds JSON."""

    def year(output: Answer) -> bool:
        return output.year == 1879

    assert grader(year).grade(view(output))


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ({"year": "1879"}, "output is not Answer: Expected `int`, got `str` - at `$.year`"),
        ("in 1879", "output is not Answer: the text is no JSON (Expecting value: line 1 column 1 (char 0))"),
    ],
)
def test_a_value_that_does_not_decode_fails_and_says_why(view: Views, output: Any, said: str) -> None:
    """The agent gave another shape than was asked for: that is a fail, not a defect of the grader."""

    def year(output: Answer) -> bool:
        return output.year == 1879

    assert failed(said) == grader(year).grade(view(output))


def test_text_stays_text_where_text_is_wanted(view: Views) -> None:
    """`output: str` does not read "42" as a number, and `output: str | None` gets nothing as None."""

    def kind(output: str | None) -> str:
        return type(output).__name__

    assert "str" == grader(kind).grade(view("42"))
    assert "NoneType" == grader(kind).grade(view(None))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: grader(lambda output: True), "a lambda has no name of its own"),
        (
            lambda: grader(lambda answer: True, name="g"),
            "asks for 'answer'; a grading function may ask for output",
        ),
        (lambda: grader(lambda output: True, name="g", wieght=2), "grader() has no option 'wieght'"),
        (lambda: grader(lambda output: True, name="g", weight=-1), "weight is a number of 0 or more"),
        (
            lambda: grader(lambda output: True, name="g", weight=float("nan")),
            "weight is a number of 0 or more",
        ),
        (lambda: grader(lambda output: True, name="g", threshold=1.5), "threshold is a number from 0 to 1"),
        (lambda: grader(lambda output: True, name="g", samples=0), "samples is a whole number of 1 or more"),
        (
            lambda: grader(lambda output: True, name="g", samples=1.5),
            "samples is a whole number of 1 or more",
        ),
        (lambda: grader(lambda output: True, name="g", timeout=0), "timeout is a number of seconds above 0"),
        (lambda: grader(lambda output: True, name="g", aggregate="most"), "aggregate is 'all' or 'any'"),
        (lambda: grader(lambda output: True, name="g", scope="tag"), "scope is a list of tags or test ids"),
        (lambda: grader(lambda output: True, name="g", must_pass=1), "must_pass is True or False"),
    ],
)
def test_an_option_that_is_out_of_range_is_refused_where_it_is_written(make: Any, said: str) -> None:
    """With the grader's name, the option, its range, and the value."""
    with pytest.raises(ValueError) as caught:
        make()

    assert said in str(caught.value)


def test_zero_is_a_value() -> None:
    """A weight or threshold of 0 is not "not set"."""
    options = grader(lambda output: True, name="g", weight=0, threshold=0).options

    assert (0.0, 0.0) == (options.weight, options.threshold)


@pytest.mark.parametrize(
    ("returned", "grade"),
    [
        (True, passed()),
        (False, failed()),
        (0, scalar(0.0)),
        (1, scalar(1.0)),
        (0.5, scalar(0.5)),
        (Outcome.PASS, passed()),
        (Grade(score=0.3, feedback="so so"), scalar(0.3, "so so")),
    ],
)
def test_what_a_grader_may_return(returned: Any, grade: Grade) -> None:
    """A bool, a number from 0 to 1, an outcome, or a Grade."""
    assert grade == as_grade(returned)


@pytest.mark.parametrize(
    "returned",
    [None, "pass", "0.5", 7, -0.1, 1.0000001, float("nan"), float("inf"), {"score": 1}, [True], 10**400],
)
def test_anything_else_is_no_grade(returned: Any) -> None:
    """It is a defect of the grader, and never rounded into range."""
    with pytest.raises(NotAGrade):
        as_grade(returned)


@pytest.mark.parametrize(
    "fields",
    [{}, {"score": 0.5, "outcome": Outcome.PASS}, {"score": 2.0}, {"score": True}, {"outcome": "maybe"}],
)
def test_a_grade_holds_a_score_or_an_outcome(fields: dict[str, Any]) -> None:
    """Neither, both, or one out of range is refused."""
    with pytest.raises(ValueError):
        Grade(**fields)
