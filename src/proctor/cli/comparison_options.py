"""What a comparison can be told, for `compare` and for `grade --baseline`."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from proctor.core.comparison import Rules

FACETS = (
    "test",
    "fixture",
    "graders",
    "judge",
    "proctor",
    "host",
    "host-version",
    "invocation",
    "model",
    "limits",
    "isolation",
)
"""The names of the facets, which the help shows without importing them."""

Parser = argparse.ArgumentParser


def add_comparison_options(parser: Parser) -> None:
    """How it is decided."""
    how = parser.add_argument_group("how it is decided")
    how.add_argument(
        "--margin",
        metavar="M",
        type=share,
        default=0.02,
        help="differences of at most this much count as none (default: 0.02)",
    )
    how.add_argument(
        "--require",
        metavar="FACET",
        action="append",
        default=[],
        choices=FACETS,
        help=f"must be equal too; repeat for more: {', '.join(FACETS)}",
    )
    how.add_argument(
        "--allow",
        metavar="FACET",
        action="append",
        default=[],
        choices=FACETS,
        help="may differ, although test, fixture and graders must be equal otherwise",
    )
    how.add_argument(
        "--correction",
        choices=("holm", "bh"),
        default="holm",
        help="for the number of graders: Holm, or Benjamini and Hochberg (default: holm)",
    )
    how.add_argument(
        "--fail-on",
        choices=("worse", "cannot-tell"),
        default="cannot-tell",
        help="exit with an error when it is worse, or also when it cannot be told (the default)",
    )


def add_confidence(parser: Parser) -> None:
    """How sure a decision must be."""
    parser.add_argument(
        "--confidence",
        metavar="C",
        type=confidence,
        default=0.95,
        help="how often an interval is to hold the true number (default: 0.95)",
    )


def rules_of(arguments: argparse.Namespace) -> Rules:
    """What was said of it.

    Raises:
        UsageError: a facet is required and allowed.
    """
    from proctor.core.comparison import rules

    return rules(
        margin=arguments.margin,
        confidence=arguments.confidence,
        correction=arguments.correction,
        require=arguments.require,
        allow=arguments.allow,
    )


def share(text: str) -> float:
    """A number from 0 to 1."""
    value = _number(text)
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 0 to 1")
    return value


def confidence(text: str) -> float:
    """A number from 0.5 to 1, both excluded."""
    value = _number(text)
    if not 0.5 < value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number between 0.5 and 1, such as 0.95")
    return value


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no number") from None
