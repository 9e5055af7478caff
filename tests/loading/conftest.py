"""Suites on disk, written out of a mapping of names to texts."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def written(tmp_path: Path) -> Callable[[Mapping[str, Any]], Path]:
    """Writes files below a fresh folder and returns it: None is a folder, a tuple a link; text is as it is."""

    def write(files: Mapping[str, Any]) -> Path:
        for name, content in files.items():
            path = tmp_path / name
            if content is None:
                path.mkdir(parents=True, exist_ok=True)
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(content, tuple):
                path.symlink_to(content[1])
                continue
            text = content if isinstance(content, str | bytes) else json.dumps(content)
            path.write_bytes(text.encode() if isinstance(text, str) else text)
        return tmp_path

    return write


class Repository:
    """A git repository in a folder of the test."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *arguments: str) -> str:
        who = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
        done = subprocess.run(
            ["git", *who, *arguments], cwd=self.folder, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    def commit(self, files: Mapping[str, Any]) -> str:
        """Writes files, commits everything, and gives the commit."""
        for name, content in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content if isinstance(content, str) else json.dumps(content))
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "a commit")
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "repo")
