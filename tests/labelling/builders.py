"""Run directories as `proctor run` and `proctor grade` leave them, made without running anything."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from proctor.records.annotation import ROW_VERSION, Annotator, ScoreRow
from proctor.records.grade import Outcome
from proctor.records.run import RUN_SCHEMA, AgentIdentity, Ending, Platform, RunFacts, SuiteRef
from proctor.records.suite import Test
from proctor.stores.rundir import RunDir

AT = "2026-01-01T00:00:00.000+00:00"


def make_run(
    group: Path,
    name: str,
    *,
    output: Any = "an answer",
    ending: Ending = Ending.OK,
    files: Mapping[str, str] | None = None,
    test: Test | None = None,
    trial: int = 1,
) -> RunDir:
    """A run directory; its id is its group's and its own name, so that copies have the same."""
    test = test or Test(id=name, input=f"question {name}", expected="right")
    facts = RunFacts(
        schema=RUN_SCHEMA,
        run=f"run-{group.name}-{name}",
        test=test,
        trial=trial,
        attempt=1,
        ending=ending,
        output=output,
        agent=AgentIdentity(kind="function", label="agent.py:main"),
        suite=SuiteRef(name="suite"),
        test_digest=test.digest,
        input_digest=test.input_digest,
        started_at=AT,
        ended_at=AT,
        duration_s=1.0,
        platform=Platform(proctor="0", python="3", system="linux", machine="x"),
        workdir=bool(files),
    )
    folder = group / name
    folder.mkdir(parents=True)
    (folder / "run.json").write_bytes(msgspec.json.encode(facts))
    for path, text in (files or {}).items():
        (folder / "workdir" / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / "workdir" / path).write_text(text)
    return RunDir(folder)


def grade_run(
    run: RunDir,
    scores: Mapping[str, float | None],
    *,
    round_id: str = "round",
    revision: str = "judge@1:m",
    scale: str = "binary",
    samples: Sequence[float] = (),
    threshold: float = 0.0,
) -> None:
    """One complete round of a judge's grades."""
    rows = [
        ScoreRow(
            v=ROW_VERSION,
            run=run.facts().run,
            at=AT,
            annotator=Annotator(kind="judge", id=revision),
            round_id=round_id,
            round_size=len(scores),
            name=name,
            scale="binary" if scale == "binary" else "scalar",
            score=score,
            outcome=Outcome.INCONCLUSIVE if score is None else Outcome.PASS if score >= 0.5 else Outcome.FAIL,
            samples=tuple(samples),
            threshold=threshold,
        ).with_id()
        for name, score in scores.items()
    ]
    run.append(rows)


def checklist_file(folder: Path, *questions: Mapping[str, Any] | str, name: str = "good") -> Path:
    """A checklist as JSON."""
    path = folder / f"{name}.json"
    listed = [{"text": one} if isinstance(one, str) else dict(one) for one in questions]
    path.write_text(json.dumps({"name": name, "questions": listed or [{"text": "Is it right?"}]}))
    return path


def rows_of(run: Path) -> list[dict[str, Any]]:
    """The label rows of a run, as they stand on disk."""
    path = run / "annotations.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    return [row for row in rows if row["kind"] == "label"]
