"""Grade recorded runs with the grading code that each run holds, and append one round of rows to each.

Grading never runs the agent, and editing graders.py never changes what an old run scores.

Examples:
  proctor grade runs/einstein
  proctor grade runs/einstein --json
  proctor grade runs/einstein -o report.json
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from proctor.cli.arguments import add_paths, positive_int
from proctor.cli.output import grading_lines, write_json
from proctor.cli.progress import Progress


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `proctor grade` can be told."""
    add_paths(parser)
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.add_argument(
        "-o", "--output", metavar="FILE", type=Path, help="write the report as JSON into a file"
    )
    parser.add_argument("-n", "--parallel", metavar="N", type=positive_int, help="runs graded at once")


def main(arguments: argparse.Namespace) -> int:
    """Grade, and draw the report."""
    progress = Progress(sys.stderr)
    return grade_and_print(arguments.paths, arguments.json, arguments.output, progress, arguments.parallel)


def grade_and_print(
    paths: Sequence[Path], as_json: bool, output: Path | None, progress: Progress, parallel: int | None = None
) -> int:
    """Grade what the paths name, print the report, and return the exit code."""
    from proctor import wiring
    from proctor.core.report import exit_code_of_grading
    from proctor.engine.grading import RunGrader
    from proctor.engine.reporting import report_found
    from proctor.stores.discover import discover

    groups = discover(paths)
    runs = [run for group in groups for run in group.runs]
    progress.begin("graded", len(runs))
    with RunGrader(wiring.environment(), parallel=parallel or min(4, os.cpu_count() or 1)) as grader:
        grader.grade(runs, lambda run: progress.step(run.name))
    progress.end()
    report = report_found(groups)
    if output is not None:
        write_json(report, output)
    if as_json:
        write_json(report)
    else:
        for line in grading_lines(report):
            print(line)
    return exit_code_of_grading(report)
