"""define_eval_suite, case, explicit: a suite as a typed Python module."""

from __future__ import annotations

import copy
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NotRequired, Required, TypedDict, Unpack

from proctor.errors import SuiteError
from proctor.eval.rules import Notes, checked_cases
from proctor.graders.base import GraderBase
from proctor.ports import Grader, GraderOptions, RunView
from proctor.records.json_value import Json, digest_of
from proctor.records.suite import Fixture, HostPin, Invocation, Test


class FixtureFields(TypedDict):
    """The files that a case starts from: a folder relative to the suite's file, globs of what is taken, git or not."""

    path: str
    include: NotRequired[Sequence[str]]
    git: NotRequired[bool]


class HostFields(TypedDict):
    """A host's pin: the model that a case is run with there."""

    model: str


class CaseFields(TypedDict, total=False):
    """The fields of a case beside its id and its prompt."""

    fixture: str | FixtureFields | Fixture
    hosts: Required[Mapping[str, HostFields | HostPin | Mapping[str, str]]]
    invocation: Literal["automatic", "none"] | Invocation | Mapping[str, str]
    assertions: Required[Sequence[Any]]
    trials: int
    timeout: float
    tags: Sequence[str]
    description: str
    expected: Json
    goal: str
    metadata: Mapping[str, Json]


@dataclass(frozen=True, kw_only=True)
class EvalCase:
    """A case as it is written, made by `case`; `define_eval_suite` checks it.

    Attributes:
        fields: what was written.
        where: file and line of it.
    """

    fields: Mapping[str, Any]
    where: str


@dataclass(frozen=True, kw_only=True)
class CheckedCase:
    """A case that keeps every rule.

    Attributes:
        test: the case as a test.
        graders: its assertions, which are graders.
        line: where it stands in its file.
    """

    test: Test
    graders: tuple[Grader, ...] = field(compare=False)
    line: int = field(compare=False)


@dataclass(frozen=True, kw_only=True)
class EvalSuite:
    """A suite, made by `define_eval_suite`.

    Attributes:
        name: unique among the suites of a project.
        cases: in their order, at least one.
        digest: of the name and of what the cases say.
        suspects: path and kind of what looks like a credential; loading the suite refuses it.
    """

    name: str
    cases: tuple[CheckedCase, ...]
    digest: str
    suspects: tuple[tuple[str, str, str], ...] = ()

    def graders(self) -> tuple[Grader, ...]:
        """The assertions of all cases, each for its own case alone."""
        return tuple(
            _for_case(grader, checked.test.id) for checked in self.cases for grader in checked.graders
        )


def digest_of_suite(name: str, cases: Sequence[CheckedCase]) -> str:
    """The digest of a suite: of its name and of what its cases say."""
    return digest_of({"name": name, "cases": [checked.test.digest for checked in cases]})


def explicit(skill: str) -> Invocation:
    """The prompt reaches this skill by its name.

    >>> explicit("release-notes").mode
    'explicit'
    """
    return Invocation(mode="explicit", skill=skill)


def case(id: str = "", prompt: str = "", **fields: Unpack[CaseFields]) -> EvalCase:  # noqa: A002  # the field's name
    """One piece of work for an agent, and what is expected of it.

    Args:
        id: unique in its suite: letters, digits, dots, underscores and hyphens, a letter or digit first.
        prompt: what the agent is given.
        fields: `hosts`, a mapping from host to `{"model": ...}`, and `assertions`, a list of graders, are needed;
            `fixture`, `invocation` (`"automatic"`, `explicit(skill)` or `"none"`), `trials`, `timeout`, `tags`,
            `description`, `expected`, `goal` and `metadata` are not.

    What breaks a rule is said by `define_eval_suite`, all of it at once.
    """
    frame = sys._getframe(1)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
    return EvalCase(
        fields={"id": id, "prompt": prompt, **fields}, where=f"{frame.f_code.co_filename}:{frame.f_lineno}"
    )


def define_eval_suite(*, name: str, cases: Sequence[EvalCase], **unknown: Any) -> EvalSuite:
    """A suite of cases, each checked.

    Args:
        name: unique among the suites of a project, by the rule of ids.
        cases: at least one.
        unknown: nothing; what is given beside is refused by name.

    Raises:
        SuiteError: all that breaks a rule, each with its code, its place, and what to do.
    """
    frame = sys._getframe(1)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
    notes = Notes(f"{frame.f_code.co_filename}:{frame.f_lineno}")
    checked = [
        CheckedCase(test=one.test, graders=one.graders, line=one.line)
        for one in checked_cases(name, cases, unknown, notes, kind=EvalCase)
    ]
    if notes.faults:
        raise SuiteError.of(notes.faults)
    return EvalSuite(
        name=name, cases=tuple(checked), digest=digest_of_suite(name, checked), suspects=tuple(notes.suspects)
    )


def _for_case(grader: Grader, case_id: str) -> Grader:
    if not isinstance(grader, GraderBase):
        return _Scoped(grader, case_id)
    mine = copy.copy(grader)
    object.__setattr__(mine, "scope", (case_id,))
    return mine


class _Scoped:
    """A grader of somebody else's kind, for one case alone."""

    def __init__(self, grader: Grader, case_id: str) -> None:
        self._grader, self._case = grader, case_id

    @property
    def options(self) -> GraderOptions:
        import msgspec

        return msgspec.structs.replace(self._grader.options, scope=(self._case,))

    def needs(self, test: Test) -> Sequence[str]:
        return self._grader.needs(test)

    def files(self) -> Sequence[str]:
        return self._grader.files()

    def grade(self, run: RunView) -> Any:
        # A worker copies graders that are not proctor's for each run; this one stands in front of such a grader.
        return copy.deepcopy(self._grader).grade(run)
