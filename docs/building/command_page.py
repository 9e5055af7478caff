"""The page of the commands, made of the parsers that the commands have."""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Iterator

from docs.building.tables import fenced, sentence, table
from proctor.cli.main import COMMANDS, build_parser

FAMILIES = {
    "Begin": ("init", "doctor", "completion"),
    "Run": ("run", "merge", "add"),
    "Grade": ("grade", "judge", "label", "retract"),
    "Look, and decide": ("list", "show", "compare", "agree", "export"),
    "Look after suites and records": ("tests", "check", "config", "schema", "verify"),
}
"""Which commands stand together, in the order of the page."""


def commands() -> str:
    """The page of all commands, with every option."""
    strangers = set(COMMANDS) ^ {name for names in FAMILIES.values() for name in names if name in COMMANDS}
    if strangers:
        raise SystemExit(f"docs/reference.py: no family of commands has {', '.join(sorted(strangers))}")
    lines = ["# Commands", "", "`proctor COMMAND --help` says the same in a terminal.", ""]
    for family, names in FAMILIES.items():
        lines += [f"## {family}", ""]
        for name in names:
            if name in COMMANDS:
                lines += [f"### proctor {name}", "", *_command(name)]
    return "\n".join(lines)


def _command(name: str) -> Iterator[str]:
    parser = build_parser(name)
    yield f"{sentence(COMMANDS[name])}"
    yield ""
    yield from fenced("text", " ".join([parser.prog, *_usage(parser)]))
    said, _, examples = (parser.description or "").partition("\nExamples:\n")
    for paragraph in said.strip().split("\n\n"):
        if paragraph.startswith("  "):
            yield from fenced("text", inspect.cleandoc(paragraph))
        else:
            yield " ".join(paragraph.split())
            yield ""
    if examples:
        yield from fenced("bash", inspect.cleandoc(examples.strip("\n")))
    for group in parser._action_groups:  # noqa: SLF001
        actions = [one for one in group._group_actions if one.help != argparse.SUPPRESS]  # noqa: SLF001
        actions = [one for one in actions if "--help" not in one.option_strings]
        if actions:
            title = {"positional arguments": "arguments"}.get(group.title or "", group.title or "options")
            yield f"**{title[0].upper()}{title[1:]}**"
            yield ""
            yield from table(("name", "meaning"), ((_name(one), _help(parser, one)) for one in actions))


def _usage(parser: argparse.ArgumentParser) -> Iterator[str]:
    positional = [one for one in parser._actions if not one.option_strings]  # noqa: SLF001
    yield "[OPTIONS]"
    for one in positional:
        text = _value(one)
        several = {"+": f"{text} [{text} ...]", "*": f"[{text} ...]", "?": f"[{text}]"}
        yield several.get(str(one.nargs), text)


def _name(action: argparse.Action) -> str:
    value = _value(action)
    if not action.option_strings:
        return f"`{value}`"
    takes = "" if action.nargs == 0 else f" {value}"
    return ", ".join(f"`{option}{takes}`" for option in action.option_strings)


def _value(action: argparse.Action) -> str:
    if isinstance(action.metavar, str):
        return action.metavar
    if action.choices:
        return "{" + ",".join(map(str, action.choices)) + "}"
    return action.dest.upper()


def _help(parser: argparse.ArgumentParser, action: argparse.Action) -> str:
    return parser._get_formatter()._expand_help(action) if action.help else ""  # noqa: SLF001
