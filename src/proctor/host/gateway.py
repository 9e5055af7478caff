"""The way from a sandbox to the outside: its traces go to the receiver, and its requests to the hosts that are allowed.

Each trial has a Unix socket of its own, to which the first process of its sandbox hands all connections. All of them
are served by one thread. What comes is a request to the trace endpoint, or to a proxy: CONNECT, or one with a whole
address. Names are resolved here, and the address that was checked is the one that is connected to.
"""

from __future__ import annotations

import asyncio
import os
import socket
import threading
from collections.abc import Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from proctor.host.allowed_hosts import AllowedHosts

_LONGEST_HEAD: Final = 64 * 1024
_HEAD_S: Final = 30.0
_CONNECT_S: Final = 20.0
_PIECE: Final = 1 << 16
_MOST_CONNECTIONS: Final = 256
_MOST_DENIED: Final = 20
_CLOSE_S: Final = 5.0
_STEPS_TO_CLOSE: Final = 3


class Gateway:
    """Serves the sockets of all trials of an invocation. To be closed.

    Args:
        hosts: which may be reached; None where no host may, and nobody is told why.
        receiver_port: where the receiver of traces listens on the loopback address; None where there is none.
    """

    def __init__(self, hosts: AllowedHosts | None, receiver_port: int | None) -> None:
        self.hosts = hosts
        self.receiver_port = receiver_port
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="gateway", daemon=True)
        self._thread.start()

    def open(self, path: Path) -> Gate:
        """Listen on a new Unix socket at a path, for one trial.

        Raises:
            OSError: it cannot be made.
        """
        # By a descriptor of its folder: the path of a socket must be short, and a folder's need not be.
        folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        listener = socket.socket(socket.AF_UNIX)
        try:
            listener.bind(f"/proc/self/fd/{folder}/{path.name}")
            path.chmod(0o666)
            listener.listen(_MOST_CONNECTIONS)
        except BaseException:
            listener.close()
            raise
        finally:
            os.close(folder)
        gate = Gate(self, listener)
        self.call(gate.begin())
        return gate

    def close(self) -> None:
        """Serve nobody any more."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_CLOSE_S)

    def call(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something on the serving thread, and wait until it is done."""
        with suppress(TimeoutError):
            asyncio.run_coroutine_threadsafe(work, self._loop).result(_CLOSE_S)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()
        self._loop.run_until_complete(_end_all())
        self._loop.close()


class Gate:
    """The socket of one trial, and what went through it."""

    def __init__(self, gateway: Gateway, listener: socket.socket) -> None:
        self._gateway = gateway
        self._listener = listener
        self._tasks: set[asyncio.Task[None]] = set()
        self._denied: dict[str, int] = {}
        self._is_closed = False

    async def begin(self) -> None:
        """Serve; on the gateway's thread."""
        self._listener.setblocking(False)
        # Not by a server of asyncio's, which loses a connection that comes as it is closed.
        asyncio.get_running_loop().add_reader(self._listener, self._accept)

    def close(self) -> tuple[str, ...]:
        """End every connection, also those that are half open, and say what was refused; a second call says nothing."""
        if self._is_closed:
            return ()
        self._is_closed = True
        self._gateway.call(self._end())
        named = sorted(self._denied.items())
        notes = [
            f"It tried to reach {host} and was not let ({_times(count)})."
            for host, count in named[:_MOST_DENIED]
        ]
        if len(named) > _MOST_DENIED:
            notes.append(f"It tried to reach {len(named) - _MOST_DENIED} more hosts and was not let.")
        return tuple(notes)

    async def _end(self) -> None:
        asyncio.get_running_loop().remove_reader(self._listener)
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._listener.close()

    def _accept(self) -> None:
        try:
            connection, _ = self._listener.accept()
        except OSError:
            # It went away, or no descriptors are left: some will be, as others end.
            return
        connection.setblocking(False)
        if len(self._tasks) >= _MOST_CONNECTIONS:
            connection.close()
            return
        task = asyncio.get_running_loop().create_task(self._take(connection))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        # Also of one that is ended before it has begun.
        task.add_done_callback(lambda _: connection.close())

    async def _take(self, connection: socket.socket) -> None:
        reader, writer = await asyncio.open_connection(sock=connection, limit=_LONGEST_HEAD)
        try:
            await self._serve(reader, writer)
            writer.close()
            await writer.wait_closed()
        except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError):
            # What it said was no request, or its other side is gone.
            pass
        finally:
            writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with asyncio.timeout(_HEAD_S):
            head = await reader.readuntil(b"\r\n\r\n")
        method, _, rest = head.split(b"\r\n", 1)[0].partition(b" ")
        target = rest.rpartition(b" ")[0].decode("latin-1")
        if target.startswith("/"):
            await self._to_receiver(head, reader, writer)
        elif method == b"CONNECT":
            host, _, port = target.rpartition(":")
            out = await self._reached(host, int(port), writer)
            if out is not None:
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
                await _join(reader, writer, *out)
        elif (url := urlsplit(target)).scheme == "http" and url.hostname:
            out = await self._reached(url.hostname, url.port or 80, writer)
            if out is not None:
                out[1].write(_as_asked_of_the_host(method, target, head))
                await _join(reader, writer, *out)
        else:
            _answer(writer, 400, "The proxy takes CONNECT, and requests with a whole http:// address.")
            await writer.drain()

    async def _to_receiver(
        self, head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        if self._gateway.receiver_port is None:
            _answer(writer, 503, "Nobody takes traces.")
            return
        out = await asyncio.open_connection("127.0.0.1", self._gateway.receiver_port)
        out[1].write(head)
        await _join(reader, writer, *out)

    async def _reached(
        self, host: str, port: int, writer: asyncio.StreamWriter
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | None:
        """A connection to a host; None when it may not be reached or cannot, which the agent is told then."""
        hosts = self._gateway.hosts
        if hosts is None or not hosts.allows(host, port):
            self._deny(host, port, "")
            _answer(writer, 403, f"The sandbox lets nobody reach {host}:{port}.")
            return None
        try:
            async with asyncio.timeout(_CONNECT_S):
                found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
                addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
                good = [one for one in addresses if hosts.allows_address(one, host, port)]
                if not good:
                    at = ", ".join(addresses)
                    self._deny(host, port, f" at {at}, which is private")
                    _answer(writer, 403, f"{host} is at {at}, which the sandbox lets nobody reach.")
                    return None
                return await _connected(good, port)
        except (OSError, TimeoutError) as error:
            _answer(writer, 502, f"{host}:{port} cannot be reached: {error or 'it does not answer'}.")
            return None

    def _deny(self, host: str, port: int, why: str) -> None:
        shown = f"{host[:100]}:{port}{why}"
        if shown in self._denied or len(self._denied) < 1000:
            self._denied[shown] = self._denied.get(shown, 0) + 1


async def _end_all() -> None:
    """End every task of this thread, and let their sockets close."""
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    for _ in range(_STEPS_TO_CLOSE):
        await asyncio.sleep(0)


async def _connected(addresses: list[str], port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    failure: OSError | None = None
    for address in addresses:
        try:
            return await asyncio.open_connection(address, port)
        except OSError as error:
            failure = error
    assert failure is not None
    raise failure


async def _join(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    other_reader: asyncio.StreamReader,
    other_writer: asyncio.StreamWriter,
) -> None:
    """Hand on what comes, both ways, until both sides have ended."""
    try:
        async with asyncio.TaskGroup() as both:
            both.create_task(_hand_on(reader, other_writer))
            both.create_task(_hand_on(other_reader, writer))
    except* OSError:
        pass
    finally:
        other_writer.transport.abort()


async def _hand_on(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    while piece := await source.read(_PIECE):
        target.write(piece)
        await target.drain()
    if target.can_write_eof():
        target.write_eof()


def _as_asked_of_the_host(method: bytes, target: str, head: bytes) -> bytes:
    """The request as the host itself is asked, and with no other to follow on its connection."""
    url = urlsplit(target)
    path = (url.path or "/") + (f"?{url.query}" if url.query else "")
    lines = head.split(b"\r\n")[1:-2]
    kept = [
        line
        for line in lines
        if line.partition(b":")[0].strip().lower()
        not in (b"connection", b"keep-alive", b"proxy-connection", b"proxy-authorization", b"host")
    ]
    first = method + b" " + path.encode("latin-1") + b" HTTP/1.1"
    host = b"Host: " + url.netloc.rpartition("@")[2].encode("latin-1")
    return b"\r\n".join([first, host, *kept, b"Connection: close", b"", b""])


def _answer(writer: asyncio.StreamWriter, status: int, text: str) -> None:
    reasons = {400: "Bad Request", 403: "Forbidden", 502: "Bad Gateway", 503: "Service Unavailable"}
    body = f"{text}\n".encode("utf-8", "replace")
    writer.write(
        f"HTTP/1.1 {status} {reasons[status]}\r\nContent-Type: text/plain; charset=utf-8\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode()
        + body
    )


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
