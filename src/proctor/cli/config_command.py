"""Show every setting, its value, and where it comes from: a line of a file, or the default.

Settings stand in `[tool.proctor]` of pyproject.toml or in proctor.toml, whichever is nearest upward. A flag comes
before a test, a test before its suite, a suite before the settings.

Examples:
  proctor config
  proctor config --faults
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING

from proctor.cli.output import clean, counted, table, write_json
from proctor.records.json_value import text_of
from proctor.records.shown import ShownSetting

if TYPE_CHECKING:
    from proctor.core.faults import FaultRow, FaultRule
    from proctor.records.json_value import Json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `proctor config` can be told."""
    parser.add_argument(
        "--faults",
        action="store_true",
        help="show instead whose fault each way to end is: the rules of the settings, then the built-in table",
    )
    parser.add_argument("--json", action="store_true", help="print the settings as JSON")


def main(arguments: argparse.Namespace) -> int:
    """Read the settings, and draw them."""
    from proctor import loading, wiring

    settings = loading.find_settings(wiring.here())
    if arguments.faults:
        from proctor.loading.fault_rules import fault_rules

        return _faults(fault_rules(settings.get("faults").value, settings.label), as_json=arguments.json)
    rows = settings.explain()
    if arguments.json:
        write_json(
            {row.key: ShownSetting(value=row.value, origin=row.origin, meaning=row.meaning) for row in rows}
        )
        return 0
    drawn = ((row.key, _shown(row.key, row.value), clean(row.origin), row.meaning) for row in rows)
    for line in table([("SETTING", "VALUE", "FROM", "MEANING"), *drawn]):
        print(line)
    return 0


def _shown(key: str, value: Json) -> str:
    if key == "faults" and value:
        return counted(len(value), "rule")
    return "-" if value is None else clean(text_of(value))


def _faults(rules: tuple[FaultRule, ...], *, as_json: bool) -> int:
    from proctor.core.faults import TABLE, FaultTable

    if as_json:
        write_json(FaultTable(rules=rules, table=TABLE))
        return 0
    head = ("ENDING", "KIND", "OWNER", "SCORED BY", "COUNTED", "--resume", "--retries", "MEANING")
    for line in table([head, *map(_rule, rules), *map(_row, TABLE)]):
        print(line)
    return 0


def _row(row: FaultRow) -> tuple[str, ...]:
    kinds = ", ".join(row.kinds) or "any other"
    return (
        row.ending.value,
        kinds if row.counted == "harness_failures" else "",
        row.owner.value,
        row.scored_by,
        row.counted.replace("_", " "),
        "yes" if row.is_resumed else "",
        "yes" if row.retry else "",
        row.meaning,
    )


def _rule(rule: FaultRule) -> tuple[str, ...]:
    conditions = " and ".join(_conditions(rule))
    is_agents = rule.owner.value == "agent"
    return (
        ", ".join(ending.value for ending in rule.endings),
        clean(rule.kind),
        rule.owner.value,
        "zero" if is_agents else "nobody",
        "errored" if is_agents else "harness failures",
        "" if is_agents else "yes",
        "yes" if rule.retry else "",
        clean(f"{rule.origin}: {conditions}"),
    )


def _conditions(rule: FaultRule) -> Iterator[str]:
    for code in rule.exit_codes:
        yield f"exit code {code}"
    for name, text in (("stdout", rule.stdout), ("stderr", rule.stderr), ("message", rule.message)):
        if text is not None:
            yield f"{name} has {text!r}"
