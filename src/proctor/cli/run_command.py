"""Run an agent over a suite, and keep each run in a run directory. Running never grades, unless --grade asks.

Examples:
  proctor run agent.py:main --suite evals/einstein
  proctor run --agent-cmd 'mytool --ask {input}' --suite evals/einstein --trials 3 -n 4
  proctor run agent.py --input "When was Einstein born?"
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from proctor.cli.arguments import (
    add_selection,
    positive_int,
    positive_seconds,
    selected_suite,
)


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
    """Run, and say what was written where."""
    from proctor.cli.progress import Progress
    from proctor.cli.running import run_suite

    progress = Progress(sys.stderr)
    return run_suite(arguments, selected_suite(arguments), progress)
