"""Tab completion: what the shell is told when it asks for the words that a line can go on with."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from typing import Any

from proctor import wiring


def is_asked() -> bool:
    """True when the shell asks for completions instead of running us."""
    return wiring.is_completing()


def answer() -> int:
    """Print the completions of the line that the shell holds."""
    import argcomplete

    from proctor.cli import main

    parser = argparse.ArgumentParser(prog="proctor", allow_abbrev=False)
    commands = parser.add_subparsers(dest="command")
    typed = wiring.completed_line().split()[1:2]
    for name, text in main.COMMANDS.items():
        # Only the command that is typed is imported: a key was pressed, and somebody waits.
        parents = [_with_completers(name)] if name in typed else []
        commands.add_parser(name, help=text, parents=parents)
    argcomplete.autocomplete(parser)
    return 0


def _with_completers(command: str) -> argparse.ArgumentParser:
    from proctor.cli import main
    from proctor.cli.completers import completer_of

    parser = main.build_parser(command, add_help=False)
    for action in parser._actions:  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
        completer = completer_of(command, action.dest)
        if completer is not None and action.choices is None:
            action.completer = _silent(completer)  # pyright: ignore[reportAttributeAccessIssue]
    return parser


def _silent(
    completer: Callable[[str, argparse.Namespace], Iterable[str]],
) -> Callable[..., list[str]]:
    """The completer as argcomplete calls it. Whatever goes wrong, there is nothing to offer, and nothing is said."""

    def called(*, prefix: str, parsed_args: argparse.Namespace, **_: Any) -> list[str]:
        try:
            return list(completer(prefix, parsed_args))
        except Exception:  # noqa: BLE001  # somebody is typing: a message would stand in the middle of the line
            return []

    return called
