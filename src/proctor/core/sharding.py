"""Whether a shard is still the part of the plan that it was begun as."""

from __future__ import annotations

from proctor.errors import Fault
from proctor.records.run import Cell, ShardPlan


def split_faults(now: ShardPlan | None, then: ShardPlan | None) -> tuple[Fault, ...]:
    """Why a group that was begun as the part `then` of its plan cannot be gone on with as the part `now`."""
    if now is None and then is None:
        return ()
    if now is None or then is None or now.shard != then.shard:
        is_now = "all tests are named now" if now is None else f"this is shard {now.shard}"
        was = "with all tests" if then is None else f"as shard {then.shard}"
        fix = "Leave --shard away." if then is None else f"Add --shard {then.shard}."
        return (Fault(f"the group was begun {was}, and {is_now}", "", f"{fix} Or start a new group."),)
    return tuple(
        Fault(
            f"test {test!r} of another shard is not what it was when the group was begun",
            "",
            "Name the suite and the tests as they were; or start all shards anew, since they would not fit together.",
        )
        for test in changed_tests(then.whole, now.whole)
    )


def changed_tests(one: tuple[Cell, ...], other: tuple[Cell, ...]) -> tuple[str, ...]:
    """The tests that are not planned alike in two plans: that only one has, with other trials, or other content."""
    ours, theirs = set(one), set(other)
    return tuple(
        dict.fromkeys(cell.test for cell in (*one, *other) if cell not in ours or cell not in theirs)
    )
