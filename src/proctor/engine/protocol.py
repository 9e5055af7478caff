"""What the engine and a grader worker say to each other: one JSON message a line, over a private socket."""

from __future__ import annotations

import json
from typing import Final, TypeAlias

import msgspec

from proctor.ports import GraderOptions
from proctor.records.grade import Defect, Grade
from proctor.records.json_value import Json
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
    """

    run: str
    output: Json
    test: Test
    workdir: str
    record: Record
    only: tuple[int, ...]
    fixture: str | None = None
    holdout: str | None = None


class Sample(msgspec.Struct, frozen=True, kw_only=True, tag="sample"):
    """One sample of one grader.

    Attributes:
        grader: its position in the module.
        duration_s: seconds that it took.
        printed_to: how many bytes the worker had printed by then.
    """

    grader: int
    grade: Grade
    duration_s: float
    printed_to: int = 0


Request: TypeAlias = Check | GradeRun
Reply: TypeAlias = Loaded | NotLoaded | Checked | Sample

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
    return not options.scope or test.id in options.scope or not set(options.scope).isdisjoint(test.tags)
