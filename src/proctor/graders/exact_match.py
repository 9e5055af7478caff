"""ExactMatch: the output is the expected value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from proctor.graders.reference import ReferenceGrader, read_beside, shown
from proctor.ports import RunView
from proctor.records.grade import Grade, failed, passed
from proctor.records.json_value import json_equal


@dataclass(frozen=True, kw_only=True)
class ExactMatch(ReferenceGrader):
    """The output equals the expected value.

    What it checks: JSON equality. The order of keys is nothing, that of a list counts, true is not 1, and
    1 equals 1.0.
    Why: where there is one right answer, nothing is cheaper or more certain.
    Passes: the values are equal. Text is read as JSON first when the expected value is no text.
    Fails: they differ, or the agent gave no output: nothing matches nothing.
    Cannot tell: the test lacks the value; that is found before the run.
    """

    scale: ClassVar[Literal["binary", "scalar"] | None] = "binary"
    default_name: ClassVar[str] = "exact-match"

    def grade(self, run: RunView) -> Grade:
        """Compare the output with the value at `match_on`."""
        reference = self.reference(run)
        output = read_beside(run.output, reference)
        if run.output is not None and json_equal(self.folded(output), self.folded(reference)):
            return passed()
        return failed(f"expected {shown(reference)}, got {shown(run.output)}")
