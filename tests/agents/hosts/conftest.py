"""The coding agents themselves, installed once, and a plugin for both of them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGES = ("@anthropic-ai/claude-code@2.1.197", "@openai/codex@0.171.0")
PLUGIN = Path(__file__).with_name("plugin")


@pytest.fixture(scope="session")
def coding_agents() -> Path:
    """The folder of both programs, below the virtual environment."""
    if shutil.which("npm") is None:
        pytest.skip("there is no npm")
    folder = Path(sys.prefix) / "node-hosts"
    programs = folder / "node_modules/.bin"
    if not all((programs / name).exists() for name in ("claude", "codex")):
        folder.mkdir(exist_ok=True)
        (folder / "package.json").write_text('{"private": true}')
        subprocess.run(
            ["npm", "install", "--no-audit", "--no-fund", "--no-save", *PACKAGES],
            cwd=folder,
            check=True,
            timeout=600,
        )
    return programs


@pytest.fixture
def operator(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home of an operator who has settings of their own for both, and is signed in to neither."""
    home = tmp_path_factory.mktemp("operator")
    for name, words in ((".claude/CLAUDE.md", "claude"), (".codex/AGENTS.md", "codex")):
        (home / name).parent.mkdir(parents=True)
        (home / name).write_text(f"The canary of {words} sings.\n")
    for name in list(os.environ):
        if name.startswith(("ANTHROPIC_", "CLAUDE", "OPENAI_", "CODEX_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    return home
