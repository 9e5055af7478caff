"""Clients that are slow, stuck or many hold up neither others nor the end."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from proctor.host.receiver import MOST_CONNECTIONS, Receiver
from proctor.host.receiver_tap import TOKEN_HEADER
from tests.tracing.sending import post, protobuf


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """A receiver for one test."""
    with Receiver() as made:
        yield made


def connect(receiver: Receiver) -> socket.socket:
    """A bare connection."""
    return socket.create_connection(("127.0.0.1", receiver.port), 20)


def is_closed(client: socket.socket) -> bool:
    """True when the other side has closed it; waits for that."""
    client.settimeout(20)
    try:
        while client.recv(4096):
            pass
    except ConnectionResetError:
        pass
    except TimeoutError:
        return False
    return True


def test_stuck_clients_hold_up_nobody(receiver: Receiver, tmp_path: Path) -> None:
    """One says nothing, one stops in the head, one in the body, one never reads an answer."""
    tap = receiver.open(tmp_path / "spool")
    head = (
        f"POST /v1/traces HTTP/1.1\r\n{TOKEN_HEADER}: {tap.token}\r\nContent-Type: application/x-protobuf\r\n"
    )
    with ExitStack() as stack:
        for said in (b"", b"POST /v1/tra", f"{head}Content-Length: 9999\r\n\r\nabc".encode()):
            stack.enter_context(connect(receiver)).sendall(said)
        deaf = stack.enter_context(connect(receiver))
        deaf.setblocking(False)
        with suppress(BlockingIOError, ConnectionError):
            while deaf.send(f"{head}Content-Length: 0\r\n\r\n".encode() * 100):
                pass

        assert 200 == post(receiver.port, protobuf("one"), tap.token).status
        started = time.monotonic()
        assert tap.close().bodies >= 1
        receiver.close()
        assert time.monotonic() - started < 10


def test_more_connections_than_there_is_room_for(receiver: Receiver, tmp_path: Path) -> None:
    """Those that rested longest give way, and first those of whoever has most; a new one is always served."""
    tap, greedy = receiver.open(tmp_path / "spool"), receiver.open(tmp_path / "greedy")
    empty = b"POST /v1/logs HTTP/1.1\r\nContent-Length: 0\r\n%s: %s\r\n\r\n"
    with ExitStack() as stack:
        modest = stack.enter_context(connect(receiver))
        modest.sendall(empty % (TOKEN_HEADER.encode(), tap.token.encode()))
        assert modest.recv(4096).startswith(b"HTTP/1.1 200")
        others: list[socket.socket] = []
        for _ in range(MOST_CONNECTIONS + 20):
            others.append(stack.enter_context(connect(receiver)))
            others[-1].sendall(empty % (TOKEN_HEADER.encode(), greedy.token.encode()))
            assert others[-1].recv(4096).startswith(b"HTTP/1.1 200")

        assert all(is_closed(client) for client in others[:20])
        modest.sendall(empty % (TOKEN_HEADER.encode(), tap.token.encode()))
        assert modest.recv(4096).startswith(b"HTTP/1.1 200")
        assert 200 == post(receiver.port, protobuf("one"), tap.token).status


def test_a_request_that_does_not_go_on_is_dropped(
    receiver: Receiver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half a body is no body; a connection that rests between two requests stays."""
    monkeypatch.setattr("proctor.host.receiver.SLOWEST_S", 0.5)
    tap = receiver.open(tmp_path / "spool")
    head = (
        f"POST /v1/traces HTTP/1.1\r\n{TOKEN_HEADER}: {tap.token}\r\nContent-Type: application/x-protobuf\r\n"
    )
    with connect(receiver) as stuck, connect(receiver) as resting:
        stuck.sendall(f"{head}Content-Length: 3000000\r\n\r\n".encode() + b"x" * 2_000_000)
        resting.sendall(f"{head}Content-Length: 0\r\n\r\n".encode())
        assert resting.recv(4096).startswith(b"HTTP/1.1 200")

        assert is_closed(stuck)
        resting.sendall(f"{head}Content-Length: 0\r\n\r\n".encode())
        assert resting.recv(4096).startswith(b"HTTP/1.1 200")
    assert 2 == tap.close().bodies
    assert ["bodies"] == [file.name for file in (tmp_path / "spool").iterdir()]


def test_an_answer_reaches_a_client_that_sends_too_much(receiver: Receiver, tmp_path: Path) -> None:
    """It is told why, although it is still sending."""
    receiver.open(tmp_path / "spool")
    with connect(receiver) as client:
        client.sendall(b"this is no HTTP\r\n\r\n" + b"x" * 300_000)

        assert client.recv(4096).startswith(b"HTTP/1.1 400 Bad Request")
        assert is_closed(client)
