"""What the tests of the documentation share: a terminal, and one call of the type checker."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.docs.pages import ROOT, blocks, page, pages
from tests.docs.terminal import SITE, Terminal, environment
from tests.docs.typing_cases import CASES
from tests.judging.example_model import PROVIDER, example
from tests.judging.scripted_server import ScriptedServer


class Diagnostic(NamedTuple):
    """One complaint of the type checker: the source line it is about, its rule, and what it says."""

    line: str
    rule: str
    message: str


class Checked(NamedTuple):
    """A Python sample that was type-checked."""

    where: str
    is_wrong: bool
    found: tuple[Diagnostic, ...]


@pytest.fixture(scope="session")
def example_model() -> Iterator[Mapping[str, str]]:
    """Where the pages' judge model `example/judge` answers, as variables of the environment."""
    with ScriptedServer(example) as server:
        name = PROVIDER.upper()
        yield {f"{name}_BASE_URL": server.base_url}


@pytest.fixture
def terminal(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    example_model: Mapping[str, str],
) -> Terminal:
    """An empty project, and somebody who stands in it."""
    root = tmp_path / "project"
    root.mkdir()
    monkeypatch.chdir(root)
    monkeypatch.setattr(sys, "path", [str(tmp_path / SITE), *sys.path])
    for name, value in (found := {**environment(tmp_path), **example_model}).items():
        monkeypatch.setenv(name, value)
    for name in set(os.environ) - set(found):
        monkeypatch.delenv(name)
    return Terminal(root, capfd, found)


@pytest.fixture(scope="session")
def type_checked(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Checked]:
    """Every Python sample of the English pages and the README, and the cases of `typing_cases`, by file.

    A page's files lie together, so that they can import each other; where a page writes a file a second time,
    the project as it is then lies in a folder of its own.
    """
    top = tmp_path_factory.mktemp("types").resolve()
    samples: dict[Path, tuple[str, bool]] = {}
    written = [(one.name, list(blocks(one.text))) for one in (*pages("en"), page("README.md"))]
    for name, samples_of_page in written:
        folder, version = top / name.replace("/", "_") / "0", 0
        for block in samples_of_page:
            if block.kind != "file" or not block.path.endswith(".py"):
                continue
            if (folder / block.path).exists():
                version += 1
                shutil.copytree(folder, folder.with_name(str(version)))
                folder = folder.with_name(str(version))
            file = folder / block.path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.text, encoding="utf-8")
            samples[file] = (f"{name}:{block.line}", block.is_wrong)
    for name, text in CASES.items():
        samples[top / f"case_{name}.py"] = (name, name.startswith("refused"))
        (top / f"case_{name}.py").write_text(text, encoding="utf-8")
    said = _pyright(top, tmp_path_factory)
    return {
        where: Checked(where, is_wrong, tuple(_diagnostics(file, top, said)))
        for file, (where, is_wrong) in samples.items()
    }


def _pyright(top: Path, factory: pytest.TempPathFactory) -> Any:
    """What pyright says of a folder; workers that test side by side ask it once, as the files are the same."""
    shared = factory.getbasetemp().parent if "PYTEST_XDIST_WORKER" in os.environ else factory.getbasetemp()
    kept = shared / "pyright.json"
    with (shared / "pyright.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.exists():
            kept.write_text(json.dumps(_asked(top)))
    return json.loads(kept.read_text())


def _asked(top: Path) -> Any:
    venv = Path(sys.prefix)
    settings = {
        "typeCheckingMode": "strict",
        "venvPath": str(venv.parent),
        "venv": venv.name,
        "extraPaths": [str(ROOT / "src")],
        "pythonVersion": "3.11",
    }
    (top / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [str(venv / "bin" / "pyright"), "--outputjson", "--project", str(top)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.startswith("{"), done.stderr
    diagnostics: list[Any] = json.loads(done.stdout)["generalDiagnostics"]
    return [one | {"file": Path(one["file"]).relative_to(top).as_posix()} for one in diagnostics]


def _diagnostics(file: Path, top: Path, said: Any) -> list[Diagnostic]:
    lines = file.read_text(encoding="utf-8").splitlines()
    return [
        Diagnostic(lines[one["range"]["start"]["line"]], one.get("rule", ""), one["message"])
        for one in said
        if one["file"] == file.relative_to(top).as_posix() and one["severity"] == "error"
    ]
