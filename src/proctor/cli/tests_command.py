"""List the tests of a suite, as `proctor run` would take them.

Examples:
  proctor tests evals/einstein
  proctor tests evals/einstein --shard 2/3
"""

from __future__ import annotations

import argparse

from proctor.cli.arguments import add_selection, add_shard, selected_suite
from proctor.cli.output import clean, counted, shorten, write_json
from proctor.records.suite import Test


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `proctor tests` can be told."""
    add_selection(parser, with_input=False)
    add_shard(parser)
    parser.add_argument(
        "--agent", metavar="AGENT", help="leave out tests for other agents, as `proctor run AGENT` does"
    )
    parser.add_argument("--json", action="store_true", help="print the tests as JSON")


def main(arguments: argparse.Namespace) -> int:
    """Load, and draw the list."""
    from proctor.loading import shard_of

    whole = selected_suite(arguments)
    suite = shard_of(whole, arguments.shard)
    if arguments.json:
        write_json([entry.test for entry in suite.tests])
        return 0
    for entry in suite.tests:
        tags = f"  [{', '.join(map(clean, entry.test.tags))}]" if entry.test.tags else ""
        print(f"{entry.test.id}{tags}")
        if entry.test.description:
            print(f"  {shorten(clean(entry.test.description), 200)}")
        if entry.test.hosts:
            hosts = ", ".join(f"{name} ({clean(pin.model)})" for name, pin in entry.test.hosts.items())
            print(f"  {hosts}{_invocation(entry.test)}")
    count = counted(len(suite.tests), "test")
    if arguments.shard is not None:
        count = f"shard {arguments.shard}: {len(suite.tests)} of {counted(len(whole.tests), 'test')}"
    print(count)
    return 0


def _invocation(test: Test) -> str:
    invocation = test.invocation
    if invocation is None or invocation.mode == "automatic":
        return ""
    return f"  skill {clean(invocation.skill)}" if invocation.skill else "  no skill"
