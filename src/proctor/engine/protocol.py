"""What the engine and a grader worker say to each other: one JSON message a line, over a private socket."""

from __future__ import annotations

import json
from typing import Final, TypeAlias

import msgspec

from proctor.ports import GraderOptions
from proctor.records.grade import Defect, Grade
from proctor.records.json_value import Json
from proctor.records.judging import JudgeQuestion, Judging
from proctor.records.run import Record
from proctor.records.suite import Test


class Load(msgspec.Struct, frozen=True, kw_only=True):
    """How a worker is to start.

    Attributes:
        snapshot: folder that the grading code was unpacked into.
        entry: the grading module, relative to it.
        original: folder the snapshot was taken from, where modules that it lacks may be found; before a run only.
        memory_bytes: limit of the worker's address space; None for no limit.
    """

    snapshot: str
    entry: str
    original: str | None = None
    memory_bytes: int | None = None


class Loaded(msgspec.Struct, frozen=True, kw_only=True, tag="loaded"):
    """The module was loaded.

    Attributes:
        graders: the options of each, in its order.
        files: what the graders read, relative to the module.
        taken: module files that came from the original folder, relative to it.
        imported: top-level modules that loading it brought in.
        doubts: what will not work when it is asked, and is no error yet.
    """

    graders: tuple[GraderOptions, ...]
    files: tuple[str, ...] = ()
    taken: tuple[str, ...] = ()
    imported: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()


class NotLoaded(msgspec.Struct, frozen=True, kw_only=True, tag="not-loaded"):
    """The module cannot be used."""

    defect: Defect


class Check(msgspec.Struct, frozen=True, kw_only=True, tag="check"):
    """Ask what a test lacks."""

    test: Test


class Checked(msgspec.Struct, frozen=True, kw_only=True, tag="checked"):
    """What the test lacks for the graders that apply to it."""

    lacks: tuple[str, ...]


class GradeRun(msgspec.Struct, frozen=True, kw_only=True, tag="grade"):
    """Ask for the grades of one run.

    Attributes:
        only: positions of the graders that are asked.
        run: id of the run, from which graders that draw at random do so.
        fixture: folder of the files that the workdir started with, where it is kept.
        holdout: folder of the files that the agent never saw.
        artifact: folder of what the agent carried to be tested.
    """

    run: str
    output: Json
    test: Test
    workdir: str
    record: Record
    only: tuple[int, ...]
    fixture: str | None = None
    holdout: str | None = None
    artifact: str | None = None


class Sample(msgspec.Struct, frozen=True, kw_only=True, tag="sample"):
    """One sample of one grader: its grade, or the question to a judge whose answer is the grade.

    Attributes:
        grader: its position in the module.
        duration_s: seconds that it took.
        printed_to: how many bytes the worker had printed by then.
        judging: what a judge took that the worker itself asked.
    """

    grader: int
    grade: Grade | None = None
    question: JudgeQuestion | None = None
    duration_s: float
    printed_to: int = 0
    judging: tuple[Judging, ...] = ()


class AskJudge(msgspec.Struct, frozen=True, kw_only=True, tag="ask-judge"):
    """A grader asks a judge and waits; the engine answers with the same number.

    Attributes:
        number: unique in the life of the worker.
        grader: position of the grader that asks.
        sample: how often it has asked the very same about this run before.
    """

    number: int
    grader: int
    sample: int
    question: JudgeQuestion


class JudgeAnswer(msgspec.Struct, frozen=True, kw_only=True, tag="judge-answer"):
    """What the judge said."""

    number: int
    grade: Grade


Request: TypeAlias = Check | GradeRun | JudgeAnswer
Reply: TypeAlias = Loaded | NotLoaded | Checked | Sample | AskJudge

_encode: Final = msgspec.json.Encoder().encode
_decode_request: Final = msgspec.json.Decoder(Request).decode
decode_reply: Final = msgspec.json.Decoder(Reply).decode


def encode(message: Request | Reply | Load) -> bytes:
    """A message as one line without its end. Paths in it may be any bytes, which msgspec's JSON cannot hold."""
    try:
        return _encode(message)
    except UnicodeEncodeError:
        return json.dumps(msgspec.to_builtins(message)).encode()


def decode_request(line: bytes) -> Request:
    """The request that a line is."""
    try:
        return _decode_request(line)
    except msgspec.DecodeError:
        return msgspec.convert(json.loads(line), Request)


def applies(options: GraderOptions, test: Test) -> bool:
    """True when the grader's scope holds one of the test's tags, or its id, or is empty."""
    if not options.scope:
        return True
    if test.case is not None:
        # Each assertion of a typed suite belongs to one case.
        return test.case in options.scope
    return test.id in options.scope or not set(options.scope).isdisjoint(test.tags)
