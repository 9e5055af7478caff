"""What a process left in its files, read with a bound on what is held in memory."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import BinaryIO

import msgspec

from proctor.ports import Place

LARGEST_ANSWER = 16 * 1024 * 1024
"""Bytes of an output that are read; the file keeps the rest."""

_TAIL_CHARACTERS = 2_000


class Answer(msgspec.Struct, frozen=True):
    """A command's output: text, or None when there was none, and what was noticed when reading it."""

    text: str | None = None
    notes: tuple[str, ...] = ()


class _Refused(Exception):
    """The agent left something else in place of a file; the message says what."""


def answer_of(place: Place) -> Answer:
    """What was written to the output file, or else printed: UTF-8 text less one final line end."""
    notes: list[str] = []
    content = _content(place.output_file, notes) or _content(place.stdout, notes)
    if not content:
        return Answer(None, tuple(notes))
    try:
        text = content.decode()
    except UnicodeDecodeError:
        text = content.decode("utf-8", "replace")
        notes.append("The output is not UTF-8 throughout; U+FFFD stands for what could not be read.")
    return Answer(text.removesuffix("\n").removesuffix("\r") if text.endswith("\n") else text, tuple(notes))


def tail_of(path: Path) -> str:
    """The last 2,000 characters of a text file; empty when there is no such file."""
    try:
        with _opened(path) as content:
            content.seek(max(0, _size(content) - 4 * _TAIL_CHARACTERS))
            return content.read(4 * _TAIL_CHARACTERS).decode("utf-8", "replace")[-_TAIL_CHARACTERS:].strip()
    except (FileNotFoundError, _Refused):
        return ""


def whole(path: Path, most: int) -> bytes | None:
    """The content of a file, empty when it is larger than `most` bytes; None when there is no such file."""
    try:
        with _opened(path) as content:
            return content.read(most) if _size(content) <= most else b""
    except (FileNotFoundError, _Refused):
        return None


def _content(path: Path, notes: list[str]) -> bytes:
    try:
        with _opened(path) as content:
            size = _size(content)
            if size > LARGEST_ANSWER:
                shown = f"{LARGEST_ANSWER:,} of {size:,} bytes"
                notes.append(f"The output is the first {shown} of the file {path.name!r}.")
            return content.read(LARGEST_ANSWER)
    except FileNotFoundError:
        return b""
    except _Refused as err:
        notes.append(str(err))
        return b""


def _size(content: BinaryIO) -> int:
    return os.fstat(content.fileno()).st_size


def _opened(path: Path) -> BinaryIO:
    """Open a file for reading, whatever an agent may have put there: no link is followed, no FIFO waited for."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        raise
    except OSError as err:
        raise _Refused(f"{path.name!r} could not be read: {err.strerror}.") from err
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise _Refused(f"{path.name!r} is not a regular file, and was not read.")
    return os.fdopen(descriptor, "rb")
