"""What one invocation is to run, and by whom."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import msgspec

from proctor.engine.planning import PlannedTrial, RunOptions
from proctor.engine.preflight import Checked
from proctor.host.premises import Premises
from proctor.host.seed import SeedPlan
from proctor.ports import Agent
from proctor.records.json_value import storable
from proctor.records.run import Ending, Platform, SuiteRef
from proctor.records.suite import Suite, Test


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be run, and by whom.

    Attributes:
        suite: the tests.
        agent: what is under test; prepared.
        checked: graders, fixtures and held-out files, as they were found.
        options: how many at once, and the rest.
        premises: where the trials take place.
        platform: what it runs on.
        trials: those to run.
        earlier: how the trials ended that need not be run again.
    """

    suite: Suite
    agent: Agent
    checked: Checked
    options: RunOptions
    premises: Premises
    platform: Platform
    trials: tuple[PlannedTrial, ...]
    earlier: tuple[Ending, ...] = ()

    def artifact_of(self, test: Test) -> SeedPlan | None:
        """The files that the agent carries to be tested, in a trial of this test; None for most kinds of agent."""
        carries: Callable[[Test], SeedPlan | None] | None = getattr(self.agent, "artifact_of", None)
        return None if carries is None else carries(test)

    @property
    def suite_ref(self) -> SuiteRef:
        """The suite, as each run names it."""
        return SuiteRef(name=storable(self.suite.name), digest=self.suite.digest, commit=self.suite.commit)


def now() -> str:
    """The time, ISO 8601, UTC, in milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
