"""Run an agent over a suite, and keep each run in a run directory. Running never grades, unless --grade asks.

Examples:
  proctor run agent.py:main --suite evals/einstein
  proctor run --agent-cmd 'mytool --ask {input}' --suite evals/einstein --trials 3 -n 4
  proctor run agent.py --input "When was Einstein born?"
  proctor run agent.py --suite evals/einstein --out runs/einstein --resume --retry error,timeout
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proctor.cli.arguments import add_selection, endings, positive_int, positive_seconds, selected_suite
from proctor.cli.output import clean, counted, seconds, shorten, write_json
from proctor.cli.progress import Progress
from proctor.cli.signals import cancel_on_signals
from proctor.records.json_value import storable

if TYPE_CHECKING:
    from proctor.engine.execute import Event, RunSummary
    from proctor.engine.planning import Resumption, RunOptions
    from proctor.evaluation import Resume
    from proctor.ports import Agent
    from proctor.records.suite import Suite

INTERRUPTED = "interrupted: what was running is recorded as interrupted"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `proctor run` can be told."""
    parser.add_argument(
        "agent",
        metavar="AGENT",
        nargs="?",
        help="a Python function: path/agent.py:function or package.module:function; without a name, main; "
        "or solution, which runs the suite's own solutions, or noop, which does nothing",
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
    parser.add_argument(
        "--resume", action="store_true", help="go on with the group at --out: run only what is missing"
    )
    parser.add_argument(
        "--retry",
        metavar="ENDING,...",
        type=endings,
        default=(),
        help="with --resume: run these endings again too",
    )
    parser.add_argument(
        "--supersede", action="store_true", help="with --retry: the new attempt counts instead of the old one"
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
    agent = evaluation.pick_agent(
        arguments.agent, command=arguments.agent_cmd, stdin=arguments.stdin, suite=suite
    )
    if arguments.dry_run:
        return _dry_run(arguments, suite, agent, progress)
    with cancel_on_signals(progress, INTERRUPTED) as cancel:
        group = evaluation.run(
            suite,
            agent,
            out=arguments.out,
            options=_options(arguments),
            resume=_resume(arguments, progress),
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


def _options(arguments: argparse.Namespace) -> RunOptions:
    from proctor import evaluation

    return evaluation.run_options(
        trials=arguments.trials,
        timeout_s=arguments.timeout,
        parallel=arguments.parallel,
        max_failures=arguments.max_failures,
        work_root=arguments.work_root,
    )


def _resume(arguments: argparse.Namespace, progress: Progress) -> Resume | None:
    from proctor.errors import UsageError
    from proctor.evaluation import Resume

    if not arguments.resume:
        if arguments.retry or arguments.supersede:
            raise UsageError(
                "--retry and --supersede belong to --resume", fix="Add --resume, and --out GROUP."
            )
        return None
    if arguments.out is None:
        raise UsageError("--resume needs the group to go on with", fix="Name it with --out GROUP.")

    def on_plan(left: Resumption) -> None:
        again = "".join(f", {ending.value} {count}" for ending, count in left.again.items())
        progress.note(
            f"resuming {clean(str(arguments.out))}: of {counted(left.planned, 'trial')} {left.finished} finished; "
            f"to run: missing {left.missing}{again}"
        )

    return Resume(retry=arguments.retry, supersede=arguments.supersede, on_plan=on_plan)


def _telling(progress: Progress, agent: Agent, suite: Suite) -> Any:
    def on_event(event: Event) -> None:
        if event.kind == "planned":
            if not event.planned:
                return
            progress.note(
                f"{clean(agent.identity.label)} on {clean(suite.name)}: "
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
    from proctor.engine.planning import plan_trials

    options = _options(arguments)
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
        f"{agent.identity.kind} {clean(agent.identity.label)} on {clean(suite.name)}: {counted(len(trials), 'trial')}"
    )
    for trial in trials:
        test = trial.entry.test
        graders = test.graders or ("its goal" if test.goal else "nothing")
        print(f"  {trial.cell.run_dir}  limit {trial.limits.timeout_s:g} s  graded by {graders}")
    return 0


def _warn(warnings: tuple[str, ...], progress: Progress) -> None:
    for warning in warnings:
        progress.note(f"proctor: warning: {clean(warning)}")


def _print_summary(path: Path, summary: RunSummary, *, is_graded: bool) -> None:
    from proctor.records.run import Ending

    if not summary.planned:
        print("nothing was left to run")
    else:
        print(f"{summary.endings.get(Ending.OK, 0)}/{summary.planned} ended ok")
    for event in (*summary.not_ok, *summary.lost):
        assert event.cell is not None
        ending = event.ending.value if event.ending else "not recorded"
        reason = " ".join(event.reason.split())
        print(f"  {event.cell.run_dir}  {ending}  {shorten(clean(reason), 200)}".rstrip())
    left = summary.planned - sum(summary.endings.values()) - len(summary.lost)
    if left:
        print(f"  {left} not started ({summary.stopped})")
    print(f"runs: {clean(str(path))}")
    if not is_graded:
        print(f"next: proctor grade {clean(str(path))}")


def _document(path: Path, summary: RunSummary) -> dict[str, Any]:
    return {
        "schema": "proctor.run-summary/1",
        "group": storable(str(path)),
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
