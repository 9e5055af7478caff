"""Kinds of agent that other packages add: found, made, refused, and held to the public contract."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from proctor.agents.kinds import agent_of_kind, known_kinds
from proctor.agents.options import AgentOptions
from proctor.errors import AgentError, UsageError

SHOUT = '''
"""A kind of agent from another package: it shouts."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from proctor.kind import AgentIdentity, Attempt, Cancel, Limits, Place, Surroundings, Test, run_process


class ShoutAgent:
    """Runs a line of Python in a process of its own."""

    def __init__(self, *, code: str = "print(text.upper(), end='')", times: int = 1, launch_dir: Path) -> None:
        self._code, self._times = code, times
        assert launch_dir.is_absolute()

    @property
    def identity(self) -> AgentIdentity:
        return AgentIdentity(kind="shout", label=f"shout {self._times}")

    def prepare(self, tests: Sequence[Test], surroundings: Surroundings) -> None:
        pass

    def attempt(self, test: Test, place: Place, limits: Limits, cancel: Cancel) -> Attempt:
        program = f"import os, sys; text = open(os.environ['PROCTOR_INPUT'], newline='').read(); {self._code}"
        return run_process([sys.executable, "-c", program], "shout", place, limits, cancel)

    def close(self) -> None:
        pass


def broken() -> None:
    raise RuntimeError("no licence")


def nothing(**anything: object) -> object:
    return object()
'''

TESTS = '''
import os
import pytest
from pathlib import Path
from proctor.testing import AgentContract
from shout import ShoutAgent

CODE = {
    "echo": "sys.stdout.reconfigure(newline='', encoding='utf-8'); print(text, end='')",
    "hang": "import time; time.sleep(600)",
    "crash": "sys.exit('it fell over')",
    "silent": "pass",
}


class TestShout(AgentContract):
    def agent(self, behaviour):
        return ShoutAgent(code=CODE[behaviour], launch_dir=Path("/"))


class TestLiar(AgentContract):
    """One that breaks its promise: it answers in capitals."""

    def agent(self, behaviour):
        return ShoutAgent(code="print(text.upper(), end='')", launch_dir=Path("/"))
'''


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """A package with entry points, as a wheel is installed; its folder is on the import path."""

    def install(points: str, name: str = "shout-agents") -> Path:
        folder = tmp_path / name
        folder.mkdir()
        (folder / "shout.py").write_text(SHOUT)
        (folder / "test_shout.py").write_text(TESTS)
        info = folder / f"{name.replace('-', '_')}-1.5.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.5\n")
        (info / "entry_points.txt").write_text("[proctor.agents]\n" + textwrap.dedent(points))
        monkeypatch.syspath_prepend(str(folder))
        monkeypatch.delitem(sys.modules, "shout", raising=False)
        return folder

    return install


def made(name, *params, launch_dir=Path("/")):
    return agent_of_kind(name, AgentOptions(params=params), launch_dir=launch_dir, suite=None)


def run(folder, *words):
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return subprocess.run(
        [sys.executable, "-m", *words],
        check=False,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
    )


def test_installed_kind_is_found_by_name_and_given_its_parameters(installed):
    """Parameters by name; `launch_dir` is given to whoever asks for it."""
    installed("shout = shout:ShoutAgent")

    assert ("claude", "codex", "noop", "shout", "solution") == known_kinds()
    assert "shout 3" == made("shout", "times=3").identity.label


def test_installed_kind_runs_like_any_other(installed):
    """`proctor run shout`: its output is graded, its kind recorded."""
    folder = installed("shout = shout:ShoutAgent")
    done = run(folder, "proctor", "run", "shout", "--input", "hello", "--out", "group")

    assert (0, "1/1 ended ok") == (done.returncode, done.stdout.splitlines()[0]), done.stderr
    shown = run(folder, "proctor", "show", "group/input")
    assert "shout 1" in shown.stdout, shown.stderr
    assert "HELLO" in shown.stdout


def test_contract_is_for_everybody(installed):
    """An author runs the kit with pytest on their own package: it passes what keeps to it, and fails what does not."""
    folder = installed("shout = shout:ShoutAgent")
    kept = run(folder, "pytest", "-q", "-k", "TestShout", "test_shout.py")
    broken = run(folder, "pytest", "-q", "-k", "TestLiar and gives_back_text", "test_shout.py")

    assert 0 == kept.returncode, kept.stdout
    assert "12 passed" in kept.stdout
    assert 1 == broken.returncode, broken.stdout


@pytest.mark.parametrize(
    ("point", "params", "says"),
    [
        ("shout = shoot:ShoutAgent", (), "cannot be loaded from shout-agents 1.5: ModuleNotFoundError"),
        ("shout = shout:Shouter", (), "cannot be loaded from shout-agents 1.5: AttributeError"),
        ("shout = shout:SHOUT", (), "AttributeError"),
        ("shout = shout:annotations", (), "is no class and no function"),
        ("shout = shout:broken", (), r"\(shout-agents 1.5\) could not be made: RuntimeError: no licence"),
        ("shout = shout:nothing", ("a=1",), "no attempt, close, identity, prepare"),
    ],
)
def test_fault_of_a_package_names_the_package(installed, point, params, says):
    """Whatever is wrong there is told with name and version, and no traceback."""
    installed(point)
    with pytest.raises(AgentError, match=says):
        made("shout", *params)


@pytest.mark.parametrize(
    ("params", "says"),
    [
        (("tmes=3",), "Did you mean 'times'"),
        (("colour=1",), "It takes: code, times"),
        (("launch_dir=/",), "takes no"),
    ],
)
def test_parameter_that_a_kind_does_not_take_is_refused(installed, params, says):
    """With the nearest one, or all that there are; what proctor gives cannot be given by hand."""
    installed("shout = shout:ShoutAgent")
    with pytest.raises(UsageError, match=says):
        made("shout", *params)


def test_two_packages_cannot_add_one_kind(installed):
    """Which one runs must not depend on the order of a path."""
    installed("shout = shout:ShoutAgent")
    installed("shout = shout:nothing", name="loud-agents")
    with pytest.raises(AgentError, match=r"loud-agents 1\.5, shout-agents 1\.5"):
        made("shout")


def test_package_cannot_stand_for_a_kind_of_ours(installed):
    """`noop` is what proves that a suite does not pass by itself."""
    installed("noop = shout:broken")

    assert "noop" == made("noop").identity.kind
