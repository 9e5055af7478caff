"""Killed at any storage call, a labelling session goes on when it is opened again, and each sign-off is one row."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from proctor.engine.reporting import read_run
from proctor.stores.checklists import ChecklistStore
from proctor.stores.rundir import RunDir
from tests.labelling.builders import checklist_file, make_run, rows_of
from tests.labelling.killed import work


class Worker:
    """The process that is killed in its children."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.labelling.killed"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
        )

    def __call__(self, root: Path, kill_at: int | None, when: str = "") -> int:
        """Work below `root`; -9 when it was killed at that storage call."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        case = {"root": str(root), "kill_at": kill_at, "when": when, "log": str(root / "log")}
        self._process.stdin.write(json.dumps(case) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


@pytest.fixture
def worker() -> Iterator[Worker]:
    made = Worker()
    yield made
    made.close()


@pytest.fixture
def start(tmp_path: Path) -> Path:
    """A group of three runs and a checklist, before anybody has opened it."""
    root = tmp_path / "start"
    for name in ("a", "b", "c"):
        make_run(root / "group", name)
    checklist_file(root, "Is it right?", "Is it polite?")
    return root


def labels(root: Path) -> dict[str, list[tuple[int, list[Any], str]]]:
    """The rows of each run: version, answers in the order of the questions, note."""
    return {
        name: [
            (row["version"], list(row["answers"].values()), row.get("note", ""))
            for row in rows_of(root / "group" / name)
        ]
        for name in ("a", "b", "c")
    }


def sides(root: Path) -> list[tuple[int, str]]:
    calls = json.loads((root / "log").read_text())
    return [
        (number, when)
        for number, kind in enumerate(calls)
        for when in ("before", "middle", "after")
        if when != "middle" or kind.endswith("+")
    ]


def survive(worker: Worker, start: Path, root: Path, kill_at: int, when: str, calm: Any) -> None:
    """Kill, go on, and compare with what comes of it without a kill."""
    shutil.copytree(start, root)
    assert -9 == worker(root, kill_at, when), (kill_at, when)
    for name in ("a", "b", "c"):
        for row in rows_of_whole_lines(root / "group" / name):
            assert row["hash"] in {
                one.hash for one in ChecklistStore(root / "group").revisions(row["checklist"])
            }
    work(root)
    where = f"killed {when} call {kill_at}"

    assert calm == labels(root), where
    file = json.loads((root / "good.json").read_text())
    lineage = root / "group/checklists" / file["checklistId"]
    assert file["hash"] == json.loads((lineage / f"{file['version']}.json").read_text())["hash"], where
    assert {lineage.name} == {row["checklist"] for name in "abc" for row in rows_of(root / "group" / name)}, (
        where
    )
    assert all(not line.is_stale for name in "abc" for line in read_run(RunDir(root / "group" / name)).labels)
    for draft in root.glob("group/checklists/*/drafts/*.json"):
        assert not json.loads(draft.read_text()).get("pending"), where
    shutil.rmtree(root)


def rows_of_whole_lines(run: Path) -> list[Any]:
    path = run / "annotations.jsonl"
    text = path.read_text() if path.exists() else ""
    return [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]


def calmly(worker: Worker, start: Path, root: Path) -> tuple[Any, list[tuple[int, str]]]:
    shutil.copytree(start, root)
    assert 0 == worker(root, None)
    return labels(root), sides(root)


def test_without_a_kill_each_run_has_the_rows_that_were_signed_off(
    worker: Worker, start: Path, tmp_path: Path
) -> None:
    """The first run is signed off once more, when a question was added with the second."""
    calm, kills = calmly(worker, start, tmp_path / "calm")

    assert {
        "a": [(1, [True, True], ""), (2, [True, True, True], "")],
        "b": [(2, [False, False, False], "a note")],
        "c": [(2, [True, True, True], "")],
    } == calm
    assert len(kills) > 100


def test_a_session_that_is_killed_goes_on_and_each_sign_off_is_one_row(
    worker: Worker, start: Path, tmp_path: Path
) -> None:
    """Thirty kills, spread evenly over the sides of the storage calls."""
    calm, kills = calmly(worker, start, tmp_path / "calm")
    step = len(kills) / 30
    for number in range(30):
        survive(worker, start, tmp_path / f"case{number}", *kills[int(number * step)], calm)


@pytest.mark.slow
def test_a_session_that_is_killed_anywhere_goes_on(worker: Worker, start: Path, tmp_path: Path) -> None:
    """Every side of every storage call."""
    calm, kills = calmly(worker, start, tmp_path / "calm")
    for number, (kill_at, when) in enumerate(kills):
        survive(worker, start, tmp_path / f"case{number}", kill_at, when, calm)
    print(f"{len(kills)} kills survived")
