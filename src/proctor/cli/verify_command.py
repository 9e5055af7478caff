"""Check recorded runs against their own digests, and say what was changed after the fact. Nothing is repaired.

Looked at are run.json (against the group's attempts.jsonl), what was printed, the workdir, the stored graders, the
held-out files, and every row of annotations.jsonl. Exit code 2 when something was changed.

Examples:
  proctor verify runs/einstein
  proctor verify runs --json
"""

from __future__ import annotations

import argparse

from proctor.cli.arguments import add_paths
from proctor.cli.output import clean, counted, write_json
from proctor.records.exits import ExitCode


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `proctor verify` can be told."""
    add_paths(parser)
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")


def main(arguments: argparse.Namespace) -> int:
    """Check, and say what is not as it was recorded."""
    from proctor.engine.verifying import verify

    found = verify(arguments.paths)
    code = ExitCode.GATE_FAILED if found.findings else ExitCode.OK
    if arguments.json:
        write_json(found)
        return code
    for finding in found.findings:
        print(f"{clean(finding.run)}  {clean(finding.file)}  {clean(finding.what)}".replace("    ", "  "))
    print(f"{counted(found.runs, 'run')} looked at, {counted(len(found.findings), 'change')} found")
    if found.unrecorded:
        print(f"{found.unrecorded} of them without a record of their run.json, which was taken as it is")
    return code
