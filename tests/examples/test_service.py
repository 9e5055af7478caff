"""The service example: an outcome grader in Python and its twin in TypeScript, as the page on them shows them."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from proctor.cli.main import main
from tests.docs.pages import ROOT, blocks, page

SERVICE = ROOT / "examples" / "service"
FILES = sorted(path.relative_to(SERVICE).as_posix() for path in SERVICE.rglob("*") if path.is_file())


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_page_shows_the_files_of_the_example(language: str) -> None:
    """Each of them byte for byte, in the last form that the page gives it."""
    shown = {
        block.path: block.text
        for block in blocks(page(f"docs/{language}/evaluations.md").text)
        if block.kind == "file" and block.path in FILES
    }

    assert {name: (SERVICE / name).read_text(encoding="utf-8") for name in FILES} == shown
    assert "evals/graders/status_result.py" in FILES
    assert "evals/graders/status-result.ts" in FILES


@pytest.mark.skipif(
    shutil.which("node") is None and "CI" not in os.environ, reason="Node.js is not installed here"
)
@pytest.mark.parametrize(
    ("agent", "exit_code", "outcomes"),
    [
        ("main", 0, ["pass", "pass"]),
        ("resigned", 2, ["fail", "fail"]),
        ("silent", 2, ["fail", "inconclusive"]),
    ],
)
def test_both_graders_tell_the_agents_apart(
    agent: str,
    exit_code: int,
    outcomes: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Where nothing was written, the Python one says so, and the other, which reads without asking, cannot tell."""
    monkeypatch.chdir(SERVICE)
    group = str(tmp_path / "group")
    main(["run", f"agent.py:{agent}", "--suite", "evals", "--out", group])
    capfd.readouterr()
    code = main(["grade", group, "--json"])
    (run,) = json.loads(capfd.readouterr().out)["groups"][0]["runs"]

    assert (exit_code, outcomes) == (code, [grade["outcome"] for grade in run["grades"]])
