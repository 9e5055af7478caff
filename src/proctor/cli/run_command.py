"""Run an agent over a suite, and keep each run in a run directory. Running never grades, unless --grade asks.

Examples:
  proctor run agent.py:main --suite evals/einstein
  proctor run --agent-cmd 'mytool --ask {input}' --suite evals/einstein --trials 3 -n 4
  proctor run agent.py --input "When was Einstein born?"
  proctor run agent.py --suite evals/einstein --out runs/einstein --resume --retry error,timeout
  proctor run agent.py --suite evals/einstein --out runs/shard-2 --shard 2/3
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from proctor.cli.arguments import (
    add_agent_options,
    add_selection,
    add_shard,
    agent_options,
    endings,
    positive_int,
    positive_seconds,
    selected_suite,
)
from proctor.cli.board import Board
from proctor.cli.budget_options import add_budgets, limits_of
from proctor.cli.confinement import add_confinement, confinement_notes, confinement_of, resources_of
from proctor.cli.output import clean, counted, money, write_json
from proctor.cli.run_events import EventLines
from proctor.cli.run_summary import empty_shard_lines, shard_line, summary_lines
from proctor.cli.signals import cancel_on_signals

if TYPE_CHECKING:
    from collections.abc import Callable

    from proctor.engine.happenings import Event, RunSummary
    from proctor.engine.planning import Resumption, RunOptions
    from proctor.evaluation import Resume
    from proctor.ports import Agent, Cancel
    from proctor.records.judging import JudgeOptions
    from proctor.records.suite import Suite

INTERRUPTED = "interrupted: what was running is recorded as interrupted"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `proctor run` can be told."""
    parser.add_argument(
        "agent",
        metavar="AGENT",
        nargs="?",
        help="a Python function (path/agent.py:function, package.module:function; without a name, main), an endpoint "
        "(http://HOST/PATH), a model (model:PROVIDER/NAME), path/agent.agency:node, a coding agent (claude, codex); "
        "or a kind by its name: solution runs the suite's own solutions, noop does nothing, and installed packages add "
        "others",
    )
    parser.add_argument(
        "--agent-cmd", metavar="COMMAND", help="a command instead; {input} stands for the input"
    )
    add_agent_options(parser)
    add_selection(parser, with_input=True)
    add_shard(parser)
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
    add_confinement(parser)
    add_budgets(parser)
    parser.add_argument("--grade", action="store_true", help="then grade what was written")
    parser.add_argument(
        "--judge-model", metavar="PROVIDER/NAME", help="with --grade: the model that judges ask"
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="check everything, print the plan, run nothing"
    )
    parser.add_argument(
        "--json",
        action="store_true",
        help="print what happens as JSON, one object a line, the summary at the end",
    )


def main(arguments: argparse.Namespace) -> int:
    """Run, say what was written where, and grade if that was asked."""
    from proctor import evaluation, wiring
    from proctor.errors import UsageError
    from proctor.loading import shard_of

    if arguments.judge_model is not None and not arguments.grade:
        raise UsageError("--judge-model belongs to --grade", fix="Add --grade, or leave it away.")
    board = Board(sys.stderr, wiring.environment(), is_shown=not (arguments.json and sys.stdout.isatty()))
    suite = selected_suite(arguments)
    if suite.commit is not None:
        board.note(f"suite at commit {suite.commit[:12]}; its graders are code that will run here")
    agent = evaluation.pick_agent(
        arguments.agent, command=arguments.agent_cmd, options=agent_options(arguments), suite=suite
    )
    if arguments.dry_run:
        return _dry_run(arguments, suite, agent, board)
    options = _options(arguments)
    out = arguments.out or evaluation.new_group()
    lines = EventLines(out, agent.identity.label, suite.name) if arguments.json else None
    if lines is not None:
        board.every_minute(lines.on_minute)
    with board, cancel_on_signals(board, INTERRUPTED) as cancel:
        group = evaluation.run(
            suite,
            agent,
            out=out,
            options=options,
            resume=_resume(arguments, board),
            will_grade=arguments.grade,
            cancel=cancel,
            on_event=_telling(board, lines, cancel, agent, suite, options),
        )
    _warn(group.warnings, board)
    summary = group.summary
    is_empty_shard = not shard_of(suite, options.shard).tests
    graded = arguments.grade and summary.stopped != "interrupted" and not is_empty_shard
    if lines is not None:
        lines.summary(summary)
    else:
        told = summary_lines(group.path, summary, options, is_graded=graded)
        for line in empty_shard_lines(group.path, options) if is_empty_shard else told:
            print(line)
    if not graded:
        return summary.exit_code
    from proctor.cli.grade_command import grade_and_print
    from proctor.records.exits import worse

    code = grade_and_print(
        [group.path],
        as_json=arguments.json,
        judges=_judges(arguments, summary, options),
        write=None if lines is None else lines.report,
    )
    return worse(summary.exit_code, code)


def _judges(arguments: argparse.Namespace, summary: RunSummary, options: RunOptions) -> JudgeOptions:
    """What judging may cost is what the agents have left of the budget."""
    from proctor.records.judging import JudgeOptions

    left = None
    if options.max_cost_usd is not None:
        left = max(0.0, options.max_cost_usd - summary.cost.known_usd)
    return JudgeOptions(model=arguments.judge_model, max_cost_usd=left)


def _options(arguments: argparse.Namespace) -> RunOptions:
    from proctor import evaluation

    return evaluation.run_options(
        trials=arguments.trials,
        timeout_s=arguments.timeout,
        parallel=arguments.parallel,
        max_failures=arguments.max_failures,
        work_root=arguments.work_root,
        confinement=confinement_of(arguments),
        resources=resources_of(arguments) | limits_of(arguments),
        max_cost_usd=arguments.max_cost,
        max_time_s=arguments.max_time,
        retries=arguments.retries,
        shard=arguments.shard,
    )


def _resume(arguments: argparse.Namespace, board: Board) -> Resume | None:
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
        spent = f"; spent so far: {money(left.spent_usd)}" if left.spent_usd else ""
        board.note(
            f"resuming {clean(str(arguments.out))}: of {counted(left.planned, 'trial')} {left.finished} finished; "
            f"to run: missing {left.missing}{again}{spent}"
        )

    return Resume(retry=arguments.retry, supersede=arguments.supersede, on_plan=on_plan)


def _telling(
    board: Board,
    lines: EventLines | None,
    cancel: Cancel,
    agent: Agent,
    suite: Suite,
    options: RunOptions,
) -> Callable[[Event], None]:
    def on_event(event: Event) -> None:
        board.on_event(event)
        if lines is not None:
            lines.on_event(event)
        if event.kind == "planned" and options.shard is not None:
            board.note(shard_line(suite, options.shard))
        if event.kind == "planned" and event.planned:
            board.note(
                f"{clean(agent.identity.label)} on {clean(suite.name)}: "
                f"{counted(event.planned, 'trial')}, {event.parallel} at once"
            )
            for note in confinement_notes(options, suite, agent):
                board.note(note)
            board.begin(lambda: cancel.is_set)

    return on_event


def _dry_run(arguments: argparse.Namespace, suite: Suite, agent: Agent, board: Board) -> int:
    """Check all that a run would check, and print the trials that it would start."""
    from proctor import evaluation
    from proctor.engine.planning import plan_trials
    from proctor.loading import shard_of

    options = _options(arguments)
    premises = evaluation.premises_of(options, suite, agent, out=arguments.out)
    whole, suite = suite, shard_of(suite, options.shard)
    try:
        agent.prepare([entry.test for entry in suite.tests], premises.surroundings)
        _warn(evaluation.check(suite, will_grade=arguments.grade).warnings, board)
    finally:
        agent.close()
        premises.close()
    trials = plan_trials(suite, options)
    if arguments.json:
        write_json([trial.cell for trial in trials])
        return 0
    if options.shard is not None:
        board.note(shard_line(whole, options.shard))
    print(
        f"{agent.identity.kind} {clean(agent.identity.label)} on {clean(suite.name)}: {counted(len(trials), 'trial')}"
    )
    for trial in trials:
        test = trial.entry.test
        graders = test.graders or ("its goal" if test.goal else "nothing")
        print(f"  {trial.cell.run_dir}  limit {trial.limits.timeout_s:g} s  graded by {graders}")
    return 0


def _warn(warnings: tuple[str, ...], board: Board) -> None:
    for warning in warnings:
        board.note(f"proctor: warning: {clean(warning)}")
