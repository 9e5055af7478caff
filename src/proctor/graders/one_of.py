"""OneOf: the output is one of several values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from proctor.graders.reference import ReferenceGrader, read_beside, resolve, shown
from proctor.ports import RunView
from proctor.records.grade import Grade, failed, passed
from proctor.records.json_value import Json, json_equal
from proctor.records.suite import Test


@dataclass(frozen=True, kw_only=True)
class OneOf(ReferenceGrader):
    """The output equals one of several values.

    What it checks: JSON equality, as ExactMatch does, with each value in turn.
    Why: "yes", "Yes." and true may all be right.
    Passes: one of `values` is equal; where they are not given, one of the list at `match_on`.
    Fails: none is, or the agent gave no output.
    Cannot tell: there is no list; that is found before the run.

    Attributes:
        values: the values that are right.
    """

    scale: ClassVar[Literal["binary", "scalar"] | None] = "binary"
    default_name: ClassVar[str] = "one-of"

    values: Sequence[Json] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.values, str):
            raise ValueError(f"grader {self.name!r}: values is a list, and this is {self.values!r}")

    def needs(self, test: Test) -> Sequence[str]:
        """A list at `match_on`, where the values are not given with the grader."""
        if self.values:
            return ()
        missing = super().needs(test)
        if missing:
            return missing
        value = resolve(test, self.match_on)
        if isinstance(value, list) and value:
            return ()
        return (f"grader {self.name!r} compares with a list, and test {test.id!r} has {shown(value)}",)

    def grade(self, run: RunView) -> Grade:
        """Compare the output with each value."""
        values: Any = self.values or self.reference(run)
        if run.output is not None and any(
            json_equal(self.folded(read_beside(run.output, value)), self.folded(value)) for value in values
        ):
            return passed()
        return failed(f"expected one of {shown(list(values))}, got {shown(run.output)}")
