"""`-o FILE` of commands that report: any number of files, each in the form that its ending says."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from proctor.reports import ENDINGS, WITH_DETAILS, check_report, write_report

if TYPE_CHECKING:
    from proctor.records.report import Report


def add_output(parser: argparse.ArgumentParser, endings: Sequence[str] = ENDINGS) -> None:
    """The option, which can be given several times."""
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        type=Path,
        action="append",
        default=[],
        help=f"write it into a file, whose ending says the form: {', '.join(endings)}; repeat for more",
    )


def check_files(paths: Sequence[Path], endings: Sequence[str] = ENDINGS) -> None:
    """Find out before the work whether each file can be written after it.

    Raises:
        UsageError: an ending names no form, or a file cannot be written.
    """
    for path in paths:
        check_report(path, endings)


def write_files(report: Report, paths: Sequence[Path]) -> None:
    """Write a report into each file; the runs are read once more where a form shows what they say.

    Raises:
        UsageError: a file cannot be written.
    """
    details = None
    if any(path.suffix.lower() in WITH_DETAILS for path in paths):
        from proctor.engine.details import details_of

        details = details_of(report)  # once for all of them
    for path in paths:
        write_report(report, path, details)
