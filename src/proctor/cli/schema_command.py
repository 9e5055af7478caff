"""Print the JSON Schema (draft 2020-12) of a suite, a test, a checklist or the settings, for your editor.

Examples:
  proctor schema suite > suite.schema.json
  proctor schema test
"""

from __future__ import annotations

import argparse

from proctor.cli.output import write_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `proctor schema` can be told."""
    from proctor.loading import SCHEMA_NAMES

    parser.add_argument("name", metavar="NAME", choices=SCHEMA_NAMES, help=", ".join(SCHEMA_NAMES))


def main(arguments: argparse.Namespace) -> int:
    """Print it."""
    from proctor.loading import schema

    write_json(schema(arguments.name))
    return 0
