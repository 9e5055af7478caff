"""The rules of typed suites: what a suite and a case may say, each with the code of what breaks it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, cast

import msgspec
from msgspec import UNSET

from proctor.core.relative import is_plain_relative
from proctor.core.secret_shapes import names_a_credential
from proctor.errors import Fault, did_you_mean
from proctor.eval.credentials import suspects_in
from proctor.graders.assertion import Assertion
from proctor.graders.function import grader
from proctor.ports import Grader
from proctor.records.suite import Fixture, HostPin, Invocation, Test
from proctor.records.suite_codes import SuiteCode

MOST_TRIALS: Final = 100
FIELDS: Final = (
    "id",
    "prompt",
    "fixture",
    "hosts",
    "invocation",
    "assertions",
    "trials",
    "timeout",
    "tags",
    "description",
    "expected",
    "goal",
    "metadata",
)
"""The fields of a case."""

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9._-]*", re.IGNORECASE)
_HOST: Final = re.compile(r"[a-z0-9][a-z0-9_-]*", re.IGNORECASE)
_MODES: Final = ("automatic", "explicit", "none")
_NAME_RULE: Final = "Write letters, digits, dots, underscores and hyphens, a letter or a digit first."


class Notes:
    """What breaks a rule, as it is found.

    Attributes:
        faults: each begins with its code.
        suspects: what looks like a credential: path, kind, and place.
    """

    def __init__(self, where: str) -> None:
        self.where = where
        self.faults: list[Fault] = []
        self.suspects: list[tuple[str, str, str]] = []

    def note(self, code: SuiteCode, what: str, fix: str, where: str = "") -> None:
        """Remember one fault."""
        self.faults.append(Fault(f"{code.value}  {what}", where or self.where, fix))


class MadeCase(NamedTuple):
    """A case that keeps every rule: the test, its graders, and its line."""

    test: Test
    graders: tuple[Grader, ...]
    line: int


def checked_cases(
    name: Any, cases: Any, unknown: Mapping[str, Any], notes: Notes, *, kind: type[Any]
) -> Iterator[MadeCase]:
    """The cases of a suite that keep every rule; what breaks one is noted.

    Args:
        name: of the suite.
        cases: as they are written.
        unknown: what the suite was given beside these.
        notes: takes what is found.
        kind: the class that `case` makes.
    """
    for key in unknown:
        near = did_you_mean(key, ("name", "cases"))
        fix = f"Did you mean `{near}`?" if near else "A suite has a name and cases."
        notes.note(SuiteCode.SUITE_INVALID, f"{key!r} is no field of a suite", fix)
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        notes.note(SuiteCode.SUITE_INVALID, f"the suite's name is {name!r}", _NAME_RULE)
    if not isinstance(cases, list | tuple) or not cases:
        notes.note(SuiteCode.SUITE_INVALID, "the suite has no cases", "Write cases=[case(...)].")
        return
    taken: dict[str, str] = {}
    for position, written in enumerate(cast("Sequence[Any]", cases)):
        if not isinstance(written, kind):
            what = f"cases[{position}] is {type(written).__name__}, which `case` did not make"
            notes.note(SuiteCode.SUITE_INVALID, what, "Write case(id=..., prompt=..., ...).")
            continue
        made = _Case(written.fields, written.where, notes).made()
        key = str(written.fields.get("id")).casefold()
        if key in taken:
            what = f"two cases have the id {written.fields.get('id')!r}; the other one is at {taken[key]}"
            notes.note(SuiteCode.SUITE_INVALID, what, "Give each an id of its own.", written.where)
        taken[key] = written.where
        if made is not None:
            test = msgspec.structs.replace(made.test, suite=name if isinstance(name, str) else None)
            yield made._replace(test=test)


class _Case:
    """One case under the rules."""

    def __init__(self, fields: Mapping[str, Any], where: str, notes: Notes) -> None:
        self._fields, self._where, self._notes = fields, where, notes
        self._id = fields.get("id")

    def made(self) -> MadeCase | None:
        """The case as a test; None, with its faults noted, when it breaks a rule."""
        before = len(self._notes.faults)
        for key in self._fields:
            if key not in FIELDS:
                self._unknown(SuiteCode.CASE_INVALID, key, FIELDS, "a case")
        if not isinstance(self._id, str) or not _NAME.fullmatch(self._id):
            self._note(SuiteCode.CASE_INVALID, f"the id of a case is {self._id!r}", _NAME_RULE)
        prompt = self._fields.get("prompt")
        if not isinstance(prompt, str) or not prompt.strip():
            self._note(SuiteCode.PROMPT_INVALID, f"prompt is {prompt!r}", "Write what the agent is to do.")
        trials = self._fields.get("trials", 1)
        if isinstance(trials, bool) or not isinstance(trials, int) or not 1 <= trials <= MOST_TRIALS:
            fix = f"Write a whole number from 1 to {MOST_TRIALS}."
            self._note(SuiteCode.TRIALS_INVALID, f"trials is {trials!r}", fix)
        fixture, hosts, invocation = self._fixture(), self._hosts(), self._invocation()
        graders = self._graders()
        self._look_for_credentials()
        is_count = isinstance(trials, int) and not isinstance(trials, bool)
        test = self._test(fixture, hosts, invocation, graders, trials=trials if is_count else 1)
        if test is None or len(self._notes.faults) > before:
            return None
        return MadeCase(test, graders, int(self._where.rpartition(":")[2]))

    def _test(
        self,
        fixture: Fixture | None,
        hosts: dict[str, HostPin],
        invocation: Invocation,
        graders: Sequence[Grader],
        *,
        trials: int,
    ) -> Test | None:
        written = self._fields
        said = {
            # What has its fault already is not to hide that of another field.
            "id": str(self._id),
            "case": str(self._id),
            "input": written.get("prompt"),
            "trials": trials,
            "timeout": written.get("timeout"),
            "tags": written.get("tags", ()),
            "description": written.get("description"),
            "goal": written.get("goal"),
            "metadata": written.get("metadata", {}),
            "files": None if fixture is None else msgspec.to_builtins(fixture),
            "hosts": msgspec.to_builtins(hosts),
            "invocation": msgspec.to_builtins(invocation),
            "assertions": tuple(map(_assertion_id, graders)),
        }
        try:
            test = msgspec.convert(said, Test)
            expected = written.get("expected", UNSET)
            if expected is not UNSET:
                test = msgspec.structs.replace(test, expected=expected)
            # Stricter than msgspec, which takes a set for a list.
            json.dumps([written.get("metadata"), written.get("expected")], allow_nan=False)
        except (msgspec.ValidationError, TypeError, ValueError) as error:
            said_of = re.sub(r" - at `\$\.(\w+).*`", r" (at \1)", str(error))
            self._note(
                SuiteCode.CASE_INVALID, f"a field holds what it may not: {said_of}", "Look at its type."
            )
            return None
        if test.timeout is not None and not 0 < test.timeout < float("inf"):
            self._note(SuiteCode.CASE_INVALID, f"timeout is {test.timeout!r}", "Write seconds, above 0.")
            return None
        return test

    def _fixture(self) -> Fixture | None:
        written, code = self._fields.get("fixture"), SuiteCode.FIXTURE_INVALID
        if written is None:
            return None
        fields = self._mapping(written, code, "fixture", ("path", "include", "git"), text_is="path")
        if fields is None:
            return None
        path, include, git = fields.get("path"), fields.get("include"), fields.get("git", False)
        if not isinstance(path, str) or not is_plain_relative(path):
            fix = "Name a folder below the suite's file: no `..`, no drive, no `/` in front."
            self._note(code, f"the path of the fixture is {path!r}", fix)
            return None
        if include is not None and (
            not isinstance(include, list | tuple)
            or not include
            or any(
                not isinstance(one, str) or not is_plain_relative(one)
                for one in cast("Sequence[Any]", include)
            )
        ):
            self._note(
                code, f"include of the fixture is {include!r}", 'Write globs: ["src/**"], or leave it out.'
            )
            return None
        if not isinstance(git, bool):
            self._note(code, f"git of the fixture is {git!r}", "Write True or False.")
            return None
        patterns = tuple(cast("Sequence[str]", include or ()))
        return Fixture(path=path, include=() if patterns == ("**",) else patterns, git=git)

    def _hosts(self) -> dict[str, HostPin]:
        written, code = self._fields.get("hosts"), SuiteCode.HOST_INVALID
        example = 'Write hosts={"claude": {"model": "..."}}.'
        if not isinstance(written, Mapping) or not written:
            self._note(code, f"hosts is {written!r}: a case is for one host or more", example)
            return {}
        hosts: dict[str, HostPin] = {}
        for name, pin in cast("Mapping[Any, Any]", written).items():
            if not isinstance(name, str) or not _HOST.fullmatch(name):
                self._note(code, f"a host is named {name!r}", "Write a name such as `claude` or `codex`.")
                continue
            fields = self._mapping(pin, code, f"hosts[{name!r}]", ("model",))
            if fields is None:
                continue
            model = fields.get("model")
            if not isinstance(model, str) or not model.strip():
                self._note(code, f"the model of host {name!r} is {model!r}", example)
                continue
            hosts[name] = HostPin(model=model)
        return hosts

    def _invocation(self) -> Invocation:
        written, code = self._fields.get("invocation", "automatic"), SuiteCode.INVOCATION_INVALID
        fields = self._mapping(written, code, "invocation", ("mode", "skill"), text_is="mode")
        if fields is None:
            return Invocation()
        mode, skill = fields.get("mode"), fields.get("skill")
        if mode not in _MODES:
            fix = 'Write "automatic", explicit("skill") or "none".'
            self._note(code, f"the mode of invocation is {mode!r}", fix)
            return Invocation()
        if mode == "explicit" and (not isinstance(skill, str) or not skill.strip()):
            self._note(code, f"an explicit invocation names the skill {skill!r}", 'Write explicit("skill").')
            return Invocation()
        if mode != "explicit" and skill is not None:
            what = f"the invocation is {mode}, and names the skill {skill!r}"
            self._note(code, what, 'Write explicit("skill"), or leave the skill out.')
            return Invocation()
        return Invocation(mode=mode, skill=skill)

    def _graders(self) -> tuple[Grader, ...]:
        written, code = self._fields.get("assertions"), SuiteCode.ASSERTION_INVALID
        if not isinstance(written, list | tuple) or not written:
            self._note(
                code, "there are no assertions", "Write assertions=[expect_exit_code(0)], one or more."
            )
            return ()
        graders: list[Grader] = []
        ids, names = set[str](), set[str]()
        for position, entry in enumerate(cast("Sequence[Any]", written)):
            try:
                made = _as_grader(entry)
                name = made.options.name if made is not None else ""
            except (ValueError, TypeError) as error:
                self._note(code, f"assertions[{position}]: {error}", "Look at its options.")
                continue
            if made is None:
                what = f"assertions[{position}] is {type(entry).__name__}, and no grader"
                self._note(code, what, "Write an expect_...(), another grader, or a function.")
                continue
            if made.options.scope:
                self._note(
                    code, f"assertion {name!r} has a scope", "It belongs to its case: leave `scope` out."
                )
            if (own := _assertion_id(made)) in ids:
                self._note(code, f"two assertions are the same: {name!r}", "Leave one of them out.")
            elif name in names:
                self._note(code, f"two assertions are named {name!r}", "Give one of them another name.")
            ids.add(own)
            names.add(name)
            graders.append(made)
        return tuple(graders)

    def _mapping(
        self, written: Any, code: SuiteCode, what: str, known: Sequence[str], text_is: str = ""
    ) -> Mapping[str, Any] | None:
        """What is written as an object with these fields alone; a text is the field `text_is` of one."""
        if isinstance(written, str) and text_is:
            return {text_is: written}
        if isinstance(written, Fixture | HostPin | Invocation):
            return cast("Mapping[str, Any]", msgspec.to_builtins(written))
        if not isinstance(written, Mapping):
            self._note(code, f"{what} is {written!r}", f"Write an object with {', '.join(known)}.")
            return None
        fields = cast("Mapping[str, Any]", written)
        before = len(self._notes.faults)
        for key in fields:
            if key not in known:
                self._unknown(code, key, known, what)
        return fields if len(self._notes.faults) == before else None

    def _unknown(self, code: SuiteCode, key: Any, known: Sequence[str], of: str) -> None:
        if isinstance(key, str) and names_a_credential(key):
            fix = "Take it out: a suite holds no credentials; agents get them through their environment."
            self._note(SuiteCode.CREDENTIAL_REJECTED, f"{key!r} of {of} has the name of a credential", fix)
            return
        near = did_you_mean(key, known) if isinstance(key, str) else None
        fix = f"Did you mean `{near}`?" if near else f"Known are: {', '.join(known)}."
        self._note(code, f"{key!r} is no field of {of}", fix)

    def _look_for_credentials(self) -> None:
        given: Any = self._fields.get("assertions")
        entries = cast("Sequence[Any]", given) if isinstance(given, list | tuple) else ()
        said = [dict(entry.expectation) if isinstance(entry, Assertion) else None for entry in entries]
        for path, kind in suspects_in({**self._fields, "assertions": said}):
            self._notes.suspects.append((f"{self._id}.{path}", kind, self._where))

    def _note(self, code: SuiteCode, what: str, fix: str) -> None:
        self._notes.note(code, f"case {self._id!r}: {what}", fix, self._where)


def _as_grader(entry: Any) -> Grader | None:
    if isinstance(entry, type):
        raise TypeError(f"it is the class {entry.__name__}; write {entry.__name__}(...)")
    if all(hasattr(entry, member) for member in ("options", "needs", "files", "grade")):
        return cast("Grader", entry)
    return grader(cast("Callable[..., Any]", entry)) if callable(entry) else None


def _assertion_id(made: Grader) -> str:
    """What the assertion expects, in short; a grader of another kind is known by its name."""
    return made.assertion_id if isinstance(made, Assertion) else f"grader:{made.options.name}"
