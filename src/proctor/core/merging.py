"""The plan of a group that is put together from others, and why some do not belong together."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence

import msgspec

from proctor.core.facets import SHORT
from proctor.core.sharding import changed_tests
from proctor.errors import Fault, UsageError
from proctor.records.isolation import Isolation
from proctor.records.run import Cell, GroupPart, GroupPlan

_MOST_NAMED = 5
_OTHER_PLAN = (
    "Merge what belongs to one plan: the same suite, selection, agent and settings. Groups of different plans are for "
    "`proctor compare`."
)


class PartPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What one of the groups set out to do.

    Attributes:
        path: where it lies, for messages.
        plan: its `group.json`.
        isolation: what its agents were kept apart from: one value of each kind that its runs have.
    """

    path: str
    plan: GroupPlan
    isolation: frozenset[str] = frozenset()


class JoinedPlan(msgspec.Struct, frozen=True, kw_only=True):
    """The plan of the merged group.

    Attributes:
        plan: what all parts together set out to do.
        missing: numbers of the shards that are not there.
        warnings: what differs, and is no reason to refuse.
    """

    plan: GroupPlan
    missing: tuple[int, ...] = ()
    warnings: tuple[str, ...] = ()


def place_of(plan: GroupPlan, path: str) -> tuple[int, str, str, str]:
    """What parts are sorted by before they are put together, however they were named: by shard, then by age."""
    return (plan.shard.number if plan.shard is not None else 0, plan.created_at, plan.group, path)


def join_plans(parts: Sequence[PartPlan], *, allow_missing: bool = False) -> JoinedPlan:
    """The plan of a group that holds the runs of all parts.

    All parts have one suite (the same tests, said alike), one agent, the same limits, and were kept apart from the
    same things. Shards are of one split: each number once, none missing unless that is allowed; the plan is the whole
    that each of them recorded, so that trials of missing shards are planned and never ran. Of groups that are no
    shards the plan is the union: a trial may be planned by several, as the same trial. The group's id is made of
    the ids of its parts.

    Args:
        parts: at least one.
        allow_missing: shards that are not there are no reason to refuse.

    Raises:
        UsageError: they do not belong together; holds every reason, with the values of both sides.
    """
    parts = sorted(parts, key=lambda part: place_of(part.plan, part.path))
    faults = [*_facets(parts), *(_splits(parts) or _cells_that_clash(parts))]
    missing = _missing(parts) if not faults else ()
    if missing and not allow_missing:
        faults.append(_lacking(parts[0], missing))
    if faults:
        raise UsageError.of(faults)
    first = parts[0].plan
    unique = {part.plan.group: part.plan for part in parts}
    commits = {part.plan.suite.commit for part in parts}
    plan = msgspec.structs.replace(
        first,
        group=hashlib.sha256(" ".join(sorted(unique)).encode()).hexdigest()[:32],
        created_at=min(plan.created_at for plan in unique.values()),
        suite=first.suite if len(commits) == 1 else msgspec.structs.replace(first.suite, commit=None),
        cells=first.shard.whole if first.shard is not None else _union(parts),
        shard=None,
        parts=tuple(_part(plan) for plan in unique.values()),
    )
    return JoinedPlan(plan=plan, missing=missing, warnings=tuple(_warnings(parts)))


def isolation_text(isolation: Isolation) -> str:
    """What agents were kept apart from, as far as a setting says it: not what the machine happened to have.

    >>> isolation_text(Isolation(network="none", withheld=("A_TOKEN",)))
    'home=private sandbox=none network=none'
    """
    said = {
        "home": isolation.home,
        "sandbox": isolation.sandbox,
        "network": isolation.network,
        "passed": ",".join(isolation.passed),
        "hosts": ",".join(isolation.hosts),
    }
    return " ".join(f"{name}={value}" for name, value in said.items() if value)


def _part(plan: GroupPlan) -> GroupPart:
    return GroupPart(
        group=plan.group,
        created_at=plan.created_at,
        platform=plan.platform,
        shard=plan.shard.shard if plan.shard is not None else None,
    )


def _facets(parts: Sequence[PartPlan]) -> Iterator[Fault]:
    """What must be the same everywhere and is not: each facet once, where it first differs from the first part."""
    facets: dict[str, Callable[[PartPlan], str]] = {
        "the suite's name": lambda part: repr(part.plan.suite.name),
        "the suite": lambda part: _short(part.plan.suite.digest),
        "the kind of agent": lambda part: part.plan.agent.kind,
        "the agent": lambda part: repr(part.plan.agent.label),
        "the agent's code": lambda part: _short(part.plan.agent.digest),
        "the agent's version": lambda part: repr(part.plan.agent.version),
        "the agent's model": lambda part: repr(part.plan.agent.model),
    }
    limits = [msgspec.to_builtins(part.plan.limits) for part in parts]
    for name in sorted({name for one in limits for name in one}):
        facets[f"the limit {name}"] = lambda part, name=name: str(getattr(part.plan.limits, name))
    for what, value in facets.items():
        yield from _facet(what, parts, value)
    with_runs = [part for part in parts if part.isolation]
    yield from _facet("the isolation", with_runs, lambda part: " and ".join(sorted(part.isolation)))


def _facet(what: str, parts: Sequence[PartPlan], value: Callable[[PartPlan], str]) -> Iterator[Fault]:
    for part in parts[1:]:
        ours, theirs = value(parts[0]), value(part)
        if ours != theirs:
            tests = _tests_of(parts[0], part) if what == "the suite" else ""
            said = f"{what} is not the same: {ours} in {parts[0].path!r}, {theirs} in {part.path!r}{tests}"
            yield Fault(said, "", _OTHER_PLAN)
            return


def _tests_of(one: PartPlan, other: PartPlan) -> str:
    """Which tests make two suites two, where the plans tell."""
    ours, theirs = (
        part.plan.shard.whole if part.plan.shard is not None else part.plan.cells for part in (one, other)
    )
    changed = changed_tests(ours, theirs)
    if not changed:
        return ""
    more = f" and {len(changed) - _MOST_NAMED} more" if len(changed) > _MOST_NAMED else ""
    return f"; not alike: {', '.join(changed[:_MOST_NAMED])}{more}"


def _short(digest: str | None) -> str:
    return "unrecorded" if digest is None else digest.removeprefix("sha256:")[:SHORT]


def _splits(parts: Sequence[PartPlan]) -> list[Fault]:
    """Why the shards are not those of one split."""
    first, faults = parts[0], list[Fault]()
    seen: dict[int, PartPlan] = {}
    for part in parts:
        ours, shard = first.plan.shard, part.plan.shard
        if ours is None or shard is None or ours.of != shard.of:
            if ours is not None or shard is not None:
                what = f"{first.path!r} is {_what(first)}, and {part.path!r} is {_what(part)}"
                fix = "Name the shards of one split, or groups that are no shards."
                faults.append(Fault(what, "", fix))
            continue
        twin = seen.setdefault(shard.number, part)
        if twin.plan.group != part.plan.group:
            what = f"shard {shard.shard} is there twice: {twin.path!r} and {part.path!r}"
            faults.append(Fault(what, "", "They are of two runs; name the one that is to count."))
        changed = changed_tests(ours.whole, shard.whole)
        if changed and first.plan.suite.digest == part.plan.suite.digest:
            named = ", ".join(changed[:_MOST_NAMED])
            what = f"{first.path!r} and {part.path!r} are of two plans; other trials: {named}"
            faults.append(Fault(what, "", "Run all shards with the same --trials and the same selection."))
    return faults


def _what(part: PartPlan) -> str:
    shard = part.plan.shard
    return "no shard" if shard is None else f"shard {shard.shard}"


def _missing(parts: Sequence[PartPlan]) -> tuple[int, ...]:
    shards = [part.plan.shard for part in parts if part.plan.shard is not None]
    there = {shard.number for shard in shards}
    return tuple(number for number in range(1, shards[0].of + 1) if number not in there) if shards else ()


def _lacking(first: PartPlan, missing: Sequence[int]) -> Fault:
    assert first.plan.shard is not None
    of = first.plan.shard.of
    named = ", ".join(f"{number}/{of}" for number in missing[:20]) + (", ..." if len(missing) > 20 else "")
    return Fault(
        f"{len(missing)} of {of} shards {'is' if len(missing) == 1 else 'are'} missing: {named}",
        "",
        "Name all of them; or add --allow-missing, and their trials count as never run.",
    )


def _cells_that_clash(parts: Sequence[PartPlan]) -> Iterator[Fault]:
    """Trials that two groups, which are no shards, plan in two ways."""
    if parts[0].plan.shard is not None:
        return
    planned: dict[tuple[str, int], tuple[PartPlan, Cell]] = {}
    named: dict[str, tuple[PartPlan, Cell]] = {}
    for part in parts:
        for cell in part.plan.cells:
            for there in (
                planned.setdefault((cell.test, cell.trial), (part, cell)),
                named.setdefault(cell.run_dir, (part, cell)),
            ):
                if there[1] != cell:
                    what = (
                        f"trial {cell.trial} of test {cell.test!r} is planned in two ways, in {there[0].path!r} and "
                        f"in {part.path!r}"
                    )
                    yield Fault(
                        what, "", "Merge groups that were run with the same suite and the same --trials."
                    )
                    break


def _union(parts: Sequence[PartPlan]) -> tuple[Cell, ...]:
    return tuple(dict.fromkeys(cell for part in parts for cell in part.plan.cells))


def _warnings(parts: Sequence[PartPlan]) -> Iterator[str]:
    first = parts[0]
    for name in ("proctor", "python", "system", "machine"):
        for part in parts[1:]:
            ours, theirs = getattr(first.plan.platform, name), getattr(part.plan.platform, name)
            if ours != theirs:
                yield f"{name} is {ours} in {first.path}, and {theirs} in {part.path}"
                break
    commits = {part.plan.suite.commit for part in parts}
    if len(commits) > 1:
        named = ", ".join(sorted(commit[:SHORT] if commit else "none" for commit in commits))
        yield f"the suite is the same at several commits ({named}); the merged plan names none"
