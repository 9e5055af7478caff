"""What a judge may answer: a number between two ends, pass or fail, or one of a list of choices."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal

import msgspec


class Scale(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a judge may answer.

    Attributes:
        kind: a number, pass or fail, or one of some labels.
        low: the worst number, where the kind is `score`.
        high: the best number.
        choices: label to score, 0 to 1, where the kind is `choices`.

    Raises:
        ValueError: the ends are not finite, or not in order; there are no choices, or a score outside 0 to 1.
    """

    kind: Literal["score", "binary", "choices"] = "score"
    low: float = 0.0
    high: float = 1.0
    choices: Mapping[str, float] = {}

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high):
            raise ValueError(f"a scale goes from a number to a greater one, not {self.low} to {self.high}")
        if (self.kind == "choices") != bool(self.choices):
            raise ValueError("choices, and only they, have a list of labels with their scores")
        for label, score in self.choices.items():
            if not label.strip() or not 0 <= score <= 1:
                raise ValueError(
                    f"a choice is a label with a score from 0 to 1, and this is {label!r}: {score}"
                )


BINARY = Scale(kind="binary")
UNIT = Scale()
"""0 to 1."""
