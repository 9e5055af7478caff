"""The fixtures of a suite, each looked at once."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

from proctor.errors import Fault, SuiteError
from proctor.host.seed import SeedPlan, plan_seed
from proctor.records.suite import Suite

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
        except SuiteError as error:
            faults += error.faults
    if faults:
        raise SuiteError.of(faults)
    return seeds
