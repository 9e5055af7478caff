"""The outside of grader workers: starting them, asking them, and ending them when they do not answer."""

from __future__ import annotations

import os
import select
import shutil
import signal
import socket
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from proctor.engine import snapshot
from proctor.engine.protocol import (
    Check,
    Checked,
    GradeRun,
    Load,
    Loaded,
    NotLoaded,
    Reply,
    Request,
    Sample,
    decode_reply,
    encode,
)
from proctor.errors import SuiteError
from proctor.host.child import Child
from proctor.host.place import private_folder
from proctor.host.zygote import Zygote
from proctor.ports import GraderOptions
from proctor.records.grade import Cause, Defect, Grade, inconclusive
from proctor.records.run import GradersRef
from proctor.records.suite import Test

LOAD_TIMEOUT_S: Final = 60.0
PRINTED_TAIL: Final = 2000
MEMORY_BYTES: Final = 4 * 1024**3
"""Address space that a worker may use: a grader that wants more gets a MemoryError of its own."""


class Graded(msgspec.Struct, frozen=True, kw_only=True):
    """What one grader said of a run: its samples in order, and the seconds they took together."""

    options: GraderOptions
    samples: tuple[Grade, ...]
    duration_s: float


class _NoAnswer(Exception):
    """The worker is late, or gone; the cause says which."""

    def __init__(self, cause: Cause) -> None:
        self.cause = cause


class GraderServer:
    """One clean server process, and the workers that are forked from it; one folder for unpacked snapshots.

    Safe to use from several threads; each `GradingModule` that it gives belongs to one.
    """

    def __init__(self, environment: Mapping[str, str], *, memory_bytes: int = MEMORY_BYTES) -> None:
        self._folder = private_folder("proctor-graders")
        self._memory_bytes = memory_bytes
        self._lock = threading.Lock()
        # The order of sets must not depend on the process that a grader happens to run in.
        environment = {**environment, "PYTHONHASHSEED": "0"}
        self._environment = environment
        self._zygote = Zygote(
            "proctor.engine.worker:prepare", env=environment, stderr=self._folder / "server.log"
        )
        self._serial = 0

    def stored(self, archive: Path, ref: GradersRef) -> GradingModule:
        """The module of a stored snapshot.

        Raises:
            SuiteError: the archive is missing or was changed.
        """
        target = self._target(ref)
        with self._lock:
            if not target.is_dir():
                snapshot.unpack(snapshot.read_archive(archive, ref), target)
        return GradingModule(self, target, ref.entry)

    def fresh(self, taken: snapshot.Snapshot, original: Path) -> GradingModule:
        """The module of a snapshot that was just taken; what it lacks may come from the original folder."""
        target = self._target(taken.ref)
        with self._lock:
            if not target.is_dir():
                snapshot.unpack(taken.archive, target)
        return GradingModule(self, target, taken.ref.entry, original=original)

    def close(self) -> None:
        """End the server and take the unpacked snapshots away."""
        self._zygote.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _target(self, ref: GradersRef) -> Path:
        return self._folder / ref.digest.removeprefix("sha256:")

    def start(self, load: Load) -> tuple[Child, socket.socket, Path]:
        """A new worker, with its channel and the file that receives what it prints."""
        ours, theirs = socket.socketpair()
        with self._lock:
            self._serial += 1
            log = self._folder / f"printed-{self._serial}.log"
        request = msgspec.to_builtins(msgspec.structs.replace(load, memory_bytes=self._memory_bytes))
        with theirs:
            child = self._zygote.spawn(
                "proctor.engine.worker:serve",
                request,
                fds=[theirs.fileno()],
                cwd=Path(load.snapshot),
                env=self._environment,
                stdout=log,
                stderr=log,
            )
        return child, ours, log


class GradingModule:
    """One grading module, and the worker that has loaded it. For one thread at a time.

    A worker that does not answer is ended; the next question starts a fresh one.
    """

    def __init__(self, server: GraderServer, folder: Path, entry: str, original: Path | None = None) -> None:
        self._server = server
        self._load = Load(snapshot=str(folder), entry=entry, original=str(original) if original else None)
        self._worker: _Worker | None = None
        self._loaded: Loaded | None = None
        self._asked: deque[GradeRun] = deque()

    @property
    def loaded(self) -> Loaded:
        """The module's graders.

        Raises:
            SuiteError: it cannot be loaded; `defect` of the error's cause says why.
        """
        if self._loaded is None:
            self._start()
        assert self._loaded is not None
        return self._loaded

    def holds(self, path: Path) -> bool:
        """True when the snapshot has a file at this path, relative to the suite's root."""
        return (Path(self._load.snapshot) / path).is_file()

    def lacks(self, test: Test) -> Sequence[str]:
        """What a test lacks for the graders that apply to it."""
        graders = self.loaded.graders
        try:
            self._running().ask(Check(test=test))
            reply = self._running().answer(sum(options.timeout for options in graders))
        except _NoAnswer as silence:
            self._end()
            return (
                f"the graders gave no answer when they were asked what the test needs ({silence.cause.value})",
            )
        return reply.lacks if isinstance(reply, Checked) else ()

    def ask(self, asked: GradeRun) -> None:
        """Ask for the grades of one more run. The worker goes on with it as soon as it can."""
        self._running().ask(asked)
        self._asked.append(asked)

    def grades(self) -> tuple[Graded, ...]:
        """The grades of the run that was asked for longest ago: one for each position in `only`, in that order.

        A worker that is late or gone costs the grader that it was at; the others are asked of a fresh worker.
        """
        asked = self._asked.popleft()
        left, graded = list(asked.only), list[Graded]()
        while left:
            try:
                graded.append(self._collect(self._running(), self.loaded.graders[left[0]]))
            except _Incomplete as silence:
                graded.append(silence.graded)
                self._end()
                self._ask_again(asked, left[1:])
            left.pop(0)
        return tuple(graded)

    def _ask_again(self, asked: GradeRun, left: Sequence[int]) -> None:
        """Ask a fresh worker for what the one that was ended leaves open."""
        if left:
            self._running().ask(msgspec.structs.replace(asked, only=tuple(left)))
        for later in self._asked:
            self._running().ask(later)

    def close(self) -> None:
        """End the worker."""
        self._end()

    def _collect(self, worker: _Worker, options: GraderOptions) -> Graded:
        samples, duration = list[Grade](), 0.0
        while len(samples) < options.samples:
            try:
                reply = worker.answer(options.timeout)
            except _NoAnswer as silence:
                grade = _unanswered(options, silence.cause, worker.printed())
                raise _Incomplete(
                    Graded(options=options, samples=(*samples, grade), duration_s=duration)
                ) from None
            assert isinstance(reply, Sample)
            grade = reply.grade
            if grade.defect is not None and (printed := worker.printed()):
                grade = msgspec.structs.replace(
                    grade, defect=msgspec.structs.replace(grade.defect, printed=printed)
                )
            worker.forget_printed(reply.printed_to)
            samples.append(grade)
            duration += reply.duration_s
        return Graded(options=options, samples=tuple(samples), duration_s=duration)

    def _running(self) -> _Worker:
        if self._worker is None:
            self._start()
        assert self._worker is not None
        return self._worker

    def _start(self) -> None:
        worker = _Worker(*self._server.start(self._load))
        try:
            reply = worker.answer(LOAD_TIMEOUT_S)
        except _NoAnswer as silence:
            worker.end()
            happened = (
                "took too long to load" if silence.cause is Cause.GRADER_TIMEOUT else "ended its process"
            )
            raise UnloadableGraders(
                self._load.entry,
                Defect(type="NotLoaded", message=f"the module {happened}", printed=worker.printed()),
            ) from None
        if isinstance(reply, NotLoaded):
            worker.end()
            raise UnloadableGraders(self._load.entry, reply.defect)
        assert isinstance(reply, Loaded)
        self._worker, self._loaded = worker, reply

    def _end(self) -> None:
        if self._worker is not None:
            self._worker.end()
            self._worker = None


class UnloadableGraders(SuiteError):
    """A grading module that cannot be loaded.

    Attributes:
        defect: what happened, for the author of the module.
    """

    def __init__(self, entry: str, defect: Defect) -> None:
        self.defect = defect
        if defect.type == "SuiteError":
            what, _, fix = defect.message.partition("\n")
            super().__init__(what.removeprefix(entry).strip(), where=entry, fix=fix.strip())
            return
        said = f"{defect.type}: {defect.message}" if defect.type != "NotLoaded" else defect.message
        stack = f"\n{defect.stack.rstrip()}" if defect.stack else ""
        super().__init__(
            f"the grading module cannot be loaded: {said}{stack}",
            where=entry,
            fix="Mend the module; `python " + entry + "` in the suite's folder shows the same.",
        )


class _Incomplete(Exception):
    def __init__(self, graded: Graded) -> None:
        self.graded = graded


class _Worker:
    """One worker process and its channel."""

    def __init__(self, child: Child, channel: socket.socket, log: Path) -> None:
        self._child, self._channel, self._log = child, channel, log
        self._buffer = bytearray()
        self._read_from = 0

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
            if not both.poll(LOAD_TIMEOUT_S * 1000):
                return
            with suppress(OSError):
                self._buffer += self._channel.recv(1 << 18)

    def answer(self, timeout_s: float) -> Reply:
        """The next reply; raises _NoAnswer when there is none within `timeout_s`, or the worker is gone."""
        deadline = time.monotonic() + timeout_s
        while (end := self._buffer.find(b"\n")) < 0:
            left = deadline - time.monotonic()
            if left <= 0:
                raise _NoAnswer(Cause.GRADER_TIMEOUT)
            self._channel.settimeout(left)
            try:
                received = self._channel.recv(1 << 18)
            except TimeoutError:
                raise _NoAnswer(Cause.GRADER_TIMEOUT) from None
            except OSError:
                received = b""
            if not received:
                raise _NoAnswer(Cause.GRADER_DIED)
            self._buffer += received
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        try:
            return decode_reply(line)
        except msgspec.DecodeError:
            raise _NoAnswer(Cause.GRADER_DIED) from None

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
        self._channel.close()
        try:
            os.killpg(self._child.pid, signal.SIGKILL)
        except ProcessLookupError:
            os.kill(self._child.pid, signal.SIGKILL)  # it has not come so far as to have a group
        self._child.reap()


def _unanswered(options: GraderOptions, cause: Cause, printed: str) -> Grade:
    if cause is Cause.GRADER_TIMEOUT:
        message = (
            f"grader {options.name!r} took longer than its timeout of {options.timeout:g} s and was ended"
        )
    else:
        message = f"grader {options.name!r} ended its own process, or was killed (out of memory?)"
    defect = Defect(type=cause.value, message=message, printed=printed)
    return inconclusive(message, cause=options.failure_cause or cause, defect=defect)
