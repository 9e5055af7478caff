"""The doors of the house: the protocols behind which everything stands that touches the world.

A kind of agent, a grader, a judge and a store each implement one of these; the engine knows nothing else of
them. There is no behaviour in this file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Protocol

import msgspec

from proctor.records.annotation import Annotations, Row
from proctor.records.grade import Cause, Grade
from proctor.records.json_value import Json
from proctor.records.run import AgentIdentity, Attempt, Limits, Record, RunFacts
from proctor.records.suite import Test


class Place(Protocol):
    """The private folder of one trial. The agent may use the workdir; the rest is for its streams."""

    @property
    def workdir(self) -> Path:
        """Where the agent stands; seeded with the test's files."""
        ...

    @property
    def input_file(self) -> Path:
        """The input as a file outside the workdir."""
        ...

    @property
    def output_file(self) -> Path:
        """Where the agent may write its output."""
        ...

    @property
    def stdout(self) -> Path:
        """Receives the agent's standard output."""
        ...

    @property
    def stderr(self) -> Path:
        """Receives the agent's standard error."""
        ...

    @property
    def environment(self) -> Mapping[str, str]:
        """The environment to start the agent with."""
        ...


class Cancel(Protocol):
    """Says that the operator wants everything to end. Readable, in the sense of `poll`, once it is set."""

    def fileno(self) -> int:
        """A file descriptor that becomes readable when the flag is set."""
        ...

    @property
    def is_set(self) -> bool:
        """True once the operator has asked."""
        ...


class Agent(Protocol):
    """What is under test."""

    @property
    def identity(self) -> AgentIdentity:
        """Which agent this is."""
        ...

    def prepare(self, tests: Sequence[Test]) -> None:
        """Check, before anything runs, that these tests can be given to this agent.

        Raises:
            AgentError: the agent cannot be started, or cannot take these inputs.
        """
        ...

    def attempt(self, test: Test, place: Place, limits: Limits, cancel: Cancel) -> Attempt:
        """Run the agent once. An agent that misbehaves is an ending, never an exception."""
        ...

    def close(self) -> None:
        """End whatever was kept ready."""
        ...


class GraderOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What every grader can be told. Zero is a value, never "not set".

    Attributes:
        name: unique in its module.
        weight: its share in the objective, 0 or more.
        must_pass: it is a gate: when it fails, the run's objective is 0.
        threshold: the bar of a scalar, 0 to 1.
        samples: how often it is asked.
        aggregate: binary samples pass when `all` or when `any` do; scalars average.
        scope: tags or ids of the tests it applies to; all tests when empty.
        timeout: seconds it may take.
        failure_cause: what a defect of this grader is called in its row; by kind of defect when None.
        scale: whether it gives numbers or passes and fails, where that is known before it grades.
        reads: what it looks at beside the workdir: `holdout`, which its tests must then have; `fixture`, which is
            then kept with the run.
    """

    name: str
    weight: float = 1.0
    must_pass: bool = False
    threshold: float = 0.0
    samples: int = 1
    aggregate: Literal["all", "any"] = "all"
    scope: tuple[str, ...] = ()
    timeout: float = 60.0
    failure_cause: Cause | None = None
    scale: Literal["binary", "scalar"] | None = None
    reads: tuple[Literal["fixture", "holdout"], ...] = ()


class RunView(msgspec.Struct, frozen=True, kw_only=True, weakref=True):
    """A finished run, as a grader sees it.

    Attributes:
        output: what the agent answered; None when that was nothing.
        test: the test, `expected` and `metadata` included.
        workdir: the files as the agent left them.
        record: how it ended, how long it took, what its trace adds up to.
        judge: asks a language model; raises when none is configured.
        base: folder of the grading module, to which its own files are relative.
        fixture: the files that the workdir started with, for a grader that reads them; None when there were none.
        holdout: files that the agent never saw; None when the test has none.
        environment: what a program that the grader starts may be given.
    """

    output: Json
    test: Test
    workdir: Path
    record: Record
    judge: Callable[..., Any]
    base: Path
    fixture: Path | None = None
    holdout: Path | None = None
    environment: Mapping[str, str] = {}


class Grader(Protocol):
    """Looks at one finished run and returns a grade."""

    @property
    def options(self) -> GraderOptions:
        """Name, weight, gate and the other options."""
        ...

    def needs(self, test: Test) -> Sequence[str]:
        """What this test lacks for this grader, a sentence each; empty when nothing."""
        ...

    def files(self) -> Sequence[str]:
        """Files beside the grading module that this grader reads, relative to it."""
        ...

    def grade(self, run: RunView) -> Grade | Any:
        """The finding; may be awaitable. What is raised here is a defect of the grader."""
        ...


class Judge(Protocol):
    """Answers a question about a run with a verdict, by asking a language model."""

    def ask(self, question: Mapping[str, Json]) -> Grade:
        """The verdict.

        Raises:
            JudgeError: no usable answer could be had.
        """
        ...


class RunStore(Protocol):
    """One run directory: its facts, and the opinions about it."""

    @property
    def path(self) -> Path:
        """Where it lies."""
        ...

    def facts(self) -> RunFacts:
        """What ran and how it ended.

        Raises:
            StoreError: the facts cannot be read.
        """
        ...

    def annotations(self) -> Annotations:
        """All rows, in the order of appending."""
        ...

    def append(self, new: Sequence[Row]) -> bytes:
        """Add whole rows, and return what a killed writer had left behind and was set aside.

        Raises:
            StoreError: they cannot be written; then none is.
        """
        ...
