"""Contains: the output's text holds some other text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from proctor.graders.reference import ReferenceGrader, read_beside, shown
from proctor.ports import RunView
from proctor.records.grade import Grade, failed, passed
from proctor.records.json_value import Json
from proctor.records.suite import Test


@dataclass(frozen=True, kw_only=True)
class Contains(ReferenceGrader):
    """The output's text contains the expected text.

    What it checks: substrings. The text of a value that is no text is its compact JSON with sorted keys.
    Why: answers come in sentences, and what matters is one word of them.
    Passes: the text at `match_on` is part of the output; or, where they are given, one of `any_of` and each
    of `all_of` is.
    Fails: it is not, or the agent gave no output.
    Cannot tell: the test lacks the value; that is found before the run.

    Attributes:
        any_of: at least one of these must be there; then `match_on` is not looked at.
        all_of: each of these must be there; then `match_on` is not looked at.
    """

    scale: ClassVar[Literal["binary", "scalar"] | None] = "binary"
    default_name: ClassVar[str] = "contains"

    any_of: Sequence[Json] = ()
    all_of: Sequence[Json] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        for option, needles in (("any_of", self.any_of), ("all_of", self.all_of)):
            if isinstance(needles, str):
                raise ValueError(
                    f"grader {self.name!r}: {option} is a list of texts, and this is {needles!r}; "
                    f"write {option}=[{needles!r}]"
                )

    def needs(self, test: Test) -> Sequence[str]:
        """Nothing of the test, where the texts are given with the grader."""
        return () if self.any_of or self.all_of else super().needs(test)

    def grade(self, run: RunView) -> Grade:
        """Look for the needle in the output's text."""
        if not self.any_of and not self.all_of:
            reference = self.reference(run)
            if self._holds(run.output, reference):
                return passed()
            return failed(f"the output does not contain {shown(reference)}")
        missing = [needle for needle in self.all_of if not self._holds(run.output, needle)]
        if missing:
            return failed("the output does not contain " + ", ".join(shown(needle) for needle in missing))
        if self.any_of and not any(self._holds(run.output, needle) for needle in self.any_of):
            return failed("the output contains none of " + ", ".join(shown(needle) for needle in self.any_of))
        return passed()

    def _holds(self, output: Json, needle: Json) -> bool:
        if output is None:
            return False
        return self.folded_text(needle) in self.folded_text(read_beside(output, needle))
