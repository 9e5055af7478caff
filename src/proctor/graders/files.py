"""FileExists, FileContains, FileEquals: what the agent left in its workdir.

A path is relative to the workdir. What lies outside of it, through `..` or through a link that the agent made, is
not the agent's work, and counts as not there.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from proctor.graders.base import GraderBase
from proctor.graders.reference import MISSING, resolve, shown
from proctor.ports import RunView
from proctor.records.grade import Cause, Grade, failed, inconclusive, passed
from proctor.records.json_value import text_of
from proctor.records.suite import Test

MOST_BYTES = 64 * 1024 * 1024
"""A larger file is not read: an agent can leave any amount."""


NO_WORKDIR = inconclusive("the run keeps no workdir: it was added without one", cause=Cause.INPUTS_UNUSABLE)


@dataclass(frozen=True, kw_only=True)
class _FileGrader(GraderBase):
    """A grader of one file in the workdir.

    Attributes:
        path: relative to the workdir.
    """

    scale: ClassVar[Literal["binary", "scalar"] | None] = "binary"

    path: str

    def __post_init__(self) -> None:
        if not self.name and self.path:
            object.__setattr__(self, "name", f"{type(self).default_name}:{self.path}")
        super().__post_init__()
        if not self.path or Path(self.path).is_absolute() or ".." in Path(self.path).parts:
            raise ValueError(
                f"grader {self.name!r}: path is relative to the workdir, and this is {self.path!r}"
            )

    def found(self, run: RunView) -> Path | None:
        """The regular file, when it is there and really lies in the workdir."""
        path = run.workdir / self.path
        real = Path(os.path.realpath(path))
        inside = real.is_relative_to(os.path.realpath(run.workdir))
        return path if inside and path.is_file() else None

    def text(self, run: RunView) -> str | Grade:
        """The file's text, or the grade that says why there is none."""
        if not run.workdir.is_dir():
            return NO_WORKDIR
        path = self.found(run)
        if path is None:
            return failed(f"there is no file {self.path!r}")
        if path.stat().st_size > MOST_BYTES:
            return failed(
                f"{self.path!r} has {path.stat().st_size} bytes; more than {MOST_BYTES} are not read"
            )
        try:
            return path.read_bytes().decode("utf-8")
        except UnicodeDecodeError:
            return failed(f"{self.path!r} is no UTF-8 text")


@dataclass(frozen=True, kw_only=True)
class FileExists(_FileGrader):
    """There is a file, or there is none.

    What it checks: a regular file at `path` in the workdir.
    Why: work that leaves a file is not done without it.
    Passes: it is there; with `exists=False`, it is not.
    Fails: the other way round. A folder, or a link that leads out of the workdir, is no such file.
    Cannot tell: the run was added without its workdir.

    Attributes:
        exists: whether the file is to be there.
    """

    default_name: ClassVar[str] = "file-exists"

    exists: bool = True

    def grade(self, run: RunView) -> Grade:
        """Look for the file."""
        if not run.workdir.is_dir():
            return NO_WORKDIR
        there = self.found(run) is not None
        if there is self.exists:
            return passed()
        return failed(f"there is a file {self.path!r}" if there else f"there is no file {self.path!r}")


@dataclass(frozen=True, kw_only=True)
class FileContains(_FileGrader):
    """A file's text contains some other text.

    What it checks: a substring of the file at `path`, read as UTF-8.
    Why: one line of the file is what matters.
    Passes: `text` is part of it.
    Fails: it is not, there is no file, it is no UTF-8, or it is too large to read (64 MiB).
    Cannot tell: the run was added without its workdir.

    Attributes:
        contains: the text to look for.
        ignore_case: letters of different case are equal.
    """

    default_name: ClassVar[str] = "file-contains"

    contains: str
    ignore_case: bool = False

    def grade(self, run: RunView) -> Grade:
        """Look for the text in the file."""
        text = self.text(run)
        if isinstance(text, Grade):
            return text
        held = self.contains.casefold() in text.casefold() if self.ignore_case else self.contains in text
        return passed() if held else failed(f"{self.path!r} does not contain {shown(self.contains)}")


@dataclass(frozen=True, kw_only=True)
class FileEquals(_FileGrader):
    """A file's text is the expected text.

    What it checks: the whole text of the file at `path`, read as UTF-8; line ends of Windows are line ends.
    Why: some files have one right content.
    Passes: it equals `equals`; where that is not given, the value at `match_on`.
    Fails: it differs, there is no file, it is no UTF-8, or it is too large to read (64 MiB).
    Cannot tell: the test lacks the value; that is found before the run.

    Attributes:
        equals: the expected text.
        match_on: path to the expected text in the test, where `equals` is not given.
        strip: white space at both ends does not count.
    """

    default_name: ClassVar[str] = "file-equals"

    equals: str | None = None
    match_on: Sequence[str | int] = ("expected",)
    strip: bool = False

    def needs(self, test: Test) -> Sequence[str]:
        """The expected text, from the grader or from the test."""
        if self.equals is not None or resolve(test, self.match_on) is not MISSING:
            return ()
        path = ".".join(map(str, self.match_on))
        return (f"grader {self.name!r} compares with {path!r}, which test {test.id!r} does not have",)

    def grade(self, run: RunView) -> Grade:
        """Compare the file with the expected text."""
        text = self.text(run)
        if isinstance(text, Grade):
            return text
        wanted = self.equals if self.equals is not None else text_of(resolve(run.test, self.match_on))
        ours, theirs = (_tidy(part, self.strip) for part in (text, wanted))
        return (
            passed()
            if ours == theirs
            else failed(f"{self.path!r} is {shown(ours)}, expected {shown(theirs)}")
        )


def _tidy(text: str, strip: bool) -> str:
    lines = text.replace("\r\n", "\n")
    return lines.strip() if strip else lines
