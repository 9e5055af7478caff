"""What one invocation is to run, and by whom."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import msgspec

from proctor.engine.planning import PlannedTrial, RunOptions, plan_trials
from proctor.engine.preflight import Checked
from proctor.host.premises import Premises
from proctor.host.seed import SeedPlan
from proctor.ports import Agent
from proctor.records.json_value import storable
from proctor.records.run import Ending, Platform, ShardPlan, SuiteRef
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
        whole: where a shard of the plan is run, the suite with the tests of all shards.
        processes: how many processes run trials of the group at the same time.
    """

    suite: Suite
    agent: Agent
    checked: Checked
    options: RunOptions
    premises: Premises
    platform: Platform
    trials: tuple[PlannedTrial, ...]
    earlier: tuple[Ending, ...] = ()
    whole: Suite | None = None
    processes: int = 1

    def artifact_of(self, test: Test) -> SeedPlan | None:
        """The files that the agent carries to be tested, in a trial of this test; None for most kinds of agent."""
        carries: Callable[[Test], SeedPlan | None] | None = getattr(self.agent, "artifact_of", None)
        return None if carries is None else carries(test)

    @property
    def suite_ref(self) -> SuiteRef:
        """The suite, as each run names it; a shard names the whole."""
        suite = self.whole or self.suite
        return SuiteRef(name=storable(suite.name), digest=suite.digest, commit=suite.commit)

    @property
    def shard(self) -> ShardPlan | None:
        """Which part of the plan is run, and what the whole is; None where that is all of it."""
        shard = self.options.shard
        if shard is None:
            return None
        whole = plan_trials(self.whole or self.suite, self.options)
        return ShardPlan(number=shard.number, of=shard.of, whole=tuple(trial.cell for trial in whole))


def now() -> str:
    """The time, ISO 8601, UTC, in milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
