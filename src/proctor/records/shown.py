"""What commands print as one JSON document, where that is no record of its own elsewhere."""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from proctor.records.changes import Changes
from proctor.records.json_value import Json
from proctor.records.report import RunReport
from proctor.records.run import RunFacts
from proctor.records.trace import Event, Metrics, Trace

SHOW_SCHEMA: Final = "proctor.show/1"
TRACE_SCHEMA: Final = "proctor.trace/1"
HISTORY_SCHEMA: Final = "proctor.history/1"
ADDED_SCHEMA: Final = "proctor.added/1"
DOCTOR_SCHEMA: Final = "proctor.doctor/1"
INIT_SCHEMA: Final = "proctor.init/1"


class ShowDocument(msgspec.Struct, frozen=True, kw_only=True):
    """What `proctor show --json` prints.

    Attributes:
        facts: what ran and how it ended, as `run.json` says it.
        output: what the agent answered, wherever it is kept.
        report: what the grades come to.
        events: the model calls and tool calls of its trace.
        at_least: what those add up to that can be read; None for a run without a trace.
        changes: what the agent did to its files; None where that was not recorded.
    """

    schema: str = SHOW_SCHEMA
    facts: RunFacts
    output: Json
    report: RunReport
    events: tuple[Event, ...] = ()
    at_least: Metrics | None = None
    changes: Changes | None = None


class TraceDocument(msgspec.Struct, frozen=True, kw_only=True):
    """What `proctor show --trace --json` prints.

    Attributes:
        trace: None for a run without one.
    """

    schema: str = TRACE_SCHEMA
    trace: Trace | None


class Withdrawal(msgspec.Struct, frozen=True, kw_only=True):
    """That a round of grades was withdrawn.

    Attributes:
        by: who did it.
        why: the reason, in a sentence.
    """

    by: str
    why: str


class HistoryRound(msgspec.Struct, frozen=True, kw_only=True):
    """One round of grades of a run.

    Attributes:
        round: its id.
        at: when, ISO 8601 in UTC.
        rows: how many rows of it there are.
        size: how many there have to be; a round with fewer counts for nothing.
        in_force: it is the round that counts.
        objective: what it comes to; None for a round that is not complete, or when missing grades could change it.
        annotators: who graded, by revision.
        withdrawn: None for one that was not.
    """

    round: str
    at: str
    rows: int
    size: int
    in_force: bool
    objective: float | None
    annotators: tuple[str, ...]
    withdrawn: Withdrawal | None


class History(msgspec.Struct, frozen=True, kw_only=True):
    """What `proctor show --history --json` prints.

    Attributes:
        rounds: oldest first.
        unread_rows: rows that this version does not understand.
    """

    schema: str = HISTORY_SCHEMA
    rounds: tuple[HistoryRound, ...]
    unread_rows: int


class Added(msgspec.Struct, frozen=True, kw_only=True):
    """What `proctor add --json` prints.

    Attributes:
        group: the group's folder.
        wrote: names of the run directories that were made.
        skipped: names of those that were there already.
    """

    schema: str = ADDED_SCHEMA
    group: str
    wrote: tuple[str, ...]
    skipped: tuple[str, ...]


class ShownSetting(msgspec.Struct, frozen=True, kw_only=True):
    """One setting, as `proctor config --json` prints it by its key.

    Attributes:
        value: None where it has none.
        origin: the line of a file, or `default`.
        meaning: what it is for.
    """

    value: Json
    origin: str
    meaning: str


class ListedSchema(msgspec.Struct, frozen=True, kw_only=True):
    """One schema, as `proctor schema --list --json` prints it.

    Attributes:
        name: what `proctor schema` calls it.
        version: of the format.
        id: its address, which names its version.
        kind: who makes such a file: people `written`, proctor in a group `recorded`, a command `printed`.
        file: the file, or the command, that it describes.
        is_lines: the file holds one such value a line.
        describes: what that is, in a sentence.
    """

    name: str
    version: int
    id: str
    kind: str
    file: str
    is_lines: bool
    describes: str


class Scaffolded(msgspec.Struct, frozen=True, kw_only=True):
    """What `proctor init --json` prints.

    Attributes:
        folder: where the files were written.
        agent: the kind of agent that they are for.
        files: what was written, relative to the folder.
        next: commands that can be typed now, in that folder.
    """

    schema: str = INIT_SCHEMA
    folder: str
    agent: str
    files: tuple[str, ...]
    next: tuple[str, ...]


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that proctor uses.

    Attributes:
        kind: a `program`, a `library`, or a part of the `system`.
        name: what it is called.
        version: None when it is not there.
        where: its path.
        extra: of a library, the extra of proctor's package that brings it; None for one that is always there.
        serves: what it is for, when proctor can do without it.
        get: how to get it, when it is not there.
    """

    kind: Literal["system", "program", "library"]
    name: str
    version: str | None
    where: str | None = None
    extra: str | None = None
    serves: str | None = None
    get: str | None = None


class ModelProvider(msgspec.Struct, frozen=True, kw_only=True):
    """Whether models of one provider can be asked. No key is shown, and nobody is asked.

    Attributes:
        name: as in PROVIDER/NAME.
        host: where it answers, by host and port; empty where no variable says.
        key: the variable that holds its key; None where none is set.
        address: the variable that says where it answers; None for its usual place.
        is_ready: there is a key, or none is needed.
        get: what to set, when it is not ready.
    """

    name: str
    host: str
    key: str | None
    address: str | None
    is_ready: bool
    get: str | None = None


class JudgeModel(msgspec.Struct, frozen=True, kw_only=True):
    """Which model judges ask where nobody names another.

    Attributes:
        model: PROVIDER/NAME; None where none is configured.
        origin: the variable, or the line of the settings, that says so; None likewise.
        problem: why it cannot be asked; None where nothing speaks against it.
        get: what to do about that.
    """

    model: str | None
    origin: str | None
    problem: str | None = None
    get: str | None = None


class Left(msgspec.Struct, frozen=True, kw_only=True):
    """One process, control group or folder that was left behind.

    Attributes:
        kind: what it is: a `process`, a control `group`, or a `folder`.
        what: its command, or its path.
        pid: of a process.
        cleaned: it is gone now; None when that was not asked for.
    """

    kind: Literal["process", "group", "folder"]
    what: str
    pid: int | None = None
    cleaned: bool | None = None


class Findings(msgspec.Struct, frozen=True, kw_only=True):
    """What `proctor doctor --json` prints.

    Attributes:
        installed: what proctor uses, there or not.
        providers: whose models can be asked.
        judge: the model of judges.
        sandbox: whether there can be one here, tried out.
        limits: what can be held of all processes of a trial together.
        processes: living processes of proctors that are gone.
        groups: control groups of such.
        folders: folders of such.
    """

    schema: str = DOCTOR_SCHEMA
    installed: tuple[Item, ...]
    providers: tuple[ModelProvider, ...]
    judge: JudgeModel
    sandbox: str
    limits: str
    processes: tuple[Left, ...]
    groups: tuple[Left, ...]
    folders: tuple[Left, ...]
