"""Messages of any size, with file descriptors, over one Unix stream socket.

A message is a length of four bytes, which carries the descriptors, and JSON. Only the standard library is
used: the server of a zygote stays small, and what a user's module finds loaded there is almost nothing.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Sequence
from typing import Any

_MOST_DESCRIPTORS = 64


def send(channel: socket.socket, message: Any, descriptors: Sequence[int] = ()) -> None:
    """Send a message; the descriptors stay open here.

    Raises:
        OSError: the other side is gone.
    """
    content = json.dumps(message, separators=(",", ":")).encode()
    length = len(content).to_bytes(4, "big")
    if descriptors:
        socket.send_fds(channel, [length], list(descriptors))
        channel.sendall(content)
    else:
        channel.sendall(length + content)


def receive(channel: socket.socket) -> tuple[Any, list[int]] | None:
    """The next message and the descriptors that came with it, which are the caller's; None at the end.

    Raises:
        OSError: the channel is closed, or the other side went away in the middle of a message.
    """
    length, descriptors, _, _ = socket.recv_fds(channel, 4, _MOST_DESCRIPTORS)
    if not length:
        return None
    length += _exactly(channel, 4 - len(length))
    return json.loads(_exactly(channel, int.from_bytes(length, "big"))), descriptors


def _exactly(channel: socket.socket, size: int) -> bytes:
    content = bytearray()
    while len(content) < size:
        part = channel.recv(min(size - len(content), 1 << 20))
        if not part:
            raise ConnectionResetError("the other side ended in the middle of a message")
        content += part
    return bytes(content)
