"""Which schemas there are: their names and versions, what each is the schema of, and what it is made of."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final, Literal, NamedTuple, TypeAlias

import msgspec

from proctor.core.faults import FaultTable
from proctor.engine.verifying import Verification
from proctor.errors import UnknownName, did_you_mean
from proctor.loading.schemas import SCHEMA_NAMES, SchemaName, written_schema
from proctor.records.agreement import AgreementReport
from proctor.records.annotation import ROW_VERSION, Row
from proctor.records.changes import Changes
from proctor.records.checklist import CHECKLIST_SCHEMA, Checklist
from proctor.records.comparison import Comparison
from proctor.records.export import TABLES
from proctor.records.json_value import Json
from proctor.records.label import DRAFT_SCHEMA, SAMPLE_SCHEMA, Draft, Sample
from proctor.records.merged import Merged
from proctor.records.proof import SuiteProof
from proctor.records.report import Report
from proctor.records.run import GROUP_SCHEMA, RUN_SCHEMA, AttemptRow, Cell, GroupPlan, RunFacts
from proctor.records.run_events import EVENTS
from proctor.records.sheet import SheetRow
from proctor.records.shown import (
    Added,
    Findings,
    History,
    ListedSchema,
    Scaffolded,
    ShowDocument,
    ShownSetting,
    TraceDocument,
)
from proctor.records.suite import Test
from proctor.records.verdict import PairVerdict
from proctor.schemas.of_messages import trace_line_schema
from proctor.schemas.of_records import record_schema, row_schema, union_schema
from proctor.stores.manifest import Manifest

_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"

Kind: TypeAlias = Literal["written", "recorded", "printed"]
"""Who makes the file: people `written`, proctor in a run directory or group `recorded`, a command `printed`."""


class Published(NamedTuple):
    """One schema.

    Attributes:
        name: what `proctor schema` calls it.
        file: the file, or the command, that it describes.
        describes: what that is, in a sentence.
        make: a new document, less what every schema has.
        kind: who makes such a file.
        is_lines: the file holds one such value a line.
        version: of the format; the next one follows when what matched before would match no more.
    """

    name: str
    file: str
    describes: str
    make: Callable[[], dict[str, Json]]
    kind: Kind
    is_lines: bool = False
    version: int = 1

    @property
    def id(self) -> str:
        """Its address, which names its version."""
        return f"urn:proctor:schema:{self.name}:{self.version}"


def _written() -> tuple[Published, ...]:
    files: dict[SchemaName, tuple[str, str]] = {
        "suite": (
            "suite.json, suite.yaml",
            "A file with a list of tests, or what all tests of a folder share.",
        ),
        "test": ("test.json, test.yaml", "A test in a file of its own."),
        "checklist": ("a checklist", "Questions that people answer about recorded runs."),
        "judge": ("a judge file", "The front matter of a judge file: how its model is asked."),
        "settings": ("proctor.toml", "The settings of a project; also [tool.proctor] in pyproject.toml."),
    }
    return tuple(
        Published(name, *files[name], partial(written_schema, name), "written") for name in SCHEMA_NAMES
    )


def _recorded() -> tuple[Published, ...]:
    def one(
        name: str, file: str, describes: str, record: object, *, is_lines: bool = False, **constants: Json
    ) -> Published:
        return Published(
            name,
            file,
            describes,
            partial(record_schema, record, constants=constants),
            "recorded",
            is_lines,
        )

    return (
        one(
            "group", "group.json", "What was planned before the first trial.", GroupPlan, schema=GROUP_SCHEMA
        ),
        one(
            "attempt", "attempts.jsonl", "That a trial has started or ended.", AttemptRow, is_lines=True, v=1
        ),
        one("run", "run.json", "What ran, and how it ended.", RunFacts, schema=RUN_SCHEMA),
        Published("output", "output.json", "What the agent answered: any JSON.", dict, "recorded"),
        Published(
            "trace",
            "trace.jsonl",
            "Spans in OTLP/JSON, as OpenTelemetry's Collector writes them.",
            trace_line_schema,
            "recorded",
            is_lines=True,
        ),
        one("workdir", "workdir.json", "What the workdir held.", Manifest),
        one("changes", "changes.json", "What the agent did to the files of the test.", Changes),
        one(
            "annotation",
            "annotations.jsonl",
            "A grade, a label, or a withdrawal.",
            Row,
            is_lines=True,
            v=ROW_VERSION,
        ),
        one(
            "revision",
            "checklists/ID/N.json",
            "A published revision of a checklist.",
            Checklist,
            schema=CHECKLIST_SCHEMA,
        ),
        one(
            "draft",
            "checklists/ID/drafts/KEY.json",
            "What a person has not signed off.",
            Draft,
            schema=DRAFT_SCHEMA,
        ),
        one(
            "sample",
            "checklists/ID/samples/ID.json",
            "A random sample of runs, as it was drawn.",
            Sample,
            schema=SAMPLE_SCHEMA,
        ),
        one(
            "verdict",
            "A.vs.B.verdict.json, judge --json",
            "What a judge says of two groups, pair by pair.",
            PairVerdict,
        ),
    )


def _printed() -> tuple[Published, ...]:
    def one(name: str, command: str, describes: str, record: object) -> Published:
        return Published(name, f"proctor {command}", describes, partial(record_schema, record), "printed")

    tables = tuple(
        Published(
            f"export-{name}",
            f"proctor export --table {name}",
            f"A row of the table of {name}.",
            partial(row_schema, columns),
            "printed",
            is_lines=True,
        )
        for name, columns in TABLES.items()
    )
    return (
        one("report", "grade --json, list --json", "What recorded runs come to.", Report),
        one("comparison", "compare --json", "Groups side by side, and what that decides.", Comparison),
        one("agreement", "agree --json", "How far people and graders agree.", AgreementReport),
        one("show", "show --json", "One run, whole.", ShowDocument),
        one("show-trace", "show --trace --json", "The calls that a trace tells of.", TraceDocument),
        one("history", "show --history --json", "All rounds of grades of a run.", History),
        one("check", "check --json", "What a suite's solutions prove about its graders.", SuiteProof),
        one("merge", "merge --json", "What was put together from which groups.", Merged),
        one("verify", "verify --json", "What was changed after it was recorded.", Verification),
        one("added", "add --json", "Which runs were made of traces.", Added),
        one("tests", "tests --json", "The tests of a suite.", tuple[Test, ...]),
        one("trials", "run --dry-run --json", "The trials that would be run.", tuple[Cell, ...]),
        Published(
            "run-event",
            "proctor run --json",
            "One thing that happened in a run.",
            partial(union_schema, EVENTS),
            "printed",
            is_lines=True,
        ),
        one("config", "config --json", "Every setting by its key.", dict[str, ShownSetting]),
        one("faults", "config --faults --json", "Whose fault each way to end is.", FaultTable),
        one("doctor", "doctor --json", "What is installed, and what was left behind.", Findings),
        one("schemas", "schema --list --json", "Every schema that there is.", tuple[ListedSchema, ...]),
        one("init", "init --json", "What was scaffolded.", Scaffolded),
        Published(
            "sheet",
            "proctor label --export",
            "An answer of a sheet of labels, or the place for one.",
            partial(record_schema, SheetRow),
            "printed",
            is_lines=True,
        ),
        *tables,
    )


SCHEMAS: Final = (*_written(), *_recorded(), *_printed())
"""Every schema: of what people write, of what proctor records, of what it prints."""


def published(name: str) -> Published:
    """The entry of a schema.

    Raises:
        UnknownName: there is none of this name.
    """
    found = next((one for one in SCHEMAS if one.name == name), None)
    if found is None:
        near = did_you_mean(name, [one.name for one in SCHEMAS])
        raise UnknownName(
            f"there is no schema {name!r}",
            fix=(f"Did you mean {near!r}? " if near else "") + "`proctor schema --list` names all of them.",
        )
    return found


def schema(name: str) -> dict[str, Json]:
    """The JSON Schema of a name, as a new document. Of a file of lines, that of one line.

    A file that does not match is not as proctor writes it, or would be refused. The reverse does not hold: that ids
    are unique, that digests are true, and that folders exist, only reading finds out.

    Raises:
        UnknownName: there is none of this name.
    """
    one = published(name)
    made = msgspec.json.decode(msgspec.json.encode(one.make()))
    said = {"title": one.file, "description": one.describes}
    return {"$schema": _DIALECT, "$id": one.id, **said, **made}


def file_name(name: str) -> str:
    """The name of the file that a schema is published as: `run.v1.json`.

    Raises:
        UnknownName: there is none of this name.
    """
    return f"{name}.v{published(name).version}.json"
