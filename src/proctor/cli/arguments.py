"""Arguments that several commands share, and how their texts are read."""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import TYPE_CHECKING

from proctor.records.suite import Suite

if TYPE_CHECKING:
    from proctor.agents.options import AgentOptions
    from proctor.records.run import Ending, Shard


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


def dollars(text: str) -> float:
    """A finite sum in US dollars of 0 or more."""
    try:
        value = float(text.removeprefix("$"))
    except ValueError:
        value = math.nan
    if math.isfinite(value) and value >= 0:
        return value
    raise argparse.ArgumentTypeError(f"a sum in US dollars is wanted, and this is {text!r}")


def shard_text(text: str) -> Shard:
    """Which of several parts: `2/3` is the second of three."""
    from proctor.records.run import Shard

    number, slash, of = text.partition("/")
    if (
        slash
        and all(part.isascii() and part.isdigit() for part in (number, of))
        and 1 <= int(number) <= int(of)
    ):
        return Shard(int(number), int(of))
    raise argparse.ArgumentTypeError(
        f"a shard is a number from 1, a slash, and how many there are, such as 2/3; this is {text!r}"
    )


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


def add_agent_options(parser: argparse.ArgumentParser) -> None:
    """What can be said of an agent beside its name; each belongs to some kinds of agent."""
    which = parser.add_argument_group("the agent")
    which.add_argument("--stdin", action="store_true", help="give the command its input on standard input")
    which.add_argument(
        "--fresh", action="store_true", help="a new interpreter for each trial of a Python function"
    )
    which.add_argument(
        "--header",
        metavar="'NAME: VALUE'",
        action="append",
        default=[],
        help="sent to the endpoint; repeat for more",
    )
    which.add_argument(
        "--header-env",
        metavar="'NAME: TEXT'",
        action="append",
        default=[],
        help="the same, with {VARIABLE} for a variable of the environment: 'Authorization: Bearer {MY_TOKEN}'",
    )
    which.add_argument(
        "--output-path",
        metavar="PATH",
        help="where in the endpoint's JSON answer the output stands: $.answer",
    )
    which.add_argument(
        "--model", metavar="NAME", help="the model that a coding agent or a chat endpoint is asked for"
    )
    which.add_argument(
        "--artifact",
        metavar="DIR",
        type=Path,
        help="what a coding agent carries to be tested: a plugin, or a folder with skills and the like",
    )
    which.add_argument("--system", metavar="FILE", type=Path, help="the system prompt of a model")
    which.add_argument(
        "--param",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="a setting of the model, such as temperature=0, or of a kind that was installed; repeat for more",
    )


def agent_options(arguments: argparse.Namespace) -> AgentOptions:
    """What was said of the agent."""
    from proctor.agents.options import AgentOptions

    return AgentOptions(
        stdin=arguments.stdin,
        fresh=arguments.fresh,
        headers=tuple(arguments.header),
        header_env=tuple(arguments.header_env),
        output_path=arguments.output_path,
        model=arguments.model,
        artifact=arguments.artifact,
        system=arguments.system,
        params=tuple(arguments.param),
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


def add_shard(parser: argparse.ArgumentParser) -> None:
    """Which part of the tests that were selected."""
    parser.add_argument(
        "--shard",
        metavar="I/N",
        type=shard_text,
        help="the I-th of N parts of the tests that are selected; `proctor merge` puts the groups together",
    )


def selected_suite(arguments: argparse.Namespace) -> Suite:
    """The suite that the arguments name, with the tests that they select and that are for the agent they name.

    Raises:
        UsageError: none is named, or no test matches.
        SuiteError: it is not usable.
    """
    from proctor import evaluation
    from proctor.errors import UsageError
    from proctor.loading import Selection, inline_suite, select_host, split_tags

    selection = Selection(
        tests=tuple(arguments.test),
        tags=split_tags(arguments.tags),
        limit=arguments.limit,
        sample=arguments.sample,
        seed=arguments.seed,
    )
    text = getattr(arguments, "input", None)
    if text is None:
        suite = evaluation.load_suite(
            arguments.suite, selection=selection, allow_credentials=arguments.allow_credentials
        )
        return select_host(suite, getattr(arguments, "agent", None))
    if not selection.is_everything:
        raise UsageError(
            "--input makes one test, and there is nothing to select",
            fix="Leave --test, --tags, --sample and --limit away, or name a suite.",
        )
    return inline_suite(text)
