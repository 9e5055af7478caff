"""Run an agent over a suite, and keep each run in a run directory. Running never grades, unless --grade asks.

Examples:
  proctor run agent.py:main --suite evals/einstein
  proctor run --agent-cmd 'mytool --ask {input}' --suite evals/einstein --trials 3 -n 4
  proctor run agent.py --input "When was Einstein born?"
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proctor.cli.arguments import add_selection, positive_int, positive_seconds, selected_suite
from proctor.cli.output import clean, counted, seconds, shorten, write_json
from proctor.cli.progress import Progress

if TYPE_CHECKING:
    from proctor.engine.execute import Event, RunSummary
    from proctor.host.cancel import Cancel
    from proctor.ports import Agent
    from proctor.records.suite import Suite


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `proctor run` can be told."""
    parser.add_argument(
        "agent",
        metavar="AGENT",
        nargs="?",
        help="a Python function: path/agent.py:function or package.module:function; without a name, main",
    )
    parser.add_argument(
        "--agent-cmd", metavar="COMMAND", help="a command instead; {input} stands for the input"
    )
    parser.add_argument("--stdin", action="store_true", help="give the command its input on standard input")
    add_selection(parser, with_input=True)
    parser.add_argument(
        "-o", "--out", metavar="GROUP", type=Path, help="the group's folder (default: runs/<date>-<random>)"
    )
    parser.add_argument(
        "-n", "--parallel", metavar="N", type=positive_int, help="trials at once (default: 1)"
    )
    parser.add_argument("--trials", metavar="K", type=positive_int, help="attempts at each test (default: 1)")
    parser.add_argument(
        "--timeout", metavar="SECONDS", type=positive_seconds, help="limit of one trial (default: 60)"
    )
    parser.add_argument(
        "-x", dest="max_failures", action="store_const", const=1, help="stop after the first failure"
    )
    parser.add_argument(
        "--max-failures", metavar="N", type=positive_int, help="stop after N trials that did not end well"
    )
    parser.add_argument(
        "--work-root", metavar="DIR", type=Path, help="where workdirs live while an agent runs"
    )
    parser.add_argument("--grade", action="store_true", help="then grade what was written")
    parser.add_argument(
        "--dry-run", action="store_true", help="check everything, print the plan, run nothing"
    )
    parser.add_argument("--json", action="store_true", help="print the summary as JSON")


def main(arguments: argparse.Namespace) -> int:
    """Run, say what was written where, and grade if that was asked."""
    from proctor import evaluation

    progress = Progress(sys.stderr)
    suite = selected_suite(arguments)
    if suite.commit is not None:
        progress.note(f"suite at commit {suite.commit[:12]}; its graders are code that will run here")
    agent = evaluation.pick_agent(arguments.agent, command=arguments.agent_cmd, stdin=arguments.stdin)
    if arguments.dry_run:
        return _dry_run(arguments, suite, agent, progress)
    with _cancel_on_signals(progress) as cancel:
        group = evaluation.run(
            suite,
            agent,
            out=arguments.out,
            trials=arguments.trials,
            timeout_s=arguments.timeout,
            parallel=arguments.parallel,
            max_failures=arguments.max_failures,
            work_root=arguments.work_root,
            will_grade=arguments.grade,
            cancel=cancel,
            on_event=_telling(progress, agent, suite),
        )
    progress.end()
    _warn(group.warnings, progress)
    summary = group.summary
    graded = arguments.grade and summary.stopped != "interrupted"
    if not arguments.json:
        _print_summary(group.path, summary, is_graded=graded)
    elif not graded:
        write_json(_document(group.path, summary))
    if not graded:
        return summary.exit_code
    from proctor.cli.grade_command import grade_and_print

    return evaluation.worse(summary.exit_code, grade_and_print([group.path], as_json=arguments.json))


def _telling(progress: Progress, agent: Agent, suite: Suite) -> Any:
    def on_event(event: Event) -> None:
        if event.kind == "planned":
            progress.note(
                f"{clean(agent.identity.label)} on {suite.name}: "
                f"{counted(event.planned, 'trial')}, {event.parallel} at once"
            )
            progress.begin("ran", event.planned)
        elif event.cell is not None and event.kind != "started":
            ending = event.ending.value if event.ending else "not recorded"
            progress.step(f"{event.cell.run_dir} {ending} in {seconds(event.duration_s)}")

    return on_event


def _dry_run(arguments: argparse.Namespace, suite: Suite, agent: Agent, progress: Progress) -> int:
    """Check all that a run would check, and print the trials that it would start."""
    from proctor import evaluation
    from proctor.engine.execute import plan_trials

    options = evaluation.run_options(trials=arguments.trials, timeout_s=arguments.timeout)
    try:
        agent.prepare([entry.test for entry in suite.tests])
        _warn(evaluation.check(suite, will_grade=arguments.grade).warnings, progress)
    finally:
        agent.close()
    trials = plan_trials(suite, options)
    if arguments.json:
        write_json([trial.cell for trial in trials])
        return 0
    print(
        f"{agent.identity.kind} {clean(agent.identity.label)} on {suite.name}: {counted(len(trials), 'trial')}"
    )
    for trial in trials:
        test = trial.entry.test
        graders = test.graders or ("its goal" if test.goal else "nothing")
        print(f"  {trial.cell.run_dir}  limit {trial.limits.timeout_s:g} s  graded by {graders}")
    return 0


def _warn(warnings: tuple[str, ...], progress: Progress) -> None:
    for warning in warnings:
        progress.note(f"proctor: warning: {warning}")


@contextmanager
def _cancel_on_signals(progress: Progress) -> Generator[Cancel]:
    """The first Ctrl-C or SIGTERM ends what runs and records it as interrupted; the second is as ever."""
    from proctor.host.cancel import Cancel

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


def _print_summary(path: Path, summary: RunSummary, *, is_graded: bool) -> None:
    from proctor.records.run import Ending

    print(f"{summary.endings.get(Ending.OK, 0)}/{summary.planned} ended ok")
    for event in (*summary.not_ok, *summary.lost):
        assert event.cell is not None
        ending = event.ending.value if event.ending else "not recorded"
        lines = [line for line in event.reason.split("\n") if line.strip()]
        print(f"  {event.cell.run_dir}  {ending}  {shorten(clean(lines[0] if lines else ''), 200)}")
    left = summary.planned - sum(summary.endings.values()) - len(summary.lost)
    if left:
        print(f"  {left} not started ({summary.stopped})")
    print(f"runs: {path}")
    if not is_graded:
        print(f"next: proctor grade {path}")


def _document(path: Path, summary: RunSummary) -> dict[str, Any]:
    return {
        "schema": "proctor.run-summary/1",
        "group": str(path),
        "planned": summary.planned,
        "endings": {ending.value: count for ending, count in summary.endings.items()},
        "not_ok": [
            {
                "run": event.cell.run_dir,
                "test": event.cell.test,
                "trial": event.cell.trial,
                "ending": event.ending,
                "reason": event.reason,
            }
            for event in (*summary.not_ok, *summary.lost)
            if event.cell is not None
        ],
        "stopped": summary.stopped,
        "exit_code": int(summary.exit_code),
    }
