"""Write a suite to begin with: three tests, their graders, and an agent, which run and grade as they stand.

Nothing that is there is written over: where one of the files is there already, nothing is written at all. `EDIT` marks
what is to become yours. No question is ever asked.

Examples:
  proctor init
  proctor init evaluations --agent command
  proctor init --agent claude --ci github
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from proctor.cli.output import clean, counted, typed, write_json

KINDS = ("function", "command", "claude", "codex")
SERVICES = ("github", "gitlab")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `proctor init` can be told."""
    parser.add_argument(
        "folder", metavar="DIR", nargs="?", type=Path, default=Path(), help="where to (default: here)"
    )
    parser.add_argument(
        "--agent",
        choices=KINDS,
        default="function",
        help="what you want to test: a Python function (the default), any command, or a coding agent",
    )
    parser.add_argument("--ci", choices=SERVICES, help="also write what runs it in this CI service")
    parser.add_argument("--json", action="store_true", help="print what was written as JSON")


def main(arguments: argparse.Namespace) -> int:
    """Write it, and say what to type next."""
    from proctor.records.json_value import storable
    from proctor.records.shown import Scaffolded
    from proctor.scaffolds import scaffold, write

    folder: Path = arguments.folder
    made = scaffold(arguments.agent, arguments.ci)
    write(made, folder)
    if arguments.json:
        write_json(
            Scaffolded(folder=storable(str(folder)), agent=made.kind, files=tuple(made.files), next=made.next)
        )
        return 0
    tops = dict.fromkeys(path.split("/")[0] for path in made.files)
    shown = [f"{top}/" if (folder / top).is_dir() else top for top in tops]
    print(f"{counted(len(made.files), 'file')} in {clean(os.fspath(folder))}: {', '.join(shown)}")
    print("what to edit stands in evals/README.md")
    print("next:")
    if folder.resolve() != Path.cwd():
        print(f"  cd {typed(folder)}")
    for command in made.next:
        print(f"  {command}")
    return 0
