"""One worker process as the engine sees it: asked, listened to, and ended when it does not answer."""

from __future__ import annotations

import os
import select
import signal
import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from proctor.engine.collected import result_of
from proctor.engine.protocol import AskJudge, JudgeAnswer, Reply, Request, decode_reply, encode
from proctor.host.child import Child
from proctor.records.grade import Cause
from proctor.records.judging import Judged

SEND_TIMEOUT_S: Final = 60.0
PRINTED_TAIL: Final = 2000


class NoAnswer(Exception):
    """The worker is late, or gone; the cause says which."""

    def __init__(self, cause: Cause) -> None:
        self.cause = cause


class WorkerProcess:
    """One worker process and its channel."""

    def __init__(self, child: Child, channel: socket.socket, log: Path) -> None:
        self._child, self._channel, self._log = child, channel, log
        self._buffer = bytearray()
        self._read_from = 0
        self._open: dict[int, Future[Judged]] = {}
        self._bell_out, self._bell_in = os.pipe()
        os.set_blocking(self._bell_in, False)
        self._bell_lock = threading.Lock()

    def ask(self, request: Request) -> None:
        """Send a request, and take in replies meanwhile: a worker that is sending one does not listen."""
        message = memoryview(encode(request) + b"\n")
        self._channel.setblocking(False)
        both = select.poll()
        both.register(self._channel, select.POLLIN | select.POLLOUT)
        while message:
            try:
                message = message[self._channel.send(message) :]
                continue
            except BlockingIOError:
                pass
            except OSError:
                return  # a worker that is gone is found out by its silence
            if not both.poll(SEND_TIMEOUT_S * 1000):
                return
            with suppress(OSError):
                self._buffer += self._channel.recv(1 << 18)

    def answer(
        self,
        timeout_s: float,
        *,
        on_question: Callable[[AskJudge], Future[Judged]] | None = None,
        on_asked: Callable[[Future[Judged]], None] = lambda _: None,
    ) -> Reply:
        """The next reply that is no question to a judge; those are passed on, and their answers sent back.

        Args:
            timeout_s: how long the worker may take; while it waits for a judge, no time counts.
            on_question: asks a judge.
            on_asked: told of each question that was.

        Raises:
            NoAnswer: there is none in time, or the worker is gone.
        """
        deadline = time.monotonic() + timeout_s
        while True:
            if (line := self._line()) is not None:
                reply = _decoded(line)
                if not isinstance(reply, AskJudge):
                    return reply
                assert on_question is not None, "a worker asks judges only while it grades"
                future = on_question(reply)
                on_asked(future)
                self._open[reply.number] = future
                future.add_done_callback(self._ring)
                continue
            waiting_since = time.monotonic()
            if self._open:
                self._wait(None)
                deadline += time.monotonic() - waiting_since
                self._send_answers()
            else:
                left = deadline - waiting_since
                if left <= 0 or not self._wait(left):
                    raise NoAnswer(Cause.GRADER_TIMEOUT)

    def _line(self) -> bytes | None:
        """The next whole line that has come."""
        end = self._buffer.find(b"\n")
        if end < 0:
            return None
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        return line

    def _wait(self, timeout_s: float | None) -> bool:
        """Wait for the worker, or for a judge that was asked; False when the time is up.

        Raises:
            NoAnswer: the worker is gone.
        """
        both = select.poll()
        both.register(self._channel, select.POLLIN)
        if self._open:
            both.register(self._bell_out, select.POLLIN)
        ready = {descriptor for descriptor, _ in both.poll(None if timeout_s is None else timeout_s * 1000)}
        if self._bell_out in ready:
            os.read(self._bell_out, 1 << 12)
        if self._channel.fileno() in ready:
            try:
                received = self._channel.recv(1 << 18, socket.MSG_DONTWAIT)
            except BlockingIOError:
                return True
            except OSError:
                received = b""
            if not received:
                raise NoAnswer(Cause.GRADER_DIED)
            self._buffer += received
        return bool(ready)

    def _ring(self, _: Future[Judged]) -> None:
        """Called from the judge's thread: an answer is there. The worker may be gone by now."""
        with self._bell_lock, suppress(OSError):
            if self._bell_in >= 0:
                os.write(self._bell_in, b"!")

    def _send_answers(self) -> None:
        for number, future in [*self._open.items()]:
            if future.done():
                del self._open[number]
                self.ask(JudgeAnswer(number=number, grade=result_of(future).grade))

    def printed(self) -> str:
        """The last part of what was printed since the last grade that was in order."""
        try:
            with self._log.open("rb") as log:
                end = log.seek(0, os.SEEK_END)
                log.seek(max(self._read_from, end - PRINTED_TAIL))
                return log.read().decode("utf-8", "replace")
        except OSError:
            return ""

    def forget_printed(self, up_to: int) -> None:
        """The worker runs ahead of us: it says itself how much it had printed by its last grade."""
        self._read_from = up_to

    def end(self) -> None:
        """Kill the worker and everything in its process group."""
        self._channel.close()
        with self._bell_lock:
            os.close(self._bell_out)
            os.close(self._bell_in)
            self._bell_in = -1
        try:
            os.killpg(self._child.pid, signal.SIGKILL)
        except ProcessLookupError:
            os.kill(self._child.pid, signal.SIGKILL)  # it has not come so far as to have a group
        self._child.reap()


def _decoded(line: bytes) -> Reply:
    try:
        return decode_reply(line)
    except msgspec.DecodeError:
        raise NoAnswer(Cause.GRADER_DIED) from None
