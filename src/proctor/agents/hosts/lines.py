"""A host's stream: one JSON object a line, of which the last may be torn."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, cast

import msgspec

from proctor.core.json_lines import NotJson, decoded
from proctor.records.json_value import Json

Record = dict[str, Any]

LONGEST_LINE: Final = 64 * 1024 * 1024
"""Bytes of a line that are read."""

_read: Final = msgspec.json.Decoder(dict[str, Any])


class Lines(msgspec.Struct, frozen=True, kw_only=True):
    """What the lines were like.

    Attributes:
        count: records that could be read.
        is_torn: the last line is no record: whoever wrote it was ended.
        broken: number of the first line before the last that is no record; None when there is none.
    """

    count: int = 0
    is_torn: bool = False
    broken: int | None = None

    @property
    def why_broken(self) -> str | None:
        """Why the stream cannot be used, in a sentence; None when it can."""
        return None if self.broken is None else f"Line {self.broken} of its stream is no JSON object."


def read_records(path: Path, take: Callable[[Record], None]) -> Lines:
    """Give each record of a file to `take`, in order; none where there is no such file.

    Raises:
        OSError: it cannot be read.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return Lines()
    with os.fdopen(descriptor, "rb") as stream:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return Lines(broken=1)
        count, bad, broken, number = 0, False, None, 0
        while line := stream.readline(LONGEST_LINE):
            number += 1
            if line.isspace():
                continue
            if bad:
                broken = broken or number - 1
            try:
                record = decoded(_read, line)
            except (NotJson, RecursionError):
                bad = True
                continue
            bad = False
            count += 1
            take(record)
    return Lines(count=count, is_torn=bad, broken=broken)


def mapping(value: Any) -> Mapping[str, Any]:
    """The value where it is an object; an empty one for anything else."""
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}


def items(value: Any) -> list[Any]:
    """The value where it is a list; an empty one for anything else."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def text(value: Any) -> str:
    """The value where it is a text; an empty one for anything else."""
    return value if isinstance(value, str) else ""


def whole(value: Any) -> int | None:
    """The value where it is a whole number of 0 or more."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def amount(value: Any) -> float | None:
    """The value where it is a number of 0 or more; what is JSON is finite."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value < float("inf") else None


def plain(value: Any) -> Json:
    """Content of a tool: the texts of a list of parts as one text, anything else as it is."""
    parts = items(value)
    texts = [text(mapping(part).get("text")) for part in parts if mapping(part).get("type") == "text"]
    return "\n".join(texts) if parts and len(texts) == len(parts) else value
