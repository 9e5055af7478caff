"""Which run is labelled next, and which are drawn by chance."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.core.ordering import (
    Candidate,
    Opinion,
    Verdict,
    disagreement,
    draw_sample,
    drawn,
    ordered,
    uncertainty,
)


def judged(run: str, value: float | None, *samples: float, bar: float = 0.0) -> Candidate:
    return Candidate(run=run, verdicts=(Verdict(value=value, bar=bar, samples=samples, is_judge=True),))


def test_given_is_the_order_given_and_random_depends_on_the_seed_alone() -> None:
    candidates = [judged(name, 1.0) for name in "abcdefgh"]

    assert tuple("abcdefgh") == ordered(candidates, "given", seed=1)
    assert ordered(candidates, "random", seed=1) == ordered(candidates[::-1], "random", seed=1)
    assert ordered(candidates, "random", seed=1) != ordered(candidates, "random", seed=2)


def test_uncertain_puts_first_what_judges_could_not_tell_then_what_is_near_the_bar() -> None:
    candidates = [
        judged("sure", 1.0),
        judged("near", 0.75, bar=0.8),
        judged("open", None),
        judged("far", 0.1, bar=0.8),
    ]

    assert ("open", "near", "far", "sure") == ordered(candidates, "uncertain", seed=0)


@pytest.mark.parametrize(
    ("samples", "expected"), [((1, 1, 1, 1), 0.0), ((1, 0, 1, 0), 1.0), ((1, 1, 1, 0), 0.75)]
)
def test_a_judge_that_says_now_this_now_that_is_unsure(samples: tuple[float, ...], expected: float) -> None:
    """4p(1 - p): of 3 in 4 it is 4 x 0.75 x 0.25."""
    assert pytest.approx(expected) == uncertainty(judged("a", sum(samples) / len(samples), *samples))


def test_judges_count_before_code() -> None:
    """Code is never unsure of its result: with a judge beside it, a score of 0.5 from code says nothing."""
    both = Candidate(
        run="a",
        verdicts=(Verdict(value=0.5, bar=0), Verdict(value=1.0, bar=0, samples=(1, 1), is_judge=True)),
    )

    assert 0.0 == uncertainty(both)


def test_disagreement_is_between_people_or_a_person_and_a_grader_on_one_question() -> None:
    def says(question: str, value: float, *, is_person: bool = True) -> Opinion:
        return Opinion(question=question, value=value, is_person=is_person)

    people = Candidate(run="people", opinions=(says("q", 1.0), says("q", 0.25)))
    judge = Candidate(run="judge", opinions=(says("q", 1.0), says("q", 0.0, is_person=False)))
    graders = Candidate(
        run="graders", opinions=(says("q", 1.0, is_person=False), says("q", 0.0, is_person=False))
    )
    questions = Candidate(run="questions", opinions=(says("q", 1.0), says("r", 0.0)))

    assert [0.75, 1.0, 0.0, 0.0] == [disagreement(one) for one in (people, judge, graders, questions)]
    assert ("judge", "people", "graders", "questions") == ordered(
        [graders, questions, people, judge], "disagreement", seed=0
    )


@given(st.sets(st.text(min_size=1, max_size=3), min_size=1, max_size=30), st.integers(0, 5), st.data())
def test_a_smaller_sample_is_the_beginning_of_a_larger_one(
    runs: set[str], seed: int, data: st.DataObject
) -> None:
    """And it depends on the set of runs alone, not on their order; nothing is drawn twice."""
    size = data.draw(st.integers(0, len(runs)))
    listed = data.draw(st.permutations(sorted(runs)))
    whole = drawn(listed, len(runs), seed=seed)

    assert whole[:size] == drawn(sorted(runs), size, seed=seed)
    assert runs == set(whole)
    assert len(runs) == len(whole)


def test_a_sample_is_drawn_evenly() -> None:
    """Over 2,000 seeds each of ten runs is among three about 600 times."""
    counts = dict.fromkeys("abcdefghij", 0)
    for seed in range(2000):
        for run in drawn("abcdefghij", 3, seed=seed):
            counts[run] += 1

    assert all(520 < count < 680 for count in counts.values()), counts


def test_a_sample_records_its_design() -> None:
    sample = draw_sample("cl_x", ["b", "a", "c"], 2, seed=7, now="now")

    assert (("a", "b", "c"), 2, 7, 2) == (sample.population, sample.size, sample.seed, len(sample.runs))
    assert sample.id == draw_sample("cl_x", ["c", "b", "a"], 2, seed=7, now="later").id
    assert sample.id != draw_sample("cl_x", ["c", "b", "a"], 2, seed=8, now="now").id
