"""Faults and their owners: one table says of every way to end whose it is, and what follows from that.

`--resume` and `--retry`, `--retries`, denominators, reports and the documentation read this table and no other. Rules
of a project's settings come before it: what a command prints before it exits with 1 is known to its user alone.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

import msgspec

from proctor.records.fault import Fault, Owner
from proctor.records.grade import Defect
from proctor.records.run import Ending

Treatment: TypeAlias = Literal["graders", "zero", "nobody"]
"""Who scores a run: its `graders`; `zero`: it has 0 and fails every gate; `nobody`: it is inconclusive."""
Count: TypeAlias = Literal["graded", "errored", "harness_failures", "interrupted"]
"""The part of a group's planned trials that a run is counted in."""
Stream: TypeAlias = Literal["stdout", "stderr"]

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_SHORT = frozenset({errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE})
_NO_PROGRAM = frozenset({errno.ENOENT, errno.ENOTDIR, errno.EACCES, errno.ENOEXEC})


class FaultRow(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the table.

    Attributes:
        ending: how the trial ended.
        kinds: the types of defect that it holds for; every other one when empty.
        owner: whose fault it is.
        retry: `--retries` runs such a trial again: it may end otherwise a little later.
        meaning: what happened, in a sentence.
    """

    ending: Ending
    kinds: tuple[str, ...] = ()
    owner: Owner
    retry: bool = False
    meaning: str

    @property
    def scored_by(self) -> Treatment:
        """Who scores such a run."""
        if self.ending is Ending.OK:
            return "graders"
        return "zero" if self.owner is Owner.AGENT else "nobody"

    @property
    def counted(self) -> Count:
        """What it is counted as."""
        if self.owner is Owner.OPERATOR:
            return "interrupted"
        if self.owner is not Owner.AGENT:
            return "harness_failures"
        return "graded" if self.ending is Ending.OK else "errored"

    @property
    def is_resumed(self) -> bool:
        """True when `--resume` runs the trial again without being told; else only `--retry` does."""
        return self.scored_by == "nobody"


def _failure(*kinds: str, owner: Owner, meaning: str, retry: bool = False) -> FaultRow:
    return FaultRow(ending=Ending.HARNESS_FAILURE, kinds=kinds, owner=owner, retry=retry, meaning=meaning)


def _of_agent(ending: Ending, meaning: str) -> FaultRow:
    return FaultRow(ending=ending, owner=Owner.AGENT, meaning=meaning)


TABLE: tuple[FaultRow, ...] = (
    _of_agent(Ending.OK, "It returned, or exited with 0."),
    _of_agent(Ending.ERROR, "It raised, returned what is no JSON, or exited with another code."),
    _of_agent(Ending.TIMEOUT, "Its time was up."),
    _of_agent(Ending.COST_CAP, "Its model calls cost more than they may."),
    _of_agent(Ending.TOKEN_CAP, "Its model calls used more tokens than they may."),
    _of_agent(Ending.OUTPUT_CAP, "It printed and answered more than it may."),
    _of_agent(Ending.DISK_CAP, "Its workdir held more than it may."),
    _of_agent(Ending.KILLED, "A signal ended it that proctor did not send."),
    FaultRow(ending=Ending.INTERRUPTED, owner=Owner.OPERATOR, meaning="You stopped it."),
    _failure("no-program", owner=Owner.HARNESS, meaning="The agent's program is gone, or cannot be started."),
    _failure(
        "disk-full",
        owner=Owner.HARNESS,
        retry=True,
        meaning="There is no room left on a disk of the machine.",
    ),
    _failure(
        "no-resources",
        owner=Owner.HARNESS,
        retry=True,
        meaning="The machine has no memory, processes or open files left.",
    ),
    _failure(
        "no_key",
        "missing_extra",
        "not_found",
        "bad_request",
        "redirect",
        owner=Owner.HARNESS,
        meaning="The model or endpoint is not set up: no key, no such name, a package that is missing.",
    ),
    _failure(
        "artifact",
        "trace",
        owner=Owner.HARNESS,
        meaning="A coding agent did not take on its artifact, or what it tells of itself cannot be read.",
    ),
    _failure(
        "fixture",
        owner=Owner.TEST,
        meaning="A file of the test is gone, or not what it was when it was planned.",
    ),
    _failure(
        "rate_limit",
        "unavailable",
        "timeout",
        "unreachable",
        owner=Owner.PROVIDER,
        retry=True,
        meaning="The provider or endpoint took no more requests, or was not there.",
    ),
    _failure(
        "auth",
        "out_of_credit",
        owner=Owner.PROVIDER,
        meaning="The provider does not take the key, or there is no credit left.",
    ),
    _failure(
        owner=Owner.HARNESS, retry=True, meaning="Something else that proctor or the machine could not do."
    ),
)
"""Every ending; within one, the first row that names the kind, and the row without kinds for all others."""


class FaultRule(msgspec.Struct, frozen=True, kw_only=True):
    """A rule of a project's settings: what a trial that ended so is really. All that it names has to hold.

    Texts are looked for as they are written, in any case, in the last 64 KiB of a stream.

    Attributes:
        owner: whose fault it is then; `agent` for one that no later rule is to take from it.
        kind: a short word for it.
        endings: the endings that it holds for.
        exit_codes: one of these; any when empty.
        stdout: a text in its standard output; None for no such condition.
        stderr: a text in its standard error; None for no such condition.
        message: a text in what went wrong; None for no such condition.
        retry: `--retries` runs such a trial again.
        origin: where it is written, for the record.
    """

    owner: Owner
    kind: str
    endings: tuple[Ending, ...] = (Ending.ERROR,)
    exit_codes: tuple[int, ...] = ()
    stdout: str | None = None
    stderr: str | None = None
    message: str | None = None
    retry: bool = False
    origin: str = ""

    def holds(self, end: End) -> bool:
        """True when a trial that ended so is what this rule is about."""
        if end.ending not in self.endings:
            return False
        if self.exit_codes and end.exit_code not in self.exit_codes:
            return False
        if self.message is not None and not _holds(end.defect.message if end.defect else "", self.message):
            return False
        texts: tuple[tuple[Stream, str | None], ...] = (("stdout", self.stdout), ("stderr", self.stderr))
        return all(wanted is None or _holds(end.tail(stream), wanted) for stream, wanted in texts)


class FaultTable(msgspec.Struct, frozen=True, kw_only=True):
    """What `proctor config --faults --json` prints.

    Attributes:
        rules: those of the settings, which come first.
        table: what holds where no rule does.
    """

    schema: str = "proctor.faults/1"
    rules: tuple[FaultRule, ...]
    table: tuple[FaultRow, ...]


class End(msgspec.Struct, frozen=True, kw_only=True):
    """How a trial ended, as far as it decides whose fault that is.

    Attributes:
        ending: how it ended.
        defect: what went wrong.
        exit_code: of a command.
        tail: the end of what it printed to a stream; asked only where a rule wants to know.
    """

    ending: Ending
    defect: Defect | None = None
    exit_code: int | None = None
    tail: Callable[[Stream], str] = lambda _: ""


class Ruling(msgspec.Struct, frozen=True):
    """What a trial's end is taken for; `fault` is None when it says something about the agent."""

    ending: Ending
    fault: Fault | None = None


def row_of(ending: Ending, kind: str | None = None) -> FaultRow:
    """The row of the table for an ending and the type of its defect."""
    return next(row for row in TABLE if row.ending is ending and (not row.kinds or kind in row.kinds))


def decide(end: End, rules: Sequence[FaultRule] = ()) -> Ruling:
    """Whose fault it is that a trial ended so: the first rule that holds, else the table."""
    kind = end.defect.type if end.defect is not None else None
    rule = next((rule for rule in rules if rule.holds(end)), None)
    if rule is None:
        row = row_of(end.ending, kind)
        if row.owner in (Owner.AGENT, Owner.OPERATOR):
            return Ruling(end.ending)
        return Ruling(end.ending, Fault(owner=row.owner, kind=kind or row.ending.value, retry=row.retry))
    if rule.owner is Owner.AGENT:
        return Ruling(Ending.ERROR if end.ending is Ending.HARNESS_FAILURE else end.ending)
    fault = Fault(
        owner=rule.owner,
        kind=rule.kind,
        rule=rule.origin,
        retry=rule.retry,
        ended=None if end.ending is Ending.HARNESS_FAILURE else end.ending.value,
    )
    return Ruling(Ending.HARNESS_FAILURE, fault)


def owner_of(ending: Ending, fault: Fault | None, kind: str | None) -> Owner:
    """Whose a recorded ending is: as it was decided when it ended, else by the table."""
    return fault.owner if fault is not None else row_of(ending, kind).owner


def kind_of_error(error: BaseException, *, at_start: bool = False) -> str:
    """The kind of defect that an exception around an agent is: a word of the table, else the name of its class.

    at_start: it was raised when the agent's program was to be started.
    """
    code = error.errno if isinstance(error, OSError) else None
    if code in _FULL:
        return "disk-full"
    if code in _SHORT or isinstance(error, MemoryError):
        return "no-resources"
    return "no-program" if at_start and code in _NO_PROGRAM else type(error).__name__


def _holds(text: str, wanted: str) -> bool:
    return wanted.casefold() in text.casefold()
