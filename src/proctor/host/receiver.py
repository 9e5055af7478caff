"""A receiver of spans for the length of one invocation: OTLP over HTTP on loopback, one thread, many agents.

    with Receiver() as receiver:
        tap = receiver.open(folder)              # one for each trial
        ...                                      # the agent runs with tap.environment()
        received = tap.close()
        written = write_trace(folder, target)

A client that is slow, stuck or hostile costs a socket and at most a megabyte; it holds up nobody else. A body is on
disk before it is answered, below the trial whose token came with it, and nowhere else.
"""

from __future__ import annotations

import selectors
import socket
import threading
import time
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from proctor.host.receiver_exchange import Door, Exchange
from proctor.host.receiver_tap import TOKEN_HEADER, Received, Spent, Tap
from proctor.host.receiver_trace import Written, write_trace

__all__ = ["Received", "Receiver", "Spent", "Tap", "Written", "write_trace"]

MOST_CONNECTIONS: Final = 256
SLOWEST_S: Final = 30.0
"""Seconds in which a request that has begun must go on."""
_LINGER_S: Final = 2.0
_PIECE: Final = 64 * 1024
_PIECES_A_TURN: Final = 16
_MOST_UNSENT: Final = 64 * 1024
_TICK_S: Final = 1.0


class Receiver:
    """The server. It begins with its making, and ends with `close`.

    Attributes:
        port: on 127.0.0.1.

    Raises:
        OSError: there is no port to be had.
    """

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self._listener.setblocking(False)
        self.port: int = self._listener.getsockname()[1]
        self._doors = _Doors()
        self._wake, self._woken = socket.socketpair()
        self._wake.setblocking(False)
        self._woken.setblocking(False)
        self._loop = _Loop(self._listener, self._woken, self._doors)
        self._thread = threading.Thread(target=self._loop.run, name="trace-receiver", daemon=True)
        self._thread.start()

    def open(self, spool: Path) -> Tap:
        """A way in for one trial.

        spool: a folder of the trial's, out of the agent's reach; bodies are appended there as they come.
        """
        tap = Tap(spool, self.port, self._forget)
        self._doors.add(tap)
        return tap

    def close(self) -> None:
        """Answer nobody any more."""
        self._loop.is_closing = True
        with suppress(OSError):
            self._wake.send(b"x")
        self._thread.join(5)
        self._wake.close()

    def __enter__(self) -> Receiver:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _forget(self, tap: Tap) -> tuple[int, str | None]:
        strangers = self._doors.remove(tap)
        with suppress(OSError):
            self._wake.send(b"x")
        return strangers, self._loop.failure


class _Doors:
    """Which token opens what; asked and changed by several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._taps: dict[str, Tap] = {}
        self._came: dict[str, int] = {}
        self._strangers = 0

    def add(self, tap: Tap) -> None:
        with self._lock:
            self._taps[tap.token] = tap
            self._came[tap.token] = self._strangers

    def remove(self, tap: Tap) -> int:
        """How many strangers came since it was added."""
        with self._lock:
            self._taps.pop(tap.token, None)
            return self._strangers - self._came.pop(tap.token, self._strangers)

    def of(self, headers: Mapping[str, str]) -> Tap | None:
        with self._lock:
            # Found by the token itself: 128 random bits are not guessed byte by byte through a hash.
            tap = self._taps.get(headers.get(TOKEN_HEADER, ""))
            if tap is None:
                self._strangers += 1
            return tap


class _Connection:
    """A socket, the exchange on it, and what is still to be sent."""

    def __init__(self, sock: socket.socket, doors: Door) -> None:
        self.sock = sock
        self.exchange = Exchange(doors)
        self.unsent = bytearray()
        self.moved_at = time.monotonic()
        self.lingers = False
        self.wanted = selectors.EVENT_READ


class _Loop:
    """Serves all connections, one step at a time."""

    def __init__(self, listener: socket.socket, woken: socket.socket, doors: _Doors) -> None:
        self.is_closing = False
        self.failure: str | None = None
        self._listener, self._woken, self._doors = listener, woken, doors
        self._selector = selectors.DefaultSelector()
        self._connections: dict[socket.socket, _Connection] = {}

    def run(self) -> None:
        try:
            self._selector.register(self._listener, selectors.EVENT_READ)
            self._selector.register(self._woken, selectors.EVENT_READ)
            self._serve()
        except Exception as error:  # noqa: BLE001  a receiver that fails costs traces, and never a run
            self.failure = f"{type(error).__name__}: {error}"
        finally:
            for connection in list(self._connections.values()):
                self._drop(connection)
            self._selector.close()
            self._listener.close()
            self._woken.close()

    def _serve(self) -> None:
        swept_at = time.monotonic()
        while not self.is_closing:
            for key, ready in self._selector.select(_TICK_S):
                if key.fileobj is self._listener:
                    self._accept()
                elif key.fileobj is self._woken:
                    with suppress(BlockingIOError):
                        self._woken.recv(4096)
                    self._drop_ended()
                elif isinstance(key.data, _Connection) and key.data.sock in self._connections:
                    self._move(key.data, ready)
            now = time.monotonic()
            if now - swept_at >= _TICK_S:
                swept_at = now
                self._drop_stuck(now)

    def _accept(self) -> None:
        try:
            sock, _ = self._listener.accept()
        except BlockingIOError:
            return
        except OSError:
            # No file descriptor is left: somebody has to go, and be it that we wait for one.
            if not self._make_room():
                time.sleep(0.05)
            return
        if len(self._connections) >= MOST_CONNECTIONS:
            self._make_room()
        sock.setblocking(False)
        with suppress(OSError):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection = _Connection(sock, self._doors)
        self._connections[sock] = connection
        self._selector.register(sock, selectors.EVENT_READ, connection)

    def _make_room(self) -> bool:
        """Drop the connection that rested longest, of the trial that has most of them. False when there is none."""
        crowds: dict[str, deque[_Connection]] = {}
        for connection in self._connections.values():
            crowds.setdefault(connection.exchange.token, deque()).append(connection)
        if not crowds:
            return False
        crowd = max(crowds.values(), key=len)
        self._drop(min(crowd, key=lambda connection: connection.moved_at))
        return True

    def _move(self, connection: _Connection, ready: int) -> None:
        try:
            if ready & selectors.EVENT_READ and not self._receive(connection):
                self._drop(connection)
                return
            self._send(connection)
        except OSError:
            self._drop(connection)

    def _receive(self, connection: _Connection) -> bool:
        """Take what has come, as far as it is this one's turn. False when the other side has closed."""
        for _ in range(_PIECES_A_TURN):
            try:
                received = connection.sock.recv(_PIECE)
            except BlockingIOError:
                return True
            if not received:
                return False
            if not connection.lingers:
                connection.moved_at = time.monotonic()
                connection.unsent += connection.exchange.feed(received)
            if len(received) < _PIECE or connection.exchange.is_over:
                return True
        return True

    def _send(self, connection: _Connection) -> None:
        if connection.unsent:
            with suppress(BlockingIOError):
                sent = connection.sock.send(connection.unsent)
                del connection.unsent[:sent]
        if not connection.unsent and connection.exchange.is_over and not connection.lingers:
            # Closed at once, what the client is still sending would take the answer away from it.
            connection.lingers, connection.moved_at = True, time.monotonic()
            connection.sock.shutdown(socket.SHUT_WR)
        if len(connection.unsent) > _MOST_UNSENT:
            self._drop(connection)
            return
        wanted = selectors.EVENT_READ | (selectors.EVENT_WRITE if connection.unsent else 0)
        if wanted != connection.wanted:
            connection.wanted = wanted
            self._selector.modify(connection.sock, wanted, connection)

    def _drop_stuck(self, now: float) -> None:
        for connection in list(self._connections.values()):
            rested = now - connection.moved_at
            is_stuck = rested > SLOWEST_S and not (connection.exchange.is_between and not connection.unsent)
            if is_stuck or (connection.lingers and rested > _LINGER_S):
                self._drop(connection)

    def _drop_ended(self) -> None:
        """Drop the connections of trials that are over, which nobody else will close."""
        for connection in list(self._connections.values()):
            if connection.exchange.is_orphan:
                self._drop(connection)

    def _drop(self, connection: _Connection) -> None:
        if self._connections.pop(connection.sock, None) is None:
            return
        connection.exchange.abandon()
        with suppress(KeyError, ValueError):
            self._selector.unregister(connection.sock)
        connection.sock.close()
