"""The outside of grader workers: starting them, asking them, and ending them when they do not answer."""

from __future__ import annotations

import shutil
import socket
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from proctor.engine import snapshot
from proctor.engine.collected import Collected
from proctor.engine.judging import JudgeDesk
from proctor.engine.protocol import Check, Checked, GradeRun, Load, Loaded, NotLoaded, Sample
from proctor.engine.snapshot_scripts import link_packages
from proctor.engine.worker_process import NoAnswer, WorkerProcess
from proctor.errors import SuiteError
from proctor.host.child import Child
from proctor.host.place import private_folder
from proctor.host.zygote import Zygote
from proctor.judges.setup import JudgedRun, JudgeSetup
from proctor.ports import GraderOptions
from proctor.records.grade import Cause, Defect, Grade, inconclusive
from proctor.records.run import GradersRef
from proctor.records.suite import Test

LOAD_TIMEOUT_S: Final = 60.0
MEMORY_BYTES: Final = 4 * 1024**3
"""Address space that a worker may use: a grader that wants more gets a MemoryError of its own."""


class GraderServer:
    """One clean server process, and the workers that are forked from it; one folder for unpacked snapshots.

    Safe to use from several threads; each `GradingModule` that it gives belongs to one.

    Args:
        environment: what graders see.
        desk: answers what graders ask of judges; without one they are told that no model is configured.
        memory_bytes: address space of a worker.
    """

    def __init__(
        self,
        environment: Mapping[str, str],
        *,
        desk: JudgeDesk | None = None,
        memory_bytes: int = MEMORY_BYTES,
    ) -> None:
        self.desk = desk or JudgeDesk(JudgeSetup())
        self._folder = private_folder("proctor-graders")
        self._memory_bytes = memory_bytes
        self._lock = threading.Lock()
        # What graders and their processes put aside goes when the server does, also when a worker was killed.
        scratch = self._folder / "tmp"
        scratch.mkdir()
        environment = {
            **environment,
            # The order of sets must not depend on the process that a grader happens to run in.
            "PYTHONHASHSEED": "0",
            "TMPDIR": str(scratch),
            # `git status` would write the index anew, and a grader may only read.
            "GIT_OPTIONAL_LOCKS": "0",
        }
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
                link_packages(target, [Path.cwd()])
        return GradingModule(self, target, ref)

    def fresh(self, taken: snapshot.Snapshot, original: Path) -> GradingModule:
        """The module of a snapshot that was just taken; what it lacks may come from the original folder."""
        target = self._target(taken.ref)
        with self._lock:
            if not target.is_dir():
                snapshot.unpack(taken.archive, target)
                link_packages(target, [original, Path.cwd()])
        return GradingModule(self, target, taken.ref, original=original)

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

    def __init__(
        self, server: GraderServer, folder: Path, ref: GradersRef, original: Path | None = None
    ) -> None:
        self._server, self._digest = server, ref.digest
        self._load = Load(snapshot=str(folder), entry=ref.entry, original=str(original) if original else None)
        self._worker: WorkerProcess | None = None
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
        except NoAnswer as silence:
            self._end()
            return (
                f"the graders gave no answer when they were asked what the test needs ({silence.cause.value})",
            )
        return reply.lacks if isinstance(reply, Checked) else ()

    def ask(self, asked: GradeRun) -> None:
        """Ask for the grades of one more run. The worker goes on with it as soon as it can."""
        self._running().ask(asked)
        self._asked.append(asked)

    def grades(self) -> tuple[Collected, ...]:
        """The grades of the run that was asked for longest ago: one for each position in `only`, in that order.

        A worker that is late or gone costs the grader that it was at; the others are asked of a fresh worker.
        """
        asked = self._asked.popleft()
        run = self._as_judged(asked)
        left, graded = list(asked.only), list[Collected]()
        while left:
            collected = Collected(self.loaded.graders[left.pop(0)])
            graded.append(collected)
            if not self._collect(self._running(), collected, run):
                self._end()
                self._ask_again(asked, left)
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

    def _as_judged(self, asked: GradeRun) -> JudgedRun:
        """The run as judges see it."""
        root = Path(self._load.snapshot)
        return JudgedRun(
            output=asked.output,
            test=asked.test,
            workdir=Path(asked.workdir),
            events=asked.record.events,
            base=(root / self._load.entry).parent,
            root=root,
            snapshot=self._digest,
        )

    def _collect(self, worker: WorkerProcess, collected: Collected, run: JudgedRun) -> bool:
        """Take in all samples of one grader; False when the worker is late or gone, which is then a sample."""
        options, desk = collected.options, self._server.desk
        while len(collected) < options.samples:
            try:
                reply = worker.answer(
                    options.timeout,
                    on_question=lambda asked: desk.ask(asked.question, run, asked.sample),
                    on_asked=collected.note_question,
                )
            except NoAnswer as silence:
                collected.add(_unanswered(options, silence.cause, worker.printed()))
                return False
            assert isinstance(reply, Sample)
            collected.duration_s += reply.duration_s
            if reply.question is not None:
                collected.await_verdict(desk.ask(reply.question, run, len(collected)))
            elif reply.grade is not None:
                collected.add(_with_printed(reply.grade, worker), reply.judging)
            worker.forget_printed(reply.printed_to)
        return True

    def _running(self) -> WorkerProcess:
        if self._worker is None:
            self._start()
        assert self._worker is not None
        return self._worker

    def _start(self) -> None:
        worker = WorkerProcess(*self._server.start(self._load))
        try:
            reply = worker.answer(LOAD_TIMEOUT_S)
        except NoAnswer as silence:
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


def _with_printed(grade: Grade, worker: WorkerProcess) -> Grade:
    """The grade of a grader with a defect, with what it had printed."""
    if grade.defect is None or not (printed := worker.printed()):
        return grade
    return msgspec.structs.replace(grade, defect=msgspec.structs.replace(grade.defect, printed=printed))


def _unanswered(options: GraderOptions, cause: Cause, printed: str) -> Grade:
    if cause is Cause.GRADER_TIMEOUT:
        message = (
            f"grader {options.name!r} took longer than its timeout of {options.timeout:g} s and was ended"
        )
    else:
        message = f"grader {options.name!r} ended its own process, or was killed (out of memory?)"
    defect = Defect(type=cause.value, message=message, printed=printed)
    return inconclusive(message, cause=options.failure_cause or cause, defect=defect)
