"""What `proctor run` does once the suite is loaded: check, run, say what came of it, and grade if asked."""

from __future__ import annotations

import argparse
import signal
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from proctor import wiring
from proctor.cli.output import clean, counted, seconds, shorten, write_json
from proctor.cli.progress import Progress
from proctor.engine.execute import Event, RunOptions, RunSummary, execute, plan_trials
from proctor.engine.preflight import Checked, check_graders
from proctor.engine.workers import GraderServer
from proctor.errors import UsageError
from proctor.host.cancel import Cancel
from proctor.ports import Agent
from proctor.records.exits import ExitCode
from proctor.records.run import Ending
from proctor.records.suite import Suite
from proctor.stores.group import GroupDir

RUNS = Path("runs")


class RunDocument(msgspec.Struct, frozen=True, kw_only=True):
    """What `proctor run --json` prints."""

    schema: str = "proctor.run-summary/1"
    group: str
    planned: int
    endings: dict[str, int]
    not_ok: tuple[dict[str, Any], ...]
    stopped: str | None
    exit_code: int


def run_suite(arguments: argparse.Namespace, suite: Suite, progress: Progress) -> int:
    """Run a suite with what the command line says, and return the exit code."""
    agent = wiring.agent_named(arguments.agent, arguments.agent_cmd, stdin=arguments.stdin)
    try:
        options = _options(arguments)
        agent.prepare([entry.test for entry in suite.tests])
        checked = _check(suite, progress, will_grade=arguments.grade)
        if arguments.dry_run:
            return _print_plan(suite, agent, options)
        path = arguments.out or wiring.new_group_path(RUNS)
        summary = _run(suite, agent, GroupDir.create(path), checked, options, progress)
    finally:
        agent.close()
    _print_summary(arguments, path, summary)
    if not arguments.grade or summary.exit_code in (ExitCode.CANNOT, ExitCode.INTERRUPTED):
        return summary.exit_code
    from proctor.cli.grade_command import grade_and_print

    code = grade_and_print([path], arguments.json, None, progress)
    return _worse(summary.exit_code, code)


def _options(arguments: argparse.Namespace) -> RunOptions:
    return RunOptions(
        trials=arguments.trials,
        timeout_s=arguments.timeout,
        parallel=arguments.parallel or 1,
        work_root=arguments.work_root,
        max_failures=arguments.max_failures,
        environment=wiring.environment(),
    )


def _check(suite: Suite, progress: Progress, *, will_grade: bool) -> Checked:
    without = [entry.test.id for entry in suite.tests if entry.graders is None and entry.test.goal is None]
    if without and will_grade:
        raise UsageError(
            f"test {without[0]!r} has neither graders nor a goal, so --grade has nothing to grade it with",
            fix="Give the test a graders.py or a goal, or leave --grade away and label the runs by hand.",
        )
    if any(entry.graders is not None for entry in suite.tests):
        progress.begin("checking graders", len(suite.tests))
        server = GraderServer(wiring.environment())
        try:
            checked = check_graders(suite, server)
        finally:
            server.close()
            progress.end()
    else:
        checked = check_graders_of_none(suite)
    for warning in checked.warnings:
        progress.note(f"proctor: warning: {warning}")
    return checked


def check_graders_of_none(suite: Suite) -> Checked:
    """The check of a suite in which no test has graders: nothing to load, so no process is started."""
    from proctor.engine.preflight import CheckedTest

    return Checked(tests={entry.test.id: CheckedTest() for entry in suite.tests}, warnings=())


def _run(
    suite: Suite, agent: Agent, group: GroupDir, checked: Checked, options: RunOptions, progress: Progress
) -> RunSummary:
    total = len(plan_trials(suite, options))
    progress.note(
        f"{agent.identity.label} on {suite.name}: {counted(total, 'trial')}, {options.parallel} at once"
    )
    progress.begin("ran", total)

    def on_event(event: Event) -> None:
        if event.kind == "started":
            return
        ending = event.ending.value if event.ending else "not recorded"
        progress.step(f"{event.cell.run_dir} {ending} in {seconds(event.duration_s)}")

    with _cancel_on_signals(progress) as cancel:
        summary = execute(
            suite,
            agent,
            group,
            checked=checked,
            options=options,
            platform=wiring.platform(),
            cancel=cancel,
            on_event=on_event,
        )
    progress.end()
    return summary


@contextmanager
def _cancel_on_signals(progress: Progress) -> Generator[Cancel]:
    """The first Ctrl-C or SIGTERM ends what runs and records it as interrupted; the second is as ever."""
    cancel = Cancel()
    before: dict[int, Any] = {}

    def on_signal(number: int, _: object) -> None:
        signal.signal(number, before[number])
        cancel.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        before[number] = signal.signal(number, on_signal)
    try:
        yield cancel
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if cancel.is_set:
            progress.note("interrupted: what was running is recorded as interrupted")
        cancel.close()


def _print_plan(suite: Suite, agent: Agent, options: RunOptions) -> int:
    trials = plan_trials(suite, options)
    print(
        f"{agent.identity.kind} {clean(agent.identity.label)} on {suite.name}: {counted(len(trials), 'trial')}"
    )
    for trial in trials:
        graders = trial.entry.test.graders or ("goal" if trial.entry.test.goal else "no graders")
        print(f"  {trial.cell.run_dir}  limit {trial.limits.timeout_s:g} s  {graders}")
    return ExitCode.OK


def _print_summary(arguments: argparse.Namespace, path: Path, summary: RunSummary) -> None:
    ok = summary.endings.get(Ending.OK, 0)
    if arguments.json:
        if not arguments.grade:
            write_json(_document(path, summary))
        return
    print(f"{ok}/{summary.planned} ended ok")
    for event in (*summary.not_ok, *summary.lost):
        ending = event.ending.value if event.ending else "not recorded"
        lines = [line for line in event.reason.split("\n") if line.strip()]
        print(f"  {event.cell.run_dir}  {ending}  {shorten(clean(lines[0] if lines else ''), 200)}")
    ran = sum(summary.endings.values()) + len(summary.lost)
    if ran < summary.planned:
        print(f"  {summary.planned - ran} not started ({summary.stopped})")
    print(f"runs: {path}")
    if not arguments.grade:
        print(f"next: proctor grade {path}")


def _document(path: Path, summary: RunSummary) -> RunDocument:
    return RunDocument(
        group=str(path),
        planned=summary.planned,
        endings={ending.value: count for ending, count in summary.endings.items()},
        not_ok=tuple(
            {
                "run": event.cell.run_dir,
                "test": event.cell.test,
                "trial": event.cell.trial,
                "ending": event.ending,
                "reason": event.reason,
            }
            for event in (*summary.not_ok, *summary.lost)
        ),
        stopped=summary.stopped,
        exit_code=summary.exit_code,
    )


def _worse(ours: ExitCode, theirs: int) -> int:
    """The worse of two exit codes: what could not be done, then a failed gate, a failed agent, the unclear."""
    order = [ExitCode.CANNOT, ExitCode.GATE_FAILED, ExitCode.AGENT_FAILED, ExitCode.INCONCLUSIVE, ExitCode.OK]
    return next((code for code in order if code in (ours, theirs)), ours)
