"""Regex: the output's text matches a pattern."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar, Literal

from proctor.graders.base import GraderBase
from proctor.graders.reference import shown
from proctor.ports import RunView
from proctor.records.grade import Grade, failed, passed
from proctor.records.json_value import text_of


@dataclass(frozen=True, kw_only=True)
class Regex(GraderBase):
    """The output's text matches a regular expression of Python.

    What it checks: a match anywhere in the text, or of the whole text with `full`.
    Why: a date, an id or a version has a shape, and not one right value.
    Passes: the pattern matches.
    Fails: it does not, or the agent gave no output.
    Cannot tell: the pattern takes longer than `timeout`; a pattern that is no pattern is found before the run.

    Attributes:
        pattern: the regular expression.
        full: the whole text must match.
        ignore_case: letters of different case are equal.
    """

    scale: ClassVar[Literal["binary", "scalar"] | None] = "binary"
    default_name: ClassVar[str] = "regex"

    pattern: str
    full: bool = False
    ignore_case: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        try:
            re.compile(self.pattern)
        except re.error as error:
            raise ValueError(
                f"grader {self.name!r}: {self.pattern!r} is no regular expression: {error}"
            ) from error

    def grade(self, run: RunView) -> Grade:
        """Look for the pattern in the output's text."""
        if run.output is None:
            return failed("the agent gave no output")
        compiled = re.compile(self.pattern, re.IGNORECASE if self.ignore_case else 0)
        match = compiled.fullmatch if self.full else compiled.search
        if match(text_of(run.output)):
            return passed()
        return failed(f"{shown(self.pattern)} does not match {shown(run.output)}")
