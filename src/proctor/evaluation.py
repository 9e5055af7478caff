"""A whole evaluation from Python: load a suite, pick an agent, run, grade, report.

    import proctor

    suite = proctor.load_suite("evals/einstein")
    agent = proctor.pick_agent("agent.py:main")
    group = proctor.run(suite, agent, out="runs/einstein", trials=3)
    report = proctor.grade(group)
    print(report.mean)

The command line calls the same functions.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from proctor import wiring
from proctor.errors import SuiteError, UsageError
from proctor.options import premises_of, run_options
from proctor.records.judging import JudgeOptions

# `from proctor import *` in a grading module takes these names: what they need is imported when they are called.
if TYPE_CHECKING:
    from proctor.agents.options import AgentOptions
    from proctor.engine.execute import Event, RunSummary, Work
    from proctor.engine.planning import Resumption, RunOptions
    from proctor.engine.preflight import Checked
    from proctor.host.cancel import Cancel
    from proctor.loading import Selection
    from proctor.ports import Agent
    from proctor.records.proof import SuiteProof
    from proctor.records.report import Report
    from proctor.records.run import Ending
    from proctor.records.suite import Suite
    from proctor.stores.group import GroupDir


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """What one run of a suite wrote.

    Attributes:
        path: the group's folder.
        summary: how the trials ended.
        warnings: sentences about the suite that are no errors.
    """

    path: Path
    summary: RunSummary
    warnings: tuple[str, ...] = ()


class Resume(msgspec.Struct, frozen=True, kw_only=True):
    """How to go on with a group.

    Attributes:
        retry: endings of the agent, such as `error` and `timeout`, that are run again beside what is there.
        supersede: such a retry then counts instead of what it repeats.
        on_plan: told what is left, before anything starts.
    """

    retry: tuple[Ending, ...] = ()
    supersede: bool = False
    on_plan: Callable[[Resumption], None] = lambda _: None


def load_suite(
    source: str | Path | None = None,
    *,
    base: Path | None = None,
    selection: Selection | None = None,
    allow_credentials: Sequence[str] = (),
) -> Suite:
    """The suite that a path or a git source names, or those of its tests that are selected.

    Args:
        source: the path is relative to `base`, or to the current folder; the one in the settings when None.
        base: the folder that a relative path starts from.
        selection: which tests; all of them when None.
        allow_credentials: fields that may look like credentials, as the messages name them.

    Raises:
        SuiteError: every fault that was found in it.
        UsageError: no suite is named, or the selection matches no test.
    """
    from proctor import loading

    settings = loading.find_settings(wiring.here())
    base = base or wiring.here()
    if source is None:
        source = settings.get("suite").value
        base = settings.folder or base
    if source is None:
        found = loading.conventional_suite(
            settings.get("evals").value, folder=base, base=wiring.here(), allow_credentials=allow_credentials
        )
        if found is not None:
            return loading.select(found, selection or loading.Selection())
        raise UsageError(
            "no suite is named",
            fix="Name one with --suite S, set `suite` in the settings, put typed suites into evals/, or give one "
            "input with --input TEXT.",
        )
    cache = settings.path("git_cache", base=base) or wiring.cache_folder() / "git"
    suite = loading.load_suite(str(source), base=base, git_cache=cache, allow_credentials=allow_credentials)
    return loading.select(suite, selection or loading.Selection())


def pick_agent(
    name: str | None = None,
    *,
    command: str | None = None,
    stdin: bool = False,
    options: AgentOptions | None = None,
    suite: Suite | None = None,
) -> Agent:
    """The agent that a name or a command stands for.

    Args:
        name: `path/agent.py:function`, `package.module:function`, `http://host/path`, `model:provider/name`,
            `path/agent.agency:node`, `solution`, `noop`, or a kind that was installed.
        command: a command line instead of a name; `{input}` stands for the input.
        stdin: the command is given its input on standard input.
        options: what else is said of the agent, such as headers of an endpoint.
        suite: the suite whose solutions `solution` runs.

    Raises:
        UsageError: neither or both are given, or an option does not belong to it.
        AgentError: the name follows no known form.
    """
    from proctor import loading
    from proctor.agents.options import AgentOptions

    options = options or AgentOptions()
    if stdin:
        options = msgspec.structs.replace(options, stdin=True)
    found = loading.find_settings(wiring.here()).get("agency_cmd").value
    return wiring.agent_named(name, command, options, agency_cmd=found, suite=suite)


def check(suite: Suite, *, will_grade: bool = False) -> Checked:
    """Look at every fixture, load every grader of every test, and ask each what the test lacks.

    Args:
        will_grade: a test with neither graders nor a goal is an error and no warning.

    Raises:
        SuiteError: every fault that was found.
    """
    bare = [entry for entry in suite.tests if entry.graders is None and entry.test.goal is None]
    if bare and will_grade:
        raise SuiteError(
            f"test {bare[0].test.id!r} has neither graders nor a goal: there is nothing to grade it with",
            where=bare[0].where,
            fix="Give it a graders.py or a goal; or run without grading, and label the runs by hand.",
        )
    from proctor.engine.preflight import check_suite
    from proctor.engine.workers import GraderServer

    with ExitStack() as stack:

        def server() -> GraderServer:
            started = GraderServer(wiring.environment())
            stack.callback(started.close)
            return started

        return check_suite(suite, server)


def run(
    suite: Suite,
    agent: Agent,
    *,
    out: str | Path | None = None,
    options: RunOptions | None = None,
    trials: int | None = None,
    timeout_s: float | None = None,
    parallel: int | None = None,
    resume: Resume | None = None,
    will_grade: bool = False,
    cancel: Cancel | None = None,
    on_event: Callable[[Event], None] = lambda _: None,
) -> Group:
    """Run an agent over a suite, and keep each run. Everything that can be checked before is checked before.

    A value that is None is decided by the test, then by the project's settings, then by the default.

    Args:
        suite: the tests.
        agent: what is under test; it is closed at the end.
        out: the group's folder, new or without runs; by default a new one in the folder of runs.
        options: everything about how the suite is run, instead of the next three.
        trials: attempts at each test.
        timeout_s: wall-clock limit of one trial.
        parallel: trials at once.
        resume: go on with the group at `out`.
        will_grade: what cannot be graded is an error before the run.
        cancel: ends everything when it is set.
        on_event: called from any thread as trials start and end.

    Raises:
        UsageError: the group holds runs already, or cannot be resumed with this suite and agent.
        SuiteError: a grader, a fixture or a test is not usable.
        AgentError: the agent cannot be started, or cannot take these inputs.
        StoreError: the group cannot be written.
    """
    from proctor.engine.execute import Work, begin, execute
    from proctor.engine.planning import plan_trials
    from proctor.host.cancel import Cancel
    from proctor.loading import select_host, shard_of
    from proctor.stores.group import GroupDir

    whole = select_host(suite, agent.identity.kind)
    options = options or run_options(trials=trials, timeout_s=timeout_s, parallel=parallel)
    suite = shard_of(whole, options.shard)
    path = Path(out) if out is not None else new_group()
    premises = premises_of(options, whole, agent, out=path)
    own = cancel or Cancel()
    try:
        agent.prepare([entry.test for entry in suite.tests], premises.surroundings)
        notices = tuple(getattr(agent, "notices", ()))
        checked = check(suite, will_grade=will_grade)
        work = Work(
            suite=suite,
            agent=agent,
            checked=checked,
            options=options,
            premises=premises,
            platform=wiring.platform(),
            trials=plan_trials(suite, options),
            whole=whole,
        )
        group = GroupDir.reopen(path) if resume else GroupDir.create(path)
        try:
            if group.plan() is None:
                begin(work, group)
            elif resume:
                work = _left_open(work, group, resume)
            summary = execute(work, group, own, on_event)
        finally:
            group.finish()
    finally:
        agent.close()
        premises.close()
        if cancel is None:
            own.close()
    return Group(path=group.path, summary=summary, warnings=(*notices, *checked.warnings, *group.warnings))


def _left_open(work: Work, group: GroupDir, resume: Resume) -> Work:
    """The work that an earlier run left open; `resume.on_plan` is told before it starts."""
    from proctor.engine.planning import plan_resumption
    from proctor.engine.reporting import read_run

    plan = group.plan()
    assert plan is not None
    left = plan_resumption(
        work.trials,
        plan,
        map(read_run, group.runs()),
        agent=work.agent.identity,
        retry=resume.retry,
        supersede=resume.supersede,
        shard=work.shard,
    )
    resume.on_plan(left)
    return msgspec.structs.replace(work, trials=left.trials, earlier=left.endings)


def prove(
    suite: Suite,
    *,
    parallel: int | None = None,
    cancel: Cancel | None = None,
    on_start: Callable[[int], None] = lambda _: None,
    on_event: Callable[[Event], None] = lambda _: None,
) -> SuiteProof | None:
    """Try out a suite's graders on its own solutions, on the no-op, and on its wrong solutions.

    Args:
        suite: the tests.
        parallel: runs at once; as the settings say when None.
        cancel: ends everything when it is set, and None is returned.
        on_start: called with the number of runs.
        on_event: called from any thread as runs start and end.

    Raises:
        SuiteError: a grader, a fixture or a test is not usable, or there is nothing to grade it with.
    """
    from proctor.engine.checking import Bench
    from proctor.host.cancel import Cancel
    from proctor.loading.judging import judge_setup

    checked = check(suite, will_grade=True)
    options = run_options(parallel=parallel)
    premises = premises_of(options, suite)
    own = cancel or Cancel()
    try:
        judges = judge_setup(JudgeOptions())
        bench = Bench(
            options, premises, wiring.platform(), own, judges=judges, on_start=on_start, on_event=on_event
        )
        return bench.prove(suite, checked)
    finally:
        premises.close()
        if cancel is None:
            own.close()


def new_group() -> Path:
    """The path of a new group in the project's folder of runs."""
    from proctor import loading

    folder = loading.find_settings(wiring.here()).path("out", base=Path())
    assert folder is not None
    return wiring.new_group_path(folder)


def grade(
    *paths: str | Path | Group,
    suite: Suite | None = None,
    goal: str | None = None,
    judges: JudgeOptions | None = None,
    diff: bool = False,
    parallel: int | None = None,
    on_start: Callable[[int], None] = lambda _: None,
    on_done: Callable[[str], None] = lambda _: None,
) -> Report:
    """Grade recorded runs: append one round of grades to each, and report.

    Args:
        paths: run directories, groups, or folders of groups.
        suite: grade with the graders, `expected`, `goal` and `metadata` that this suite has now, by test id;
            without it, with what each run holds.
        goal: judge every run by this, or by its test's own goal, with the built-in goal judge alone.
        judges: which model judges ask, and what that may cost.
        diff: say which verdicts moved against the round before.
        parallel: runs graded at once.
        on_start: called with the number of runs.
        on_done: called from any thread with the name of each run that was graded.

    Raises:
        UsageError: no path is given, or a suite and a goal are.
        StoreError: a path does not exist, or holds no run.
        SuiteError: the suite's graders are not usable.
    """
    if not paths:
        raise UsageError("no run is named", fix="Name a run directory, a group, or a folder of groups.")
    if goal is not None and (suite is not None or not goal.strip()):
        raise UsageError(
            "a goal and a suite are named" if goal.strip() else "the goal is empty",
            fix="Leave --suite away: the suite's graders bring their own goals. Or give LlmJudge(goal=...) there.",
        )
    from proctor.engine.grading import RunGrader, as_recorded
    from proctor.engine.judging import JudgeDesk
    from proctor.engine.regrading import by_goal, todays
    from proctor.engine.reporting import moved_in, report_found
    from proctor.host.durable import sync
    from proctor.loading.judging import judge_setup
    from proctor.stores.discover import discover

    groups = discover(path.path if isinstance(path, Group) else Path(path) for path in paths)
    runs = [run_dir for group in groups for run_dir in group.runs]
    with ExitStack() as stack:
        resolve = as_recorded if goal is None else by_goal(goal)
        if suite is not None:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="proctor-suite-")))
            resolve = todays(suite, check(suite, will_grade=True), folder)
        on_start(len(runs))
        desk = stack.enter_context(JudgeDesk(judge_setup(judges or JudgeOptions())))
        at_once = parallel or min(4, os.cpu_count() or 1)
        grader = stack.enter_context(
            RunGrader(wiring.environment(), parallel=at_once, resolve=resolve, desk=desk)
        )
        grader.grade(runs, lambda run_dir: on_done(run_dir.name))
    for folder in {group.path.stat().st_dev: group.path for group in groups}.values():
        sync(folder)
    found = report_found(groups, [*grader.warnings, *desk.warnings])
    found = msgspec.structs.replace(
        found, unrecorded=tuple(sorted(grader.unrecorded)), over_budget=desk.ran_out
    )
    return msgspec.structs.replace(found, moved=moved_in(runs)) if diff else found


def report(*paths: str | Path | Group) -> Report:
    """The numbers of recorded runs, as their last complete grading left them. Changes nothing.

    Raises:
        StoreError: a path does not exist, or holds no run.
    """
    from proctor.engine.reporting import report_paths

    return report_paths(path.path if isinstance(path, Group) else Path(path) for path in paths)
