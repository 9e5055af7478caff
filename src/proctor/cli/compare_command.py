"""Say whether a candidate is better than a base, worse, the same, or whether that cannot be told.

Both are aligned test by test, and each test counts once, however many trials it has. The last complete round of
grades of each run counts; nothing is run, graded or changed. Needs the extra `stats`.

Examples:
  proctor compare runs/base runs/candidate
  proctor compare runs/base runs/one runs/two --margin 0.05 --json
  proctor compare runs/base runs/candidate -o comparison.md
  proctor compare runs/base runs/candidate --allow test --require model --fail-on worse
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from proctor.cli.comparison_options import add_comparison_options, add_confidence, rules_of
from proctor.cli.output import clean, write_json
from proctor.cli.report_files import add_output, check_files
from proctor.reports import COMPARISON_ENDINGS, write_comparison


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `proctor compare` can be told."""
    parser.add_argument(
        "base", metavar="BASE", type=Path, help="a run directory, a group, or a folder of groups"
    )
    parser.add_argument(
        "candidates", metavar="CANDIDATE", nargs="+", type=Path, help="what is compared with it; likewise"
    )
    add_comparison_options(parser)
    add_confidence(parser)
    parser.add_argument("--json", action="store_true", help="print the comparison as JSON")
    add_output(parser, COMPARISON_ENDINGS)


def main(arguments: argparse.Namespace) -> int:
    """Read, decide, and draw."""
    from proctor.cli.comparison_lines import comparison_lines
    from proctor.engine.comparing import compare_paths

    check_files(arguments.output, COMPARISON_ENDINGS)
    found = compare_paths(
        arguments.base,
        [[candidate] for candidate in arguments.candidates],
        rules=rules_of(arguments),
        fail_on=arguments.fail_on,
    )
    for warning in found.warnings:
        print(f"proctor: warning: {clean(warning)}", file=sys.stderr)
    for path in arguments.output:
        write_comparison(found, path)
    if arguments.json:
        write_json(found)
    else:
        for line in comparison_lines(found):
            print(line)
    return found.exit_code
