"""From the bodies that a trial's agent sent to its `trace.jsonl`, once, when the trial is over."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Final

import msgspec

from proctor.core.json_lines import NotJson
from proctor.core.trace_received import Intake, lost_line, observed, priced
from proctor.host.receiver_spool import Torn, bodies, documents
from proctor.host.receiver_tap import REFUSED
from proctor.models.prices import price_attributes

LARGEST_TRACE: Final = 1024**3
"""Bytes that a trace may have when it is unpacked and written as JSON."""


class Written(msgspec.Struct, frozen=True, kw_only=True):
    """What became of the bodies.

    Attributes:
        spans: that are in the trace, those that proctor recorded not among them.
        is_whole: False when something is known to be missing. The trace says so itself.
        notes: sentences about what is missing.
    """

    spans: int = 0
    is_whole: bool = True
    notes: tuple[str, ...] = ()


def write_trace(spool: Path, target: Path, own: Path | None = None, *, was_cut: bool = False) -> Written:
    """Write all spans of a trial as OTLP/JSON, one document a line; no file where there were none.

    What the spans say stays as it is, less attributes that only proctor may give; a model call that does not say
    what it cost gets what it cost by the prices of today, or why that cannot be told.

    Args:
        spool: the folder that a tap had.
        target: the file; it must not be there.
        own: a file of lines that proctor itself recorded, which are marked as observed.
        was_cut: the agent was ended from outside, so that spans which it had not sent are lost.

    Raises:
        OSError: the target cannot be written.
    """
    writer = _Writer(target)
    lost: list[str] = []
    intake = Intake(price_attributes)
    try:
        if own is not None:
            lost += _copy_own(own, writer)
        lost += _convert(spool, writer, intake)
        if writer.is_begun:
            if was_cut:
                lost.append("the agent was ended before it could send what it had left")
            elif intake.is_torn and not lost:
                lost.append(
                    "a span is missing below which others are: the agent ended without sending all of them"
                )
        if lost:
            writer.add(lost_line("; ".join(lost)))
    finally:
        writer.close()
    return Written(
        spans=intake.spans, is_whole=not lost, notes=tuple(f"The trace is not whole: {why}." for why in lost)
    )


class _Writer:
    """The target, which is made when there is something to write."""

    def __init__(self, target: Path) -> None:
        self._target = target
        self._file: BinaryIO | None = None
        self.size = 0

    @property
    def is_begun(self) -> bool:
        return self._file is not None

    def add(self, line: bytes) -> None:
        if self._file is None:
            self._file = self._target.open("xb")
        self._file.write(line + b"\n")
        self.size += len(line) + 1

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


def _convert(spool: Path, writer: _Writer, intake: Intake) -> Iterator[str]:
    """Write the bodies, and say what is missing."""
    with suppress(OSError):
        yield from (spool / REFUSED).read_text().splitlines()
    unread: list[str] = []
    try:
        for body in bodies(spool):
            if body.kept.parent:
                intake.parent = body.kept.parent
            try:
                line = intake.line(documents(body))
            except (NotJson, RecursionError) as error:
                unread.append(str(error))
                continue
            if line is not None:
                writer.add(line)
            if writer.size > LARGEST_TRACE:
                yield f"its spans fill more than {LARGEST_TRACE // 1024**3} GiB, and the rest was left out"
                break
    except Torn as torn:
        yield str(torn)
    if unread:
        count = "a body" if len(unread) == 1 else f"{len(unread)} bodies"
        yield f"{count} could not be read: {unread[0][:200]}"


def _copy_own(own: Path, writer: _Writer) -> Iterator[str]:
    unread = 0
    try:
        with own.open("rb") as lines:
            for line in lines:
                if line.isspace():
                    continue
                try:
                    writer.add(priced(observed(line), price_attributes))
                except (NotJson, RecursionError):
                    unread += 1
    except FileNotFoundError:
        return
    if unread:
        yield "a call that proctor saw was not recorded as a whole"
