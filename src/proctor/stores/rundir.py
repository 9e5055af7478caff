"""A run directory: this file owns every path in it, and how its files are read and written."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec

from proctor.errors import StoreError
from proctor.records.annotation import ScoreRow
from proctor.records.json_value import Json
from proctor.records.run import RUN_SCHEMA, GradersRef, RunFacts

FACTS: Final = "run.json"
ANNOTATIONS: Final = "annotations.jsonl"
OUTPUT: Final = "output.json"
STDOUT: Final = "stdout.log"
STDERR: Final = "stderr.log"
WORKDIR: Final = "workdir"
GRADERS: Final = "graders"
NOTES: Final = "notes.md"

INLINE_OUTPUT_BYTES: Final = 64 * 1024
"""A larger output is kept in a file of its own, so that listing many runs stays quick."""

_read_facts: Final = msgspec.json.Decoder(RunFacts)
_read_score: Final = msgspec.json.Decoder(ScoreRow)


class RunDir:
    """One run directory on disk."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def name(self) -> str:
        """Name of the folder."""
        return self.path.name

    @property
    def workdir(self) -> Path:
        """The files as the agent left them."""
        return self.path / WORKDIR

    @property
    def stdout(self) -> Path:
        """What the agent printed; there is no such file when that is nothing."""
        return self.path / STDOUT

    @property
    def stderr(self) -> Path:
        """What the agent printed to standard error; there is no such file when that is nothing."""
        return self.path / STDERR

    @property
    def annotations(self) -> Path:
        """The opinions about the run; there is no such file when there are none."""
        return self.path / ANNOTATIONS

    def graders_archive(self, ref: GradersRef) -> Path:
        """The stored grading code."""
        return self.path / GRADERS / ref.archive_name

    def facts(self) -> RunFacts:
        """What ran and how it ended.

        Raises:
            StoreError: `run.json` is missing, of a newer format, or not what it should be.
        """
        where = str(self.path / FACTS)
        try:
            content = (self.path / FACTS).read_bytes()
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

    def score_rows(self) -> tuple[ScoreRow, ...]:
        """All score rows, in the order of appending.

        A torn last line, rows of other kinds, and rows of a newer format are left where they are and not
        returned: a reader takes no lock and may come in the middle of an append.
        """
        return tuple(self._score_rows())

    def _score_rows(self) -> Iterator[ScoreRow]:
        try:
            content = self.annotations.read_bytes()
        except FileNotFoundError:
            return
        except OSError as error:
            raise StoreError(
                f"the annotations cannot be read: {error.strerror}",
                where=str(self.annotations),
                fix="Make the file readable.",
            ) from error
        # Lines end in \n only: text inside a row may hold any other line separator.
        for line in content.split(b"\n")[:-1]:
            try:
                yield _read_score.decode(line)
            except msgspec.DecodeError:
                continue

    def append(self, rows: Sequence[ScoreRow]) -> None:
        """Add whole rows in one write, under the file's lock.

        A line that a killed writer left half-written is ended first, so that the new rows stand on lines of
        their own.

        Raises:
            StoreError: the file cannot be written.
        """
        block = msgspec.json.Encoder().encode_lines(rows)
        try:
            descriptor = os.open(self.annotations, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX)
                end = os.lseek(descriptor, 0, os.SEEK_END)
                if end and os.pread(descriptor, 1, end - 1) != b"\n":
                    block = b"\n" + block
                _write_whole(descriptor, block, end)
            finally:
                os.close(descriptor)
        except OSError as error:
            raise StoreError(
                f"the grades cannot be written: {error.strerror}",
                where=str(self.annotations),
                fix="Make the run directory writable, or copy it to a place that is.",
            ) from error


def _write_whole(descriptor: int, block: bytes, end: int) -> None:
    """Write all of `block` or, on a full disk, none of it."""
    written = 0
    try:
        while written < len(block):
            written += os.write(descriptor, block[written:])
    except OSError:
        os.ftruncate(descriptor, end)
        raise
