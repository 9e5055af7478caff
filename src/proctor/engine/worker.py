"""The inside of a grader worker: a forked process that has loaded one grading module.

A worker answers one request at a time. Whatever a grader does to it (raises, exits, prints, changes folder or
environment, forks) ends as one inconclusive grade; what cannot be undone ends the process, and the engine
starts a fresh one for the graders that are left.
"""

from __future__ import annotations

import copy
import importlib
import inspect
import os
import random
import socket
import sys
import time
import traceback
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, cast

import msgspec

from proctor.engine.module import load_graders, taken_from_original, top_level_modules
from proctor.engine.protocol import (
    Check,
    Checked,
    GradeRun,
    Load,
    Loaded,
    NotLoaded,
    Request,
    Sample,
    applies,
)
from proctor.engine.untouched import Watch
from proctor.engine.worker_line import AskLater, Line, WorkerJudge
from proctor.errors import JudgeError
from proctor.graders.llm_judge import LlmJudge
from proctor.graders.returned import NotAGrade, as_grade
from proctor.ports import Grader, RunView
from proctor.records.grade import Cause, Defect, Grade, inconclusive
from proctor.records.json_value import Json
from proctor.records.judging import Judged, JudgeQuestion


def prepare(_: Json) -> None:
    """Import, in the server that workers are forked from, what every worker needs. No user code."""
    import pkgutil

    import proctor.graders

    kinds = [
        f"proctor.graders.{module.name}"
        for module in pkgutil.iter_modules(proctor.graders.__path__)
        if module.name != "judge_program"  # reading verdicts is only needed where a judge is a program
    ]
    # What `from proctor import *` and the eval contract bring in, so that no worker has to read a file for it.
    for name in ("rapidfuzz.distance", "tempfile", "proctor.wiring", "proctor.records.exits", *kinds):
        importlib.import_module(name)


def serve(request: Json, descriptors: Sequence[int]) -> int:
    """Load the module, say so, and answer requests until the engine closes the channel."""
    load = msgspec.convert(request, Load)
    channel = socket.socket(fileno=descriptors[0])
    line = Line(channel)
    worker = _Worker(load, line)
    with channel:
        if not worker.load():
            return 0
        while (asked := line.next_request()) is not None:
            worker.answer(asked)
    return 0


class _Worker:
    def __init__(self, load: Load, line: Line) -> None:
        self._load, self._line = load, line
        self._snapshot = Path(load.snapshot)
        self._base = (self._snapshot / load.entry).parent
        self._send = line.send
        self._graders: tuple[Grader, ...] = ()
        self._loop: Any = None
        self._pid = os.getpid()
        self._home = str(self._base)
        self._environment = dict(os.environ)
        self._variables = dict(_variables())

    def load(self) -> bool:
        """Load the grading module; False when that is not possible, which has then been said."""
        if self._load.memory_bytes is not None:
            import resource

            # The soft limit alone: a program that a grader starts may need more address space than memory.
            _, most = resource.getrlimit(resource.RLIMIT_AS)
            resource.setrlimit(resource.RLIMIT_AS, (self._load.memory_bytes, most))
        # Only a check before a run asks what was brought in; looking at every module costs a forked process dear.
        is_check = self._load.original is not None
        before = top_level_modules() if is_check else set[str]()
        try:
            with self._restored():
                self._graders = load_graders(self._load)
                options = tuple(grader.options for grader in self._graders)
                files = tuple(name for grader in self._graders for name in grader.files())
                for grader in self._graders if is_check else ():
                    if (check := getattr(grader, "check", None)) is not None:
                        check(self._base)
        except BaseException as error:  # noqa: BLE001  # around a grader
            self._send(NotLoaded(defect=self._defect(error)))
            return False
        imported = tuple(sorted(top_level_modules() - before)) if is_check else ()
        taken = taken_from_original(self._load) if is_check else ()
        doubts = tuple(self._doubts()) if is_check else ()
        self._send(Loaded(graders=options, files=files, taken=taken, imported=imported, doubts=doubts))
        return True

    def _doubts(self) -> Iterator[str]:
        for grader in self._graders:
            ask = getattr(grader, "doubts", None)
            if ask is None:
                continue
            try:
                with self._restored():
                    yield from (
                        f"{self._load.entry}: {doubt}" for doubt in ask(self._base, self._environment)
                    )
            except BaseException as error:  # noqa: BLE001  # around a grader
                defect = self._defect(error)
                yield f"{self._load.entry}: grader {grader.options.name!r}: {defect.type}: {defect.message}"

    def answer(self, asked: Request) -> None:
        """Answer one request."""
        match asked:
            case Check(test=test):
                lacks: list[str] = []
                for grader in self._graders:
                    if applies(grader.options, test):
                        lacks += self._lacks(grader, test)
                self._send(Checked(lacks=tuple(lacks)))
            case GradeRun():
                self._grade(asked)
            case _:
                pass

    def _lacks(self, grader: Grader, test: Any) -> Sequence[str]:
        try:
            return tuple(grader.needs(test))
        except Exception as error:  # noqa: BLE001  # around a grader
            return (f"grader {grader.options.name!r}: needs() raised {type(error).__name__}: {error}",)

    def _grade(self, asked: GradeRun) -> None:
        view = RunView(
            output=asked.output,
            test=asked.test,
            workdir=Path(asked.workdir),
            record=asked.record,
            judge=AskLater(),
            base=self._base,
            fixture=Path(asked.fixture) if asked.fixture else None,
            holdout=Path(asked.holdout) if asked.holdout else None,
            artifact=Path(asked.artifact) if asked.artifact else None,
            environment=self._environment,
        )
        watch = Watch(view.workdir)
        for position in asked.only:
            grader = self._graders[position]
            judge = None if _is_asked_later(grader) else WorkerJudge(self._line, position)
            mine = view if judge is None else msgspec.structs.replace(view, judge=judge)
            for number in range(grader.options.samples):
                # The same run graded twice gives the same grades, also where a grader draws at random.
                random.seed(f"{asked.run}/{grader.options.name}/{number}")
                watch.begin(grader)
                started = time.perf_counter()
                if judge is not None:
                    judge.unanswered = None
                said = self._sample(grader, mine, judge)
                said = watch.blame(grader) or said
                duration = time.perf_counter() - started
                _flush()
                judged = said if isinstance(said, Judged) else None
                grade = said if isinstance(said, Grade) else judged and judged.grade
                self._send(
                    Sample(
                        grader=position,
                        grade=grade,
                        question=said if isinstance(said, JudgeQuestion) else None,
                        judging=(judged.judging,) if judged and judged.judging else (),
                        duration_s=round(duration, 6),
                        printed_to=_printed_bytes(),
                    )
                )

    def _sample(
        self, grader: Grader, view: RunView, judge: WorkerJudge | None
    ) -> Grade | Judged | JudgeQuestion:
        """One grade, whatever the grader does. Objects that it holds are its own for this run alone."""
        own_cause = grader.options.failure_cause
        try:
            with self._restored():
                mine = grader if type(grader).__module__.startswith("proctor.") else copy.deepcopy(grader)
                returned = mine.grade(view)
                if inspect.isawaitable(returned):
                    returned = self._run_to_its_end(returned)
                if isinstance(returned, JudgeQuestion):
                    return returned
                if isinstance(returned, Judged):
                    return msgspec.structs.replace(returned, grade=_storable(returned.grade))
                return _storable(as_grade(returned))
        except JudgeError as error:
            return inconclusive(str(error), cause=own_cause or Cause.JUDGE_BROKEN)
        except NotAGrade as error:
            defect = Defect(type="NotAGrade", message=str(error))
            return inconclusive(str(error), cause=own_cause or Cause.GRADER_RETURNED_NONSENSE, defect=defect)
        except LookupError as error:
            # A run that was recorded with another test may lack what today's grader reads.
            lacks = self._lacks(grader, view.test)
            cause = own_cause or (Cause.TEST_LACKS_FIELD if lacks else Cause.GRADER_RAISED)
            defect = self._defect(error)
            return inconclusive(
                lacks[0] if lacks else f"{defect.type}: {defect.message}", cause=cause, defect=defect
            )
        except TypeError as error:
            # Who counts with the score of a judge that gave no verdict trips over it: that is the judge's doing.
            unanswered = judge.unanswered if judge is not None else None
            if unanswered is None:
                return self._raised(error, own_cause)
            return msgspec.structs.replace(unanswered, defect=self._defect(error))
        except BaseException as error:  # noqa: BLE001  # around a grader
            return self._raised(error, own_cause)
        finally:
            if os.getpid() != self._pid:
                os._exit(0)  # a fork that the grader made and that came back here is not the worker

    def _raised(self, error: BaseException, own_cause: Cause | None) -> Grade:
        defect = self._defect(error)
        said = f"{defect.type}: {defect.message}" if defect.message else defect.type
        return inconclusive(said, cause=own_cause or Cause.GRADER_RAISED, defect=defect)

    def _run_to_its_end(self, awaitable: Any) -> Any:
        import asyncio

        if self._loop is None:
            self._loop = asyncio.Runner()

        async def wait() -> Any:
            return await awaitable

        return self._loop.run(wait())

    def _defect(self, error: BaseException) -> Defect:
        """Type, message and stack, the stack from the user's own code on and free of this machine's folders."""
        told = getattr(error, "defect", None)
        if isinstance(told, Defect):  # from a process of scripts, where it happened
            message, stack = (_clean(self._without_folder(text)) for text in (told.message, told.stack))
            return msgspec.structs.replace(told, message=message, stack=stack)
        frames = traceback.extract_tb(error.__traceback__)
        own = str(Path(__file__).parent.parent)
        theirs = [frame for frame in frames if not frame.filename.startswith((own, "<frozen importlib"))]
        lines = ["Traceback (most recent call last):\n", *traceback.format_list(theirs)]
        stack = "".join(lines) + "".join(traceback.format_exception_only(error))
        return Defect(
            type=type(error).__name__,
            message=_clean(self._without_folder(_text_of(error))),
            stack=_clean(self._without_folder(stack)) if theirs else "",
        )

    def _without_folder(self, text: str) -> str:
        for folder in (self._load.snapshot, self._load.original):
            if folder:
                text = text.replace(folder.rstrip("/") + "/", "")
        return text

    @contextmanager
    def _restored(self) -> Generator[None]:
        """Put folder, environment and streams back as they were."""
        streams = sys.stdout, sys.stderr
        os.chdir(self._home)
        try:
            yield
        finally:
            sys.stdout, sys.stderr = streams
            if _variables() != self._variables:
                os.environ.clear()
                os.environ.update(self._environment)
            os.chdir(self._home)


def _variables() -> Any:
    """The environment as `os` itself keeps it: comparing that costs a microsecond, decoding all of it fifty."""
    return getattr(os.environ, "_data", None) or dict(os.environ)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()


def _printed_bytes() -> int:
    try:
        return os.fstat(1).st_size
    except OSError:
        return 0  # a grader closed it


def _is_asked_later(grader: Grader) -> bool:
    """True for a grader whose grade is the judge's answer: the worker need not wait for it. Not for a subclass."""
    return type(grader) is LlmJudge


def _storable(grade: Grade) -> Grade:
    """The grade, with its texts checked and its evidence made plain.

    Raises:
        NotAGrade: the feedback is no text, or the evidence is no JSON.
    """
    feedback = cast("object", grade.feedback)
    if not isinstance(feedback, str):
        raise NotAGrade(f"the feedback of a Grade is text, and this is {feedback!r}")
    evidence = grade.evidence
    if evidence is not None:
        try:
            evidence = msgspec.json.decode(msgspec.json.encode(evidence))
        except (TypeError, ValueError, RecursionError) as error:
            raise NotAGrade(f"the evidence of a Grade is JSON: {error}") from error
    cause = Cause.UNDECIDED if grade.outcome == "inconclusive" and grade.cause is None else grade.cause
    return msgspec.structs.replace(grade, feedback=_clean(feedback), evidence=evidence, cause=cause)


def _clean(text: str) -> str:
    """Text that UTF-8 can hold: a lone surrogate becomes a replacement mark."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _text_of(error: BaseException) -> str:
    try:
        return str(error)
    except Exception as broken:  # noqa: BLE001  # around a grader: its exception cannot even say what it is
        return f"(its message raised {type(broken).__name__})"
