"""Grade recorded runs with the grading code that each run holds, and append one round of rows to each.

Grading never runs the agent, and editing graders.py never changes what an old run scores; --suite asks for the
graders that a suite has now.

Examples:
  proctor grade runs/einstein
  proctor grade runs/einstein --json
  proctor grade runs/einstein --suite evals/einstein --diff -o report.json
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from proctor.cli.arguments import add_paths, positive_int
from proctor.cli.output import check_writable, clean, grading_lines, moved_lines, write_json
from proctor.cli.progress import Progress

if TYPE_CHECKING:
    from proctor.records.suite import Suite


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `proctor grade` can be told."""
    add_paths(parser)
    parser.add_argument(
        "-s", "--suite", metavar="S", help="grade with the tests and graders of this suite as they are now"
    )
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.add_argument(
        "-o", "--output", metavar="FILE", type=Path, help="write the report as JSON into a file"
    )
    parser.add_argument(
        "--diff", action="store_true", help="say which verdicts moved since the last round, and why"
    )
    parser.add_argument("-n", "--parallel", metavar="N", type=positive_int, help="runs graded at once")


def main(arguments: argparse.Namespace) -> int:
    """Grade, and draw the report."""
    from proctor import evaluation

    return grade_and_print(
        arguments.paths,
        as_json=arguments.json,
        output=arguments.output,
        parallel=arguments.parallel,
        suite=evaluation.load_suite(arguments.suite) if arguments.suite else None,
        diff=arguments.diff,
    )


def grade_and_print(
    paths: Sequence[Path],
    *,
    as_json: bool,
    output: Path | None = None,
    parallel: int | None = None,
    suite: Suite | None = None,
    diff: bool = False,
) -> int:
    """Grade what the paths name, print the report, and return the exit code."""
    from proctor import evaluation
    from proctor.core.report import exit_code_of_grading

    if output is not None:
        check_writable(output)
    progress = Progress(sys.stderr)
    report = evaluation.grade(
        *paths,
        suite=suite,
        diff=diff,
        parallel=parallel,
        on_start=lambda total: progress.begin("graded", total),
        on_done=progress.step,
    )
    progress.end()
    for warning in report.warnings:
        progress.note(f"proctor: warning: {clean(warning)}")
    if output is not None:
        write_json(report, output)
    if as_json:
        write_json(report)
    else:
        for line in grading_lines(report):
            print(line)
        for line in moved_lines(report.moved) if diff else ():
            print(line)
    return exit_code_of_grading(report)
