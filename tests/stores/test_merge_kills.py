"""A merge that is killed at any instant leaves a whole group or none, and what was named as it was."""

from __future__ import annotations

import json
import random
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.stores.killing import Driver

SEED = 20261130
GRADERS = "from proctor import Contains\ngraders = [Contains(must_pass=True)]\n"


class Stand:
    """A project with two shards, and a process that runs command lines there and can kill them."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._driver = Driver()
        (root / "agent.py").write_text("def main(text):\n    print(text)\n    return text\n")
        (root / "graders.py").write_text(GRADERS)
        tests = [{"id": name, "input": name, "expected": name, "graders": "graders.py"} for name in "abcd"]
        (root / "suite.json").write_text(json.dumps({"inputs": tests}))
        for number in (1, 2):
            words = ("run", "agent.py", "-s", "suite.json", "--shard", f"{number}/2", "-o", f"shard-{number}")
            assert 0 == self.type(*words)["code"]
        self.shards = self.content("shard-1") | self.content("shard-2")

    def close(self) -> None:
        self._driver.close()

    def type(self, *argv: str, kill_at: int | None = None, when: str = "") -> dict[str, Any]:
        """Type a command line; without a kill its storage calls are counted."""
        case = self.root.parent / uuid.uuid4().hex
        (case / "tmp").mkdir(parents=True)
        for stream in ("out", "err"):
            (case / stream).write_bytes(b"")
        answer = self._driver.ask(
            {
                "argv": list(argv),
                "cwd": str(self.root),
                "mark": case.name,
                "kill_at": kill_at,
                "when": when,
                "after_s": None,
                "count": kill_at is None,
                **{name: str(case / name) for name in ("tmp", "log", "out", "err")},
            }
        )
        log = (case / "log").read_text() if (case / "log").exists() else ""
        return {**answer, "log": log, "out": (case / "out").read_text(), "err": (case / "err").read_text()}

    def merge(self, kill: Kill | None = None) -> dict[str, Any]:
        kill_at, when = kill if kill is not None else (None, "")
        return self.type("merge", "shard-1", "shard-2", "--out", "whole", kill_at=kill_at, when=when)

    def content(self, name: str) -> dict[str, bytes]:
        """Every file of a group, by its path in the project."""
        return {
            path.relative_to(self.root).as_posix(): path.read_bytes()
            for path in sorted((self.root / name).rglob("*"))
            if path.is_file()
        }


class Kill(NamedTuple):
    """A storage call by its number, and a side of it."""

    at: int
    when: str


@pytest.fixture
def stand(tmp_path: Path) -> Iterator[Stand]:
    root = tmp_path / "project"
    root.mkdir()
    made = Stand(root)
    yield made
    made.close()


def survive(stand: Stand, kill: Kill, whole: dict[str, bytes]) -> None:
    """Kill a merge, look at what is there, and merge again."""
    killed = stand.merge(kill)
    is_there = (stand.root / "whole").exists()

    assert -9 == killed["code"], killed
    assert stand.shards == stand.content("shard-1") | stand.content("shard-2")
    assert not is_there or whole == stand.content("whole")
    # What was told is on the disk: a merge that had not appeared has told nothing.
    assert is_there or "recorded" not in killed["out"]
    again = stand.merge()
    assert (1 if is_there else 0) == again["code"], again
    assert whole == stand.content("whole")
    assert [] == [path.name for path in stand.root.iterdir() if path.name.startswith(".whole")]


def kills_of(stand: Stand) -> tuple[list[Kill], dict[str, bytes]]:
    """Every side of every storage call of a merge, and what it makes."""
    calm = stand.merge()
    assert 0 == calm["code"], calm
    whole = stand.content("whole")
    calls = json.loads(calm["log"])
    _remove(stand)
    kills = [
        Kill(number, when)
        for number, kind in enumerate(calls)
        for when in ("before", "middle", "after")
        if when != "middle" or kind.endswith("+")
    ]
    return kills, whole


def _remove(stand: Stand) -> None:
    import shutil

    shutil.rmtree(stand.root / "whole")


def test_a_killed_merge_leaves_a_whole_group_or_none(stand: Stand) -> None:
    """A dozen kills, spread evenly, and all sides of the rename by which it appears."""
    kills, whole = kills_of(stand)
    step = len(kills) / 12
    start = random.Random(SEED).random() * step
    for kill in [*(kills[int(start + step * number)] for number in range(12)), *kills[-8:]]:
        survive(stand, kill, whole)
        _remove(stand)


@pytest.mark.slow
def test_every_instant_of_a_merge_may_be_its_last(stand: Stand) -> None:
    """Every side of every storage call."""
    kills, whole = kills_of(stand)
    for kill in kills:
        survive(stand, kill, whole)
        _remove(stand)

    assert len(kills) > 100
