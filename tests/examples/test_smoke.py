"""The smoke suite: six small pieces of real work, whose graders tell right from wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from proctor.cli.main import main

SMOKE = Path(__file__).parents[2] / "examples" / "smoke"
TESTS = sorted(path.parent for path in SMOKE.glob("*/test.json"))


def test_check_finds_nothing_wrong(capfd: pytest.CaptureFixture[str]) -> None:
    """Each reference scores 1, nothing else passes, and every grader says the same twice and has failed something."""
    code = main(["check", str(SMOKE), "-n", "2", "--json"])
    tests = json.loads(capfd.readouterr().out)["tests"]

    assert [] == [finding for test in tests for finding in test["findings"]]
    assert {"ok"} == {test["verdict"] for test in tests}
    assert (0, 6) == (code, len(tests))
    assert all((test["ceiling"], test["floor"]) == (1.0, 0.0) for test in tests)


@pytest.mark.parametrize("folder", TESTS, ids=lambda folder: folder.name)
def test_each_test_is_whole(folder: Path) -> None:
    """Files, graders with gates, a reference, and at least two wrong solutions."""
    assert list(folder.glob("solution.*"))
    assert len(list((folder / "wrong").iterdir())) >= 2
    assert "intact(" in (folder / "graders.py").read_text()
    assert any((folder / "files").iterdir())
