"""Arguments that several commands share, and how their texts are read."""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import TYPE_CHECKING

from proctor.records.suite import Suite

if TYPE_CHECKING:
    from proctor.records.run import Ending


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


def endings(text: str) -> tuple[Ending, ...]:
    """Endings of an agent, separated by commas: those that say something about it, and are not `ok`."""
    from proctor.records.run import Ending

    known = {ending.value: ending for ending in Ending if ending.is_evidence and ending is not Ending.OK}
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        if name not in known:
            raise argparse.ArgumentTypeError(f"an ending is one of {', '.join(known)}, and this is {name!r}")
    return tuple(known[name] for name in names)


def add_paths(parser: argparse.ArgumentParser) -> None:
    """The run directories and groups that a command reads."""
    parser.add_argument(
        "paths", metavar="PATH", nargs="+", type=Path, help="a run directory, a group, or a folder of groups"
    )


def add_selection(parser: argparse.ArgumentParser, *, with_input: bool) -> None:
    """The suite, and which of its tests."""
    if with_input:
        source = parser.add_mutually_exclusive_group()
        source.add_argument("-s", "--suite", metavar="S", help="a folder or file of tests, or a git source")
        source.add_argument("--input", metavar="TEXT", help="one test with this input, instead of a suite")
    else:
        parser.add_argument(
            "suite", metavar="SUITE", nargs="?", help="a folder or file of tests, or a git source"
        )
    which = parser.add_argument_group("which tests")
    which.add_argument(
        "--test", metavar="GLOB", action="append", default=[], help="tests whose id matches; repeat for more"
    )
    which.add_argument(
        "--tags", metavar="A,B", action="append", default=[], help="tests that have all of these tags"
    )
    which.add_argument("--sample", metavar="N", type=positive_int, help="N tests, drawn by chance")
    which.add_argument("--seed", metavar="S", type=int, default=0, help="another seed draws another sample")
    which.add_argument("--limit", metavar="N", type=positive_int, help="at most the first N")
    which.add_argument(
        "--allow-credentials",
        metavar="FIELD",
        action="append",
        default=[],
        help="a field that looks like a credential and is none, as the error names it",
    )


def selected_suite(arguments: argparse.Namespace) -> Suite:
    """The suite that the arguments name, with the tests that they select.

    Raises:
        UsageError: none is named, or no test matches.
        SuiteError: it is not usable.
    """
    from proctor import evaluation
    from proctor.errors import UsageError
    from proctor.load import Selection, inline_suite, split_tags

    selection = Selection(
        tests=tuple(arguments.test),
        tags=split_tags(arguments.tags),
        limit=arguments.limit,
        sample=arguments.sample,
        seed=arguments.seed,
    )
    text = getattr(arguments, "input", None)
    if text is None:
        return evaluation.load_suite(
            arguments.suite, selection=selection, allow_credentials=arguments.allow_credentials
        )
    if not selection.is_everything:
        raise UsageError(
            "--input makes one test, and there is nothing to select",
            fix="Leave --test, --tags, --sample and --limit away, or name a suite.",
        )
    return inline_suite(text)
