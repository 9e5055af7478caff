"""Print what makes your shell complete proctor's commands, options, paths, test ids and tags when you press Tab.

Examples:
  eval "$(proctor completion bash)"          in ~/.bashrc; for zsh likewise, in ~/.zshrc after compinit
  proctor completion fish > ~/.config/fish/completions/proctor.fish
"""

from __future__ import annotations

import argparse

SHELLS = ("bash", "zsh", "fish")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `proctor completion` can be told."""
    parser.add_argument("shell", choices=SHELLS, help="the shell that you type in")


def main(arguments: argparse.Namespace) -> int:
    """Print it."""
    from argcomplete.shell_integration import shellcode

    print(shellcode(["proctor"], shell=arguments.shell).strip())
    return 0
