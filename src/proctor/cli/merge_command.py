"""Put groups together that are parts of one run: its shards, or what several processes made of it.

The new group is read by every command as if one run had made it. It is there whole or not at all, and the groups
that are named stay as they are. Refused are parts of different suites, agents or settings, a trial that was run
twice, and a split of which a shard is missing.

Examples:
  proctor merge runs/shard-1 runs/shard-2 runs/shard-3 --out runs/whole
  proctor merge shards --out runs/whole --allow-missing
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from proctor.cli.output import clean, counted, table, typed, write_json
from proctor.cli.progress import Progress

if TYPE_CHECKING:
    from proctor.records.merged import Merged


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `proctor merge` can be told."""
    parser.add_argument("paths", metavar="GROUP", nargs="+", type=Path, help="a group, or a folder of groups")
    parser.add_argument(
        "-o", "--out", metavar="GROUP", type=Path, required=True, help="the new group's folder"
    )
    parser.add_argument(
        "--allow-missing",
        action="store_true",
        help="shards may be missing: their trials are planned, and count as never run",
    )
    parser.add_argument("--json", action="store_true", help="print what was merged as JSON")


def main(arguments: argparse.Namespace) -> int:
    """Merge, and say what came together."""
    from proctor.engine.merging import merge_groups

    progress = Progress(sys.stderr)
    try:
        merged = merge_groups(
            arguments.paths,
            arguments.out,
            allow_missing=arguments.allow_missing,
            on_start=lambda total: progress.begin("merged", total),
            on_done=progress.step,
        )
    finally:
        progress.end()
    for warning in merged.warnings:
        progress.note(f"proctor: warning: {clean(warning)}")
    if arguments.json:
        write_json(merged)
        return 0
    for line in _lines(merged):
        print(line)
    return 0


def _lines(merged: Merged) -> Iterator[str]:
    """The parts, what is there of the plan, and what to type next."""
    yield from table(
        [
            (
                clean(part.path),
                f"shard {part.shard}" if part.shard is not None else "group",
                counted(part.runs, "run"),
            )
            for part in merged.parts
        ]
    )
    yield f"{merged.recorded} of {counted(merged.planned, 'planned trial')} recorded"
    if merged.missing:
        numbers = ", ".join(f"{number}/{merged.of}" for number in merged.missing)
        yield f"missing: shard {numbers}; what was planned there counts as never run"
    yield f"runs: {clean(merged.path)}"
    yield f"next: proctor grade {typed(merged.path)}"
