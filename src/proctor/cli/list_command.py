"""List recorded runs with their numbers, as the last complete grading left them. Changes nothing.

Examples:
  proctor list runs/einstein
  proctor list runs --json
  proctor list runs/einstein -o report.html
"""

from __future__ import annotations

import argparse

from proctor.cli.arguments import add_paths
from proctor.cli.label_text import label_cells
from proctor.cli.output import clean, ended, number, seconds, table, trace_cells, write_json
from proctor.cli.report_files import add_output, check_files, write_files
from proctor.cli.summary import summary_lines

TRACE_COLUMNS = ("COST", "LLM", "TOOLS")
LABEL_COLUMNS = ("LABEL", "PEOPLE")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `proctor list` can be told."""
    add_paths(parser)
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    add_output(parser)


def main(arguments: argparse.Namespace) -> int:
    """Read, and draw the table."""
    from proctor.engine.reporting import report_paths

    check_files(arguments.output)
    report = report_paths(arguments.paths)
    write_files(report, arguments.output)
    if arguments.json:
        write_json(report)
        return 0
    several = len(report.groups) > 1
    traced = any(run.metrics is not None for run in report.runs)
    group_column, trace_columns = ("GROUP",) if several else (), TRACE_COLUMNS if traced else ()
    labelled = any(run.labels for run in report.runs)
    label_columns = LABEL_COLUMNS if labelled else ()
    columns = ("RUN", "TRIAL", "ENDED", "TIME", *trace_columns, "OUTCOME", "OBJECTIVE", "ROUNDS")
    rows = [(*group_column, *columns, *label_columns)]
    for group in report.groups:
        for run in group.runs:
            cells = (
                clean(run.run),
                str(run.trial),
                ended(run),
                seconds(run.duration_s),
                *(trace_cells(run.metrics) if traced else ()),
                run.outcome.value,
                number(run.objective),
                str(run.rounds),
                *(label_cells(run) if labelled else ()),
            )
            rows.append((*([clean(group.path)] if several else []), *cells))
    for line in table(rows):
        print(line)
    for line in summary_lines(report):
        print(line)
    return 0
