"""The fixtures and the held-out files of a suite, each looked at once."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

from proctor.errors import Fault, SuiteError
from proctor.host.seed import SeedPlan, plan_seed
from proctor.records.suite import Suite, SuiteTest

Seeds: TypeAlias = Mapping[str, SeedPlan]
"""By test id; a test without files has none."""


def plan_seeds(suite: Suite) -> Seeds:
    """What the workdir of each test starts with.

    Raises:
        SuiteError: every fault of every fixture.
    """
    known: dict[tuple[Path, tuple[str, ...], bool], SeedPlan] = {}
    seeds: dict[str, SeedPlan] = {}
    faults: list[Fault] = []
    for entry in suite.tests:
        if entry.fixture is None:
            continue
        files = entry.test.files
        key = (entry.fixture, files.include if files else (), files.git if files else False)
        try:
            if key not in known:
                known[key] = plan_seed(key[0], key[1], git=key[2])
            seeds[entry.test.id] = known[key]
            faults += _revealed(known[key], entry)
        except SuiteError as error:
            faults += error.faults
    if faults:
        raise SuiteError.of(faults)
    return seeds


def plan_holdouts(suite: Suite) -> Seeds:
    """The held-out files of each test that has some.

    Raises:
        SuiteError: every fault of every such folder.
    """
    plans: dict[str, SeedPlan] = {}
    faults: list[Fault] = []
    for entry in suite.tests:
        if entry.holdout is not None:
            try:
                plans[entry.test.id] = plan_seed(entry.holdout)
            except SuiteError as error:
                faults += error.faults
    if faults:
        raise SuiteError.of(faults)
    return plans


def _revealed(plan: SeedPlan, entry: SuiteTest) -> list[Fault]:
    """What the fixture would show to the agent, and is kept from it."""
    given = {seeded.path for seeded in plan.entries}
    source = plan.source.resolve()
    faults: list[Fault] = []
    for hidden in (entry.holdout, entry.solution, *entry.wrong):
        real = hidden.resolve() if hidden is not None else None
        if real is not None and real.is_relative_to(source) and real.relative_to(source).as_posix() in given:
            what = f"the files of test {entry.test.id!r} would show {real.relative_to(source)} to the agent"
            faults.append(
                Fault(what, entry.where, "Keep what the workdir starts with in a folder of its own: files/.")
            )
    return faults
