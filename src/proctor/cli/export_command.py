"""Write recorded runs as a table, for pandas, Polars, DuckDB, a spreadsheet. Changes nothing.

One run is in memory at a time. The ending of the file says how it is written: .parquet (needs the extra `export`),
.csv, .jsonl.

Examples:
  proctor export runs -o runs.parquet
  proctor export runs/einstein --table grades -o grades.csv
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from proctor.cli.arguments import add_paths
from proctor.cli.output import check_writable, counted

TABLES = ("runs", "grades", "labels", "events")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `proctor export` can be told."""
    add_paths(parser)
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        type=Path,
        required=True,
        help="a new file: .parquet, .csv or .jsonl",
    )
    parser.add_argument(
        "--for-spreadsheet",
        action="store_true",
        help="CSV for Excel and the like: no text is taken for a formula",
    )
    parser.add_argument("--table", choices=TABLES, default="runs", help="what a row is (default: runs)")


def main(arguments: argparse.Namespace) -> int:
    """Read, and write."""
    from proctor.engine.export_files import check_format, write_table
    from proctor.engine.exporting import exported
    from proctor.records.export import TABLES as COLUMNS

    check_format(arguments.output, for_spreadsheet=arguments.for_spreadsheet)
    check_writable(arguments.output)
    count = write_table(
        exported(arguments.paths, arguments.table),
        COLUMNS[arguments.table],
        arguments.output,
        for_spreadsheet=arguments.for_spreadsheet,
    )
    print(f"{counted(count, 'row')} of {arguments.table}", file=sys.stderr)
    return 0
