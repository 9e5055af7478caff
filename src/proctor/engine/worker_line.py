"""The worker's end of its channel: requests come in, replies go out, and graders ask judges in between."""

from __future__ import annotations

import socket
import sys
import threading
from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import UNSET

from proctor.core.include import globs_of
from proctor.engine.protocol import AskJudge, JudgeAnswer, Reply, Request, decode_request, encode
from proctor.records.grade import Grade, Outcome
from proctor.records.json_value import Json
from proctor.records.judging import JudgeQuestion

if TYPE_CHECKING:
    import asyncio  # most graders are plain functions, and every worker would pay for it


class Line:
    """A channel on which an answer of a judge may come before or after the next request.

    Graders may ask from several threads, and from the event loop: whoever waits reads, and hands on what is for
    others.
    """

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._buffer = bytearray()
        self._reading, self._sending = threading.Lock(), threading.Lock()
        self._requests: deque[Request] = deque()
        self._answers: dict[int, Grade] = {}
        self._expected: dict[int, tuple[asyncio.AbstractEventLoop, asyncio.Future[Grade]]] = {}
        self._last = 0

    def send(self, reply: Reply) -> None:
        """Say something to the engine."""
        with self._sending:
            self._channel.sendall(encode(reply) + b"\n")

    def next_request(self) -> Request | None:
        """The next request that is no answer to a question of ours; None when the engine is gone."""
        with self._reading:
            while not self._requests:
                if not self._take_in(blocking=True):
                    return None
            return self._requests.popleft()

    def ask(self, asked: AskJudge) -> Grade:
        """What the judge says; waits for it."""
        asked = self._numbered(asked)
        self.send(asked)
        while True:
            with self._reading:
                if asked.number in self._answers:
                    return self._answers.pop(asked.number)
                if not self._take_in(blocking=True):
                    raise ConnectionError("the engine is gone")

    def ask_soon(self, asked: AskJudge, loop: asyncio.AbstractEventLoop) -> asyncio.Future[Grade]:
        """The same for a coroutine: the question is sent at once, the answer can be awaited."""
        asked = self._numbered(asked)
        future: asyncio.Future[Grade] = loop.create_future()
        self._expected[asked.number] = (loop, future)
        loop.add_reader(self._channel, self._readable, loop)
        self.send(asked)
        return future

    def _numbered(self, asked: AskJudge) -> AskJudge:
        with self._sending:
            self._last += 1
            return msgspec.structs.replace(asked, number=self._last)

    def _readable(self, loop: asyncio.AbstractEventLoop) -> None:
        """Called by the event loop; a thread that is reading already does it for us."""
        if not self._reading.acquire(blocking=False):
            return
        try:
            self._take_in(blocking=False)
        finally:
            self._reading.release()
        if not self._expected:
            loop.remove_reader(self._channel)

    def _take_in(self, *, blocking: bool) -> bool:
        """Read what has come and sort it; False when the engine is gone."""
        try:
            received = self._channel.recv(1 << 18, 0 if blocking else socket.MSG_DONTWAIT)
        except BlockingIOError:
            return True
        if not received:
            return False
        self._buffer += received
        *lines, rest = self._buffer.split(b"\n")
        self._buffer = bytearray(rest)
        for line in lines:
            request = decode_request(bytes(line))
            if isinstance(request, JudgeAnswer):
                self._hand_over(request)
            else:
                self._requests.append(request)
        return True

    def _hand_over(self, answer: JudgeAnswer) -> None:
        expected = self._expected.pop(answer.number, None)
        if expected is None:
            self._answers[answer.number] = answer.grade
            return
        loop, future = expected
        loop.call_soon_threadsafe(_settle, future, answer.grade)


def _settle(future: asyncio.Future[Grade], grade: Grade) -> None:
    if not future.done():
        future.set_result(grade)


class WorkerJudge:
    """The `judge` of one grader and one run: blocks in `def`, is awaited in `async def`.

    Attributes:
        unanswered: the last answer that was no verdict; None when all were.
    """

    def __init__(self, line: Line, grader: int) -> None:
        self._line, self._grader = line, grader
        self._asked: dict[bytes, int] = {}
        self._lock = threading.Lock()
        self.unanswered: Grade | None = None

    def __call__(
        self,
        goal: str | None = None,
        *,
        output: Json = UNSET,
        expected: Json = UNSET,
        include: Sequence[str] = (),
        judge_file: str | None = None,
        binary: bool = False,
        model: str | None = None,
    ) -> Any:
        """The judge's Grade.

        Args:
            goal: what to look for; the test's own goal when None.
            output: what is judged instead of the run's output.
            expected: what it is compared with instead of the test's `expected`; None for nothing.
            include: globs of workdir files that are shown too; `@tool-calls` for the tool calls of the trace.
            judge_file: a prompt of your own among the stored files, instead of the goal judge.
            binary: pass or fail instead of a score.
            model: PROVIDER/NAME instead of the configured one.

        Raises:
            TypeError: goal or include are of another type, or output or expected are no JSON.
            ValueError: a pattern of include leads out of the workdir.
        """
        question = _question(
            goal=goal,
            output=output,
            expected=expected,
            include=include,
            judge_file=judge_file,
            binary=binary,
            model=model,
        )
        key = msgspec.json.encode(question)
        with self._lock:
            sample = self._asked.get(key, 0)
            self._asked[key] = sample + 1
        asked = AskJudge(number=0, grader=self._grader, sample=sample, question=question)
        loop = _running_loop()
        if loop is None:
            return self._noted(self._line.ask(asked))
        future = self._line.ask_soon(asked, loop)
        future.add_done_callback(lambda done: None if done.cancelled() else self._note(done.result()))
        return future

    def _noted(self, grade: Grade) -> Grade:
        self._note(grade)
        return grade

    def _note(self, grade: Grade) -> None:
        if grade.outcome is Outcome.INCONCLUSIVE:
            self.unanswered = grade


class AskLater:
    """The `judge` of a grader whose grade is whatever the judge says: gives the question, and waits for nothing."""

    def __call__(self, **asked: Any) -> JudgeQuestion:
        """The question."""
        return _question(**asked)


def _running_loop() -> asyncio.AbstractEventLoop | None:
    """The loop that this thread runs; None where there is none."""
    if "asyncio" not in sys.modules:
        return None
    import asyncio

    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _question(**asked: Any) -> JudgeQuestion:
    """The question, with each part of the type that it should be."""
    include = asked.get("include", ())
    if isinstance(include, str):
        raise TypeError(
            f"include is a list of patterns, and this is {include!r}; write include=[{include!r}]"
        )
    asked["include"] = tuple(include)
    globs_of(asked["include"])
    for name in ("goal", "judge_file", "model"):
        value = asked.get(name)
        if value is not None and not isinstance(value, str):
            raise TypeError(f"{name} is text, and this is {type(value).__name__} {value!r}")
    for name in ("output", "expected"):
        if asked.get(name, UNSET) is not UNSET:
            try:
                asked[name] = msgspec.json.decode(msgspec.json.encode(asked[name]))
            except (TypeError, ValueError, RecursionError) as error:
                raise TypeError(f"{name} of judge() is no JSON: {error}") from error
    return JudgeQuestion(**asked)
