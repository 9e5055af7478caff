"""One HTTP request and its response, within a trial's limits from the first look at the name to the last byte.

The standard library's client reads and writes through a connection of ours, which waits for the peer, for the end of
the limit and for the operator at the same time. A client whose limits hold for each read alone would wait for ever
for a server that sends a byte now and then.
"""

from __future__ import annotations

import http.client
import io
import os
import select
import socket
import ssl
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, TypeVar, cast
from urllib.parse import urljoin

import msgspec

from proctor.agents.http_address import Address, address_of
from proctor.agents.waiting import Patience, Stopped
from proctor.errors import AgentError
from proctor.records.run import Ending

MOST_REDIRECTS = 5
"""Redirects that one request follows."""

MOST_INTERIM = 20
"""Interim responses that one request waits through."""

_ONE_ADDRESS_S = 10.0
_CHUNK = 65_536
_SAME_METHOD = (307, 308)
_DISCONNECTED = (ConnectionResetError, BrokenPipeError, http.client.RemoteDisconnected)

T = TypeVar("T")


class Unreachable(Exception):
    """Nothing of the endpoint answered: its name is unknown, nobody listens, or the greeting failed."""


class BadAnswer(Exception):
    """What answered speaks no HTTP, stopped in the middle, or said more than it may.

    Attributes:
        kind: a short word for it.
    """

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is sent, by POST.

    Attributes:
        headers: names and values, as they are sent.
        body: the bytes of the request.
    """

    headers: Mapping[str, str]
    body: bytes


class Exchange:
    """A request on its way.

    Attributes:
        status: of the response; 0 before there is one.
        reason: the words after it.
        headers: of the response; the last of each name counts, names in lower case.
        most_bytes: how long a body may be.
        is_sent: it has come to a request, answered or not.
        body: what has been received by now, also when it was ended before its end.
    """

    def __init__(self, address: Address, request: Request, patience: Patience, *, most_bytes: int) -> None:
        self._address = address
        self._request = request
        self._patience = patience
        self.most_bytes = most_bytes
        self.is_sent = False
        self.status = 0
        self.reason = ""
        self.headers: dict[str, str] = {}
        self.body = bytearray()

    def run(self) -> None:
        """Send the request and receive the response; redirects that keep the method and the origin are followed.

        Raises:
            Unreachable: it never came to a request.
            BadAnswer: the response is no whole one.
            Stopped: the limit was reached, or the operator cancelled.
        """
        address = self._address
        for _ in range(MOST_REDIRECTS + 1):
            self._once(address)
            if self.status not in _SAME_METHOD or not (location := self.headers.get("location")):
                return
            address = self._next(address, location)
        raise BadAnswer("redirect", f"It redirects more than {MOST_REDIRECTS} times.")

    def _next(self, address: Address, location: str) -> Address:
        scheme = "https" if address.is_tls else "http"
        host = f"[{address.host}]" if ":" in address.host else address.host
        try:
            target = address_of(urljoin(f"{scheme}://{host}:{address.port}{address.target}", location))
        except (AgentError, ValueError) as error:
            raise BadAnswer("redirect", "It redirects to what is no HTTP URL.") from error
        if target.origin != address.origin:
            raise BadAnswer("redirect", f"It redirects to another origin, {target.shown}.")
        return target

    def _once(self, address: Address) -> None:
        wire = connect(address, self._patience)
        self.is_sent = True
        self.body.clear()
        try:
            # A server that answers before it has read everything, and closes, has answered.
            with suppress(*_DISCONNECTED):
                wire.send(_written(address, self._request))
            self._receive(_begun(wire))
        except _DISCONNECTED as error:
            raise BadAnswer("no-answer", "It closed the connection without an answer.") from error
        except http.client.IncompleteRead as error:
            raise self._cut_off("its end is missing") from error
        except http.client.HTTPException as error:
            raise BadAnswer("no-http", f"It answers what is no HTTP ({type(error).__name__}).") from error
        except OSError as error:
            raise self._cut_off(str(error.strerror or error)) from error
        finally:
            wire.close()

    def _receive(self, response: http.client.HTTPResponse) -> None:
        self.status, self.reason = response.status, response.reason
        self.headers = {name.lower(): value for name, value in response.headers.items()}
        if self.headers.get("content-encoding", "identity").lower() not in ("", "identity"):
            raise BadAnswer(
                "encoded", f"Its answer is encoded as {self.headers['content-encoding']!r}, unasked."
            )
        expected = response.length
        while expected is None or len(self.body) < expected:
            more = response.read1(_CHUNK if expected is None else min(_CHUNK, expected - len(self.body)))
            if not more:
                break
            self.body += more
            if len(self.body) > self.most_bytes:
                del self.body[self.most_bytes :]
                raise BadAnswer("too-large", f"Its answer has more than {self.most_bytes:,} bytes.")
        if expected is not None and len(self.body) < expected:
            raise self._cut_off(f"{expected:,} were announced")

    def _cut_off(self, how: str) -> BadAnswer:
        return BadAnswer("cut-off", f"Its answer broke off after {len(self.body):,} bytes: {how}.")


def reach(address: Address, patience: Patience) -> None:
    """Connect, greet, and hang up without a word: to know that somebody is there.

    Raises:
        Unreachable: nobody is.
    """
    connect(address, patience).close()


def connect(address: Address, patience: Patience) -> Wire:
    """A connection to the endpoint, encrypted where it wants that.

    Raises:
        Unreachable: its name is unknown, nobody listens, it does not take the connection in time, or its
            certificate is not one to trust.
        Stopped: something is used up, or the operator cancelled.
    """
    where = f"{address.host}:{address.port}"
    try:
        opened = _opened(address, patience)
    except OSError as error:
        raise Unreachable(f"{where} cannot be reached: {error.strerror or error}.") from error
    except Stopped as stopped:
        if stopped.ending is Ending.TIMEOUT:
            raise Unreachable(f"{where} cannot be reached: nothing came back in time.") from stopped
        raise
    wire = Wire(opened, patience)
    if not address.is_tls:
        return wire
    try:
        wire.greet(address.host)
    except OSError as error:
        wire.close()
        why = getattr(error, "verify_message", "") or getattr(error, "reason", "") or str(error)
        raise Unreachable(f"{where} cannot be reached by an encrypted connection: {why}.") from error
    except Stopped as stopped:
        wire.close()
        if stopped.ending is Ending.TIMEOUT:
            raise Unreachable(f"{where} takes the connection and greets nobody.") from stopped
        raise
    return wire


class Wire:
    """A connection that waits with patience; what `http.client` takes for a socket."""

    def __init__(self, opened: socket.socket, patience: Patience) -> None:
        self._socket = opened
        self._patience = patience
        self._reader = io.BufferedReader(_Received(self), _CHUNK)

    def greet(self, host: str) -> None:
        """Encrypt the connection.

        Raises:
            OSError: the certificate is not one to trust, or the greeting failed.
        """
        context = ssl.create_default_context()
        encrypted = context.wrap_socket(self._socket, server_hostname=host, do_handshake_on_connect=False)
        self._socket = encrypted
        self._patiently(encrypted.do_handshake, select.POLLIN)

    def send(self, content: bytes) -> None:
        """Send it all."""
        rest = memoryview(content)
        while rest:
            part = rest[:_CHUNK]
            rest = rest[self._patiently(lambda part=part: self._socket.send(part), select.POLLOUT) :]

    def makefile(self, mode: str) -> io.BufferedReader[Any]:
        """What is received, as a file."""
        assert mode == "rb"
        return self._reader

    def receive_into(self, space: memoryview) -> int:
        """Receive at least one byte; 0 at the end."""
        return self._patiently(lambda: self._socket.recv_into(space), select.POLLIN)

    def close(self) -> None:
        """Hang up."""
        self._socket.close()

    def _patiently(self, attempt: Callable[[], T], events: int) -> T:
        # Tried first: an encrypted connection may hold what has been received already.
        while True:
            # A peer that is always ready is never waited for.
            self._patience.check()
            try:
                return attempt()
            except ssl.SSLWantReadError:
                self._patience.wait_for(self._socket.fileno(), select.POLLIN)
            except ssl.SSLWantWriteError:
                self._patience.wait_for(self._socket.fileno(), select.POLLOUT)
            except BlockingIOError:
                self._patience.wait_for(self._socket.fileno(), events)


def _begun(wire: Wire) -> http.client.HTTPResponse:
    """The response, its head read. What a server says before it (102, 103) is passed over."""
    for _ in range(MOST_INTERIM):
        response = http.client.HTTPResponse(cast("Any", wire), method="POST")
        response.begin()
        if response.status >= 200:
            return response
        # The next one reads on from the same file, which this one must not close.
        response.fp = cast("Any", None)
    raise BadAnswer("no-http", f"It announces an answer more than {MOST_INTERIM} times.")


class _Received(io.RawIOBase):
    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        return self._wire.receive_into(buffer)


def _opened(address: Address, patience: Patience) -> socket.socket:
    """A socket that is connected to the first of the host's addresses that takes it."""
    found = patience.result_of(
        lambda: socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
    )
    failure: OSError = OSError("the name has no address")
    for number, (family, kind, protocol, _, target) in enumerate(found, start=1):
        opened = socket.socket(family, kind, protocol)
        try:
            opened.setblocking(False)
            with suppress(BlockingIOError):
                opened.connect(target)
            # The last address may take all the time that there is.
            at_most_s = None if number == len(found) else _ONE_ADDRESS_S
            if not patience.wait_for(opened.fileno(), select.POLLOUT, at_most_s):
                raise TimeoutError("it does not take the connection")
            if code := opened.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
                raise OSError(code, os.strerror(code))
        except OSError as error:
            opened.close()
            failure = error
        except BaseException:
            opened.close()
            raise
        else:
            return opened
    raise failure


def _written(address: Address, request: Request) -> bytes:
    """The request as it goes over the wire."""
    host = f"[{address.host}]" if ":" in address.host else address.host
    is_usual = address.port == (443 if address.is_tls else 80)
    headers = {
        "Host": host if is_usual else f"{host}:{address.port}",
        **request.headers,
        "Content-Length": str(len(request.body)),
        "Connection": "close",
        "Accept-Encoding": "identity",
    }
    lines = [f"POST {address.target} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + request.body
