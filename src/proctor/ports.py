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
from proctor.records.run import AgentIdentity, Attempt, Ending, Limits, Record, RunFacts
from proctor.records.suite import Test


class Launch(msgspec.Struct, frozen=True, kw_only=True):
    """How a program has to be started so that what holds for its trial holds for it.

    Attributes:
        argv: the program's path and its arguments.
        environment: all of its environment.
        cwd: where it is started, which need not be where it then stands.
        status: a file that says how the program ended, where what is started is not the program itself.
    """

    argv: tuple[str, ...]
    environment: Mapping[str, str]
    cwd: Path
    status: Path | None = None


class Exceeded(msgspec.Struct, frozen=True, kw_only=True):
    """A trial has used up what it may use.

    Attributes:
        ending: how the trial ends for it.
        message: what was used up, in a sentence.
    """

    ending: Ending
    message: str


class Surroundings(msgspec.Struct, frozen=True, kw_only=True):
    """What is the same for every trial of one invocation.

    Attributes:
        environment: what the agent's own code is loaded with; the operator's credentials are not in it.
        is_confined: every process of a trial has to be started as its place says, so that nothing may be kept
            ready outside of it.
    """

    environment: Mapping[str, str]
    is_confined: bool = False


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
        """The environment of the agent, as it sees it."""
        ...

    @property
    def own_trace(self) -> Path:
        """A file that takes OTLP/JSON, one TracesData a line: calls that the kind of agent itself has seen."""
        ...

    def as_seen(self, path: Path) -> str:
        """A path in this folder as the agent sees it, which in a sandbox is another."""
        ...

    def launch(self, argv: Sequence[str], more: Mapping[str, str] | None = None) -> Launch:
        """How to start a program of this trial, with the agent's environment and `more`."""
        ...

    def exceeded(self) -> Exceeded | None:
        """What the trial has used up by now; None while it may go on. Asked several times a second."""
        ...

    @property
    def bounds_told(self) -> dict[str, Any] | None:
        """What a process that is forked for the trial, and not launched, has to put on itself; see `Zygote.spawn`."""
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
    """What is under test.

    It may also have `notices`, sentences that the operator is told once when it is prepared; `files`, paths that its
    programs have to see in a sandbox, and `credentials`, names of variables of the operator's without which it cannot
    work, both known before it is prepared; and `artifact_of(test)`, the `SeedPlan` of the files under test that a
    trial of this test is given, or None.
    """

    @property
    def identity(self) -> AgentIdentity:
        """Which agent this is."""
        ...

    def prepare(self, tests: Sequence[Test], surroundings: Surroundings) -> None:
        """Check, before anything runs, that these tests can be given to this agent.

        Args:
            tests: those that will be run.
            surroundings: what will hold for all of their trials.

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
        exit_code: a command that ends with this code has ended well, whatever it is; None where that is nothing to
            this grader.
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
    exit_code: int | None = None


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
        artifact: what the agent carried to be tested; None when that was nothing.
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
    artifact: Path | None = None
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
