"""Builders that every test may use: a small project in a temporary folder, and the command line."""

from __future__ import annotations

import json
import os
import signal
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import settings

from proctor.cli.main import main
from proctor.host.isolation import isolate

# A first example may import what it tries, on a machine that does much else: time is no criterion of a law.
settings.register_profile("untimed", parent=settings(), deadline=None)
settings.load_profile("untimed")

# A job in the background is started deaf to the keyboard, and all that the tests start would be too.
for number, usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGQUIT, signal.SIG_DFL)):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, usual)


class Said(NamedTuple):
    """What a command said, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Project:
    """A folder that a user stands in."""

    def __init__(self, root: Path, capfd: pytest.CaptureFixture[str]) -> None:
        self.root = root
        self._capfd = capfd

    def write(self, name: str, text: str | Mapping[str, Any] | list[Any]) -> Path:
        """Write a file; a mapping or list becomes JSON, text loses its common indentation."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text) if isinstance(text, str) else json.dumps(text))
        return path

    def test(self, name: str, graders: str | None = None, **fields: Any) -> Path:
        """A test folder below `suite/`, with `graders` as its grading module."""
        folder = self.root / "suite" / name
        self.write(f"suite/{name}/test.json", {"input": "a question", **fields})
        if graders is not None:
            self.write(f"suite/{name}/graders.py", graders)
        return folder

    def __call__(self, *words: object) -> Said:
        """Type a command line."""
        self._capfd.readouterr()
        code = main([str(word) for word in words])
        said = self._capfd.readouterr()
        return Said(code, said.out, said.err)

    def run(self, agent: str = "agent.py:main", *words: object, out: str = "group") -> Said:
        """`proctor run` over `suite/`."""
        return self("run", agent, "--suite", "suite", "--out", out, *words)

    def grade(self, *words: object, path: str = "group") -> Said:
        """`proctor grade --json`."""
        return self("grade", path, "--json", *words)


def is_running(pid: int) -> bool:
    """True when the process is there and is no zombie that its parent has not asked for."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] not in "ZX"
    except (ProcessLookupError, FileNotFoundError):
        return False


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Project:
    """An empty project, with the agents `main` (repeats its input) and `crash`."""
    monkeypatch.chdir(tmp_path)
    for name in isolate(os.environ).missed_keys:
        # What is said of them is no part of what is tested elsewhere.
        monkeypatch.delenv(name)
    made = Project(tmp_path, capfd)
    made.write(
        "agent.py",
        """
        def main(text):
            return text

        def crash(text):
            raise RuntimeError("on purpose")
        """,
    )
    return made
