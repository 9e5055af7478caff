"""The first process of a sandbox: starts the agent, relays its connections to the outside, and says how it ended.

It is process 1 of its own process ids: nothing inside can kill or stop it, and when it ends, everything inside is
ended by the system. It is run as a file by an interpreter without packages, and imports nothing of proctor.

Arguments: the descriptor that takes how the agent ended; how many processes it may have, the port on which it is
relayed, and the Unix socket to which (`-` for none of these); and the agent's own. What is written to the descriptor
is `code N`, `signal N`, or `not started: REASON`.
"""

from __future__ import annotations

import os
import select
import signal
import sys
from contextlib import suppress

TYPE_CHECKING = False

if TYPE_CHECKING:
    from socket import socket
    from types import FrameType

_PIECE = 1 << 16
_RESTORED = (
    *(signal.SIGTERM, signal.SIGCHLD, signal.SIGPIPE, signal.SIGXFSZ),
    *(signal.SIGHUP, signal.SIGINT, signal.SIGQUIT),
)


def main(arguments: list[str]) -> int:
    """Run the agent to its end; the exit code of the sandbox."""
    told, processes, port, path, *argv = arguments
    descriptor = int(told)
    os.set_inheritable(descriptor, False)
    woken, wake = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    agent = 0

    def end(number: int, frame: FrameType | None) -> None:
        if agent:
            with suppress(OSError):
                os.killpg(agent, signal.SIGTERM)
                os.killpg(agent, signal.SIGCONT)

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    relay = Relay(int(port), path) if port != "-" else None
    agent, reason = _start(argv, None if processes == "-" else int(processes))
    if reason:
        os.write(descriptor, f"not started: {reason}".encode())
        return 127
    status = _serve(agent, woken, relay)
    code = os.waitstatus_to_exitcode(status)
    os.write(descriptor, f"code {code}".encode() if code >= 0 else f"signal {-code}".encode())
    return code if code >= 0 else 128 - code


def _start(argv: list[str], processes: int | None) -> tuple[int, str]:
    """The agent's process, and why it could not be started; that is empty when it could."""
    said, saying = os.pipe()
    agent = os.fork()
    if agent == 0:
        try:
            os.close(said)
            os.set_inheritable(saying, False)
            os.setsid()
            signal.set_wakeup_fd(-1)
            for number in _RESTORED:
                signal.signal(number, signal.SIG_DFL)
            if processes is not None:
                import resource

                # This process counts as one.
                resource.setrlimit(resource.RLIMIT_NPROC, (processes + 1, processes + 1))
            os.execvp(argv[0], argv)
        except (OSError, ValueError) as error:
            os.write(saying, str(getattr(error, "strerror", None) or error).encode())
        finally:
            os._exit(127)
    os.close(saying)
    reason = os.read(said, _PIECE).decode("utf-8", "replace")
    os.close(said)
    return agent, reason


def _serve(agent: int, woken: int, relay: Relay | None) -> int:
    """Relay, and bury what has ended, until the agent has; its wait status."""
    poller = select.poll()
    poller.register(woken, select.POLLIN)
    if relay is not None:
        relay.listen(poller)
    while True:
        status = _buried(agent)
        if status is not None:
            return status
        for descriptor, event in poller.poll():
            if descriptor == woken:
                with suppress(BlockingIOError):
                    os.read(woken, _PIECE)
            elif relay is not None:
                relay.take(descriptor, event)


def _buried(agent: int) -> int | None:
    ended: int | None = None
    with suppress(ChildProcessError):
        while (found := os.waitpid(-1, os.WNOHANG))[0]:
            if found[0] == agent:
                ended = found[1]
    return ended


class Relay:
    """Hands what comes in on a loopback port to a Unix socket, and back."""

    def __init__(self, port: int, path: str) -> None:
        import socket

        self._sockets = socket
        self._path = path
        self._listener = socket.create_server(("127.0.0.1", port), backlog=128)
        self._listener.setblocking(False)
        self._ends: dict[int, End] = {}

    def listen(self, poller: select.poll) -> None:
        """Begin; `take` is then to be called for what this poller says."""
        self._poller = poller
        poller.register(self._listener.fileno(), select.POLLIN)

    def take(self, descriptor: int, event: int) -> None:
        """Something can be read or written."""
        if descriptor == self._listener.fileno():
            self._accept()
        elif descriptor in self._ends:
            end = self._ends[descriptor]
            try:
                if event & (select.POLLIN | select.POLLHUP | select.POLLERR) and not end.other.unsent:
                    self._read(end)
                if event & select.POLLOUT:
                    self._write(end)
            except OSError:
                self._drop(end)
                return
            self._watch(end)
            self._watch(end.other)

    def _accept(self) -> None:
        with suppress(OSError):
            inside, _ = self._listener.accept()
            outside = self._sockets.socket(self._sockets.AF_UNIX)
            try:
                outside.connect(self._path)
            except OSError:
                inside.close()
                outside.close()
                return
            one, other = End(inside), End(outside)
            one.other, other.other = other, one
            for end in (one, other):
                end.socket.setblocking(False)
                self._ends[end.socket.fileno()] = end
                self._watch(end)

    def _read(self, end: End) -> None:
        with suppress(BlockingIOError):
            piece = end.socket.recv(_PIECE)
            if not piece:
                end.is_read = True
                end.other.is_closing = True
            end.other.unsent += piece
            self._write(end.other)

    def _write(self, end: End) -> None:
        with suppress(BlockingIOError):
            if end.unsent:
                del end.unsent[: end.socket.send(end.unsent)]
        if end.is_closing and not end.unsent and not end.is_closed:
            end.is_closed = True
            end.socket.shutdown(self._sockets.SHUT_WR)
        if end.is_closed and end.other.is_closed:
            self._drop(end)

    def _watch(self, end: End) -> None:
        descriptor = end.socket.fileno()
        if descriptor not in self._ends:
            return
        wanted = 0
        if not end.is_read and not end.other.unsent:
            wanted |= select.POLLIN
        if end.unsent:
            wanted |= select.POLLOUT
        if wanted:
            self._poller.register(descriptor, wanted)
        else:
            with suppress(KeyError):
                self._poller.unregister(descriptor)

    def _drop(self, end: End) -> None:
        for one in (end, end.other):
            descriptor = one.socket.fileno()
            if self._ends.pop(descriptor, None) is not None:
                with suppress(KeyError):
                    self._poller.unregister(descriptor)
                one.socket.close()


class End:
    """One end of a relayed connection.

    Attributes:
        unsent: what is still to be written to it.
        is_read: nothing more comes from it.
        is_closing: nothing more is to be written to it after what is unsent.
        is_closed: the other side has been told so.
    """

    other: End

    def __init__(self, socket: socket) -> None:
        self.socket = socket
        self.unsent = bytearray()
        self.is_read = self.is_closing = self.is_closed = False


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
