"""The contract of an outcome script: what its `grade` function is given, and what it returns."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias


@dataclass(frozen=True, kw_only=True)
class EvalGraderContext:
    """What a grading script is given.

    Attributes:
        artifact_root: folder of the artifact under test; an empty folder when there is none.
        fixture_path: the trial's own workdir, as the agent left it.
        prompt: the input, as text; structured input as compact JSON.
    """

    artifact_root: Path
    fixture_path: Path
    prompt: str


@dataclass(frozen=True, kw_only=True)
class EvalScriptOutcome:
    """What a grading script finds.

    Attributes:
        outcome: `pass`, `fail`, or `inconclusive` where it was neither seen to pass nor seen to fail.
        detail: why, in a sentence; shown with the grade, and never empty.
    """

    outcome: Literal["pass", "fail", "inconclusive"]
    detail: str


EvalGraderFunction: TypeAlias = Callable[
    [EvalGraderContext], EvalScriptOutcome | Awaitable[EvalScriptOutcome]
]
"""The function `grade` of a grading script, `def` or `async def`."""
