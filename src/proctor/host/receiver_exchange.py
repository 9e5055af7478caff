"""What is answered on one connection: who is let in, what is kept, what is refused and why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Protocol

from proctor.host.receiver_http import CONTINUE, Head, Piece, Refused, RequestReader, answer
from proctor.host.receiver_spool import Encoding, Form
from proctor.host.receiver_tap import LARGEST_BODY, Incoming, Tap

_TRACES: Final = "/v1/traces"
_NOT_LOOKED_AT: Final = ("/v1/metrics", "/v1/logs")
_FORMS: Final[Mapping[str, Form]] = {"application/x-protobuf": "protobuf", "application/json": "json"}
_TYPES: Final[Mapping[Form, str]] = {form: name for name, form in _FORMS.items()}
_ENCODINGS: Final[tuple[Encoding, ...]] = ("identity", "gzip", "deflate")
_MOST_DRAINED: Final = 2 * LARGEST_BODY


class Door(Protocol):
    """Who comes with these headers."""

    def of(self, headers: Mapping[str, str]) -> Tap | None:
        """The trial; None for a stranger."""
        ...


class Exchange:
    """Bytes in, bytes out, and bodies into their spools.

    Attributes:
        token: of the trial that it is of; empty before that is known.
        is_over: nothing more will be answered.
    """

    def __init__(self, door: Door) -> None:
        self.token = ""
        self.is_over = False
        self._door = door
        self._reader = RequestReader()
        self._tap: Tap | None = None
        self._incoming: Incoming | None = None
        self._refused: Refused | None = None
        self._form: Form = "protobuf"
        self._keeps_open = True
        self._drained = 0

    @property
    def is_between(self) -> bool:
        """True when nobody waits for anything."""
        return self._reader.is_between

    @property
    def is_orphan(self) -> bool:
        """True when its trial is over."""
        return self._tap is not None and self._tap.is_closed

    def feed(self, received: bytes) -> bytes:
        """What is to be sent after these bytes."""
        out = bytearray()
        try:
            for part in self._reader.feed(received):
                if isinstance(part, Head):
                    out += self._begin(part)
                elif isinstance(part, Piece):
                    self._take(part.content)
                else:
                    out += self._end()
                if self.is_over:
                    break
        except Refused as refused:
            out += self._answer(refused, keep_open=False)
        return bytes(out)

    def abandon(self) -> None:
        """The connection is gone; a body that is half there is no body."""
        if self._incoming is not None:
            self._incoming.drop()
            self._incoming = None

    def _begin(self, head: Head) -> bytes:
        self._refused, self._drained = None, 0
        self._keeps_open = head.keeps_open
        expects = head.headers.get("expect", "").lower() == "100-continue"
        try:
            self._incoming = self._admit(head)
        except Refused as refused:
            self._refused = refused
            # Who waits to be asked for the body, or would send too much, is told at once.
            if expects or (head.length or 0) > LARGEST_BODY:
                return self._answer(refused, keep_open=False)
        return CONTINUE if expects else b""

    def _admit(self, head: Head) -> Incoming | None:
        """Where the body goes; None for one that is not looked at."""
        kind = head.headers.get("content-type", "").partition(";")[0].strip().lower()
        self._form = _FORMS.get(kind, "protobuf")
        if head.path not in (_TRACES, *_NOT_LOOKED_AT):
            raise Refused(404, "spans are taken at /v1/traces")
        if head.method != "POST":
            raise Refused(405, "spans are sent with POST")
        tap = self._door.of(head.headers)
        if tap is None:
            raise Refused(401, "the token of a running trial is wanted in the headers")
        self._tap, self.token = tap, tap.token
        if head.path != _TRACES:
            return None
        encoding = head.headers.get("content-encoding", "identity").strip().lower() or "identity"
        if kind not in _FORMS:
            raise Refused(415, "spans are taken as application/x-protobuf and as application/json")
        if encoding not in _ENCODINGS:
            raise Refused(415, "bodies are taken as they are, or packed by gzip or deflate")
        if (head.length or 0) > LARGEST_BODY:
            tap.refuse(f"a body of more than {LARGEST_BODY // 1024**2} MiB was refused")
        return tap.begin(self._form, encoding)

    def _take(self, piece: bytes) -> None:
        if self._incoming is None:
            self._drained += len(piece)
            if self._drained > _MOST_DRAINED:
                raise self._refused or Refused(413, "the body is too large")
            return
        try:
            self._incoming.take(piece)
        except Refused as refused:
            self.abandon()
            self._refused = refused

    def _end(self) -> bytes:
        if self._incoming is not None:
            try:
                self._incoming.keep()
            except Refused as refused:
                self._refused = refused
                self.abandon()
            self._incoming = None
        if self._refused is not None:
            return self._answer(self._refused, keep_open=self._keeps_open)
        return self._send(200, b"" if self._form == "protobuf" else b"{}", keep_open=self._keeps_open)

    def _answer(self, refused: Refused, *, keep_open: bool) -> bytes:
        """A refusal, as the google.rpc.Status that the protocol wants."""
        self.abandon()
        message = str(refused)[:120].encode()
        if self._form == "json":
            content = b'{"message":"' + message.replace(b'"', b"'") + b'"}'
        else:
            content = b"\x12" + bytes([len(message)]) + message
        return self._send(refused.status, content, keep_open=keep_open)

    def _send(self, status: int, content: bytes, *, keep_open: bool) -> bytes:
        self.is_over = not keep_open
        return answer(status, content, _TYPES[self._form], keep_open=keep_open)
