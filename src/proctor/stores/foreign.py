"""A run directory that the Agency language's own tool made: read in place, and never changed but for new annotations.

It holds a statelog.jsonl, and an annotations.jsonl whose rows `run` and `score` are that tool's. Where those are
not what they should be, they are left out as if they were not there, as that tool does.
"""

from __future__ import annotations

import math
import os
import re
from pathlib import Path
from typing import Any, Final, Literal, cast

import msgspec
from msgspec import UNSET, UnsetType

from proctor.core.json_lines import NotJson, decoded
from proctor.core.trace_statelog import Statelog, Story, moment
from proctor.errors import StoreError
from proctor.records.annotation import (
    ROW_VERSION,
    Annotations,
    Annotator,
    LabelRow,
    RetractRow,
    Row,
    ScoreRow,
)
from proctor.records.grade import Cause, Defect, Outcome
from proctor.records.json_value import Json
from proctor.records.run import (
    RUN_SCHEMA,
    AgentIdentity,
    Ending,
    GradersRef,
    Limits,
    Platform,
    RunFacts,
    SuiteRef,
)
from proctor.records.suite import Test
from proctor.records.trace import Trace
from proctor.stores import rows
from proctor.stores.rundir import ANNOTATIONS, RunDir
from proctor.stores.statelog import STATELOG, read_statelog

KIND: Final = "agency"
"""What kind of agent the runs of that tool are of."""

_ENDINGS: Final = {
    "ok": Ending.OK,
    "error": Ending.ERROR,
    "timeout": Ending.TIMEOUT,
    "cost-cap": Ending.COST_CAP,
    # It says so of runs that the operator ended with Ctrl-C.
    "killed": Ending.INTERRUPTED,
}
_FOLDERS: Final = re.compile(r"""(?:(?<=[\s='",(])|^)(?:[A-Za-z]:)?[/\\](?:[^\s/\\'"]+[/\\])+""")


class _TheirTest(msgspec.Struct, rename="camel"):
    id: str
    input: Json | UnsetType = UNSET
    expected: Json | UnsetType = UNSET
    goal: str | None = None
    tags: tuple[str, ...] = ()
    description: str | None = None
    metadata: dict[str, Json] | None = None
    timeout_sec: float | None = None


class _RunRow(msgspec.Struct, rename="camel", tag_field="kind", tag="run"):
    trace_id: str
    test: _TheirTest
    ended: str
    created_at: str = ""
    suite: dict[str, Any] | None = None
    graders: dict[str, Any] | None = None
    flags: dict[str, Any] | None = None
    error: str | None = None
    trial: int = 1


class _Binary(msgspec.Struct, tag_field="kind", tag="binary"):
    passes: bool = msgspec.field(name="pass")


class _Scalar(msgspec.Struct, tag_field="kind", tag="scalar"):
    value: float


class _TheirAnnotator(msgspec.Struct):
    kind: Literal["human", "grader", "judge", "harness"]
    id: str


class _TheirScore(msgspec.Struct, rename="camel", tag_field="kind", tag="score"):
    id: str
    trace_id: str
    created_at: str
    annotator: _TheirAnnotator
    pass_id: str
    pass_size: int
    name: str
    score: _Binary | _Scalar
    weight: float
    must_pass: bool
    feedback: str | None = None


_read_ours: Final = msgspec.json.Decoder(Row)
_read_theirs: Final = msgspec.json.Decoder(_RunRow | _TheirScore)


class StatelogRun(RunDir):
    """A run directory of that tool.

    Args:
        path: the folder, which holds a statelog.jsonl.
        name: what it is called in its group, where that is not the folder's name.
    """

    def __init__(self, path: Path, name: str | None = None) -> None:
        super().__init__(path)
        self._name = name

    @property
    def name(self) -> str:
        """Name of the folder, or `test/trial` in a group that has a folder for each test."""
        return self._name or self.path.name

    @property
    def test_id(self) -> str | None:
        """The test that the last run row names; None without one."""
        try:
            their_rows = self._their_runs()
        except StoreError:
            return None
        return their_rows[-1].test.id if their_rows else None

    def graders_archive(self, ref: GradersRef) -> Path:
        """There is none: what is stored is not ours to run."""
        raise AssertionError(ref)

    def why_ungradable(self) -> str | None:
        """Why the graders that the run holds cannot be used; None when it holds none."""
        try:
            row = self._row_of(self._log())
        except StoreError:
            return None
        if row is None or not row.graders:
            return None
        named = row.graders.get("source")
        module = _without_folders(named) if isinstance(named, str) else "its module"
        return (
            f"the graders of this run are JavaScript ({module}), which proctor does not run; write them in Python "
            f"and grade with --suite SUITE, whose tests have the same ids"
        )

    def facts(self) -> RunFacts:
        """What the run row and the statelog tell; the row comes first.

        Raises:
            StoreError: they tell of no run, or of several.
        """
        log = self._log()
        row, story = self._row_of(log), log.stories[0] if log.stories else None
        if story is None and row is None:
            raise StoreError(
                "the statelog is empty, and no row of annotations.jsonl says what was run",
                where=self._place,
                fix="Restore the files, or remove the folder.",
            )
        test = _test(row.test) if row else Test(id=self.path.name)
        ending, error = _ending(row, story, self._place)
        return RunFacts(
            schema=RUN_SCHEMA,
            run=story.trace_id if story else cast("_RunRow", row).trace_id,
            test=test,
            trial=max(1, row.trial) if row else 1,
            attempt=1,
            ending=ending,
            output=story.output if story else None,
            defect=Defect(type=ending.value, message=error) if error else None,
            notes=_notes(log),
            agent=AgentIdentity(kind=KIND, label=_label(row, story), digest=story.code if story else None),
            suite=SuiteRef(name=_suite(row)),
            test_digest=test.digest,
            input_digest=test.input_digest,
            limits=Limits() if test.timeout is None else Limits(timeout_s=test.timeout),
            started_at=story.started_at if story else "",
            ended_at=(story.ended_at if story else "") or _time_of(row),
            duration_s=story.duration_s if story else 0.0,
            platform=Platform(proctor="", python="", system="", machine=""),
            workdir=self.workdir.is_dir(),
        )

    def trace(self, facts: RunFacts) -> Trace | None:
        """What the statelog says; None for a run that wrote none."""
        stories = self._log().stories
        return next((story.trace for story in stories if story.trace_id == facts.run), None)

    def annotations(self) -> Annotations:
        """The scores of that tool, and the rows that proctor appended, in the order of appending.

        Raises:
            StoreError: the file cannot be read.
        """
        log = self._log()
        row = self._row_of(log)
        run = log.stories[0].trace_id if log.stories else row.trace_id if row else ""
        scores: list[ScoreRow] = []
        retractions: list[RetractRow] = []
        labels: list[LabelRow] = []
        unread = 0
        for line in rows.lines(f"{self._place}/{ANNOTATIONS}"):
            try:
                ours = _read_ours.decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                theirs = _theirs(line)
                if isinstance(theirs, _TheirScore) and theirs.trace_id == run and _is_usable(theirs):
                    scores.append(_score(theirs))
                continue
            if ours.v > ROW_VERSION:
                unread += 1
            elif isinstance(ours, ScoreRow):
                scores.append(ours)
            elif isinstance(ours, LabelRow):
                labels.append(ours)
            else:
                retractions.append(ours)
        return Annotations(
            scores=tuple(scores), retractions=tuple(retractions), labels=tuple(labels), unread=unread
        )

    def _log(self) -> Statelog:
        return read_statelog(f"{self._place}/{STATELOG}")

    def _row_of(self, log: Statelog) -> _RunRow | None:
        """The last run row of the trace; of a run that wrote none, the last run row.

        Raises:
            StoreError: the statelog holds several traces.
        """
        if len(log.stories) > 1:
            names = ", ".join(repr(story.trace_id) for story in log.stories[:5])
            raise StoreError(
                f"the statelog holds {len(log.stories)} traces, and a run has one: {names}",
                where=f"{self._place}/{STATELOG}",
                fix="Make a run of each: proctor add GROUP --trace FILE.",
            )
        wanted = log.stories[0].trace_id if log.stories else None
        found = [row for row in self._their_runs() if wanted is None or row.trace_id == wanted]
        return found[-1] if found else None

    def _their_runs(self) -> list[_RunRow]:
        found = (_theirs(line) for line in rows.lines(f"{self._place}/{ANNOTATIONS}") if b'"run"' in line)
        return [row for row in found if isinstance(row, _RunRow)]


def is_statelog_run(folder: str) -> bool:
    """True for a folder that holds a statelog.jsonl."""
    return os.path.isfile(f"{folder}/{STATELOG}")  # noqa: PTH113


def _theirs(line: bytes) -> _RunRow | _TheirScore | None:
    try:
        return decoded(_read_theirs, line)
    except NotJson:
        return None


def _is_usable(row: _TheirScore) -> bool:
    return row.pass_size > 0 and math.isfinite(row.weight) and row.weight >= 0


def _score(row: _TheirScore) -> ScoreRow:
    """Their row as one of ours. They record no bar: a scalar passes at 0."""
    is_binary = isinstance(row.score, _Binary)
    value = float(row.score.passes) if isinstance(row.score, _Binary) else row.score.value
    cause, feedback = None, row.feedback or ""
    if 0 <= value <= 1:
        outcome = Outcome.FAIL if is_binary and not value else Outcome.PASS
    else:
        outcome, cause = Outcome.INCONCLUSIVE, Cause.GRADER_RETURNED_NONSENSE
        feedback = (
            f"the score {value:g} was recorded, and a score is a number from 0 to 1. {feedback}".rstrip()
        )
    return ScoreRow(
        v=ROW_VERSION,
        id=row.id,
        run=row.trace_id,
        at=row.created_at,
        annotator=Annotator(
            kind="grader" if row.annotator.kind == "harness" else row.annotator.kind,
            id=_without_folders(row.annotator.id),
        ),
        round_id=row.pass_id,
        round_size=row.pass_size,
        name=row.name,
        scale="binary" if is_binary else "scalar",
        score=None if cause else value,
        outcome=outcome,
        weight=row.weight,
        must_pass=row.must_pass,
        feedback=feedback,
        cause=cause,
    )


def _test(said: _TheirTest) -> Test:
    return Test(
        id=said.id,
        input=said.input,
        expected=said.expected,
        goal=said.goal,
        tags=said.tags,
        description=said.description,
        metadata=said.metadata or {},
        timeout=said.timeout_sec,
    )


def _ending(row: _RunRow | None, story: Story | None, where: str) -> tuple[Ending, str]:
    """How the run ended, and what was said of it."""
    if row is None:
        assert story is not None
        if story.ending is Ending.INTERRUPTED:
            return story.ending, "the statelog breaks off before the agent's end"
        return story.ending, story.error if story.ending is Ending.ERROR else ""
    if row.ended not in _ENDINGS:
        raise StoreError(
            f"the run row says that the run ended with {row.ended!r}, which proctor does not know",
            where=f"{where}/{ANNOTATIONS}",
            fix=f"It reads {', '.join(_ENDINGS)}.",
        )
    return _ENDINGS[row.ended], row.error or ""


def _label(row: _RunRow | None, story: Story | None) -> str:
    """The name that the agent gave itself, else what the user had typed, without the folders of that machine."""
    named = (row.flags or {}).get("agent") if row else None
    return _without_folders(
        (story.agent if story else None) or (named if isinstance(named, str) else "") or KIND
    )


def _suite(row: _RunRow | None) -> str:
    source = (row.suite or {}).get("source") if row else None
    return _without_folders(source) if isinstance(source, str) else ""


def _without_folders(text: str) -> str:
    """The text with its absolute paths cut to their last part.

    >>> _without_folders("node /home/me/cli.mjs {input}"), _without_folders("/home/me/a.agency:main")
    ('node cli.mjs {input}', 'a.agency:main')
    """
    return _FOLDERS.sub("", text)


def _time_of(row: _RunRow | None) -> str:
    at = moment(row.created_at) if row else None
    return at[1] if at else ""


def _notes(log: Statelog) -> tuple[str, ...]:
    notes = list[str]()
    if log.bad_count:
        line, why = log.bad[0]
        notes.append(f"{log.bad_count} lines of the statelog cannot be read; the first is line {line}: {why}")
    if log.is_torn:
        notes.append("the last line of the statelog was never finished")
    return tuple(notes)
