"""LlmJudge: a language model says how well the output meets a goal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from proctor.graders.base import GraderBase
from proctor.graders.reference import MISSING, resolve
from proctor.ports import RunView
from proctor.records.suite import Test


@dataclass(frozen=True, kw_only=True)
class LlmJudge(GraderBase):
    """A judge with a goal, and if you like with a prompt of its own.

    What it checks: whatever the goal says.
    Why: some things have no rule that code could follow.
    Passes: the verdict's score is at least `threshold`; with `binary`, the verdict says so.
    Fails: it is below.
    Cannot tell: no judge model is configured, or it gave no usable verdict.

    Attributes:
        goal: what to look for; the value at `goal_path` of the test when not given.
        judge_file: a prompt of your own, beside the grading module.
        goal_path: path to the goal in the test.
        expected_path: path to the expected value in the test.
        binary: the verdict is yes or no instead of a score.
        model: PROVIDER/NAME; the configured judge model when not given.
    """

    default_name: ClassVar[str] = "llm-judge"

    goal: str | None = None
    judge_file: str | None = None
    goal_path: Sequence[str | int] = ("goal",)
    expected_path: Sequence[str | int] = ("expected",)
    binary: bool = False
    model: str | None = None

    def needs(self, test: Test) -> Sequence[str]:
        """A goal, from the grader or from the test."""
        if self.goal is not None or resolve(test, self.goal_path) is not MISSING:
            return ()
        path = ".".join(map(str, self.goal_path))
        return (f"judge {self.name!r} needs a goal, and test {test.id!r} has none at {path!r}",)

    def files(self) -> Sequence[str]:
        """The judge's own prompt."""
        return () if self.judge_file is None else (self.judge_file,)

    def grade(self, run: RunView) -> Any:
        """Ask the judge."""
        goal = self.goal if self.goal is not None else resolve(run.test, self.goal_path)
        expected = resolve(run.test, self.expected_path)
        return run.judge(goal=goal, expected=None if expected is MISSING else expected)
