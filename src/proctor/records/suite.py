"""A suite, its tests, and where each of their parts lies on disk."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, Literal

import msgspec
from msgspec import UNSET, UnsetType

from proctor.records.json_value import Json, digest_of


class Fixture(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The files that a test starts from, as the test names them.

    Attributes:
        path: a folder, relative to the file that names it, or a git source.
        include: glob patterns of what is taken; everything when empty.
        git: the workdir starts as a git repository with one commit.
    """

    path: str
    include: tuple[str, ...] = ()
    git: bool = False


class HostPin(msgspec.Struct, frozen=True, kw_only=True):
    """A host that a case is for.

    Attributes:
        model: the model that it is run with there.
    """

    model: str


class Invocation(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a case reaches the skill that it is about.

    Attributes:
        mode: `automatic`, where the host is to find it; `explicit`, where it is named; `none`, without any.
        skill: the one that is named.
    """

    mode: Literal["automatic", "explicit", "none"] = "automatic"
    skill: str | None = None


class Test(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One piece of work, as it is written in a suite. Holds no path of this machine.

    Attributes:
        id: unique in its suite.
        input: what the agent is given: text, an object, a list; absent when it takes nothing.
        expected: what graders compare with; any JSON, absent when there is nothing to compare.
        goal: what a judge is to look for.
        files: the files the workdir starts with.
        graders: the grading module, relative to the suite's root.
        timeout: wall-clock limit of one trial, in seconds.
        trials: how often the test is run.
        tags: words to select by.
        description: for people.
        metadata: the author's own fields.
        suite: the name of its typed suite; None for a test that is written as data.
        case: its id in that suite.
        hosts: the hosts that it is for, with the model of each; any agent when empty.
        invocation: how it reaches a skill.
        assertions: the ids of what is expected, which say what the graders of its typed suite look for.
    """

    __test__: ClassVar[bool] = False

    id: str
    input: Json | UnsetType = UNSET
    expected: Json | UnsetType = UNSET
    goal: str | None = None
    files: Fixture | None = None
    graders: str | None = None
    timeout: float | None = None
    trials: int | None = None
    tags: tuple[str, ...] = ()
    description: str | None = None
    metadata: dict[str, Json] = {}
    suite: str | None = None
    case: str | None = None
    hosts: dict[str, HostPin] = {}
    invocation: Invocation | None = None
    assertions: tuple[str, ...] = ()

    def model_on(self, host: str, override: str | None = None) -> str | None:
        """The model that it is run with on a host: `override`, else the one that is pinned; None where none is."""
        pin = self.hosts.get(host)
        return override or (pin.model if pin is not None else None)

    @property
    def input_digest(self) -> str:
        """Digest of the input; that of a null where the test has none, marked by its absence."""
        return digest_of({} if self.input is UNSET else {"input": self.input})

    @property
    def digest(self) -> str:
        """Digest of everything that the test says; of a case, whatever suites it is loaded with."""
        said = msgspec.to_builtins(self)
        if self.case is not None:
            said = {**said, "id": self.case, "suite": None, "case": None}
        return digest_of(said)


class GradersSource(msgspec.Struct, frozen=True, kw_only=True):
    """Where a test's grading module lies on this machine.

    Attributes:
        root: no module above this folder is part of the graders.
        module: the grading module.
        folder: the test's own folder, whose other files the graders may read; None for a test without one.
    """

    root: Path
    module: Path
    folder: Path | None = None


class SuiteTest(msgspec.Struct, frozen=True, kw_only=True):
    """A test and where its parts lie on this machine.

    Attributes:
        test: what the suite says.
        where: file and line, for messages.
        fixture: the folder the workdir is seeded from; None for an empty one.
        graders: the grading module; None when the test has none of its own.
        fixture_commit: the resolved git commit of the fixture, when its files come from git.
        holdout: the folder of files that graders get and no agent sees; None for a test without.
        solution: the script that does the work rightly, without a model; None for a test without.
        wrong: scripts that do it wrongly, by name: a lazy one, one that cheats.
    """

    __test__: ClassVar[bool] = False

    test: Test
    where: str
    fixture: Path | None = None
    graders: GradersSource | None = None
    fixture_commit: str | None = None
    holdout: Path | None = None
    solution: Path | None = None
    wrong: tuple[Path, ...] = ()


class Suite(msgspec.Struct, frozen=True, kw_only=True):
    """A named set of tests.

    Attributes:
        name: the folder's or file's name.
        source: how the user named it.
        root: the folder that holds it.
        tests: in the suite's own order, at least one.
        commit: the resolved git commit, for a suite from git.
        description: for people.
        pass_env: variables of the operator's that its tests need, by their names.
    """

    name: str
    source: str
    root: Path
    tests: tuple[SuiteTest, ...]
    commit: str | None = None
    description: str | None = None
    pass_env: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """Digest of all that the tests say, in order."""
        return digest_of([entry.test.digest for entry in self.tests])
