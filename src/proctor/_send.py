"""Sending the spans of `proctor.trace`: in the agent's own process, soon, and without ever getting in its way.

A span is sent when it has ended: at once, or together with the next ones a tenth of a second later. What is left is
sent when the process ends. Spans that cannot be sent are given up.
"""

from __future__ import annotations

import os
import time
from _thread import allocate_lock, start_new_thread

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

_EVERY_S = 0.1
_PATIENCE_S = 5.0
_MOST_AT_ONCE = 500
_MOST_HELD = 20_000
_MOST_FAILURES = 3
_MOST_CHARACTERS = 100_000
_DEEPEST = 20


class Sender:
    """Holds ended spans until they are sent. One for a process; a fork begins with an empty one."""

    def __init__(self) -> None:
        self._start_anew()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._start_anew)

    def is_on(self) -> bool:
        """True where somebody has said where spans go, and they arrived there so far."""
        return self._failures < _MOST_FAILURES and bool(_endpoint())

    def add(self, span: dict[str, Any]) -> None:
        """Send the span, soon."""
        with self._lock:
            self._held.append(span)
            del self._held[:-_MOST_HELD]
            is_due = time.monotonic() - self._sent_at >= _EVERY_S
            is_alone = not is_due and not self._is_waiting
            self._is_waiting = self._is_waiting or is_alone
            if not self._is_registered:
                import atexit

                self._is_registered = True
                atexit.register(self.flush)
        if is_due:
            self.flush()
        elif is_alone:
            try:
                start_new_thread(self._flush_later, ())
            except RuntimeError:  # no thread can be had; the next span sends this one
                self._is_waiting = False

    def flush(self) -> None:
        """Send what is held, and wait until it has arrived."""
        with self._sending:
            while True:
                with self._lock:
                    spans, self._held = self._held[:_MOST_AT_ONCE], self._held[_MOST_AT_ONCE:]
                    self._sent_at = time.monotonic()
                if not spans:
                    return
                if self._failures < _MOST_FAILURES:
                    try:
                        _post(_body(spans))
                        self._failures = 0
                    except Exception:  # noqa: BLE001  the agent's work is not to suffer from its trace
                        self._failures += 1

    def _flush_later(self) -> None:
        time.sleep(_EVERY_S)
        self._is_waiting = False
        self.flush()

    def _start_anew(self) -> None:
        self._lock, self._sending = allocate_lock(), allocate_lock()
        self._held: list[dict[str, Any]] = []
        self._sent_at = -_EVERY_S
        self._failures = 0
        self._is_waiting = self._is_registered = False


def json_text(value: Any) -> str | None:
    """A value as text: a text is itself, anything else JSON; None for None. What is huge is cut."""
    if value is None:
        return None
    if isinstance(value, str):
        return shortened(value)
    import json

    try:
        return shortened(json.dumps(value, default=str))
    except Exception:  # noqa: BLE001  a value may raise anything when it is looked at
        return f"({type(value).__name__})"


def shortened(text: str) -> str:
    """The text, or its beginning."""
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}… ({len(text)} characters)"


def _endpoint() -> str:
    named = os.environ.get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "")
    if named:
        return named
    base = os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT", "")
    return f"{base.rstrip('/')}/v1/traces" if base else ""


def _headers() -> dict[str, str]:
    listed = os.environ.get("OTEL_EXPORTER_OTLP_TRACES_HEADERS") or os.environ.get(
        "OTEL_EXPORTER_OTLP_HEADERS", ""
    )
    pairs = [entry.partition("=") for entry in listed.split(",") if "=" in entry]
    if "%" in listed:
        from urllib.parse import unquote

        return {name.strip(): unquote(value.strip()) for name, _, value in pairs}
    return {name.strip(): value.strip() for name, _, value in pairs}


def _post(body: bytes) -> None:
    """Send one request, and see that it is accepted.

    Raises:
        OSError: it is not, or there is nobody.
    """
    url = _endpoint()
    headers = {"Content-Type": "application/json", **_headers()}
    if not url.startswith("http://"):
        from urllib.request import Request, urlopen

        urlopen(Request(url, body, headers), timeout=_PATIENCE_S).close()
        return
    # By hand: the client of the standard library takes longer to import than a short agent runs.
    import socket

    place, slash, path = url.removeprefix("http://").partition("/")
    host, _, port = place.rpartition(":") if ":" in place else (place, "", "80")
    lines = [
        f"POST {slash}{path} HTTP/1.1" if slash else "POST / HTTP/1.1",
        f"Host: {place}",
        "Connection: close",
    ]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    head = "\r\n".join([*lines, f"Content-Length: {len(body)}", "", ""]).encode("latin-1")
    with socket.create_connection((host.strip("[]"), int(port)), _PATIENCE_S) as connection:
        connection.sendall(head + body)
        with connection.makefile("rb") as reply:
            status = reply.readline(200).split()
    if len(status) < 2 or not status[1].startswith(b"2"):
        raise OSError("the spans were refused")


def _body(spans: list[dict[str, Any]]) -> bytes:
    import json
    import sys

    program = os.path.basename(sys.argv[0] if sys.argv else "")  # noqa: PTH119
    service = os.environ.get("OTEL_SERVICE_NAME") or program or "agent"
    resource = {"attributes": _pairs({"service.name": service})}
    written = [
        span
        | {
            "attributes": _pairs(span["attributes"]),
            "events": [
                {"timeUnixNano": str(at), "name": shortened(text), "attributes": _pairs(said)}
                for at, text, said in span["events"]
            ],
        }
        for span in spans
    ]
    scope = {"scope": {"name": "proctor.trace"}, "spans": written}
    return json.dumps({"resourceSpans": [{"resource": resource, "scopeSpans": [scope]}]}).encode()


def _pairs(attributes: dict[str, Any]) -> list[dict[str, Any]]:
    # A copy: another thread may be adding to them.
    return [
        {"key": str(name), "value": _value(value, _DEEPEST)}
        for name, value in dict(attributes).items()
        if value is not None
    ]


def _value(value: Any, deepest: int) -> dict[str, Any]:
    members: Any = value
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int) and -(2**63) <= value < 2**63:
        return {"intValue": str(value)}
    if isinstance(value, float):
        odd = "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
        return {"doubleValue": value if value - value == 0 else odd}
    if isinstance(value, str):
        return {"stringValue": shortened(value)}
    if isinstance(value, list | tuple) and deepest:
        return {"arrayValue": {"values": [_value(one, deepest - 1) for one in members]}}
    if isinstance(value, dict) and deepest:
        pairs = [{"key": str(key), "value": _value(one, deepest - 1)} for key, one in members.items()]
        return {"kvlistValue": {"values": pairs}}
    return {"stringValue": shortened(_text(value))}


def _text(value: Any) -> str:
    try:
        return str(value)
    except Exception:  # noqa: BLE001  a value may raise anything when it is looked at
        return f"({type(value).__name__})"


SENDER = Sender()
