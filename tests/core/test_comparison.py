"""What a comparison decides, of which rows, and what it says of the rest."""

from __future__ import annotations

import random
from collections.abc import Sequence

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.cli.comparison_options import FACETS
from proctor.core.comparison import Compared, Rules, among_candidates, contrast, overall
from proctor.core.facets import FacetValues, facets_of, match
from proctor.records.annotation import Annotations, Annotator
from proctor.records.comparison import Contrast, Facet, Verdict
from proctor.records.fault import Fault, Owner
from proctor.records.report import Bounds
from proctor.records.run import AgentIdentity, Ending, Platform, RunFacts, SuiteRef
from proctor.records.suite import Test
from proctor.records.trace import Metrics
from tests.core.test_objective import row
from tests.core.test_report import run

EQUAL: FacetValues = dict.fromkeys(Facet, "1")


def side(scores: dict[str, Sequence[float]], host: str = "function", **facets: str | None) -> list[Compared]:
    """Runs of some tests, whose facets are all `1` but for those that are named."""
    own = {**EQUAL, **{Facet(name.replace("_", "-")): value for name, value in facets.items()}}
    return [
        Compared(report=run(test, row(score, threshold=0.5), trial=trial), host=host, facets=own)
        for test, trials in scores.items()
        for trial, score in enumerate(trials, start=1)
    ]


def many(base: float, candidate: float, n: int = 12) -> tuple[list[Compared], list[Compared]]:
    """Tests that all score as that, but for a little that differs between them."""
    names = [f"t{i:02}" for i in range(n)]
    return (
        side({name: [base] for name in names}),
        side({name: [candidate + (i % 3 - 1) / 100] for i, name in enumerate(names)}),
    )


def compared(base: list[Compared], candidate: list[Compared], **rules: object) -> Contrast:
    return contrast("candidate", base, candidate, msgspec.convert(rules, Rules))


@pytest.mark.parametrize(
    ("base", "candidate", "verdict"),
    [
        (0.4, 0.8, Verdict.BETTER),
        (0.8, 0.4, Verdict.WORSE),
        (0.5, 0.505, Verdict.SAME),
        (0.5, 0.5, Verdict.SAME),
    ],
)
def test_a_verdict_is_seen_from_the_candidate(base: float, candidate: float, verdict: Verdict) -> None:
    """Twelve tests that nearly agree."""
    assert verdict is compared(*many(base, candidate)).verdict


def test_a_few_passes_and_fails_decide_nothing() -> None:
    """Five of five gained: 2/32 by McNemar, and so it cannot be told."""
    names = "abcde"
    found = compared(side({name: [0] for name in names}), side({name: [1] for name in names}))

    assert (Verdict.CANNOT_TELL, 0.0625, "mcnemar, exact") == (
        found.verdict,
        found.objective.p,
        found.objective.test,
    )


def test_no_fewer_tests_are_promised_to_settle_it_than_the_exact_test_needs() -> None:
    """Three that became better: 2 of 2^n flips of n that agree fall below 0.05 from n = 6 on, so 3 more and not 1.
    Where one of three differs, 18 are needed for six that do.
    """
    names = ("a", "b", "c")
    base = side(dict(zip(names, ([0.5], [0.0], [0.0]), strict=True)))
    all_better = compared(base, side({name: [1.0] for name in names})).objective
    one_better = compared(base, side(dict(zip(names, ([0.5], [0.0], [1.0]), strict=True)))).objective

    assert (Verdict.CANNOT_TELL, 3) == (all_better.verdict, all_better.more_tests)
    assert one_better.more_tests is not None
    assert one_better.more_tests >= 15


def test_the_same_wins_over_better() -> None:
    """A difference of 0.01 that is surely there, within a margin of 0.02, is none."""
    base, candidate = many(0.5, 0.5)
    shifted = side({one.report.test: [0.511 + (i % 2) / 1000] for i, one in enumerate(candidate)})

    assert Verdict.SAME is compared(base, shifted).verdict
    assert Verdict.BETTER is compared(base, shifted, margin=0.0).verdict


def test_one_test_alone_decides_nothing() -> None:
    """However often it was tried."""
    found = compared(side({"a": [0] * 9}), side({"a": [1] * 9}))

    assert (Verdict.CANNOT_TELL, 1.0, None, None) == (
        found.verdict,
        found.objective.value,
        found.objective.interval,
        found.objective.p,
    )


def test_trials_of_a_test_are_no_independent_evidence() -> None:
    """Three tests with 30 trials each that all gain say no more than three tests: 2/8 by flips of signs."""
    found = compared(
        side({name: [0] * 30 for name in "abc"}), side({name: [1] * 30 for name in "abc"})
    ).objective

    assert (3, 0.25, "sign flips over tests", Verdict.CANNOT_TELL) == (
        found.n,
        found.p,
        found.test,
        found.verdict,
    )


@pytest.mark.parametrize("facet", ["test", "fixture", "graders"])
def test_what_must_be_equal_and_is_not_leaves_the_row_out(facet: str) -> None:
    """It is counted, and its cause is named; unless the facet is allowed to differ."""
    base, candidate = side({"a": [1.0]}), side({"a": [1.0]}, **{facet: "2"})
    found = compared(base, candidate)

    assert (0, 1, (f"{facet} different",)) == (found.compared, found.left_out, found.rows[0].causes)
    allowed = [one.value for one in Rules().required if one.value != facet]
    assert 1 == compared(base, candidate, required=allowed).compared


def test_what_may_differ_is_shown() -> None:
    """Another model is compared, and said."""
    found = compared(side({"a": [1.0]}), side({"a": [1.0]}, model="2"))
    shown = {one.facet: one.match for one in found.rows[0].facets}

    assert ("different", "equal", 1) == (shown[Facet.MODEL], shown[Facet.JUDGE], found.compared)
    required = [*(one.value for one in Rules().required), "model"]
    assert ("model different",) == compared(
        side({"a": [1.0]}), side({"a": [1.0]}, model="2"), required=required
    ).rows[0].causes


@pytest.mark.parametrize(
    ("base", "candidate", "wanted"),
    [
        (["1"], ["1"], "equal"),
        (["1", "1"], ["2"], "different"),
        (["1", "2"], ["1", "2"], "mixed"),
        (["1"], [None], "unrecorded"),
        (["", "1"], ["1"], "equal"),  # a run without grades has no graders that could matter
        ([""], ["1"], "equal"),
    ],
)
def test_a_facet_is_equal_different_mixed_or_unrecorded(
    base: list[str | None], candidate: list[str | None], wanted: str
) -> None:
    """Over all runs of both sides."""
    facet = Facet.GRADERS
    (found,) = match([{facet: one} for one in base], [{facet: one} for one in candidate], [facet])

    assert wanted == found.match


def facts(**changed: object) -> RunFacts:
    plain = RunFacts(
        schema="proctor.run/1",
        run="r",
        test=Test(id="a", input="q", expected="x"),
        trial=1,
        attempt=1,
        ending=Ending.OK,
        agent=AgentIdentity(kind="function", label="a"),
        suite=SuiteRef(name="s"),
        test_digest="",
        input_digest="",
        started_at="",
        ended_at="",
        duration_s=1.0,
        platform=Platform(proctor="1", python="", system="", machine=""),
    )
    return msgspec.structs.replace(plain, **changed)


@pytest.mark.parametrize(
    ("changed", "facet"),
    [
        (
            {"test": Test(id="a", input="q", expected="x", description="said better", tags=("t",), trials=3)},
            None,
        ),
        ({"agent": AgentIdentity(kind="function", label="b", digest="sha256:2")}, None),
        ({"artifact": "sha256:2"}, None),
        ({"test": Test(id="a", input="q?", expected="x")}, Facet.TEST),
        ({"test": Test(id="a", input="q", expected="y")}, Facet.TEST),
        ({"fixture_digest": "sha256:2"}, Facet.FIXTURE),
        ({"agent": AgentIdentity(kind="function", label="a", version="2")}, Facet.HOST_VERSION),
        ({"agent": AgentIdentity(kind="function", label="a", model="m")}, Facet.MODEL),
        ({"agent": AgentIdentity(kind="command", label="a")}, Facet.HOST),
        ({"platform": Platform(proctor="2", python="", system="", machine="")}, Facet.PROCTOR),
    ],
)
def test_a_facet_changes_with_what_it_is_about_and_with_nothing_else(
    changed: dict[str, object], facet: Facet | None
) -> None:
    """A comma in a description makes no other test, and another agent is what is compared."""
    before, after = (facets_of(one, Annotations(), None) for one in (facts(), facts(**changed)))

    assert ([] if facet is None else [facet]) == [one for one in Facet if before[one] != after[one]]


@pytest.mark.parametrize(
    "changed",
    [
        {"annotator": Annotator(kind="grader", id="graders.py@sha256:2")},
        {"weight": 2.0},
        {"threshold": 0.7},
        {"must_pass": True},
        {"name": "another"},
    ],
)
def test_other_code_or_options_are_other_graders(changed: dict[str, object]) -> None:
    """Of the rows in force, not of the code that the run holds."""
    one = row(1.0)
    other = msgspec.structs.replace(one, **changed)
    before, after = (facets_of(facts(), Annotations(scores=(rows,)), None) for rows in (one, other))

    assert [Facet.GRADERS] == [facet for facet in Facet if before[facet] != after[facet]]


def test_models_are_those_that_were_called() -> None:
    """As the trace says, else as the agent was told."""
    found = facets_of(facts(), Annotations(), Metrics(models=("b", "c")))

    assert "b, c" == found[Facet.MODEL]
    assert facets_of(facts(), Annotations(), None)[Facet.MODEL] is None


def test_tests_of_one_side_and_tests_without_evidence_are_left_out_and_named() -> None:
    """Never averaged in."""
    broken = Compared(
        report=msgspec.structs.replace(
            run("c", ending=Ending.HARNESS_FAILURE), fault=Fault(owner=Owner.HARNESS, kind="disk_full")
        ),
        host="function",
        facets=EQUAL,
    )
    found = compared([*side({"a": [1.0], "b": [1.0]}), broken], side({"b": [1.0], "c": [1.0], "d": [1.0]}))

    assert {
        "a": ("not in the candidate",),
        "b": (),
        "c": ("nothing was measured in the base",),
        "d": ("not in the base",),
    } == {one.test: one.causes for one in found.rows}
    assert (1, 3) == (found.compared, found.left_out)


def test_nothing_to_compare_cannot_be_told() -> None:
    """And is no 0."""
    found = compared(side({"a": [1.0]}), side({"b": [1.0]}))

    assert (Verdict.CANNOT_TELL, None, 0) == (found.verdict, found.objective.value, found.objective.n)


def test_a_side_with_several_hosts_is_aligned_by_host_too() -> None:
    """With one host on each side, the host is a facet that differs."""
    mixed = [*side({"a": [1.0]}, host="claude"), *side({"a": [0.0]}, host="codex")]
    found = compared(mixed, mixed)

    assert [("a", "claude"), ("a", "codex")] == [(one.test, one.host) for one in found.rows]
    assert [""] == [
        one.host for one in compared(side({"a": [1.0]}, host="x"), side({"a": [1.0]}, host="y")).rows
    ]


def test_what_is_missing_widens_the_bounds_of_the_difference() -> None:
    """The second trial of the candidate is unclear: from (1 + 0)/2 - 1 to 1 - 1."""
    unclear = Compared(report=run("a", row(None), trial=2), host="function", facets=EQUAL)
    found = compared(side({"a": [1.0]}), [*side({"a": [1.0]}), unclear])

    assert Bounds(-0.5, 0.0) == found.objective.bounds


def test_an_agent_that_did_not_end_well_counts_as_0() -> None:
    """On either side."""
    crashed = Compared(report=run("a", ending=Ending.ERROR), host="function", facets=EQUAL)
    found = compared(side({"a": [1.0]}), [crashed])

    assert (1, -1.0, -1.0) == (found.compared, found.objective.value, found.pass_rate.value)


def test_what_was_used_is_shown_without_a_verdict() -> None:
    """2 and 4 dollars against 1 and 2: 1.5 more, and twice as much."""

    def paid(costs: dict[str, float]) -> list[Compared]:
        return [
            msgspec.structs.replace(
                one,
                report=msgspec.structs.replace(
                    one.report, metrics=Metrics(cost_usd_total=costs[one.report.test])
                ),
            )
            for one in side({test: [1.0] for test in costs})
        ]

    cost, tokens, _ = compared(paid({"a": 1.0, "b": 2.0}), paid({"a": 2.0, "b": 4.0})).used

    assert ("cost_usd", 2, 1.5) == (cost.what, cost.n, cost.value)
    assert 2.0 == pytest.approx(cost.ratio)
    assert ("tokens", 0, None) == (tokens.what, tokens.n, tokens.value)


def test_more_candidates_take_more_evidence() -> None:
    """By Holm: 0.03 for one of three is 0.09."""
    base = side({f"t{i}": [0.0] for i in range(8)})
    gained = side({f"t{i}": [float(i != 0)] for i in range(8)})
    rules = Rules()
    alone = contrast("c", base, gained, rules)
    three = among_candidates([alone, alone, alone], rules)

    assert (Verdict.BETTER, 0.015625) == (alone.verdict, alone.objective.p)  # 2/128
    assert 0.046875 == pytest.approx(three[0].objective.p_adjusted)
    four = among_candidates([alone] * 4, rules)
    assert Verdict.CANNOT_TELL is four[0].verdict is overall(four)


def test_graders_are_corrected_for_their_number() -> None:
    """The objective is not one of them."""
    found = compared(*many(0.4, 0.8))

    assert [("g", 12, found.objective.p)] == [(one.what, one.n, one.p) for one in found.graders]


def test_the_options_name_every_facet() -> None:
    """The help knows them without importing anything."""
    assert FACETS == tuple(facet.value for facet in Facet)


scores = st.dictionaries(
    st.sampled_from("abcdefgh"),
    st.lists(st.sampled_from([0.0, 0.3, 1.0]), min_size=1, max_size=3),
    min_size=1,
)


@given(scores, scores)
def test_sides_that_change_places_change_the_sign(
    one: dict[str, list[float]], other: dict[str, list[float]]
) -> None:
    """And better becomes worse."""
    forth, back = compared(side(one), side(other)), compared(side(other), side(one))
    mirrored = {Verdict.BETTER: Verdict.WORSE, Verdict.WORSE: Verdict.BETTER}

    assert mirrored.get(forth.verdict, forth.verdict) is back.verdict
    assert forth.objective.p == back.objective.p
    if forth.objective.value is not None:
        assert forth.objective.value == pytest.approx(-(back.objective.value or 0), abs=1e-12)


@given(scores, scores, st.randoms(use_true_random=False))
def test_the_order_of_runs_changes_nothing(
    one: dict[str, list[float]], other: dict[str, list[float]], chance: random.Random
) -> None:
    """Neither rows nor numbers."""
    base, candidate = side(one), side(other)
    mixed = chance.sample(base, len(base))

    assert compared(base, candidate).objective == compared(mixed, candidate).objective


@given(scores)
def test_a_group_is_never_better_than_itself(one: dict[str, list[float]]) -> None:
    """Or worse."""
    assert compared(side(one), side(one)).verdict in (Verdict.SAME, Verdict.CANNOT_TELL)
