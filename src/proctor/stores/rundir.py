"""A run directory: this file owns every path in it, and how its files are read and written."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from proctor.errors import StoreError
from proctor.records.annotation import ROW_VERSION, Annotations, LabelRow, RetractRow, Row, ScoreRow
from proctor.records.changes import Changes
from proctor.records.json_value import Json
from proctor.records.run import RUN_SCHEMA, GradersRef, RunFacts
from proctor.records.trace import Trace
from proctor.stores import rows
from proctor.stores.tracefile import read_trace

FACTS: Final = "run.json"
ANNOTATIONS: Final = "annotations.jsonl"
OUTPUT: Final = "output.json"
STDOUT: Final = "stdout.log"
STDERR: Final = "stderr.log"
WORKDIR: Final = "workdir"
GRADERS: Final = "graders"
INPUTS: Final = "inputs"
HOLDOUT: Final = "holdout"
FIXTURE: Final = "files"
ARTIFACT: Final = "artifact"
CHANGES: Final = "changes.json"
NOTES: Final = "notes.md"

INLINE_OUTPUT_BYTES: Final = 64 * 1024
"""A larger output is kept in a file of its own, so that listing many runs stays quick."""

_read_facts: Final = msgspec.json.Decoder(RunFacts)
_read_changes: Final = msgspec.json.Decoder(Changes)
_read_row: Final = msgspec.json.Decoder(Row)
_encoder: Final = msgspec.json.Encoder()


class RunDir:
    """One run directory on disk."""

    __slots__ = ("_place",)

    def __init__(self, path: Path | str) -> None:
        # Very many runs are held and read: a text is smaller than a Path, and put together faster.
        self._place = os.fspath(path)

    @property
    def path(self) -> Path:
        """Where it lies."""
        return Path(self._place)

    @property
    def name(self) -> str:
        """Name of the folder."""
        return os.path.basename(self._place)  # noqa: PTH119

    @property
    def workdir(self) -> Path:
        """The files as the agent left them."""
        return self.path / WORKDIR

    def absolute(self, name: str) -> str:
        """Absolute path of one of its files or folders, as a text."""
        return os.path.abspath(f"{self._place}/{name}")  # noqa: PTH100

    @property
    def holdout(self) -> Path:
        """The files that the agent never saw; there is no such folder when the test has none."""
        return self.path / INPUTS / HOLDOUT

    @property
    def fixture(self) -> Path:
        """The files that the workdir started with; there only when a grader of the test reads them."""
        return self.path / INPUTS / FIXTURE

    @property
    def artifact(self) -> Path:
        """What the agent carried to be tested; there is no such folder when it carried nothing."""
        return self.path / INPUTS / ARTIFACT

    def graders_archive(self, ref: GradersRef) -> Path:
        """The stored grading code."""
        return self.path / GRADERS / ref.archive_name

    def facts(self) -> RunFacts:
        """What ran and how it ended.

        Raises:
            StoreError: `run.json` is missing, of a newer format, or not what it should be.
        """
        where = f"{self._place}/{FACTS}"
        try:
            content = _content(where)
        except OSError as error:
            raise StoreError(
                f"the run's facts cannot be read: {error.strerror}",
                where=where,
                fix="Name a run directory that proctor wrote, or a folder of them.",
            ) from error
        try:
            facts = _read_facts.decode(content)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise StoreError(
                f"the run's facts are not readable: {error}",
                where=where,
                fix="The file was changed or is of a newer format; restore it, or use a newer proctor.",
            ) from error
        if facts.schema != RUN_SCHEMA:
            raise StoreError(
                f"the run's facts are of format {facts.schema!r}; this proctor reads {RUN_SCHEMA!r}",
                where=where,
                fix="Use the version of proctor that wrote it, or a newer one.",
            )
        return facts

    def output(self, facts: RunFacts) -> Json:
        """What the agent answered, wherever it is kept.

        Raises:
            StoreError: the file that holds a large output cannot be read.
        """
        if facts.output_file is None:
            return facts.output
        path = self.path / OUTPUT
        try:
            return msgspec.json.decode(path.read_bytes())
        except (OSError, msgspec.DecodeError) as error:
            raise StoreError(
                f"the run's output cannot be read: {error}", where=str(path), fix="Restore the file."
            ) from error

    def trace(self, facts: RunFacts) -> Trace | None:
        """What the trace of the run says; None for a run without one."""
        return read_trace(self._place, facts.trace)

    def changes(self, facts: RunFacts) -> Changes | None:
        """What the agent did to the files that it was given; None where that was not recorded, or is not readable."""
        if not facts.has_changes:
            return None
        if CHANGES not in facts.files:
            return Changes()
        try:
            return _read_changes.decode(_content(f"{self._place}/{CHANGES}"))
        except (OSError, msgspec.DecodeError):
            return None

    def score_rows(self) -> tuple[ScoreRow, ...]:
        """What graders said, in the order of appending.

        Raises:
            StoreError: the file cannot be read.
        """
        return self.annotations().scores

    def annotations(self) -> Annotations:
        """All rows, in the order of appending. A torn last line is somebody's unfinished append, and no row yet.

        Raises:
            StoreError: the file cannot be read.
        """
        scores: list[ScoreRow] = []
        retractions: list[RetractRow] = []
        labels: list[LabelRow] = []
        unread = 0
        for line in rows.lines(f"{self._place}/{ANNOTATIONS}"):
            try:
                row = _read_row.decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError):
                unread += 1
                continue
            if row.v > ROW_VERSION:
                unread += 1
            elif isinstance(row, ScoreRow):
                scores.append(row)
            elif isinstance(row, LabelRow):
                labels.append(row)
            else:
                retractions.append(row)
        return Annotations(
            scores=tuple(scores), retractions=tuple(retractions), labels=tuple(labels), unread=unread
        )

    def append(self, new: Sequence[Row]) -> bytes:
        """Add whole rows in one write. What a killed writer left behind is set aside, and returned.

        Raises:
            StoreError: the file cannot be written, or another process is writing and does not end.
        """
        return rows.append(f"{self._place}/{ANNOTATIONS}", _encoder.encode_lines(new))

    def append_once(self, row: LabelRow) -> bool:
        """Add a row unless one with its id is there; True when it was added.

        Raises:
            StoreError: the file cannot be written, or another process is writing and does not end.
        """
        mark = f'"id":"{row.id}"'.encode()
        return rows.append_once(f"{self._place}/{ANNOTATIONS}", _encoder.encode(row) + b"\n", mark)


def _content(path: str) -> bytes:
    with open(path, "rb", buffering=0) as file:  # noqa: PTH123
        return file.readall()
