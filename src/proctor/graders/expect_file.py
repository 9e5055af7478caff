"""expect_file: a file in the workdir is there, or is not, and holds what it should."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from proctor.graders.assertion import Assertion, Minimum, options_for
from proctor.graders.files import MOST_BYTES
from proctor.graders.is_json import first_problems, no_constant, no_duplicates, schema_lacks
from proctor.graders.reference import shown
from proctor.ports import RunView
from proctor.records.grade import Grade, Outcome, passed
from proctor.records.json_value import Json
from proctor.records.suite import Test


@dataclass(frozen=True, kw_only=True)
class FileAssertion(Assertion):
    """A file that the agent left, made by `expect_file`.

    What it checks: a regular file at `path` in the workdir, and its text, read as UTF-8.
    Why: work that is to leave a file is not done without it, nor with the wrong one.
    Passes: it is there and everything that is asked of it holds; with `exists=False`, it is not there.
    Fails: it is not there, is a folder, or a link, or holds something else. All that is wrong with it is said.
    Cannot tell: the run keeps no workdir. A broken pattern or schema is found before the run.

    Attributes:
        path: relative to the workdir.
        exists: whether it is to be there.
        contains: text that is a part of it.
        matches: a regular expression of which some part of it is a match; lines are `^` and `$`.
        equals: its whole text; line ends of Windows are line ends.
        json_schema: it is JSON, without duplicate keys, and valid against this JSON Schema (draft 2020-12).
    """

    kind: ClassVar[str] = "file"

    path: str
    exists: bool = True
    contains: str | None = None
    matches: str | None = None
    equals: str | None = None
    json_schema: Mapping[str, Json] | bool | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        given: Any = self.path
        if (
            not isinstance(given, str)
            or not given
            or Path(given).is_absolute()
            or ".." in Path(given).parts
            or "\0" in given
        ):
            raise ValueError(f"grader {self.name!r}: path is relative to the workdir, and this is {given!r}")
        if self.matches is not None:
            try:
                re.compile(self.matches, re.MULTILINE)
            except (re.error, TypeError, RecursionError) as error:
                raise ValueError(f"grader {self.name!r}: matches is no regular expression: {error}") from None
        asked = (self.contains, self.matches, self.equals, self.json_schema)
        if not self.exists and any(one is not None for one in asked):
            raise ValueError(f"grader {self.name!r}: a file that is not to be there holds nothing")

    def needs(self, test: Test) -> Sequence[str]:
        """The library that reads schemas, and a schema that is one."""
        return schema_lacks(self.name, self.json_schema)

    def look(self, run: RunView) -> Grade:
        """Look for the file, and at it."""
        found = self._found(run.workdir)
        if isinstance(found, str):
            return _ended(self.exists, found)
        if not self.exists:
            return _ended(True, f"there is a file {self.path!r}")
        if all(one is None for one in (self.contains, self.matches, self.equals, self.json_schema)):
            return passed(f"there is a file {self.path!r}")
        size = found.stat().st_size
        if size > MOST_BYTES:
            return _ended(True, f"{self.path!r} has {size} bytes; more than {MOST_BYTES} are not read")
        try:
            text = found.read_bytes().decode("utf-8")
        except UnicodeDecodeError:
            return _ended(True, f"{self.path!r} is no UTF-8 text")
        wrong = list(self._wrong(text))
        return _ended(True, "\n".join(wrong)) if wrong else passed(f"{self.path!r} is as expected")

    def _found(self, workdir: Path) -> Path | str:
        """The regular file, or why there is none."""
        path = workdir / self.path
        inside = Path(os.path.realpath(path.parent)).is_relative_to(os.path.realpath(workdir))
        if path.is_symlink() or (os.path.lexists(path) and not inside):
            return f"{self.path!r} is a link, or lies behind one that leaves the workdir"
        if path.is_dir():
            return f"{self.path!r} is a folder"
        return path if path.is_file() else f"there is no file {self.path!r}"

    def _wrong(self, text: str) -> Iterator[str]:
        if self.contains is not None and self.contains not in text:
            yield f"{self.path!r} does not contain {shown(self.contains)}"
        if self.matches is not None and not re.search(self.matches, text, re.MULTILINE):
            yield f"nothing in {self.path!r} matches {shown(self.matches)}"
        if self.equals is not None and text.replace("\r\n", "\n") != self.equals.replace("\r\n", "\n"):
            yield f"{self.path!r} is {shown(text)}, expected {shown(self.equals)}"
        if self.json_schema is not None:
            try:
                value = json.loads(text, object_pairs_hook=no_duplicates, parse_constant=no_constant)
            except (ValueError, RecursionError) as error:
                yield f"{self.path!r} is no JSON: {error}"
            else:
                yield from (f"{self.path!r} {problem}" for problem in first_problems(value, self.json_schema))


def expect_file(
    path: str,
    *,
    exists: bool = True,
    contains: str | None = None,
    matches: str | None = None,
    equals: str | None = None,
    json_schema: Mapping[str, Json] | bool | None = None,
    minimum_evidence: Minimum = "observed",
    name: str = "",
    **options: Any,
) -> FileAssertion:
    """The agent left a file at `path` that holds what it should; with `exists=False`, it left none.

    It is a gate unless `must_pass=False` says otherwise; the other options are those of every grader.

    Raises:
        ValueError: the path leaves the workdir, the pattern is none, or an option is out of its range.

    >>> expect_file("result.json", contains="healthy").options.name
    'file result.json'
    """
    return FileAssertion(
        name=name or f"{'file' if exists else 'no-file'} {path}",
        path=path,
        exists=exists,
        contains=contains,
        matches=matches,
        equals=equals,
        json_schema=json_schema,
        minimum_evidence=minimum_evidence,
        **options_for("expect_file", FileAssertion, options),
    )


def _ended(fails: bool, said: str) -> Grade:
    return Grade(outcome=Outcome.FAIL if fails else Outcome.PASS, feedback=said)
