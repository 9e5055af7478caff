"""HTTP/1.1 as far as exporters of spans speak it: requests out of bytes, and answers into bytes. Nothing here waits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple, TypeAlias

LARGEST_HEAD: Final = 32 * 1024
_LONGEST_CHUNK_LINE: Final = 1024
_REASONS: Final = {
    200: "OK",
    400: "Bad Request",
    401: "Unauthorized",
    404: "Not Found",
    405: "Method Not Allowed",
    413: "Content Too Large",
    415: "Unsupported Media Type",
    431: "Request Header Fields Too Large",
    505: "HTTP Version Not Supported",
}
CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"


class Head(NamedTuple):
    """The head of a request.

    Attributes:
        path: without what follows a question mark.
        headers: by name in lower case; of two of one name the last.
        length: of the body, in bytes; None for one that comes in chunks.
        keeps_open: another request may follow on the connection.
    """

    method: str
    path: str
    headers: Mapping[str, str]
    length: int | None
    keeps_open: bool


class Piece(NamedTuple):
    """A part of the body."""

    content: bytes


class End(NamedTuple):
    """The body is complete."""


Part: TypeAlias = Head | Piece | End


class Refused(Exception):
    """What was received is no request that can be answered in any other way than with this status."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class RequestReader:
    """Takes the bytes of one connection as they come, and gives the parts of its requests."""

    def __init__(self) -> None:
        self._held = bytearray()
        self._state = "head"
        self._left = 0

    @property
    def is_between(self) -> bool:
        """True when no request has begun that is not complete."""
        return self._state == "head" and not self._held

    def feed(self, received: bytes) -> Iterator[Part]:
        """The parts that are complete now.

        Raises:
            Refused: this is no HTTP, or more than anybody needs.
        """
        if self._state == "body" and not self._held:
            # The usual case of a large body: nothing is copied.
            taken = received[: self._left]
            yield Piece(taken)
            self._left -= len(taken)
            received = received[len(taken) :]
            if self._left:
                return
            self._state = "head"
            yield End()
        self._held += received
        while self._held and (parts := self._step()) is not None:
            yield from parts

    def _step(self) -> tuple[Part, ...] | None:
        """The next parts of what is held; None when more is needed for them."""
        if self._state == "head":
            return self._head()
        if self._state in ("body", "chunk"):
            taken = bytes(self._held[: self._left])
            del self._held[: len(taken)]
            self._left -= len(taken)
            if self._left:
                return (Piece(taken),)
            if self._state == "chunk":
                self._state = "chunk-end"
                return (Piece(taken),)
            self._state = "head"
            return Piece(taken), End()
        line = self._line()
        if line is None:
            return None
        if self._state == "chunk-end":
            if line:
                raise Refused(400, "a chunk is longer than it says")
            self._state = "chunk-size"
            return ()
        if self._state == "trailers":
            if line:
                return ()
            self._state = "head"
            return (End(),)
        self._left = _chunk_size(line)
        self._state = "chunk" if self._left else "trailers"
        return ()

    def _line(self) -> bytes | None:
        end = self._held.find(b"\n", 0, _LONGEST_CHUNK_LINE)
        if end < 0:
            if len(self._held) >= _LONGEST_CHUNK_LINE:
                raise Refused(400, "a line between chunks is too long")
            return None
        line = bytes(self._held[:end]).rstrip(b"\r")
        del self._held[: end + 1]
        return line

    def _head(self) -> tuple[Part, ...] | None:
        while self._held.startswith(b"\r\n"):  # which some clients send between requests
            del self._held[:2]
        end = self._held.find(b"\r\n\r\n", 0, LARGEST_HEAD)
        if end < 0:
            if len(self._held) >= LARGEST_HEAD:
                raise Refused(431, "the head of the request is too large")
            return None
        head = _head_of(bytes(self._held[:end]))
        del self._held[: end + 4]
        if head.length == 0:
            return head, End()
        self._state, self._left = ("chunk-size", 0) if head.length is None else ("body", head.length)
        return (head,)


def answer(status: int, content: bytes = b"", content_type: str = "text/plain", *, keep_open: bool) -> bytes:
    """A whole response."""
    head = (
        f"HTTP/1.1 {status} {_REASONS[status]}\r\n"
        f"Content-Type: {content_type}\r\n"
        f"Content-Length: {len(content)}\r\n"
        f"Connection: {'keep-alive' if keep_open else 'close'}\r\n\r\n"
    )
    return head.encode() + content


def _head_of(text: bytes) -> Head:
    first, *rest = text.decode("latin-1").split("\r\n")
    words = first.split(" ")
    if len(words) != 3 or not words[2].startswith("HTTP/"):
        raise Refused(400, "this is no HTTP request")
    method, target, version = words
    if version not in ("HTTP/1.1", "HTTP/1.0"):
        raise Refused(505, "only HTTP/1.1 is spoken here")
    headers: dict[str, str] = {}
    for line in rest:
        name, colon, value = line.partition(":")
        if not colon or name != name.strip():
            raise Refused(400, "a header is no header")
        headers[name.lower()] = value.strip()
    closes = headers.get("connection", "keep-alive" if version == "HTTP/1.1" else "close").lower()
    return Head(
        method=method,
        path=target.partition("?")[0],
        headers=headers,
        length=_length(headers),
        keeps_open="close" not in closes,
    )


def _length(headers: Mapping[str, str]) -> int | None:
    if "transfer-encoding" in headers:
        if headers["transfer-encoding"].lower() != "chunked" or "content-length" in headers:
            raise Refused(400, "the length of the body is not clear")
        return None
    said = headers.get("content-length", "0")
    if not said.isdecimal() or not said.isascii() or len(said) > 18:
        raise Refused(400, "the length of the body is no number")
    return int(said)


def _chunk_size(line: bytes) -> int:
    digits = line.partition(b";")[0].strip()
    if not digits or len(digits) > 15 or digits.translate(None, b"0123456789abcdefABCDEF"):
        raise Refused(400, "the size of a chunk is no number")
    return int(digits, 16)
