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

import msgspec

from proctor import load, wiring
from proctor.engine.execute import Event, RunOptions, RunSummary, execute
from proctor.engine.grading import RunGrader, as_recorded
from proctor.engine.preflight import Checked, check_suite
from proctor.engine.regrading import todays
from proctor.engine.reporting import report_found, report_paths
from proctor.engine.workers import GraderServer
from proctor.errors import SuiteError, UsageError
from proctor.host.cancel import Cancel
from proctor.ports import Agent
from proctor.records.exits import ExitCode
from proctor.records.report import Report
from proctor.records.suite import Suite
from proctor.stores.discover import discover
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


def load_suite(
    source: str | Path | None = None,
    *,
    base: Path | None = None,
    selection: load.Selection | None = None,
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
    settings = load.find_settings(wiring.here())
    base = base or wiring.here()
    if source is None:
        source = settings.get("suite").value
        base = settings.folder or base
    if source is None:
        raise UsageError(
            "no suite is named",
            fix="Name one with --suite S, set `suite` in the settings, or give one input with --input TEXT.",
        )
    cache = settings.path("git_cache", base=base) or wiring.cache_folder() / "git"
    suite = load.load_suite(str(source), base=base, git_cache=cache, allow_credentials=allow_credentials)
    return load.select(suite, selection or load.Selection())


def pick_agent(name: str | None = None, *, command: str | None = None, stdin: bool = False) -> Agent:
    """The agent that a name or a command stands for: `path/agent.py:function`, `package.module:function`.

    Args:
        command: a command line instead of a name; `{input}` stands for the input.
        stdin: the command is given its input on standard input.

    Raises:
        UsageError: neither or both are given.
        AgentError: the name follows no known form.
    """
    return wiring.agent_named(name, command, stdin=stdin)


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
    trials: int | None = None,
    timeout_s: float | None = None,
    parallel: int | None = None,
    max_failures: int | None = None,
    work_root: Path | None = None,
    will_grade: bool = False,
    cancel: Cancel | None = None,
    on_event: Callable[[Event], None] = lambda _: None,
) -> Group:
    """Run an agent over a suite, and keep each run. Everything that can be checked before is checked before.

    A value that is None is decided by the test, then by the project's settings, then by the default.

    Args:
        out: the group's folder, new or without runs; by default a new one in the folder of runs.
        trials: attempts at each test.
        timeout_s: wall-clock limit of one trial.
        parallel: trials at once.
        max_failures: start no further trial after so many that did not end well.
        work_root: where workdirs live while an agent runs.
        will_grade: what cannot be graded is an error before the run.
        cancel: ends everything when it is set.
        on_event: called from any thread as trials start and end.

    Raises:
        UsageError: the group holds runs already, or a setting is none.
        SuiteError: a grader, a fixture or a test is not usable.
        AgentError: the agent cannot be started, or cannot take these inputs.
    """
    options = run_options(
        trials=trials, timeout_s=timeout_s, parallel=parallel, max_failures=max_failures, work_root=work_root
    )
    try:
        agent.prepare([entry.test for entry in suite.tests])
        checked = check(suite, will_grade=will_grade)
        group = GroupDir.create(Path(out) if out is not None else new_group())
        own = cancel or Cancel()
        try:
            summary = execute(
                suite,
                agent,
                group,
                checked=checked,
                options=options,
                platform=wiring.platform(),
                cancel=own,
                on_event=on_event,
            )
        finally:
            if cancel is None:
                own.close()
    finally:
        agent.close()
    return Group(path=group.path, summary=summary, warnings=checked.warnings)


def run_options(
    *,
    trials: int | None = None,
    timeout_s: float | None = None,
    parallel: int | None = None,
    max_failures: int | None = None,
    work_root: Path | None = None,
) -> RunOptions:
    """How a suite is run: what is given here, and the project's settings for what is not."""
    settings = load.find_settings(wiring.here())
    return RunOptions(
        trials=trials,
        timeout_s=timeout_s,
        default_trials=settings.get("trials").value,
        default_timeout_s=settings.get("timeout").value,
        parallel=parallel if parallel is not None else settings.get("parallel").value,
        work_root=work_root or settings.path("work_root", base=wiring.here()),
        max_failures=max_failures,
        environment=wiring.environment(),
    )


def new_group() -> Path:
    """The path of a new group in the project's folder of runs."""
    folder = load.find_settings(wiring.here()).path("out", base=Path())
    assert folder is not None
    return wiring.new_group_path(folder)


def grade(
    *paths: str | Path | Group,
    suite: Suite | None = None,
    parallel: int | None = None,
    on_start: Callable[[int], None] = lambda _: None,
    on_done: Callable[[str], None] = lambda _: None,
) -> Report:
    """Grade recorded runs: append one round of grades to each, and report.

    Args:
        paths: run directories, groups, or folders of groups.
        suite: grade with the graders, `expected`, `goal` and `metadata` that this suite has now, by test id;
            without it, with what each run holds.
        parallel: runs graded at once.
        on_start: called with the number of runs.
        on_done: called from any thread with the name of each run that was graded.

    Raises:
        UsageError: no path is given.
        StoreError: a path does not exist, or holds no run.
        SuiteError: the suite's graders are not usable.
    """
    if not paths:
        raise UsageError("no run is named", fix="Name a run directory, a group, or a folder of groups.")
    groups = discover(path.path if isinstance(path, Group) else Path(path) for path in paths)
    runs = [run_dir for group in groups for run_dir in group.runs]
    with ExitStack() as stack:
        resolve = as_recorded
        if suite is not None:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="proctor-suite-")))
            resolve = todays(suite, check(suite, will_grade=True), folder)
        on_start(len(runs))
        grader = stack.enter_context(
            RunGrader(wiring.environment(), parallel=parallel or min(4, os.cpu_count() or 1), resolve=resolve)
        )
        grader.grade(runs, lambda run_dir: on_done(run_dir.name))
    return report_found(groups)


def report(*paths: str | Path | Group) -> Report:
    """The numbers of recorded runs, as their last complete grading left them. Changes nothing.

    Raises:
        StoreError: a path does not exist, or holds no run.
    """
    return report_paths(path.path if isinstance(path, Group) else Path(path) for path in paths)


def worse(one: int, other: int) -> ExitCode:
    """The worse of two exit codes: what could not be done, then a failed gate, a failed agent, the unclear."""
    order = (
        ExitCode.CANNOT,
        ExitCode.INTERRUPTED,
        ExitCode.OUT_OF_BUDGET,
        ExitCode.GATE_FAILED,
        ExitCode.AGENT_FAILED,
        ExitCode.INCONCLUSIVE,
        ExitCode.OK,
    )
    return next(code for code in order if code in (one, other))
