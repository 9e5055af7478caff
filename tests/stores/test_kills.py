"""Killed at any instant, nothing is lost, nothing is half there, and the next command goes on by itself.

`run`, `run --resume` and `grade` are killed (SIGKILL) before, in the middle of and after their storage calls, and at
random instants. `pytest -m slow tests/stores/test_kills.py -s` prints the report of all of them; a file named by
PROCTOR_KILL_REPORT receives it too.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import threading
import time
import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import Any, NamedTuple

import pytest

from tests.stores.killing import Driver

SEED = 20260301
GRADERS = "from proctor import Contains, Similarity\ngraders = [Contains(must_pass=True), Similarity()]\n"
SCRIPT = """#!/bin/sh
echo "about $1"
echo noise >&2
cat notes.txt > copy.txt
test "$1" != fail
"""
FUNCTION = """
from pathlib import Path

def main(text):
    print("printed")
    Path("copy.txt").write_text(Path("notes.txt").read_text())
    if text == "fail":
        raise RuntimeError("on purpose")
    return f"about {text}"
"""
COMMAND = ("--agent-cmd", "./agent.sh {input}")


class Done(NamedTuple):
    """What became of a command line."""

    code: int
    out: str
    err: str
    alive: Sequence[str]


class Kill(NamedTuple):
    """An instant: a storage call by its number and a side of it, or a time."""

    at: int | None
    when: str
    after_s: float | None = None


class Stand:
    """A project, and the drivers that run its commands in processes of their own."""

    def __init__(self, root: Path, drivers: int) -> None:
        self.root = root
        self._free: SimpleQueue[Driver] = SimpleQueue()
        self._drivers = [Driver() for _ in range(drivers)]
        for driver in self._drivers:
            self._free.put(driver)
        self._write("agent.sh", SCRIPT).chmod(0o755)
        self._write("agent.py", FUNCTION)
        self._write("suite/graders.py", GRADERS)
        self._write("suite/files/notes.txt", "notes\n")
        common = {"expected": "about", "graders": "graders.py", "files": "files"}
        tests = [
            {"id": "a", "input": "x", "trials": 2},
            {"id": "b", "input": "y"},
            {"id": "c", "input": "fail"},
        ]
        self._write("suite/suite.json", json.dumps({"inputs": [test | common for test in tests]}))

    def _write(self, name: str, text: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def close(self) -> None:
        for driver in self._drivers:
            driver.close()

    def type(self, case: Path, *argv: object, kill: Kill | None = None) -> Done:
        """Type a command line; without a kill it is told to count, into `case/log`."""
        (case / "tmp").mkdir(parents=True, exist_ok=True)
        (case / "log").unlink(missing_ok=True)
        for stream in ("out", "err"):
            (case / stream).write_bytes(b"")  # the kill may come before the command has any
        driver = self._free.get()
        try:
            answer = driver.ask(
                {
                    "argv": [str(word) for word in argv],
                    "cwd": str(self.root),
                    "mark": uuid.uuid4().hex,
                    "kill_at": kill.at if kill else None,
                    "when": kill.when if kill else "",
                    "after_s": kill.after_s if kill else None,
                    "count": kill is None,
                    **{name: str(case / name) for name in ("tmp", "log", "out", "err")},
                }
            )
        finally:
            self._free.put(driver)
        err = (case / "err").read_text()
        assert "Traceback" not in err, err
        return Done(answer["code"], (case / "out").read_text(), err, answer["alive"])


class Scenario:
    """A command that is killed, what there is before it, and what comes of it when it is not killed."""

    def __init__(self, stand: Stand, name: str, agent: Sequence[str]) -> None:
        self.stand, self.name, self._agent = stand, name, agent
        self._before: Path | None = None
        if name != "run":
            whole = stand.root / f"{name}-before"
            self._prepare(whole)
            self._before = whole / "group"
        calm = self._case("calm")
        started = time.monotonic()
        done = stand.type(calm, *self._words(calm))
        self.seconds = time.monotonic() - started
        self.code = done.code
        self.calls: list[str] = json.loads((calm / "log").read_text())
        graded = stand.type(calm, "grade", calm / "group", "--json")
        self.grade_code, self.numbers = graded.code, numbers(graded.out)

    def _prepare(self, case: Path) -> None:
        """The group that a resume goes on with has one trial that is whole; one to grade has all, and a round."""
        kill = None if self.name.startswith("grade") else Kill(self._second_publish(), "after")
        self.stand.type(case, *self._run_words(case), kill=kill)
        if self.name.startswith("grade"):
            self.stand.type(case, "grade", case / "group")

    def _second_publish(self) -> int:
        calm = self.stand.root / "counted"
        self.stand.type(calm, *self._run_words(calm))
        calls = json.loads((calm / "log").read_text())
        # A run's workdir is renamed into staging, then all of it into the group; one more is a kept folder.
        return [number for number, kind in enumerate(calls) if kind == "rename"][3]

    def _case(self, name: str) -> Path:
        case = self.stand.root / f"{self.name}-{name}"
        case.mkdir()
        if self._before is not None:
            shutil.copytree(self._before, case / "group", symlinks=True)
        return case

    def _run_words(self, case: Path) -> list[object]:
        return ["run", *self._agent, "--suite", "suite/suite.json", "--out", case / "group"]

    def _words(self, case: Path) -> list[object]:
        if self.name.startswith("grade"):
            return ["grade", case / "group"]
        return [*self._run_words(case), *(["--resume"] if self.name.startswith("resume") else [])]

    def kills(self) -> list[Kill]:
        """Every side of every storage call."""
        return [
            Kill(number, when)
            for number, kind in enumerate(self.calls)
            for when in ("before", "middle", "after")
            if when != "middle" or kind.endswith("+")
        ]

    def survive(self, kill: Kill) -> tuple[str, str, int]:
        """Kill the command, look at what is there, go on, and look again.

        Returns where it was killed, what was there afterwards, and how many folders of temporary files stayed.
        """
        case = self._case(uuid.uuid4().hex[:8])
        killed = self.stand.type(case, *self._words(case), kill=kill)
        where = (case / "log").read_text() if (case / "log").exists() else "timer"
        if kill.after_s is None:
            assert -9 == killed.code, (where, killed)
        assert [] == killed.alive
        there = Group(case / "group")
        there.is_whole()
        self._is_listed(case, there)
        self._goes_on(case, there)
        left = len(list((case / "tmp").iterdir()))
        shutil.rmtree(case)
        return where if killed.code == -9 else "too late", there.state, left

    def _is_listed(self, case: Path, there: Group) -> None:
        listed = self.stand.type(case, "list", case / "group", "--json")
        if not there.has_plan:
            assert (1, {}) == (listed.code, there.runs)
            return
        (group,) = json.loads(listed.out)["groups"]
        ended = {run["run"] for run in group["runs"] if run["ending"] != "interrupted"}

        assert (0, 4, set(there.runs)) == (listed.code, group["planned"], ended)
        assert [] == self._findings(case)["findings"]

    def _findings(self, case: Path) -> Any:
        return json.loads(self.stand.type(case, "verify", case / "group", "--json").out)

    def _goes_on(self, case: Path, there: Group) -> None:
        said = ""
        if not self.name.startswith("grade"):
            resume = ["--resume"] if (case / "group").exists() else []
            done = self.stand.type(case, *self._run_words(case), *resume)
            said += done.err
            assert (self.code, []) == (done.code, done.alive)
            assert not (case / "group/.staging").exists()
        graded = self.stand.type(case, "grade", case / "group", "--json")
        said += graded.err

        assert (self.grade_code, self.numbers) == (graded.code, numbers(graded.out))
        there.is_continued(said)
        found = self._findings(case)
        assert ([], 0, 4) == (found["findings"], found["unrecorded"], found["runs"])


class Group:
    """What a killed command left in a group."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.has_plan = (path / "group.json").exists()
        folders = [entry for entry in sorted(path.glob("*")) if entry.is_dir() and entry.name[0] != "."]
        self.runs = {folder.name: content_of(folder) for folder in folders}
        self.logs = {
            log: log.read_bytes() for log in sorted(path.rglob("*.jsonl")) if ".staging" not in log.parts
        }

    @property
    def state(self) -> str:
        torn = any(content and not content.endswith(b"\n") for content in self.logs.values())
        if not self.has_plan:
            return "nothing begun"
        return f"{len(self.runs)} of 4 runs{', a torn row' if torn else ''}"

    def is_whole(self) -> None:
        """Every folder that shows is a whole run, and every run that is said to have ended is there."""
        for name, files in self.runs.items():
            facts = json.loads(files["run.json"])
            assert {"run.json", "stdout.log", "workdir.json"} <= files.keys(), name
            assert {"workdir/copy.txt", "workdir/notes.txt"} <= files.keys(), name
            assert f"graders/{facts['graders']['digest'][7:]}.zip" in files, name
            assert facts["ended_at"], name
        rows = rows_of(self.logs.get(self.path / "attempts.jsonl", b""))

        assert {row["run_dir"] for row in rows if row["event"] == "ended"} <= self.runs.keys()

    def is_continued(self, said: str) -> None:
        """The next commands have changed no byte of it: they added, and set aside only what was torn."""
        for name, files in self.runs.items():
            assert files == {
                path: text for path, text in content_of(self.path / name).items() if path in files
            }
        for log, before in self.logs.items():
            end = before.rfind(b"\n") + 1
            whole, torn, now = before[:end], before[end:], log.read_bytes()
            assert now.startswith(whole)
            if torn and len(now) > len(before):
                assert torn + b"\n" in log.with_name(f"{log.name}.torn").read_bytes()
                assert f"({len(torn)} bytes) is set aside in {log.name}.torn" in said
        for log in self.path.rglob("*.jsonl"):
            content = log.read_bytes()
            if content != self.logs.get(log):
                assert content.endswith(b"\n")
                assert content.count(b"\n") == len(rows_of(content))


def content_of(folder: Path) -> dict[str, bytes]:
    """Every file below a folder but the rows of graders, which grow."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "jsonl" not in path.name
    }


def rows_of(content: bytes) -> list[Any]:
    return [json.loads(line) for line in content[: content.rfind(b"\n") + 1].split(b"\n")[:-1]]


def numbers(out: str) -> Any:
    """Everything in a report that must not depend on when it was made."""
    report = json.loads(out)
    runs = [
        {key: run[key] for key in ("run", "test", "trial", "ending", "outcome", "objective", "grades")}
        for group in report["groups"]
        for run in group["runs"]
    ]
    return report["mean"], report["n"], runs


@pytest.fixture
def stand(tmp_path: Path) -> Iterator[Stand]:
    made = Stand(tmp_path, 2)
    yield made
    made.close()


@pytest.mark.parametrize(("name", "count"), [("run", 13), ("resume", 12), ("grade", 25)])
def test_a_killed_command_loses_nothing_and_the_next_one_goes_on(stand: Stand, name: str, count: int) -> None:
    """Fifty kills in all, spread evenly over the sides of the storage calls."""
    scenario = Scenario(stand, name, COMMAND)
    kills = scenario.kills()
    step = len(kills) / count
    start = random.Random(SEED).random() * step
    with ThreadPoolExecutor(2) as pool:
        survived = list(pool.map(scenario.survive, (kills[int(start + step * n)] for n in range(count))))

    assert count == len(survived)


@pytest.mark.slow
def test_hundreds_of_kills_lose_nothing(stand: Stand) -> None:
    """Every side of every storage call of the three commands, and random instants, with both kinds of agent."""
    draw = random.Random(SEED)
    started = time.monotonic()
    table: dict[tuple[str, str], Counter[str]] = {}
    left: Counter[str] = Counter()
    broken: list[str] = []
    lock = threading.Lock()
    for name, agent in (("run", COMMAND), ("resume", COMMAND), ("grade", COMMAND), ("run", ("agent.py",))):
        is_function = agent != COMMAND
        scenario = Scenario(stand, name, agent) if not is_function else _function_scenario(stand)
        kills = scenario.kills()[:: 5 if is_function else 1]
        kills += [Kill(None, "", draw.uniform(0, scenario.seconds)) for _ in range(40)]
        told = f"{name}, function" if is_function else name

        def survive(kill: Kill, scenario: Scenario = scenario, told: str = told) -> None:
            try:
                where, state, folders = scenario.survive(kill)
            except (AssertionError, OSError, ValueError) as error:
                broken.append(f"{told} {kill}: {error!r}")
                return
            with lock:
                table.setdefault((told, where), Counter())[state] += 1
                left[told] += folders

        with ThreadPoolExecutor(2) as pool:
            list(pool.map(survive, kills))
        report = "\n".join([_report(table, left, time.monotonic() - started), *broken])
        if path := os.environ.get("PROCTOR_KILL_REPORT"):
            Path(path).write_text(report)
    print(report)
    survived = sum(
        count for (_, where), states in table.items() if where != "too late" for count in states.values()
    )

    assert [] == broken
    assert 500 <= survived


def _function_scenario(stand: Stand) -> Scenario:
    folder = stand.root / "function"
    folder.mkdir()
    stand.root = folder
    shutil.copytree(folder.parent / "suite", folder / "suite")
    shutil.copy(folder.parent / "agent.py", folder)
    return Scenario(stand, "run", ("agent.py",))


def _report(table: dict[tuple[str, str], Counter[str]], left: Counter[str], seconds: float) -> str:
    lines = ["command       killed at          kills  what was there then"]
    for (name, where), states in sorted(table.items()):
        told = "; ".join(f"{count} x {state}" for state, count in sorted(states.items()))
        lines.append(f"{name:<13} {where:<17} {sum(states.values()):>6}  {told}")
    total = sum(sum(states.values()) for states in table.values())
    lines.append(f"{total} cases in {seconds:.0f} s went on with the exit codes and numbers of a calm run")
    lines.append(f"temporary folders that stayed: {dict(left)}")
    return "\n".join(lines) + "\n"
