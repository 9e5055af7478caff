"""Show every setting, its value, and where it comes from: a line of a file, or the default.

Settings stand in `[tool.proctor]` of pyproject.toml or in proctor.toml, whichever is nearest upward. A flag comes
before a test, a test before its suite, a suite before the settings.

Example:
  proctor config
"""

from __future__ import annotations

import argparse

from proctor.cli.output import clean, table, write_json
from proctor.records.json_value import text_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `proctor config` can be told."""
    parser.add_argument("--json", action="store_true", help="print the settings as JSON")


def main(arguments: argparse.Namespace) -> int:
    """Read the settings, and draw them."""
    from proctor import load, wiring

    rows = load.find_settings(wiring.here()).explain()
    if arguments.json:
        write_json(
            {row.key: {"value": row.value, "origin": row.origin, "meaning": row.meaning} for row in rows}
        )
        return 0
    drawn = [("SETTING", "VALUE", "FROM", "MEANING")]
    for row in rows:
        value = "-" if row.value is None else clean(text_of(row.value))
        drawn.append((row.key, value, clean(row.origin), row.meaning))
    for line in table(drawn):
        print(line)
    return 0
