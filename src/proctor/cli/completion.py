"""Tab completion: `eval "$(register-python-argcomplete proctor)"` in bash or zsh turns it on."""

from __future__ import annotations

import argparse

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
    for name, text in main.COMMANDS.items():
        commands.add_parser(name, help=text, parents=[main.build_parser(name, add_help=False)])
    argcomplete.autocomplete(parser)
    return 0
