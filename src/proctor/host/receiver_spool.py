"""The bodies that a trial's agent sent, on disk as they came: one file that only grows, and a file for each large one.

A body stands in the file behind a line that says its form and size. A large one has a line alone, which names the
file that it is in.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Literal, NamedTuple, TypeAlias

import msgspec

from proctor.core.json_lines import NotJson
from proctor.core.trace_protobuf import document_of
from proctor.core.trace_received import read_json

Form: TypeAlias = Literal["protobuf", "json"]
Encoding: TypeAlias = Literal["identity", "gzip", "deflate"]

SPOOL: Final = "bodies"
LARGEST_UNPACKED: Final = 64 * 1024 * 1024
"""Bytes that one body may be when it is unpacked."""
_LONGEST_LINE: Final = 4096


class Kept(msgspec.Struct, frozen=True, omit_defaults=True):
    """The line before a body.

    Attributes:
        form: what it is written in.
        encoding: how it is packed.
        size: in bytes, as it came.
        file: the file that it is in; None when it follows.
        parent: span id that proctor had given to the agent.
    """

    form: Form
    encoding: Encoding
    size: int
    file: str | None = None
    parent: str = ""


class Body(NamedTuple):
    """A body as it came, what is known of it, and where the next one begins."""

    kept: Kept
    content: bytes
    next_offset: int


class Torn(Exception):
    """The file breaks off, or is not what was written."""


_read: Final = msgspec.json.Decoder(Kept)


def line_of(kept: Kept) -> bytes:
    """The line that stands before a body."""
    return msgspec.json.encode(kept) + b"\n"


def bodies(spool: Path, start: int = 0) -> Iterator[Body]:
    """The bodies from one place of the file on; none where there is no file.

    Raises:
        Torn: what follows cannot be read.
    """
    try:
        with (spool / SPOOL).open("rb") as file:
            file.seek(start)
            while line := file.readline(_LONGEST_LINE):
                try:
                    kept = _read.decode(line)
                except msgspec.DecodeError as error:
                    raise Torn(f"the spool of its bodies is damaged: {error}") from None
                content = file.read(kept.size) if kept.file is None else _content(spool, kept.file)
                if len(content) != kept.size:
                    raise Torn("the last body is not there as a whole")
                yield Body(kept, content, file.tell())
    except FileNotFoundError:
        return
    except OSError as error:
        raise Torn(f"a body cannot be read: {error.strerror}") from error


def documents(body: Body) -> dict[str, object]:
    """The OTLP/JSON document in a body.

    Raises:
        NotJson: it cannot be unpacked, is too large then, or is no document of spans.
    """
    content = _unpacked(body.content, body.kept.encoding)
    return document_of(content) if body.kept.form == "protobuf" else read_json(content)


def _content(spool: Path, name: str) -> bytes:
    return (spool / os.path.basename(name)).read_bytes()  # noqa: PTH119  never out of the folder


def _unpacked(content: bytes, encoding: Encoding) -> bytes:
    if encoding == "identity":
        return content
    made = bytearray()
    try:
        while content:
            unpacker = zlib.decompressobj(31 if encoding == "gzip" else 15 if _is_framed(content) else -15)
            made += unpacker.decompress(content, LARGEST_UNPACKED + 1 - len(made))
            if len(made) > LARGEST_UNPACKED:
                raise NotJson(f"it unpacks to more than {LARGEST_UNPACKED // 1024**2} MiB")
            if not unpacker.eof:
                raise NotJson("what was packed breaks off")
            content = unpacker.unused_data
    except zlib.error as error:
        raise NotJson(f"it cannot be unpacked: {error}") from None
    return bytes(made)


def _is_framed(content: bytes) -> bool:
    """True for what begins as RFC 1950 says. Some call deflate what has no frame around it."""
    return len(content) > 1 and content[0] & 0x0F == 8 and (content[0] * 256 + content[1]) % 31 == 0
