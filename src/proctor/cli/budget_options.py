"""What a command line says of budgets: of each trial, and of all together."""

from __future__ import annotations

import argparse
from typing import Final

from proctor.cli.arguments import dollars, positive_int, positive_seconds
from proctor.cli.confinement import size

NONE: Final = "none"
_LIFTED: Final = -1


def add_budgets(parser: argparse.ArgumentParser) -> None:
    """What trials may use."""
    each = parser.add_argument_group("budgets of each trial")
    each.add_argument(
        "--max-trial-cost",
        metavar="USD",
        type=dollars,
        help="what its model calls may cost, as far as its trace tells",
    )
    each.add_argument(
        "--max-trial-tokens",
        metavar="N",
        type=positive_int,
        help="tokens of its model calls, as far as its trace tells",
    )
    each.add_argument(
        "--max-output",
        metavar="SIZE",
        type=_size_or_none,
        help="what it may print and answer (default: 1G; none for no limit)",
    )
    each.add_argument(
        "--max-workdir",
        metavar="SIZE",
        type=_size_or_none,
        help="what its files may take on the disk (default: 10G; none for no limit)",
    )
    all_ = parser.add_argument_group("budgets of all trials together")
    all_.add_argument(
        "--max-cost", metavar="USD", type=dollars, help="start no further trial when so much is spent"
    )
    all_.add_argument(
        "--max-time", metavar="SECONDS", type=positive_seconds, help="start no further trial after so long"
    )
    all_.add_argument(
        "--retries",
        metavar="N",
        type=_count,
        help="make a trial again, up to N times, after a fault of a provider or the machine that may pass",
    )


def limits_of(arguments: argparse.Namespace) -> dict[str, object]:
    """The budgets of each trial that were asked for, by field of `Limits`; those that were not are left out."""
    asked = {
        "cost_usd": arguments.max_trial_cost,
        "tokens": arguments.max_trial_tokens,
        "output_bytes": arguments.max_output,
        "workdir_bytes": arguments.max_workdir,
    }
    return {name: None if value == _LIFTED else value for name, value in asked.items() if value is not None}


def _size_or_none(text: str) -> int:
    return _LIFTED if text == NONE else size(text)


def _count(text: str) -> int:
    return 0 if text == "0" else positive_int(text)
