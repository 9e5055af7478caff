"""What shards are, and when groups belong together."""

from __future__ import annotations

import random
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.core.merging import PartPlan, join_plans
from proctor.engine.planning import RunOptions, plan_trials
from proctor.errors import UsageError
from proctor.loading import shard_of
from proctor.records.run import (
    GROUP_SCHEMA,
    AgentIdentity,
    GroupPlan,
    Limits,
    Platform,
    Shard,
    ShardPlan,
    SuiteRef,
)
from proctor.records.suite import Suite, SuiteTest, Test


def suite_of(trials: list[int | None]) -> Suite:
    """A suite of tests that are tried so often."""
    return Suite(
        name="s",
        source="s",
        root=Path("s"),
        tests=tuple(
            SuiteTest(test=Test(id=f"t{number}", trials=count), where="")
            for number, count in enumerate(trials)
        ),
    )


def planned(suite: Suite, shard: Shard | None = None, *, group: str = "", **fields: object) -> PartPlan:
    """What a run of the suite, or of a shard of it, would write down."""
    cells = tuple(trial.cell for trial in plan_trials(shard_of(suite, shard), RunOptions()))
    whole = tuple(trial.cell for trial in plan_trials(suite, RunOptions()))
    plan = GroupPlan(
        schema=GROUP_SCHEMA,
        group=group or f"group-{shard}",
        created_at="2026-01-01T00:00:00.000+00:00",
        agent=AgentIdentity(kind="function", label="agent.py:main", digest="sha256:" + "a" * 64),
        suite=SuiteRef(name="s", digest=suite.digest),
        limits=Limits(),
        platform=Platform(proctor="1", python="3.11", system="linux", machine="x86_64"),
        cells=cells,
        shard=None if shard is None else ShardPlan(number=shard.number, of=shard.of, whole=whole),
    )
    return PartPlan(path=group or f"shard-{shard}", plan=msgspec.structs.replace(plan, **fields))


def refusal(*parts: PartPlan, allow_missing: bool = False) -> str:
    """Why the parts are refused."""
    with pytest.raises(UsageError) as refused:
        join_plans(parts, allow_missing=allow_missing)
    return str(refused.value)


suites = st.lists(st.one_of(st.none(), st.integers(1, 3)), min_size=1, max_size=12).map(suite_of)


@given(suites, st.integers(1, 15))
def test_every_trial_of_the_selection_is_in_one_shard(suite: Suite, of: int) -> None:
    """Together shards are the selection, no test is in two, and two shards differ by one test at most."""
    shards = [shard_of(suite, Shard(number, of)) for number in range(1, of + 1)]
    ids = [[entry.test.id for entry in shard.tests] for shard in shards]
    trials = [trial.cell for shard in shards for trial in plan_trials(shard, RunOptions())]

    assert sorted(entry.test.id for entry in suite.tests) == sorted(name for some in ids for name in some)
    assert max(map(len, ids)) - min(map(len, ids)) <= 1
    assert sorted(map(repr, trials)) == sorted(repr(one.cell) for one in plan_trials(suite, RunOptions()))


def test_a_shard_is_every_nth_test_in_the_order_of_the_selection() -> None:
    """Five tests in three shards: the first and the fourth, the second and the fifth, the third."""
    suite = suite_of([None] * 5)
    ids = [[one.test.id for one in shard_of(suite, Shard(number, 3)).tests] for number in (1, 2, 3)]

    assert [["t0", "t3"], ["t1", "t4"], ["t2"]] == ids


@given(suites, st.integers(1, 6), st.randoms(use_true_random=False))
def test_shards_in_any_order_make_the_plan_of_the_whole(suite: Suite, of: int, draw: random.Random) -> None:
    """The merged plan has the trials of a run without shards, in its order, however the parts are named."""
    parts = [planned(suite, Shard(number, of)) for number in range(1, of + 1)]
    joined = join_plans(parts)
    shuffled = list(parts)
    draw.shuffle(shuffled)

    assert planned(suite).plan.cells == joined.plan.cells
    assert joined == join_plans(shuffled)
    assert (None, of) == (joined.plan.shard, len(joined.plan.parts))


@given(suites, st.data())
def test_groups_that_are_no_shards_make_the_union_of_their_plans(suite: Suite, data: st.DataObject) -> None:
    """Each may have planned the whole or a part; a trial that several planned is planned once."""
    whole = planned(suite).plan.cells
    some = st.lists(st.sampled_from(whole), unique=True).map(tuple)
    chosen = data.draw(st.lists(some, min_size=1, max_size=4))
    parts = [
        planned(suite, group=f"g{number}", cells=cells, created_at=f"2026-01-0{number + 1}")
        for number, cells in enumerate(chosen)
    ]
    joined = join_plans(parts).plan.cells

    assert {cell for cells in chosen for cell in cells} == set(joined)
    assert len(joined) == len(set(joined))
    assert chosen[0] == joined[: len(chosen[0])]


def test_a_missing_shard_is_refused_unless_that_is_allowed() -> None:
    """Allowed, its trials stay planned."""
    suite = suite_of([None, 2, None])
    parts = planned(suite, Shard(1, 3)), planned(suite, Shard(3, 3))
    joined = join_plans(parts, allow_missing=True)

    assert "1 of 3 shards is missing: 2/3" in refusal(*parts)
    assert ((2,), 4) == (joined.missing, len(joined.plan.cells))


def test_what_is_not_the_same_is_named_with_both_values() -> None:
    """Suite, agent, limits: all at once."""
    suite, other = suite_of([None, None]), suite_of([None, 2])
    agent = AgentIdentity(kind="function", label="agent.py:main", digest="sha256:" + "b" * 64, model="m/2")
    said = refusal(
        planned(suite, Shard(1, 2)), planned(other, Shard(2, 2), agent=agent, limits=Limits(timeout_s=9))
    )

    assert f"the suite is not the same: {suite.digest[7:19]} in 'shard-1/2', {other.digest[7:19]} in" in said
    assert "not alike: t1" in said
    assert f"the agent's code is not the same: {'a' * 12} in 'shard-1/2', {'b' * 12} in 'shard-2/2'" in said
    assert "the agent's model is not the same: None in 'shard-1/2', 'm/2' in 'shard-2/2'" in said
    assert "the limit timeout_s is not the same: 60.0 in 'shard-1/2', 9 in 'shard-2/2'" in said


def test_shards_of_other_splits_are_refused() -> None:
    """Of another count, of another plan, one twice, and one beside a group that is no shard."""
    suite = suite_of([None, None])
    first, second = planned(suite, Shard(1, 2)), planned(suite, Shard(2, 2))
    more = planned(suite, Shard(2, 2)).plan
    thrice = tuple(msgspec.structs.replace(cell, trial=3) for cell in more.cells)
    assert more.shard is not None
    other_plan = msgspec.structs.replace(more.shard, whole=(*more.shard.whole, *thrice))

    assert "'shard-1/2' is shard 1/2, and 'shard-2/3' is shard 2/3" in refusal(
        first, planned(suite, Shard(2, 3))
    )
    assert "is no shard" in refusal(first, planned(suite, group="plain"))
    assert "shard 2/2 is there twice: 'again' and 'shard-2/2'" in refusal(
        first, second, planned(suite, Shard(2, 2), group="again")
    )
    assert "are of two plans; other trials: t1" in refusal(
        first, msgspec.structs.replace(second, plan=msgspec.structs.replace(more, shard=other_plan))
    )


def test_a_trial_that_is_planned_in_two_ways_is_refused() -> None:
    """As `t0` where a test is tried once, and as `t0--1` where it is tried twice."""
    suite = suite_of([None])
    one = planned(suite, group="once")
    (cell,) = one.plan.cells
    other = planned(suite, group="twice", cells=(msgspec.structs.replace(cell, run_dir="t0--1"),))

    assert "trial 1 of test 't0' is planned in two ways, in 'once' and in 'twice'" in refusal(one, other)


def test_another_machine_is_a_warning() -> None:
    """Every run has what it ran on in its own facts."""
    suite = suite_of([None, None])
    elsewhere = Platform(proctor="1", python="3.12", system="linux", machine="arm64")
    joined = join_plans([planned(suite, Shard(1, 2)), planned(suite, Shard(2, 2), platform=elsewhere)])

    assert (
        "python is 3.11 in shard-1/2, and 3.12 in shard-2/2",
        "machine is x86_64 in shard-1/2, and arm64 in shard-2/2",
    ) == joined.warnings
