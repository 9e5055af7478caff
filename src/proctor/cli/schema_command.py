"""Print a JSON Schema (draft 2020-12): of what you write, of what proctor records, of what --json prints.

Each has the address urn:proctor:schema:NAME:VERSION. Of a file of lines, such as annotations.jsonl, it is the schema
of one line. Name it in a file as `$schema`, and your editor completes and checks what you type.

Examples:
  proctor schema --list
  proctor schema test -o test.schema.json
  proctor schema --all schemas
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from proctor.cli.output import check_writable, counted, table, write_json
from proctor.records.shown import ListedSchema

if TYPE_CHECKING:
    from proctor.schemas import Published


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `proctor schema` can be told."""
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("name", metavar="NAME", nargs="?", help="of which file or document")
    what.add_argument("--list", action="store_true", help="list the names, versions and what each describes")
    what.add_argument(
        "--all", metavar="DIR", type=Path, help="write every schema into this folder, as NAME.vVERSION.json"
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", type=Path, help="write it into this file instead of printing it"
    )
    parser.add_argument("--json", action="store_true", help="with --list: print the list as JSON")


def main(arguments: argparse.Namespace) -> int:
    """Print it, or write it."""
    from proctor.errors import UsageError
    from proctor.schemas import schema

    if arguments.json and not arguments.list:
        raise UsageError("--json belongs to --list", fix="Leave it away: a schema is JSON already.")
    if arguments.output is not None and arguments.name is None:
        raise UsageError("-o belongs to one schema", fix="Name it, or write all of them with --all DIR.")
    if arguments.list:
        return _list(as_json=arguments.json)
    if arguments.all is not None:
        return _all(arguments.all)
    if arguments.output is not None:
        check_writable(arguments.output)
    write_json(schema(arguments.name), arguments.output)
    return 0


def _list(*, as_json: bool) -> int:
    from proctor.schemas import SCHEMAS

    if as_json:
        write_json([_entry(one) for one in SCHEMAS])
        return 0
    rows = [
        (one.name, str(one.version), f"{one.file}, a line" if one.is_lines else one.file, one.describes)
        for one in SCHEMAS
    ]
    for line in table([("NAME", "VERSION", "OF", "WHAT IT IS"), *rows]):
        print(line)
    return 0


def _entry(one: Published) -> ListedSchema:
    return ListedSchema(
        name=one.name,
        version=one.version,
        id=one.id,
        kind=one.kind,
        file=one.file,
        is_lines=one.is_lines,
        describes=one.describes,
    )


def _all(folder: Path) -> int:
    from proctor.errors import UsageError
    from proctor.schemas import SCHEMAS, file_name, schema

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"the folder {str(folder)!r} cannot be made: {error.strerror}", fix="Name another with --all."
        ) from error
    for one in SCHEMAS:
        write_json(schema(one.name), folder / file_name(one.name))
    print(f"{counted(len(SCHEMAS), 'schema')} in {folder}")
    return 0
