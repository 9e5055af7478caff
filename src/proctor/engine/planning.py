"""Which trials a run starts: those of a suite, or those that an earlier run left open."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from proctor.core.attempts import tell_apart
from proctor.core.faults import FaultRule, row_of
from proctor.core.sharding import split_faults
from proctor.errors import Fault, UsageError
from proctor.host.confinement import Confinement
from proctor.records.report import RunReport
from proctor.records.run import AgentIdentity, Cell, Ending, GroupPlan, Limits, Shard, ShardPlan
from proctor.records.suite import Suite, SuiteTest

DEFAULT_TIMEOUT_S = 60.0
DEFAULT_OUTPUT_BYTES = 1 << 30
DEFAULT_WORKDIR_BYTES = 10 << 30
DEFAULT_LIMITS = Limits(output_bytes=DEFAULT_OUTPUT_BYTES, workdir_bytes=DEFAULT_WORKDIR_BYTES)
"""No agent that is doing its work comes near; one that prints in a loop is ended before it has filled a disk."""


class RunOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How a suite is run. A number that is None is decided by the test, and else by the default.

    Attributes:
        trials: attempts at each test.
        timeout_s: wall-clock limit of a trial.
        default_trials: where neither the flag nor the test says it.
        default_timeout_s: where neither the flag nor the test says it.
        parallel: how many trials run at once.
        work_root: where workdirs live while an agent runs; the system's temporary space when None.
        limits: what a trial may use, its time excepted.
        max_failures: start no further trial after so many that did not end well; None for no such limit.
        max_cost_usd: start no further trial when all together have cost so much, in US dollars; None for no such
            limit.
        max_time_s: start no further trial after so many seconds; None for no such limit.
        retries: how often a trial is run again that ended by a fault of a provider or of the machine, of the kinds
            that may be over a little later.
        faults: rules of the project that come before the table of faults.
        environment: the operator's, of which agents get a part.
        confinement: what agents are kept apart from.
        shard: which part of the tests is run; None for all of them.
    """

    trials: int | None = None
    timeout_s: float | None = None
    default_trials: int = 1
    default_timeout_s: float = DEFAULT_TIMEOUT_S
    parallel: int = 1
    work_root: Path | None = None
    limits: Limits = DEFAULT_LIMITS
    max_failures: int | None = None
    max_cost_usd: float | None = None
    max_time_s: float | None = None
    retries: int = 0
    faults: tuple[FaultRule, ...] = ()
    environment: Mapping[str, str] = {}
    confinement: Confinement = Confinement()
    shard: Shard | None = None


class PlannedTrial(msgspec.Struct, frozen=True, kw_only=True):
    """One trial that will be run.

    Attributes:
        entry: its test.
        cell: its place in the plan, and the run directory that this attempt will have.
        limits: what it may use.
        attempt: 1 for the first.
        supersedes: it will count instead of an earlier attempt that did not end well.
        repetition: how often this invocation has made it before.
    """

    entry: SuiteTest
    cell: Cell
    limits: Limits
    attempt: int = 1
    supersedes: bool = False
    repetition: int = 0


class Resumption(msgspec.Struct, frozen=True, kw_only=True):
    """What is left of a plan.

    Attributes:
        trials: those to run now, in the plan's order.
        planned: number of trials in the plan.
        finished: trials whose run counts and is left alone.
        endings: of those, how each ended.
        missing: trials without any run.
        again: by ending, trials that are run again beside what is there.
        spent_usd: what all runs of the group have cost so far, as far as that is known.
        unpriced: runs of the group whose cost is not known.
    """

    trials: tuple[PlannedTrial, ...]
    planned: int
    finished: int
    endings: tuple[Ending, ...]
    missing: int
    again: dict[Ending, int]
    spent_usd: float = 0.0
    unpriced: int = 0


def plan_trials(suite: Suite, options: RunOptions) -> tuple[PlannedTrial, ...]:
    """The trials of a suite, test by test: flag, then test, then default."""
    planned: list[PlannedTrial] = []
    for entry in suite.tests:
        test = entry.test
        trials = options.trials or test.trials or options.default_trials
        timeout_s = options.timeout_s or test.timeout or options.default_timeout_s
        for trial in range(1, trials + 1):
            cell = Cell(
                test=test.id,
                trial=trial,
                run_dir=test.id if trials == 1 else f"{test.id}--{trial}",
                test_digest=test.digest,
            )
            limits = msgspec.structs.replace(options.limits, timeout_s=timeout_s)
            planned.append(PlannedTrial(entry=entry, cell=cell, limits=limits))
    return tuple(planned)


def plan_resumption(
    trials: Sequence[PlannedTrial],
    plan: GroupPlan,
    runs: Iterable[RunReport],
    *,
    agent: AgentIdentity,
    retry: Collection[Ending] = (),
    supersede: bool = False,
    shard: ShardPlan | None = None,
) -> Resumption:
    """What is left of a plan: trials without a run, those that say nothing about the agent, and those to retry.

    A finished run is never touched: a further attempt stands beside it. How many run at once, ports, keys and
    limits are no part of what a trial is; the test and the agent are.

    Args:
        trials: of the suite as it is now.
        plan: what the group set out to do.
        runs: what the group holds.
        agent: as it is now.
        retry: endings of the agent that are run again.
        supersede: such a retry then counts instead of what it repeats.
        shard: which part of the plan `trials` are; None for all of it.

    Raises:
        UsageError: the suite or the agent is not the one that the group was begun with; holds every difference.
    """
    split = split_faults(shard, plan.shard)
    # Of another shard every trial would be another one: that it is another shard says it all.
    faults = [*(split or _differences(trials, plan)), *_other_agent(agent, plan)]
    if faults:
        raise UsageError.of(faults)
    members = tuple(runs)
    counts = {(run.test, run.trial): run for run in tell_apart(members).in_force}
    tries: dict[tuple[str, int], int] = {}
    for run in members:
        tries[run.test, run.trial] = max(tries.get((run.test, run.trial), 0), run.attempt)
    chosen: list[PlannedTrial] = []
    missing, again, endings = 0, dict[Ending, int](), list[Ending]()
    for trial in trials:
        key = (trial.cell.test, trial.cell.trial)
        there = counts.get(key)
        if there is None:
            missing += 1
            chosen.append(trial)
        elif row_of(there.ending).is_resumed or there.ending in retry:
            again[there.ending] = again.get(there.ending, 0) + 1
            supersedes = supersede and not row_of(there.ending).is_resumed
            chosen.append(_another(trial, tries[key] + 1, supersedes=supersedes))
        else:
            endings.append(there.ending)
    costs = [run.metrics.cost_usd_total if run.metrics else None for run in members]
    return Resumption(
        trials=tuple(chosen),
        planned=len(trials),
        finished=len(endings),
        endings=tuple(endings),
        missing=missing,
        again=again,
        spent_usd=sum(cost for cost in costs if cost is not None),
        unpriced=costs.count(None),
    )


def again(trial: PlannedTrial) -> PlannedTrial:
    """The next attempt at a trial that this invocation itself has made, and that says nothing about the agent."""
    made = _another(trial, trial.attempt + 1, supersedes=trial.supersedes)
    return msgspec.structs.replace(made, repetition=trial.repetition + 1)


def _another(trial: PlannedTrial, attempt: int, *, supersedes: bool) -> PlannedTrial:
    # The double hyphen is in no test's id, so that no attempt meets the run of another test.
    name = f"{trial.cell.test}--{trial.cell.trial}.a{attempt}"
    cell = msgspec.structs.replace(trial.cell, run_dir=name)
    return msgspec.structs.replace(trial, cell=cell, attempt=attempt, supersedes=supersedes)


def _differences(trials: Sequence[PlannedTrial], plan: GroupPlan) -> Iterable[Fault]:
    fix = "Select the same tests and trials as before, or start a new group."
    then = {(cell.test, cell.trial): cell.test_digest for cell in plan.cells}
    now = {(trial.cell.test, trial.cell.trial): trial.cell.test_digest for trial in trials}
    for test, trial in sorted(then.keys() - now.keys()):
        yield Fault(f"trial {trial} of test {test!r} is planned, and not in what you name now", "", fix)
    for test, trial in sorted(now.keys() - then.keys()):
        yield Fault(f"trial {trial} of test {test!r} is not in the group's plan", "", fix)
    changed = sorted(
        {test for (test, trial), digest in then.items() if now.get((test, trial), digest) != digest}
    )
    for test in changed:
        yield Fault(f"test {test!r} has changed since the group was begun", "", "Start a new group.")


def _other_agent(agent: AgentIdentity, plan: GroupPlan) -> Iterable[Fault]:
    if (agent.kind, agent.digest) != (plan.agent.kind, plan.agent.digest):
        same_name = agent.label == plan.agent.label
        what = (
            f"the agent {agent.label!r} has changed since the group was begun"
            if same_name
            else f"the group was begun with the agent {plan.agent.label!r}, and this is {agent.label!r}"
        )
        yield Fault(what, "", "Name the agent as it was, or start a new group.")
