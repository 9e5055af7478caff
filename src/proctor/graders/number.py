"""Number: the output is the expected number, nearly enough."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from proctor.graders.reference import ReferenceGrader, resolve, shown
from proctor.ports import RunView
from proctor.records.grade import Grade, failed, passed
from proctor.records.json_value import Json
from proctor.records.suite import Test

# A sign, digits in groups of three by commas or without, a fraction, an exponent; no digit or letter beside it.
_NUMBER = re.compile(
    r"(?<![\w.,])(?<!\d-)[-+]?(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)?(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w]|[.,-]\d)",
    re.ASCII,
)


@dataclass(frozen=True, kw_only=True)
class Number(ReferenceGrader):
    """The output is a number near the expected one.

    What it checks: |output - expected| <= max(tolerance, relative_tolerance x |expected|).
    Why: 3.14 and 3.1416 may both be right, and 3,388 is 3388.
    Passes: the distance is within the tolerance. Text counts when exactly one number stands in it.
    Fails: it is not, there is no number, there are several, or the agent gave no output.
    Cannot tell: the expected value is no number; that is found before the run.

    Attributes:
        tolerance: the distance that is allowed, in the number's own unit; 0 or more.
        relative_tolerance: the distance that is allowed as a share of the expected number; 0 or more.
    """

    scale: ClassVar[Literal["binary", "scalar"] | None] = "binary"
    default_name: ClassVar[str] = "number"

    tolerance: float = 0.0
    relative_tolerance: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        for option in ("tolerance", "relative_tolerance"):
            value = getattr(self, option)
            if isinstance(value, bool) or not math.isfinite(value) or value < 0:
                raise ValueError(
                    f"grader {self.name!r}: {option} is a number of 0 or more, and this is {value!r}"
                )

    def needs(self, test: Test) -> Sequence[str]:
        """A number at `match_on`."""
        missing = super().needs(test)
        if missing:
            return missing
        value = resolve(test, self.match_on)
        if len(numbers_in(value)) == 1:
            return ()
        return (f"grader {self.name!r} compares with a number, and test {test.id!r} has {shown(value)}",)

    def grade(self, run: RunView) -> Grade:
        """Compare the number in the output with the expected one."""
        (expected,) = numbers_in(self.reference(run))
        found = numbers_in(run.output)
        if len(found) != 1:
            how_many = "no number" if not found else f"{len(found)} numbers"
            return failed(f"expected the number {expected:g}, and {shown(run.output)} holds {how_many}")
        distance, allowed = (
            abs(found[0] - expected),
            max(self.tolerance, self.relative_tolerance * abs(expected)),
        )
        # The sum of two decimals is not exact; a distance of one rounding error more is no distance.
        if distance <= allowed or math.isclose(distance, allowed, rel_tol=1e-9):
            return passed()
        return failed(f"expected {expected:g} within {allowed:g}, got {found[0]:g}")


def numbers_in(value: Json) -> list[float]:
    """The numbers that a value is or, for text, that stand in it.

    >>> numbers_in("total: 3,388.50 EUR"), numbers_in(7), numbers_in(True), numbers_in("v1.2.3 of 2024-01")
    ([3388.5], [7.0], [], [])
    """
    if isinstance(value, bool) or value is None:
        return []
    if isinstance(value, int | float):
        return [float(value)] if abs(value) < 1e308 else []
    if not isinstance(value, str):
        return []
    texts = [match.group().replace(",", "") for match in _NUMBER.finditer(value)]
    numbers = [float(text) for text in texts if any(char.isdigit() for char in text)]
    return [number for number in numbers if math.isfinite(number)]
