"""What the program records and prints matches its schemas, and what it would refuse does not."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest

from proctor.cli.run_events import EventLines
from proctor.cli.run_watch import View
from proctor.records.annotation import Row
from proctor.records.changes import Changes
from proctor.records.checklist import Checklist
from proctor.records.label import Draft, Sample
from proctor.records.run import AttemptRow, GroupPlan, RunFacts
from proctor.records.verdict import PairVerdict
from proctor.schemas import SCHEMAS, schema
from proctor.stores.manifest import Manifest
from tests.judging.example_model import PROVIDER, example
from tests.judging.scripted_server import ScriptedServer
from tests.schemas.evidence import Evidence, make_evidence

READ_INTO: Mapping[str, Any] = {
    "group": GroupPlan,
    "attempt": AttemptRow,
    "run": RunFacts,
    "workdir": Manifest,
    "changes": Changes,
    "annotation": Row,
    "revision": Checklist,
    "draft": Draft,
    "sample": Sample,
    "verdict": PairVerdict,
}
RECORDED = [one.name for one in SCHEMAS if one.kind == "recorded"]
PRINTED = [one.name for one in SCHEMAS if one.kind == "printed" and one.name != "init"]
"""What `proctor init` prints is looked at where that is tested."""


pytestmark = pytest.mark.xdist_group("evidence")  # it is made once, and takes a while


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Evidence]:
    """Made once: every command was used."""
    with ScriptedServer(example) as server:
        model = {f"{PROVIDER.upper()}_BASE_URL": server.base_url}
        yield make_evidence(tmp_path_factory.mktemp("evidence"), model)


@cache
def validator(name: str) -> Any:
    return jsonschema.Draft202012Validator(schema(name))


def problems(name: str, value: Any) -> list[str]:
    """What the schema says against a value."""
    return [f"{error.json_path}: {error.message[:200]}" for error in validator(name).iter_errors(value)]


def recorded(evidence: Evidence, name: str) -> list[Any]:
    return [value for found, _, value in evidence.recorded() if found == name]


@pytest.mark.parametrize("name", RECORDED)
def test_every_file_of_a_group_matches_its_schema(evidence: Evidence, name: str) -> None:
    """Each document and each line; of every kind there is at least one."""
    found = recorded(evidence, name)

    assert found
    assert [] == [problem for value in found for problem in problems(name, value)]


def test_rows_of_every_kind_were_looked_at(evidence: Evidence) -> None:
    """Scores with samples, defects, causes and judges; labels; withdrawals."""
    rows = recorded(evidence, "annotation")

    assert {"score", "label", "retract"} == {row["kind"] for row in rows}
    for field in ("samples", "defect", "cause", "judging", "evidence", "spread"):
        assert any(field in row for row in rows), field
    assert {"started", "ended"} == {row["event"] for row in recorded(evidence, "attempt")}
    assert {"ok", "error"} == {facts["ending"] for facts in recorded(evidence, "run")}
    assert any("parts" in plan for plan in recorded(evidence, "group"))
    assert any("shard" in plan for plan in recorded(evidence, "group"))


@pytest.mark.parametrize("name", PRINTED)
def test_everything_that_is_printed_matches_its_schema(evidence: Evidence, name: str) -> None:
    """What `--json` prints, and the tables and sheets in JSONL."""
    found = evidence.printed[name]

    assert found
    assert [] == [problem for value in found for problem in problems(name, value)]


def test_a_line_of_progress_matches_too(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """It is said once a minute, and nobody waits for it here."""
    view = View(
        planned=3,
        done=1,
        endings={"ok": 1},
        running=1,
        rows=(),
        again=0,
        elapsed_s=60.0,
        left_s=None,
        cost_usd=0.5,
        unpriced=0,
    )
    EventLines(Path("group"), "agent", "suite").on_minute(view)
    (line,) = capfdbinary.readouterr().out.splitlines()

    assert [] == problems("run-event", json.loads(line))
    assert problems("run-event", {**json.loads(line), "event": "started"})


@pytest.mark.parametrize("name", sorted(READ_INTO))
def test_a_planted_wrong_value_is_found(evidence: Evidence, name: str) -> None:
    """Every field in turn: of a type that it has not, or gone where it is needed; reading says the same."""
    (first, *_) = recorded(evidence, name)
    for field, wrong in planted(first):
        is_read = is_readable(name, wrong)

        assert is_read is not bool(problems(name, wrong)), (field, wrong.get(field))


def planted(value: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The value with one field less, and with one field of another type, for each of its fields."""
    for field in value:
        rest = {name: one for name, one in value.items() if name != field}
        if field not in ("schema", "v", "kind"):
            yield field, rest
            yield field, {**rest, field: [{"planted": {"deep": 1}}]}
            yield field, {**rest, field: 0.5}


def is_readable(name: str, value: Any) -> bool:
    try:
        msgspec.json.decode(json.dumps(value), type=READ_INTO[name])
    except msgspec.ValidationError:
        return False
    return True


@pytest.mark.parametrize("name", [name for name in RECORDED if name != "output"])
def test_another_version_is_no_document_of_this_one_and_a_further_field_is(
    evidence: Evidence, name: str
) -> None:
    """Additions are passed over, as readers pass over them."""
    (first, *_) = recorded(evidence, name)

    assert [] == problems(name, {**first, "added_later": {"a": 1}})
    for field, other in (("schema", "proctor.something/2"), ("v", 2)):
        if field in first:
            assert problems(name, {**first, field: other})


def test_a_torn_trace_line_is_no_span(evidence: Evidence) -> None:
    """Identifiers are hexadecimal, times are numbers, and a document has resources."""
    (first, *_) = recorded(evidence, "trace")
    span = first["resourceSpans"][0]["scopeSpans"][0]["spans"][0]

    assert problems("trace", {})
    for field, wrong in (("traceId", "not hexadecimal"), ("startTimeUnixNano", "noon"), ("name", 3)):
        before, span[field] = span[field], wrong
        assert problems("trace", first), field
        span[field] = before
