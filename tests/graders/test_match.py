"""ExactMatch, Contains and Similarity: the golden values of the field, and where proctor decides otherwise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor import Contains, ExactMatch, Outcome, Similarity, Test
from proctor.graders.reference import MISSING, resolve
from proctor.ports import RunView
from proctor.records.json_value import canonical_text, json_equal

Views = Callable[..., RunView]


@pytest.mark.parametrize(
    ("output", "expected", "matches"),
    [
        ({"a": 1, "b": [2, 3]}, {"b": [2, 3], "a": 1}, True),  # the order of keys is nothing
        ([1, 2], [2, 1], False),  # the order of a list is something
        (1, "1", False),
        (1, 1.0, True),
        (True, 1, False),  # true is not 1
        ("Paris", "Paris", True),
        ("paris", "Paris", False),
        (" Paris", "Paris", False),
        (None, None, False),  # nothing matches nothing
        ("42", 42, True),  # text is read as JSON beside what is no text
        ('{"b": 2, "a": 1}', {"a": 1, "b": 2}, True),
        ("null", None, True),  # the agent did say null
        ("forty-two", 42, False),
    ],
)
def test_exact_match_is_equality_of_json(view: Views, output: Any, expected: Any, matches: bool) -> None:
    """Passes exactly when the two values are the same JSON."""
    grade = ExactMatch().grade(view(output, expected=expected))

    assert (Outcome.PASS if matches else Outcome.FAIL) is grade.outcome


def test_exact_match_says_what_it_expected_and_what_it_got(view: Views) -> None:
    """Both as JSON, so that a string and a number look different."""
    assert 'expected 1, got "one"' == ExactMatch().grade(view("one", expected=1)).feedback
    assert 'expected "1", got 1' == ExactMatch().grade(view(1, expected="1")).feedback


@pytest.mark.parametrize(
    ("output", "expected", "contained"),
    [
        ("total 3388", 3388, True),
        ([1, 2], "1,2", True),
        ({"a": {"b": 1}}, '"b":1', True),
        ({"a": 1}, {"b": 2}, False),  # two objects are not alike because both are objects
        ("anything", "", True),
        (None, "", False),  # nothing contains nothing
        ("The answer is PARIS", "Paris", False),
        ("null", None, True),
    ],
)
def test_contains_looks_for_the_text(view: Views, output: Any, expected: Any, contained: bool) -> None:
    """Case-sensitive, and over compact JSON where a value is no text."""
    grade = Contains().grade(view(output, expected=expected))

    assert (Outcome.PASS if contained else Outcome.FAIL) is grade.outcome


@pytest.mark.parametrize(
    ("options", "passes"),
    [
        ({"any_of": ["x", "Ulm"]}, True),
        ({"any_of": ["x", "y"]}, False),
        ({"all_of": ["1879", "Ulm"]}, True),
        ({"all_of": ["1879", "Bern"]}, False),
        ({"all_of": ["1879"], "any_of": ["x"]}, False),
        ({"all_of": ["ULM"], "ignore_case": True}, True),
    ],
)
def test_contains_can_hold_its_own_texts(view: Views, options: dict[str, Any], passes: bool) -> None:
    """Then it needs no `expected`."""
    grader = Contains(**options)

    assert () == grader.needs(Test(id="t"))
    assert (Outcome.PASS if passes else Outcome.FAIL) is grader.grade(view("born in Ulm, 1879")).outcome


@pytest.mark.parametrize(
    ("output", "expected", "score"),
    [
        ("hella", "hello", 0.8),  # 1 - 1/5
        ("", "hello", 0.0),
        ("", "", 1.0),
        (None, "abc", 0.0),
        ({"a": 1}, {"b": 2}, 1 - 2 / 7),  # {"a":1} and {"b":2}: 2 of 7 characters differ
        ("The capital of Japan is Tokyo.", "Tokyo", 1 - 25 / 30),
        ("299792458 m/s", "299792459 m/s", 1 - 1 / 13),
        ("😀a", "😀b", 0.5),  # code points, not UTF-16 units
        ("kitten", "sitting", 1 - 3 / 7),
    ],
)
def test_similarity_is_one_minus_distance_by_the_longer_length(
    view: Views, output: Any, expected: Any, score: float
) -> None:
    """Unit costs; two empty texts score 1; no output scores 0."""
    assert score == pytest.approx(Similarity().grade(view(output, expected=expected)).score)


@given(st.text(max_size=30), st.text(max_size=30))
def test_similarity_is_symmetric_and_1_only_for_equal_texts(left: str, right: str) -> None:
    """A law of the edit distance."""
    from rapidfuzz.distance import Levenshtein

    there = Levenshtein.normalized_similarity(left, right, score_hint=0.9)

    assert there == Levenshtein.normalized_similarity(right, left, score_hint=0.9)
    assert (left == right) == (there == 1.0)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["metadata", "items", 1], "b"),
        (["metadata", "items", -1], "b"),
        (["metadata", "items", "1"], MISSING),  # text does not step into a list
        (["metadata", 0], MISSING),  # a number does not step into an object
        (["metadata", "items", 2], MISSING),
        (["metadata", "items", True], MISSING),
        (["expected"], MISSING),
        (["metadata", "nothing"], None),  # a null is a value
        (["id"], "t"),
    ],
)
def test_match_on_walks_keys_and_positions(path: list[str | int], value: Any) -> None:
    """A path that leads nowhere is not a null."""
    test = Test(id="t", metadata={"items": ["a", "b"], "nothing": None})

    assert value is resolve(test, path) or value == resolve(test, path)


def test_a_missing_reference_is_found_before_the_run() -> None:
    """`needs` says which grader, which field, which test."""
    assert (
        "grader 'exact-match' compares with 'expected', which test 't' does not have",
    ) == ExactMatch().needs(Test(id="t"))
    assert () == ExactMatch(match_on=["metadata", "gold"]).needs(Test(id="t", metadata={"gold": None}))


@pytest.mark.parametrize("options", [{"ignore_case": True}, {"strip": True}])
def test_case_and_outer_space_count_unless_told_otherwise(view: Views, options: dict[str, bool]) -> None:
    """`ignore_case` folds letters, `strip` takes outer white space away."""
    output = "PARIS" if options.get("ignore_case") else " Paris\n"
    run = view(output, expected="Paris")

    assert Outcome.FAIL is ExactMatch().grade(run).outcome
    assert Outcome.PASS is ExactMatch(**options).grade(run).outcome


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**9), 10**9)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(json_values, json_values)
def test_equal_values_have_one_canonical_text(left: Any, right: Any) -> None:
    """And values that differ have two."""
    assert json_equal(left, right) == (canonical_text(left) == canonical_text(right))
    assert json_equal(left, left)
