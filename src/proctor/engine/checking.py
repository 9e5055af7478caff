"""Trying out a suite on its own solutions, before anybody pays for a model: the whole pipeline, with no agent."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from proctor.agents.solution import NoopAgent, SolutionAgent
from proctor.core.proof import TriedRun, prove
from proctor.engine.execute import Event, Work, begin, execute
from proctor.engine.grading import RunGrader
from proctor.engine.judging import JudgeDesk
from proctor.engine.planning import RunOptions, plan_trials
from proctor.engine.preflight import Checked
from proctor.engine.reporting import read_run
from proctor.host.premises import Premises
from proctor.judges.setup import JudgeSetup
from proctor.ports import Agent, Cancel
from proctor.records.proof import SuiteProof
from proctor.records.report import RunReport
from proctor.records.run import Platform
from proctor.records.suite import Suite, SuiteTest
from proctor.stores.group import GroupDir
from proctor.stores.rundir import RunDir


class _Attempted(NamedTuple):
    """A run of one test, and what for."""

    test: str
    role: Literal["reference", "no-op", "wrong"]
    name: str
    run: RunDir


class Bench:
    """Tries out suites; holds what every such trial needs.

    Args:
        options: how runs are made; each is made once.
        premises: where the trials take place.
        platform: what this machine is.
        cancel: ends everything when it is set.
        judges: how judges are asked.
        on_start: called with the number of runs.
        on_event: called from any thread as runs start and end.
    """

    def __init__(
        self,
        options: RunOptions,
        premises: Premises,
        platform: Platform,
        cancel: Cancel,
        *,
        judges: JudgeSetup,
        on_start: Callable[[int], None],
        on_event: Callable[[Event], None],
    ) -> None:
        self._options = msgspec.structs.replace(
            options, trials=1, max_failures=None, max_cost_usd=None, max_time_s=None
        )
        self._premises, self._platform, self._cancel = premises, platform, cancel
        self._judges = judges
        self._on_start, self._on_event = on_start, on_event

    def prove(self, suite: Suite, checked: Checked) -> SuiteProof | None:
        """Run and grade each test's solution, the no-op, and each wrong solution; None when it was cancelled.

        Every run is graded twice, by workers that share nothing, and at random with another draw.

        Raises:
            AgentError: a solution cannot be read.
            SuiteError: a file changed since the suite was checked.
        """
        self._on_start(sum((entry.solution is not None) + 1 + len(entry.wrong) for entry in suite.tests))
        with tempfile.TemporaryDirectory(prefix="proctor-check-") as folder:
            attempted = self._run_all(suite, checked, Path(folder))
            if self._cancel.is_set:
                return None
            runs = [one.run for one in attempted]
            first, second = self._grade(runs, ""), self._grade(runs, "again")
        tried: dict[str, list[TriedRun]] = {}
        for one, said, again in zip(attempted, first, second, strict=True):
            tried.setdefault(one.test, []).append(TriedRun(one.role, one.name, said, again))
        tests = tuple(prove(entry.test.id, tried[entry.test.id]) for entry in suite.tests)
        return SuiteProof(suite=suite.name, tests=tests)

    def _run_all(self, suite: Suite, checked: Checked, folder: Path) -> Sequence[_Attempted]:
        attempted: list[_Attempted] = []

        def run(agent: Agent, entries: Sequence[SuiteTest], role: str) -> Path:
            path = folder / f"{role}-{len(list(folder.iterdir()))}"
            self._run(agent, msgspec.structs.replace(suite, tests=tuple(entries)), checked, path)
            return path

        solved = [entry for entry in suite.tests if entry.solution is not None]
        if solved:
            group = run(SolutionAgent.of(suite), solved, "reference")
            attempted += [
                _Attempted(entry.test.id, "reference", "reference", RunDir(group / entry.test.id))
                for entry in solved
            ]
        group = run(NoopAgent(), suite.tests, "no-op")
        attempted += [
            _Attempted(entry.test.id, "no-op", "no-op", RunDir(group / entry.test.id))
            for entry in suite.tests
        ]
        # All first wrong solutions together, then all second ones: few groups, each with many runs at once.
        for number in range(max(len(entry.wrong) for entry in suite.tests)):
            wrong = {entry.test.id: entry.wrong[number] for entry in suite.tests if number < len(entry.wrong)}
            entries = [entry for entry in suite.tests if entry.test.id in wrong]
            group = run(SolutionAgent(wrong, label=f"wrong {number + 1}"), entries, "wrong")
            attempted += [
                _Attempted(test, "wrong", script.stem, RunDir(group / test)) for test, script in wrong.items()
            ]
        return attempted

    def _run(self, agent: Agent, suite: Suite, checked: Checked, path: Path) -> None:
        """Run each test once, and keep the runs in a new group."""
        group = GroupDir.create(path)
        try:
            agent.prepare([entry.test for entry in suite.tests], self._premises.surroundings)
            work = Work(
                suite=suite,
                agent=agent,
                checked=checked,
                options=self._options,
                premises=self._premises,
                platform=self._platform,
                trials=plan_trials(suite, self._options),
            )
            begin(work, group)
            execute(work, group, self._cancel, self._on_event)
        finally:
            agent.close()
            group.finish(is_kept=False)

    def _grade(self, runs: Sequence[RunDir], draw: str) -> Sequence[RunReport]:
        with RunGrader(
            self._options.environment,
            parallel=self._options.parallel,
            draw=draw,
            desk=JudgeDesk(self._judges),
        ) as grader:
            grader.grade(runs, lambda _: None)
        return [read_run(run) for run in runs]
