"""Files of every kind that proctor records or prints, made by the program itself and by nothing else."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePath
from typing import Any

from proctor.engine.label_sessions import LabelRequest, start_session
from tests.judging.example_model import PROVIDER

AGENTS = """
    from pathlib import Path

    from proctor.trace import llm_call, note, span, tool_call


    @tool_call
    def add(a: int, b: int) -> int:
        return a + b


    def main(task: str) -> object:
        print("working")
        with span("plan", depth=1, share=0.5, words=["a"], nested={"is_deep": True, "list": [1, "x", None]}):
            with llm_call("gpt-4o", provider="openai") as call:
                call.usage(tokens_in=10, tokens_out=5)
            add(1, 2)
            note("planned", steps=3)
        if task == "raise":
            raise RuntimeError("on purpose")
        Path("made.txt").write_text("made")
        Path("link").symlink_to("made.txt")
        Path("empty").mkdir()
        given = Path("given.txt")
        if given.exists():
            given.unlink()
        return "x" * 70_000 if task == "long" else {"answer": task, "numbers": [1, 2.5, None, True]}


    def other(task: str) -> str:
        return task
"""

GRADERS = """
    from proctor import Grade, Outcome, grader, inconclusive, scalar
    from proctor.eval import expect_workdir_unchanged


    @grader(samples=3, threshold=0.5)
    def sampled(output: object) -> Grade:
        return scalar(0.75, "three quarters")


    @grader(weight=0)
    def raises(output: object) -> bool:
        raise KeyError("a defect")


    @grader(weight=0)
    def unsure(output: object) -> Grade:
        return inconclusive("nobody can tell")


    @grader(must_pass=True)
    def gate(workdir: object) -> Grade:
        return Grade(outcome=Outcome.FAIL, feedback="on purpose", evidence={"seen": [1, None]})


    graders = [sampled, raises, unsure, gate, expect_workdir_unchanged()]
"""

TYPED = """
    from proctor.eval import case, define_eval_suite, expect_exit_code, explicit

    suite = define_eval_suite(
        name="typed",
        cases=[
            case(
                id="one",
                prompt="Greet.",
                hosts={"claude": {"model": "m"}},
                invocation=explicit("greeting"),
                assertions=[expect_exit_code(0)],
            )
        ],
    )
"""


class Evidence:
    """A project in which every command was used, and what they printed.

    Attributes:
        root: the project's folder.
        printed: the documents that commands printed, by the name of their schema.
    """

    def __init__(self, root: Path, environment: Mapping[str, str]) -> None:
        self.root = root
        self.printed: dict[str, list[Any]] = {}
        self._environment = {**os.environ, **environment, "XDG_CACHE_HOME": str(root / "cache")}

    def write(self, name: str, text: str | Mapping[str, Any]) -> None:
        """Write a file; a mapping becomes JSON."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text).lstrip() if isinstance(text, str) else json.dumps(text))

    def type(self, line: str, name: str | None = None, *, is_lines: bool = False) -> str:
        """Type a command line; what it prints are documents of the schema `name`."""
        done = subprocess.run(
            [sys.executable, "-m", "proctor", *line.split()],
            cwd=self.root,
            env=self._environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode in (0, 2, 3, 4), f"{line}: {done.returncode}\n{done.stdout}{done.stderr}"
        if name is not None:
            self.keep(name, done.stdout, is_lines=is_lines)
        return done.stdout

    def keep(self, name: str, text: str, *, is_lines: bool) -> None:
        """Keep documents of a schema."""
        found = [json.loads(line) for line in text.splitlines()] if is_lines else [json.loads(text)]
        self.printed.setdefault(name, []).extend(found)

    def recorded(self) -> Iterator[tuple[str, Path, Any]]:
        """Every JSON document in the groups, with the name of its schema and its file."""
        found = [path for folder in ("parts", "runs") for path in (self.root / folder).rglob("*.json*")]
        for path in sorted(found):
            name = schema_of(path.relative_to(self.root))
            if name is not None and path.suffix == ".jsonl":
                yield from ((name, path, json.loads(line)) for line in path.read_text().splitlines())
            elif name is not None:
                yield name, path, json.loads(path.read_text())


def schema_of(path: PurePath) -> str | None:
    """The schema of a file in a group, which its place and name tell; None for what an agent or a suite wrote."""
    if {"workdir", "inputs", ".store"} & set(path.parts[:-1]):
        return None
    if "drafts" in path.parts or path.name == "imports.json":
        return "draft"
    if "samples" in path.parts:
        return "sample"
    if "checklists" in path.parts:
        return "revision"
    named = {
        "group.json": "group",
        "attempts.jsonl": "attempt",
        "run.json": "run",
        "output.json": "output",
        "trace.jsonl": "trace",
        "workdir.json": "workdir",
        "changes.json": "changes",
        "annotations.jsonl": "annotation",
    }
    return "verdict" if path.name.endswith(".verdict.json") else named[path.name]


def make_evidence(root: Path, model: Mapping[str, str]) -> Evidence:
    """Use every command that records or prints.

    Args:
        root: an empty folder.
        model: variables of the environment by which the scripted model of `tests.judging` is reached.
    """
    made = Evidence(root, {**model, "PROCTOR_JUDGE_MODEL": f"{PROVIDER}/judge"})
    _write_project(made)
    _run_and_grade(made)
    _label(made)
    _look(made)
    return made


def _write_project(made: Evidence) -> None:
    made.write("agents.py", AGENTS)
    graded = {"graders": "../graders.py"}
    made.write("suite/graders.py", GRADERS)
    made.write("suite/plain/test.json", {"input": "hello", "expected": "x", "metadata": {"a": [1]}, **graded})
    made.write("suite/files/test.json", {"input": "files", "files": {"path": "files", "git": True}, **graded})
    made.write("suite/files/files/given.txt", "given")
    made.write("suite/long/test.json", {"input": "long", **graded})
    made.write("suite/fails/test.json", {"input": "raise", "description": "It raises.", **graded})
    made.write("suite/judged/test.json", {"input": "hi", "goal": "It says answer.", "expected": "answer"})
    made.write("suite/suite.json", {"defaults": {"tags": ["t"], "timeout": 30}})
    made.write("proved/one/test.json", {"input": "say yes", "expected": "yes"})
    made.write("proved/one/graders.py", "from proctor import ExactMatch\n\ngraders = ExactMatch()\n")
    made.write("proved/one/solution.sh", "echo yes\n")
    made.write("typed/one_eval.py", TYPED)
    made.write(
        "checklist.json",
        {
            "name": "good",
            "questions": [
                {"text": "Is it right?"},
                {"text": "How polite?", "kind": "scale", "points": 5, "weight": 2},
                {"text": "Which tone?", "kind": "choice", "choices": {"warm": 1, "cold": 0}},
            ],
        },
    )
    made.write(
        "proctor.toml",
        '[[faults]]\nowner = "provider"\nkind = "out_of_credit"\nstderr = "insufficient_quota"\n',
    )


def _run_and_grade(made: Evidence) -> None:
    made.type("run agents.py:main --suite suite --dry-run --json", "trials")
    made.type(
        "run agents.py:main --suite suite --out runs/first --trials 2 --grade --json",
        "run-event",
        is_lines=True,
    )
    for number in (1, 2):
        made.type(f"run agents.py:other --suite suite --out parts/{number} --shard {number}/2")
    made.type("merge parts --out runs/second --json", "merge")
    made.type("grade runs/second --json --baseline runs/first --min-objective 0.5", "report")
    history = json.loads(made.type("show runs/first/plain--1 --history --json"))
    withdrawn = history["rounds"][0]["round"]
    made.type(f"retract runs/first/plain--1 --round {withdrawn} --why wrong")
    made.type("judge runs/first runs/second -o runs/first.vs.second.verdict.json")
    shutil.copyfile(made.root / "runs/first/plain--1/trace.jsonl", made.root / "copied.jsonl")
    made.type("add runs/added --trace copied.jsonl --json", "added")


def _label(made: Evidence) -> None:
    made.type("label runs/second --checklist checklist.json --sample 3 --annotator ada --export sheet.jsonl")
    rows = [json.loads(line) for line in (made.root / "sheet.jsonl").read_text().splitlines()]
    made.printed["sheet"] = rows
    right = {"Is it right?": True, "How polite?": 4, "Which tone?": "warm"}
    filled = [json.dumps({**row, "answer": right[row["text"]], "note": "seen"}) for row in rows]
    made.write("sheet.jsonl", "\n".join(filled) + "\n")
    made.type("label runs/second --checklist checklist.json --sample 3 --annotator ada --import sheet.jsonl")
    request = LabelRequest(
        paths=(made.root / "runs/first",), file=made.root / "checklist.json", annotator="grace"
    )
    session = start_session(request, now=lambda: "2026-01-01T00:00:00.000+00:00", clock=lambda: 0.0)
    session.answer(session.live[0].id, True)
    session.close()


def _look(made: Evidence) -> None:
    lines = (
        ("list runs --json", "report"),
        ("compare runs/first runs/second --json", "comparison"),
        ("agree runs --json", "agreement"),
        ("show runs/first/files--1 --json", "show"),
        ("show runs/second/judged --json", "show"),
        ("show runs/first/plain--1 --trace --json", "show-trace"),
        ("show runs/second/plain --trace --json", "show-trace"),
        ("show runs/first/plain--1 --history --json", "history"),
        ("check proved --json", "check"),
        ("verify runs --json", "verify"),
        ("tests suite --json", "tests"),
        ("tests typed --json", "tests"),
        ("config --json", "config"),
        ("config --faults --json", "faults"),
        ("doctor --json", "doctor"),
        ("schema --list --json", "schemas"),
    )
    for line, name in lines:
        made.type(line, name)
    for table in ("runs", "grades", "labels", "events"):
        made.type(f"export runs --table {table} -o {table}.jsonl")
        made.keep(f"export-{table}", (made.root / f"{table}.jsonl").read_text(), is_lines=True)
