"""Who does not use the plugin does not notice it."""

from __future__ import annotations

from importlib.metadata import entry_points

import pytest

from tests.conftest import Project
from tests.pytest_plugin.conftest import Pytest

SHOWN = """
import sys

def pytest_sessionfinish():
    loaded = sorted(name for name in sys.modules if name.split(".")[0] in ("proctor", "msgspec", "yaml", "rapidfuzz"))
    print("\\nLOADED", " ".join(loaded))
"""


@pytest.mark.parametrize("workers", [(), ("-p", "xdist", "-n", "1")], ids=["alone", "workers"])
def test_without_a_suite_nothing_but_the_plugin_itself_is_imported(
    typed: Pytest, project: Project, workers: tuple[str, ...]
) -> None:
    """pytest starts as fast as ever in an environment that has proctor."""
    project.write("conftest.py", SHOWN)
    project.write("test_own.py", "def test_own(): pass")
    said = typed("-s", "test_own.py", *workers)

    assert 0 == said.code
    loaded = next(line for line in said.out.splitlines() if line.startswith("LOADED")).split()[1:]
    light = {"proctor", "proctor.pytesting", "proctor.pytesting.hooks", "proctor.pytesting.plugin"}
    light |= {"proctor.version"} | ({"proctor.wiring"} if workers else set())
    assert light == set(loaded)
    assert "proctor" not in said.out.replace("LOADED " + " ".join(loaded), "").replace(str(typed.root), "")


def test_the_plugin_is_installed_by_name_and_can_be_left_out(typed: Pytest, project: Project) -> None:
    """`-p no:proctor` is how."""
    [found] = entry_points(group="pytest11", name="proctor")

    assert "proctor.pytesting.plugin" == found.value
    project.write("test_own.py", "def test_own(): pass")
    typed.environment = {name: value for name, value in typed.environment.items() if "AUTOLOAD" not in name}
    words = [word for word in typed.command("test_own.py", "-q") if word != "proctor.pytesting.plugin"]
    words[words.index("-p")] = "-pno:proctor"
    typed.command = lambda *more: [*words, *map(str, more)]  # type: ignore[method-assign]
    assert 0 == typed().code
    assert "unrecognized arguments: --proctor" in typed("--proctor=evals/facts").err


def test_its_options_are_explained(typed: Pytest) -> None:
    """`pytest --help` names each of them, and the keys of the configuration."""
    said = typed("--help").out

    for option in ("", "-agent", "-agent-cmd", "-trials", "-parallel", "-timeout", "-out", "-min-pass-rate"):
        assert f"--proctor{option}" in said
    for key in ("proctor_agent ", "proctor_agent_cmd ", "proctor_min_pass_rate ", "proctor_inconclusive "):
        assert f"  {key}" in said.replace(":", " ")
