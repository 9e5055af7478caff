"""The house keeps its own rules."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import proctor
import proctor.eval
import proctor.kind
import proctor.testing

SOURCE = Path(proctor.__file__).parent
MODULES = sorted(SOURCE.rglob("*.py"))


def test_the_shop_window_is_sorted_and_whole() -> None:
    """Every name in `__all__` is there, once, in order."""
    for window in (proctor, proctor.eval, proctor.kind, proctor.testing):
        assert sorted(set(window.__all__)) == window.__all__
        assert all(getattr(window, name) is not None for name in window.__all__)


def test_public_names_say_what_they_are() -> None:
    """Each class and function in a shop window has a docstring."""
    for window in (proctor, proctor.eval, proctor.kind, proctor.testing):
        for name in window.__all__:
            member = getattr(window, name)
            if inspect.isclass(member) or inspect.isfunction(member):
                assert member.__doc__, name


def test_importing_the_package_imports_nothing_else() -> None:
    """`import proctor` costs what it costs to read one file: heavy libraries wait until they are needed."""
    code = (
        "import sys, proctor\n"
        "print([m for m in sys.modules if m.startswith(('msgspec', 'rapidfuzz', 'proctor.')) and m != 'proctor.version'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "[]\n" == done.stdout


@pytest.mark.parametrize("words", [["--help"], ["--version"]])
def test_help_and_version_import_no_heavy_library(words: list[str]) -> None:
    """They are typed often, and by completion."""
    code = (
        "import sys\nfrom proctor.cli.main import main\nmain(sys.argv[1:])\n"
        "print([m for m in sys.modules if m.split('.')[0] in ('msgspec', 'rapidfuzz', 'yaml', 'asyncio', 'inspect')])"
    )
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=True)

    assert done.stdout.endswith("[]\n")


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_a_module_can_be_read_in_one_sitting(module: Path) -> None:
    """At most 400 lines, and a first sentence that says what lives there."""
    text = module.read_text()

    assert text.count("\n") <= 400
    assert ast.get_docstring(ast.parse(text))


def test_only_the_wiring_reads_the_environment() -> None:
    """Everybody else is given what they need, so that the same inputs give the same results."""
    readers = [
        path.relative_to(SOURCE).as_posix()
        for path in MODULES
        if any(
            isinstance(node, ast.Attribute) and node.attr in ("environ", "getenv", "environb")
            for node in ast.walk(ast.parse(path.read_text()))
        )
    ]

    # A worker, and a process of scripts, puts back what a grader changed; a forked child takes on what it is given.
    mending = {"engine/worker.py", "graders/python_scripts.py", "host/zygote_server.py"}
    # What sends an agent's spans runs in the agent.
    assert {"wiring.py"} == set(readers) - mending - {"_send.py", "trace.py"}


def test_only_the_command_line_prints() -> None:
    """Everything below returns records."""
    printers = {
        path.relative_to(SOURCE).parts[0]
        for path in MODULES
        if any(
            isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
            for node in ast.walk(ast.parse(path.read_text()))
        )
    }

    assert printers <= {"cli"}
