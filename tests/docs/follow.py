"""Follows a page word for word: `python -m tests.docs.follow docs/en/tutorial.md --bin VENV/bin`.

In an empty folder each file is written and each command typed, with the proctor of another environment, such as one
into which a wheel was installed; what is printed is held against the page. Commands that are only illustrated, as
the installation itself, are left out.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from tests.docs.pages import Command, blocks, commands, is_printed
from tests.docs.terminal import environment


class Step(NamedTuple):
    """A command that was typed, and what is wrong with what it did; empty when it is as the page says."""

    command: str
    took_s: float
    wrong: str


def follow(page: str, root: Path, programs: Path) -> list[Step]:
    """Do what a page says, in an empty folder.

    Args:
        page: its text.
        root: the folder; the reader's home is beside it.
        programs: the folder that has `proctor` and `python`.
    """
    root.mkdir(parents=True)
    variables = environment(root.parent)
    variables["PATH"] = f"{programs.resolve()}{os.pathsep}{variables['PATH']}"
    steps: list[Step] = []
    for block in blocks(page):
        if block.kind == "file":
            path = root / block.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, encoding="utf-8")
        elif block.kind == "run":
            steps += _typed(commands(block), root, variables)
    return steps


def _typed(typed: list[Command], root: Path, variables: dict[str, str]) -> list[Step]:
    steps: list[Step] = []
    code = 0
    for number, command in enumerate(typed):
        if command.text == "echo $?":
            if (str(code),) != command.printed:
                steps[-1] = steps[-1]._replace(
                    wrong=f"it ended with {code}, and the page says {command.printed}"
                )
            continue
        started = time.monotonic()
        done = subprocess.run(
            ["bash", "-c", command.text],
            cwd=root,
            env=variables,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        code = done.returncode
        printed = [*done.stderr.splitlines(), *done.stdout.splitlines()]
        wrong = "" if is_printed(command.printed, printed) else "\n".join(["it prints:", *printed])
        is_told = number + 1 < len(typed) and typed[number + 1].text == "echo $?"
        if code and not is_told:
            wrong = "\n".join([f"it ended with {code}", *printed])
        steps.append(Step(command.text, time.monotonic() - started, wrong))
    return steps


def main(arguments: list[str] | None = None) -> int:
    """Follow the pages that are named, and say of each command how long it took; 1 when something is otherwise."""
    parser = argparse.ArgumentParser(description="follow pages word for word")
    parser.add_argument("pages", metavar="PAGE", nargs="+", type=Path)
    parser.add_argument(
        "--bin", type=Path, default=Path(sys.executable).parent, help="where proctor is installed"
    )
    told = parser.parse_args(arguments)
    failed = 0
    for page in told.pages:
        with tempfile.TemporaryDirectory(prefix="proctor-") as home:
            steps = follow(page.read_text(encoding="utf-8"), Path(home) / "project", told.bin)
        for step in steps:
            sys.stdout.write(
                f"{step.took_s:6.1f} s  {'as the page says' if not step.wrong else 'OTHERWISE'}  {step.command}\n"
            )
            sys.stdout.write(f"{step.wrong}\n" if step.wrong else "")
        failed += sum(bool(step.wrong) for step in steps)
        took = sum(step.took_s for step in steps)
        sys.stdout.write(f"{page}: {len(steps)} commands, {took:.0f} s\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
