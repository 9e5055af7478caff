"""What one trial's agent sends: where it goes, what lets it in, and what it says so far."""

from __future__ import annotations

import os
import secrets
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from proctor.core.json_lines import NotJson
from proctor.core.trace import TraceReader
from proctor.core.trace_otlp import spans_in
from proctor.core.trace_received import Intake
from proctor.host.receiver_http import Refused
from proctor.host.receiver_spool import SPOOL, Encoding, Form, Kept, Torn, bodies, documents, line_of
from proctor.models.prices import price_attributes
from proctor.records.trace import LlmCall

LARGEST_BODY: Final = 64 * 1024 * 1024
"""Bytes that one body may have, as it comes."""
LARGEST_SPOOL: Final = 256 * 1024 * 1024
"""Bytes that all bodies of a trial may have."""
REFUSED: Final = "refused"
"""File beside the bodies that says, a sentence a line, what was not taken."""
TOKEN_HEADER: Final = "x-proctor-token"
_HELD: Final = 1024 * 1024
_FLUSH_MS: Final = 200


class Spent(msgspec.Struct, frozen=True, kw_only=True):
    """What a trial's spans say so far. More may have happened: spans come when calls have ended.

    Attributes:
        calls: model calls.
        tokens: sent and received, over the calls that say so; None when there are calls and none does.
        cost_usd: over the calls whose cost is known, in US dollars; None when there are calls and none is.
        uncounted: calls that do not say their tokens.
        unpriced: calls whose cost is not known.
    """

    calls: int = 0
    tokens: int | None = 0
    cost_usd: float | None = 0.0
    uncounted: int = 0
    unpriced: int = 0


class Received(msgspec.Struct, frozen=True, kw_only=True):
    """What came in for a trial.

    Attributes:
        bodies: that were kept.
        size: of these, in bytes, as they came.
        refused: bodies that were not kept, because they or all of them were too large, or no disk was left. The
            trace will say so of itself.
        notes: sentences about what the trace will not say.
    """

    bodies: int = 0
    size: int = 0
    refused: int = 0
    notes: tuple[str, ...] = ()


class Incoming:
    """A body that is on its way."""

    def __init__(self, tap: Tap, form: Form, encoding: Encoding) -> None:
        self._tap = tap
        self._form: Form = form
        self._encoding: Encoding = encoding
        self._held: list[bytes] = []
        self._size = 0
        self._file: str | None = None
        self._descriptor = -1

    def take(self, piece: bytes) -> None:
        """Add a part. What is large goes to the disk at once.

        Raises:
            Refused: it is too large, or cannot be written.
        """
        self._size += len(piece)
        if self._size > LARGEST_BODY:
            self._tap.refuse(f"a body of more than {LARGEST_BODY // 1024**2} MiB was refused")
        if self._tap.size + self._size > LARGEST_SPOOL:
            self._tap.refuse(f"the agent sent more than {LARGEST_SPOOL // 1024**2} MiB of spans")
        self._held.append(piece)
        if self._size > _HELD:
            try:
                self._write()
            except OSError as error:
                self._tap.refuse(f"its spans could not be written: {error.strerror}")

    def keep(self) -> None:
        """The body is complete: put it to the others.

        Raises:
            Refused: the trial takes no more, or it cannot be written.
        """
        kept = Kept(self._form, self._encoding, self._size, self._file, self._tap.span_id)
        if self._file is not None:
            os.close(self._descriptor)
            self._descriptor = -1
        self._tap.append([line_of(kept), *(() if self._file is not None else self._held)], self._size)
        self._file = None

    def drop(self) -> None:
        """It will not be complete, or was refused."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
        if self._file is not None:
            with suppress(OSError):
                (self._tap.spool / self._file).unlink()
            self._file = None

    def _write(self) -> None:
        if self._file is None:
            self._tap.spool.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._file = f"body-{secrets.token_hex(8)}"
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            self._descriptor = os.open(self._tap.spool / self._file, flags, 0o600)
        for piece in self._held:
            _write_all(self._descriptor, piece)
        self._held.clear()


class Tap:
    """The way of one trial's spans into its own folder.

    Attributes:
        spool: the folder; it is made when the first body comes.
        token: 128 random bits in hexadecimal; who has them sends for this trial.
        trace_id: of the trace that the agent is asked to go on with.
        span_id: of the span that its own are below.
    """

    def __init__(self, spool: Path, port: int, forget: Callable[[Tap], tuple[int, str | None]]) -> None:
        self.spool = spool
        self.token = secrets.token_hex(16)
        self.trace_id, self.span_id = secrets.token_hex(16), secrets.token_hex(8)
        self.size = 0
        self._port, self._forget = port, forget
        self._lock = threading.Lock()
        self._descriptor = -1
        self._end = 0
        self._bodies = self._refused = 0
        self._notes: list[str] = []
        self._closed: Received | None = None
        self._reading = threading.Lock()
        self._read_to = 0
        self._reader = TraceReader(with_content=False)
        self._intake = Intake(price_attributes)
        self._spent = Spent()

    @property
    def traceparent(self) -> str:
        """W3C trace context: sampled, below a span of proctor's."""
        return f"00-{self.trace_id}-{self.span_id}-01"

    def environment(
        self, endpoint: str | None = None, base: Mapping[str, str] | None = None
    ) -> dict[str, str]:
        """The variables by which the agent's instrumentation finds the way here.

        Args:
            endpoint: where the agent reaches the receiver, when that is not the loopback address of this machine.
            base: what the agent is started with otherwise: lists in it are added to, not replaced.
        """
        from proctor.host.receiver_environment import exporter_environment

        url = endpoint or f"http://127.0.0.1:{self._port}"
        return exporter_environment(
            url, f"{TOKEN_HEADER}={self.token}", self.traceparent, base or {}, flush_ms=_FLUSH_MS
        )

    @property
    def is_closed(self) -> bool:
        """True when the trial is over."""
        return self._closed is not None

    def begin(self, form: Form, encoding: Encoding) -> Incoming:
        """A body begins to come."""
        return Incoming(self, form, encoding)

    def refuse(self, why: str) -> None:
        """Note that something was not taken.

        Raises:
            Refused: always.
        """
        with self._lock:
            self._refused += 1
            if why not in self._notes:
                self._notes.append(why)
        raise Refused(413, why)

    def append(self, pieces: Sequence[bytes], size: int) -> None:
        """Put a body, or the line of one that has a file, at the end of the others.

        Raises:
            Refused: the trial is over, or it cannot be written.
        """
        why = ""
        with self._lock:
            if self._closed is not None:
                raise Refused(401, "the trial is over")
            try:
                if self._descriptor < 0:
                    self.spool.mkdir(mode=0o700, parents=True, exist_ok=True)
                    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
                    self._descriptor = os.open(self.spool / SPOOL, flags, 0o600)
                for piece in pieces:
                    _write_all(self._descriptor, piece)
            except OSError as error:
                why = f"its spans could not be written: {error.strerror}"
                if self._descriptor >= 0:
                    with suppress(OSError):
                        os.ftruncate(self._descriptor, self._end)
            else:
                self._end += sum(map(len, pieces))
                self._bodies += 1
                self.size += size
        if why:
            self.refuse(why)

    def spent(self) -> Spent:
        """What the spans say so far. Only bodies that came since the last time are read."""
        with self._reading:
            end = self._end
            if self._read_to < end:
                with suppress(Torn):
                    for body in bodies(self.spool, self._read_to):
                        self._read_to = body.next_offset
                        with suppress(NotJson, RecursionError):
                            document = documents(body)
                            self._intake.clean(document)
                            for span in spans_in(document):
                                self._reader.add(span)
                        if self._read_to >= end:
                            break
                self._read_to = max(self._read_to, end)
                self._spent = _spent(self._reader)
            return self._spent

    def close(self) -> Received:
        """Take no more. A body that comes later is answered with 401."""
        strangers, failure = self._forget(self)
        with self._lock:
            if self._closed is not None:
                return self._closed
            if self._descriptor >= 0:
                os.close(self._descriptor)
                self._descriptor = -1
            if failure is not None:
                self._notes.append(f"the receiver of spans failed ({failure})")
            notes = [] if self._leave_word() else [f"Of its trace: {note}." for note in self._notes]
            if strangers:
                notes.append(
                    "Requests without the token of a running trial came to the trace endpoint while it ran, and were "
                    f"refused: {strangers}."
                )
            self._closed = Received(
                bodies=self._bodies, size=self.size, refused=self._refused, notes=tuple(notes)
            )
            return self._closed

    def _leave_word(self) -> bool:
        """Put what was not kept beside what was, for whoever makes the trace of it. False where that cannot be."""
        if not self._notes:
            return True
        try:
            self.spool.mkdir(mode=0o700, parents=True, exist_ok=True)
            (self.spool / REFUSED).write_text("".join(f"{note}\n" for note in self._notes))
        except OSError:
            return False
        return True


def _spent(reader: TraceReader) -> Spent:
    calls = [event for event in reader.finish(is_whole=True).events if isinstance(event, LlmCall)]
    tokens = [
        (call.tokens_in or 0) + (call.tokens_out or 0)
        for call in calls
        if call.tokens_in is not None or call.tokens_out is not None
    ]
    costs = [call.cost_usd for call in calls if call.cost_usd is not None]
    return Spent(
        calls=len(calls),
        tokens=sum(tokens) if tokens or not calls else None,
        cost_usd=sum(costs) if costs or not calls else None,
        uncounted=len(calls) - len(tokens),
        unpriced=len(calls) - len(costs),
    )


def _write_all(descriptor: int, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
