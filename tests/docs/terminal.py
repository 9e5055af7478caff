"""A page's own project: its files are written there, and its commands typed there."""

from __future__ import annotations

import os
import re
import runpy
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from proctor.cli.main import main
from proctor.host.isolation import isolate
from tests.docs.pages import ROOT, Block, commands, is_printed
from tests.docs.sample_schemas import schema_problems

SITE = "site"
"""The folder, in the reader's home, that `pip install` puts packages into."""

_NEEDS_A_SHELL = re.compile(r"[|;<>&$*`]")


class Terminal:
    """Somebody who follows a page, line by line."""

    def __init__(self, root: Path, capfd: pytest.CaptureFixture[str], environment: Mapping[str, str]) -> None:
        self.root = root
        self._capfd = capfd
        self._environment = environment
        self._code = 0

    def write(self, block: Block) -> None:
        """Write the file that a block is, once it matches its schema."""
        path = self.root / block.path
        assert path.resolve().is_relative_to(self.root.resolve()), f"{block.path} leaves the project"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text, encoding="utf-8")
        problems = schema_problems(block)
        assert bool(problems) is (block.is_wrong and path.suffix != ".py"), problems

    def run(self, block: Block) -> None:
        """Type the commands of a block, and compare what they print."""
        typed = commands(block)
        for number, command in enumerate(typed):
            if command.text == "echo $?":
                assert (str(self._code),) == command.printed, f"exit code of {typed[number - 1].text}"
                continue
            printed = self.type(command.text)
            assert is_printed(command.printed, printed), "\n".join(
                [f"$ {command.text}", "the page says:", *command.printed, "it prints:", *printed]
            )
            is_told = number + 1 < len(typed) and typed[number + 1].text == "echo $?"
            assert is_told or self._code == 0, f"$ {command.text}: exit code {self._code}"

    def type(self, text: str) -> list[str]:
        """Run one command line, and return the lines that it prints: progress and advice, then the result."""
        words = shlex.split(text)
        if words[0] not in ("proctor", "python") or _NEEDS_A_SHELL.search(re.sub(r"'[^']*'", "", text)):
            return self._type_into_shell(text)
        # In this process, which has imported everything already.
        self._capfd.readouterr()
        try:
            if words[0] == "proctor":
                self._code = main(words[1:])
            else:
                runpy.run_path(words[1], run_name="__main__")
                self._code = 0
        except SystemExit as ended:
            if isinstance(ended.code, str):
                print(ended.code, file=sys.stderr)
            self._code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        said = self._capfd.readouterr()
        return [*said.err.splitlines(), *said.out.splitlines()]

    def _type_into_shell(self, text: str) -> list[str]:
        done = subprocess.run(
            ["bash", "-c", text],
            cwd=self.root,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        self._code = done.returncode
        return [*done.stderr.splitlines(), *done.stdout.splitlines()]


def environment(home: Path) -> dict[str, str]:
    """What the commands of a page find: the installed proctor, and nobody's own settings.

    Its home is a folder with a name for git to commit under, so that nothing is withheld from the agents of a page.
    """
    theirs = isolate(os.environ).environment
    kept = {
        name: value
        for name, value in theirs.items()
        # Under CI, pytest cuts no line short.
        if name != "CI" and not name.startswith(("PROCTOR_", "GIT_", "PYTEST_"))
    }
    (home / ".gitconfig").write_text("[user]\n\tname = reader\n\temail = reader@localhost\n")
    return kept | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{kept.get('PATH', '')}",
        "HOME": str(home),
        "XDG_CACHE_HOME": str(home / "cache"),
        "XDG_CONFIG_HOME": str(home / "config"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "PYTEST_DEBUG_TEMPROOT": str(home),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTEST_PLUGINS": "proctor.pytesting.plugin,xdist.plugin",
        # `pip install .` builds and installs the package of a page for this reader alone, from what is there.
        "PIP_TARGET": str(home / SITE),
        "PIP_NO_DEPS": "1",
        "PIP_NO_INDEX": "1",
        "PIP_NO_BUILD_ISOLATION": "0",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PYTHONPATH": str(home / SITE),
        "REPOSITORY": str(ROOT),
        "NO_COLOR": "1",
        "COLUMNS": "80",
    }
