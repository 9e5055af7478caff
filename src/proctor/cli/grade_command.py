"""Grade recorded runs with the grading code that each run holds, and append one round of rows to each.

Grading never runs the agent, and editing graders.py never changes what an old run scores; --suite asks for the
graders that a suite has now.

Examples:
  proctor grade runs/einstein
  proctor grade runs/einstein --json
  proctor grade runs/einstein --suite evals/einstein --diff -o report.html -o report.xml
  proctor grade runs/einstein --min-pass-rate 0.8 --baseline runs/main
  proctor grade runs/einstein --goal "Names the year 1879." --judge-model openai/gpt-5-mini --max-cost 0.50
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from proctor.cli.arguments import add_paths, dollars, positive_int
from proctor.cli.comparison_lines import decision_lines
from proctor.cli.comparison_options import add_comparison_options, add_confidence, rules_of, share
from proctor.cli.output import clean, moved_lines, write_json
from proctor.cli.progress import Progress
from proctor.cli.report_files import add_output, check_files, write_files
from proctor.cli.summary import grading_lines
from proctor.errors import UsageError

if TYPE_CHECKING:
    from proctor.records.judging import JudgeOptions
    from proctor.records.report import Report
    from proctor.records.suite import Suite


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `proctor grade` can be told."""
    add_paths(parser)
    parser.add_argument(
        "-s", "--suite", metavar="S", help="grade with the tests and graders of this suite as they are now"
    )
    judging = parser.add_argument_group("judges")
    judging.add_argument(
        "--goal",
        metavar="TEXT",
        help="judge every run by its test's own goal, else by TEXT, and by nothing else",
    )
    judging.add_argument(
        "--judge-model",
        metavar="PROVIDER/NAME",
        help="the model that judges ask (default: PROCTOR_JUDGE_MODEL, else judge_model in the settings)",
    )
    judging.add_argument(
        "--max-cost", metavar="USD", type=dollars, help="what judging may cost, in US dollars"
    )
    judging.add_argument("--no-cache", action="store_true", help="ask anew what a judge has answered before")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    add_output(parser)
    parser.add_argument(
        "--diff", action="store_true", help="say which verdicts moved since the last round, and why"
    )
    parser.add_argument("-n", "--parallel", metavar="N", type=positive_int, help="runs graded at once")
    demands = parser.add_argument_group("what must be reached")
    demands.add_argument(
        "--min-objective",
        metavar="X",
        type=share,
        help="the mean over tests; its whole interval must lie there",
    )
    demands.add_argument("--min-pass-rate", metavar="X", type=share, help="the pass rate, likewise")
    demands.add_argument(
        "--baseline", metavar="PATH", type=Path, help="recorded runs that these must not be worse than"
    )
    add_confidence(parser)
    add_comparison_options(parser)


def main(arguments: argparse.Namespace) -> int:
    """Grade, and draw the report."""
    from proctor import evaluation
    from proctor.records.judging import JudgeOptions

    if arguments.baseline is not None:
        from proctor.engine.comparing import check_comparable

        # What cannot be compared is said before judges are paid.
        check_comparable(arguments.baseline)
        rules_of(arguments)

    if arguments.suite and arguments.goal is not None:
        raise UsageError(
            "--goal and --suite are both given",
            fix="Leave one away: the suite's graders bring their own goals, as LlmJudge(goal=...) does.",
        )
    return grade_and_print(
        arguments.paths,
        as_json=arguments.json,
        outputs=arguments.output,
        parallel=arguments.parallel,
        suite=evaluation.load_suite(arguments.suite) if arguments.suite else None,
        goal=arguments.goal,
        judges=JudgeOptions(
            model=arguments.judge_model,
            max_cost_usd=arguments.max_cost,
            use_cache=not arguments.no_cache,
        ),
        diff=arguments.diff,
        judged_by=lambda report: _decided(report, arguments),
    )


def _decided(report: Report, arguments: argparse.Namespace) -> Report:
    """With what the command line demands, and how it compares with the baseline."""
    from proctor.core.decision import Demands, decide

    comparison = None
    if arguments.baseline is not None:
        from proctor.engine.comparing import compare_paths

        comparison = compare_paths(
            arguments.baseline,
            [arguments.paths],
            rules=rules_of(arguments),
            fail_on=arguments.fail_on,
        )
    demands = Demands(
        min_objective=arguments.min_objective,
        min_pass_rate=arguments.min_pass_rate,
        confidence=arguments.confidence,
    )
    return decide(report, demands, comparison)


def _undemanding(report: Report) -> Report:
    """With what its gates come to alone."""
    from proctor.core.decision import Demands, decide

    return decide(report, Demands())


def grade_and_print(
    paths: Sequence[Path],
    *,
    as_json: bool,
    outputs: Sequence[Path] = (),
    parallel: int | None = None,
    suite: Suite | None = None,
    goal: str | None = None,
    judges: JudgeOptions | None = None,
    diff: bool = False,
    write: Callable[[Report], None] | None = None,
    judged_by: Callable[[Report], Report] = _undemanding,
) -> int:
    """Grade what the paths name, print the report or hand it to `write`, and return the exit code.

    outputs: files that the report is written into too, each in the form that its ending says.
    judged_by: adds the decision to the report.
    """
    from proctor import evaluation
    from proctor.cli.judging_lines import judging_lines

    check_files(outputs)
    progress = Progress(sys.stderr)
    report = evaluation.grade(
        *paths,
        suite=suite,
        goal=goal,
        judges=judges,
        diff=diff,
        parallel=parallel,
        on_start=lambda total: progress.begin("graded", total),
        on_done=progress.step,
    )
    progress.end()
    report = judged_by(report)
    for warning in report.warnings:
        progress.note(f"proctor: warning: {clean(warning)}")
    write_files(report, outputs)
    if write is not None:
        write(report)
    elif as_json:
        write_json(report)
    else:
        for line in grading_lines(report):
            print(line)
        for line in judging_lines(report):
            print(line)
        for line in moved_lines(report.moved) if diff else ():
            print(line)
        for line in decision_lines(report):
            print(line)
    return report.decision.exit_code if report.decision is not None else 0
