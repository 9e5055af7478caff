"""The value that a grader compares with, and how an output is read beside it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

import msgspec

from proctor.graders.base import GraderBase
from proctor.ports import RunView
from proctor.records.json_value import Json, text_of
from proctor.records.suite import Test

MISSING: Final = object()
"""What `resolve` gives for a path that leads nowhere; a null is a value."""


def resolve(test: Test, path: Sequence[str | int]) -> Json:
    """The value at `path` in the test as it was written, or MISSING.

    A string steps into an object, a number into a list; an empty path is the whole test.
    """
    here: Any = msgspec.to_builtins(test)
    for step in path:
        if isinstance(step, str) and isinstance(here, Mapping) and step in here:
            here = cast("dict[str, Json]", here)[step]
        elif (
            isinstance(step, int)
            and not isinstance(step, bool)
            and isinstance(here, list)
            and -len(cast("list[Json]", here)) <= step < len(cast("list[Json]", here))
        ):
            here = cast("list[Json]", here)[step]
        else:
            return MISSING
    return here


def read_beside(output: Json, reference: Json) -> Json:
    """The output as it is read beside `reference`: text becomes JSON where the reference is no text."""
    if isinstance(output, str) and not isinstance(reference, str):
        try:
            return json.loads(output)
        except (ValueError, RecursionError):
            return output
    return output


@dataclass(frozen=True, kw_only=True)
class ReferenceGrader(GraderBase):
    """A grader that compares the output with a value of the test.

    Attributes:
        match_on: path of keys and positions to that value, from the test itself.
        ignore_case: letters of different case are equal.
        strip: white space at both ends does not count.
    """

    match_on: Sequence[str | int] = ("expected",)
    ignore_case: bool = False
    strip: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.match_on, str):
            raise ValueError(
                f"grader {self.name!r}: match_on is a list of keys, and this is {self.match_on!r}; "
                f"write match_on=[{self.match_on!r}]"
            )

    def needs(self, test: Test) -> Sequence[str]:
        """The value at `match_on` must be there; a null is there."""
        if resolve(test, self.match_on) is not MISSING:
            return ()
        path = ".".join(map(str, self.match_on))
        return (f"grader {self.name!r} compares with {path!r}, which test {test.id!r} does not have",)

    def reference(self, run: RunView) -> Json:
        """The value to compare with.

        Raises:
            LookupError: the test does not have it.
        """
        value = resolve(run.test, self.match_on)
        if value is MISSING:
            raise LookupError(self.needs(run.test)[0])
        return value

    def folded(self, value: Json) -> Json:
        """`value` with case and outer white space taken away, as far as the options say so."""
        if not isinstance(value, str):
            return value
        text = value.strip() if self.strip else value
        return text.casefold() if self.ignore_case else text

    def folded_text(self, value: Json) -> str:
        """The text of `value`, folded."""
        text = text_of(value).strip() if self.strip else text_of(value)
        return text.casefold() if self.ignore_case else text


def shown(value: Json, limit: int = 200) -> str:
    """A value for a feedback sentence, cut at `limit` characters with a visible mark."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text)} characters)"
