"""Arguments that several commands share, and how their texts are read."""

from __future__ import annotations

import argparse
import math
from pathlib import Path

from proctor.records.suite import Suite


def positive_int(text: str) -> int:
    """A whole number of 1 or more."""
    if text.isascii() and text.isdigit() and int(text) >= 1:
        return int(text)
    raise argparse.ArgumentTypeError(f"a whole number of 1 or more is wanted, and this is {text!r}")


def positive_seconds(text: str) -> float:
    """A finite number of seconds above 0."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if math.isfinite(value) and value > 0:
        return value
    raise argparse.ArgumentTypeError(f"a number of seconds above 0 is wanted, and this is {text!r}")


def add_paths(parser: argparse.ArgumentParser) -> None:
    """The run directories and groups that a command reads."""
    parser.add_argument(
        "paths", metavar="PATH", nargs="+", type=Path, help="a run directory, a group, or a folder of groups"
    )


def add_selection(parser: argparse.ArgumentParser, *, with_input: bool) -> None:
    """The suite, and which of its tests."""
    if with_input:
        source = parser.add_mutually_exclusive_group()
        source.add_argument("-s", "--suite", metavar="S", help="a folder or file of tests")
        source.add_argument("--input", metavar="TEXT", help="one test with this input, instead of a suite")
    else:
        parser.add_argument("suite", metavar="SUITE", help="a folder or file of tests")


def selected_suite(arguments: argparse.Namespace) -> Suite:
    """The suite that the arguments name.

    Raises:
        UsageError: none is named.
        SuiteError: it is not usable.
    """
    from proctor import wiring
    from proctor.errors import UsageError
    from proctor.load import inline_suite, load_suite

    text = getattr(arguments, "input", None)
    if text is not None:
        return inline_suite(text)
    if arguments.suite is None:
        raise UsageError(
            "no suite is named", fix="Name one with --suite S, or give one input with --input TEXT."
        )
    return load_suite(arguments.suite, base=wiring.here())
