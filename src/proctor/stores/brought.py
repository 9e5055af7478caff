"""Traces that other programs wrote: what is in a file of them, and one of them alone, as a run keeps it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple

import msgspec

from proctor.core.json_lines import BOM, NotJson, decoded
from proctor.core.trace_otlp import is_traces, spans_of, split_by_trace
from proctor.core.trace_received import priced
from proctor.core.trace_statelog import StatelogReader
from proctor.errors import Fault, StoreError
from proctor.models.prices import price_attributes
from proctor.records.json_value import Json
from proctor.records.run import Ending
from proctor.stores.foreign import KIND
from proctor.stores.lines import lines_of
from proctor.stores.statelog import STATELOG
from proctor.stores.tracefile import TRACE

_MOST_FAULTS: Final = 3
_NS: Final = 1_000_000_000


class FoundTrace(msgspec.Struct, frozen=True, kw_only=True):
    """One trace in a file.

    Attributes:
        path: the file.
        file: name of the file that keeps it in a run directory, which says of what kind it is.
        digest: of what is kept of it.
        ending: how it ended, as far as it says.
        error: what went wrong, by its own words.
        output: what it says that the agent answered; None when that is nothing.
        kind: what kind of agent it is of.
        agent: the name that the agent gave itself.
        started_at: ISO 8601 in UTC; empty when it does not say.
        ended_at: the same.
    """

    trace_id: str
    path: Path
    file: str
    digest: str
    ending: Ending
    error: str = ""
    output: Json = None
    kind: str = "trace"
    agent: str | None = None
    code: str | None = None
    started_at: str = ""
    ended_at: str = ""
    duration_s: float = 0.0


class _Piece(NamedTuple):
    """A line of a file and the trace that it is of; `""` for a torn end, which belongs to none that is known."""

    trace_id: str
    text: bytes


class _Peek(msgspec.Struct):
    trace_id: str | None = None


_peek: Final = msgspec.json.Decoder(_Peek)


def look_into(path: Path) -> tuple[FoundTrace, ...]:
    """The traces in a file: OTLP/JSON, one document or one a line, or a statelog.

    Raises:
        StoreError: the file cannot be read, holds no trace, or has lines that cannot be read; the first of them.
    """
    try:
        found = _statelog(path) if _is_statelog(path) else _otlp(path)
    except OSError as error:
        raise StoreError(
            f"the file cannot be read: {error.strerror}", where=str(path), fix="Name a file of traces."
        ) from error
    if not found:
        raise StoreError(
            "there is no trace in the file",
            where=str(path),
            fix="Name an OTLP/JSON export, or a statelog.jsonl.",
        )
    return found


def write_trace(trace: FoundTrace, target: BinaryIO) -> None:
    """Write one trace of a file, a line for each that it has there. A torn end goes with it, so that it shows.

    A model call that does not say what it cost gets what it cost by the prices of today, or why that cannot be told.

    Raises:
        StoreError: the file is not what it was when it was looked into.
    """
    digest = hashlib.sha256()
    pieces = _statelog_pieces if trace.file == STATELOG else _otlp_pieces
    try:
        for piece in pieces(trace.path):
            if piece.trace_id == trace.trace_id:
                digest.update(piece.text)
                target.write((piece.text if trace.file == STATELOG else _priced(piece.text)) + b"\n")
            elif not piece.trace_id:
                target.write(piece.text)
    except (OSError, NotJson) as error:
        raise _changed(trace) from error
    if digest.hexdigest() != trace.digest:
        raise _changed(trace)


def _priced(line: bytes) -> bytes:
    try:
        return priced(line, price_attributes)
    except (NotJson, RecursionError):
        return line


def _changed(trace: FoundTrace) -> StoreError:
    return StoreError(
        "the file was changed while it was read",
        where=str(trace.path),
        fix="Repeat the command when it rests.",
    )


def _is_statelog(path: Path) -> bool:
    for _, line, _ in lines_of(str(path)):
        try:
            return decoded(_peek, line).trace_id is not None
        except NotJson:
            return False
    return False


class _Tally:
    """What the spans of one trace come to."""

    def __init__(self) -> None:
        self.digest = hashlib.sha256()
        self.first_ns = self.last_ns = 0
        self.error: str | None = None


def _otlp(path: Path) -> tuple[FoundTrace, ...]:
    tallies: dict[str, _Tally] = {}
    faults: list[Fault] = []
    for number, line, is_open in _documents(path):
        try:
            parts = split_by_trace(line)
            for trace_id, part in parts.items():
                tallies.setdefault(trace_id, _Tally()).digest.update(part)
            for span in spans_of(line):
                tally = tallies[span.trace_id]
                if span.start_ns and (not tally.first_ns or span.start_ns < tally.first_ns):
                    tally.first_ns = span.start_ns
                tally.last_ns = max(tally.last_ns, span.end_ns)
                if not span.parent_id and span.error is not None:
                    tally.error = span.error
        except (NotJson, RecursionError) as error:
            if not is_open:
                fix = "Mend or remove the line, or export the traces again."
                faults.append(Fault(f"the line is no OTLP/JSON: {error}", f"{path}:{number}", fix))
            if len(faults) == _MOST_FAULTS:
                break
    if faults:
        raise StoreError.of(faults)
    return tuple(
        FoundTrace(
            trace_id=trace_id,
            path=path,
            file=TRACE,
            digest=tally.digest.hexdigest(),
            ending=Ending.OK if tally.error is None else Ending.ERROR,
            error=tally.error or "",
            started_at=_iso(tally.first_ns),
            ended_at=_iso(tally.last_ns),
            duration_s=round(max(0, tally.last_ns - tally.first_ns) / _NS, 6) if tally.first_ns else 0.0,
        )
        for trace_id, tally in tallies.items()
    )


def _otlp_pieces(path: Path) -> Iterator[_Piece]:
    for _, line, is_open in _documents(path):
        try:
            parts = split_by_trace(line)
        except (NotJson, RecursionError):
            if not is_open:
                raise
            yield _Piece("", line)
            continue
        for trace_id, part in parts.items():
            yield _Piece(trace_id, part)


def _documents(path: Path) -> Iterator[tuple[int, bytes, bool]]:
    """The documents of a file: line, text, and whether it has no line end. One over many lines is one."""
    for number, line, is_ended in lines_of(str(path)):
        if number == 1 and not _is_document(line):
            whole = path.read_bytes().removeprefix(BOM)
            if _is_document(whole):
                yield 1, whole, False
                return
        yield number, line, not is_ended


def _is_document(text: bytes) -> bool:
    try:
        is_traces(text)
    except NotJson:
        return False
    return True


def _statelog(path: Path) -> tuple[FoundTrace, ...]:
    reader, is_torn = StatelogReader(), False
    digests: dict[str, Any] = {}
    for number, line, is_ended in lines_of(str(path)):
        trace_id = reader.add(number, line, is_open=not is_ended)
        if trace_id is None:
            is_torn = not is_ended
        else:
            digests.setdefault(trace_id, hashlib.sha256()).update(line)
    log = reader.finish(is_torn=is_torn)
    if log.bad:
        fix = "Mend or remove the line."
        raise StoreError.of(
            Fault(f"the line is none of a statelog: {why}", f"{path}:{number}", fix)
            for number, why in log.bad
        )
    return tuple(
        FoundTrace(
            trace_id=story.trace_id,
            path=path,
            file=STATELOG,
            digest=digests[story.trace_id].hexdigest(),
            ending=story.ending,
            error=story.error if story.ending is Ending.ERROR else "",
            output=story.output,
            kind=KIND,
            agent=story.agent,
            code=story.code,
            started_at=story.started_at,
            ended_at=story.ended_at,
            duration_s=story.duration_s,
        )
        for story in log.stories
    )


def _statelog_pieces(path: Path) -> Iterator[_Piece]:
    reader = StatelogReader()
    for number, line, is_ended in lines_of(str(path)):
        trace_id = reader.add(number, line, is_open=not is_ended)
        if trace_id is not None or not is_ended:
            yield _Piece(trace_id or "", line)


def _iso(nanoseconds: int) -> str:
    try:
        return (
            datetime.fromtimestamp(nanoseconds / _NS, UTC).isoformat(timespec="milliseconds")
            if nanoseconds
            else ""
        )
    except (ValueError, OverflowError, OSError):
        return ""
