"""LlmJudge: a language model says how well the output meets a goal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

from proctor.core.include import globs_of
from proctor.graders.base import GraderBase
from proctor.graders.reference import MISSING, resolve
from proctor.ports import RunView
from proctor.records.json_value import text_of
from proctor.records.judging import JudgeQuestion
from proctor.records.suite import Test

KINDS = (".md", ".py", ".agency")
"""What a judge file may be: a prompt, a Python module, an Agency program."""


@dataclass(frozen=True, kw_only=True)
class LlmJudge(GraderBase):
    """A judge with a goal, and if you like with a prompt of its own.

    What it checks: whatever the goal says.
    Why: some things have no rule that code could follow.
    Passes: the verdict's score is at least `threshold`; with `binary`, the verdict says so.
    Fails: it is below.
    Cannot tell: no judge model is configured, or it gave no usable verdict; or there is nothing to judge.

    Attributes:
        goal: what to look for; the value at `goal_path` of the test when not given.
        judge_file: a judge of your own, beside the grading module: a prompt in Markdown, a Python module, or an
            `.agency` program. The built-in goal judge when not given.
        goal_path: path to the goal in the test.
        expected_path: path to the expected value in the test.
        binary: the verdict is yes or no instead of a score.
        model: PROVIDER/NAME; the one that the judge file names, or the configured one, when not given.
        include: globs of workdir files that the judge is shown too; `@tool-calls` shows it what the trace tells.
    """

    default_name: ClassVar[str] = "llm-judge"

    goal: str | None = None
    judge_file: str | None = None
    goal_path: Sequence[str | int] = ("goal",)
    expected_path: Sequence[str | int] = ("expected",)
    binary: bool = False
    model: str | None = None
    include: Sequence[str] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        label = f"grader {self.name!r}"
        if self.goal is not None and not self.goal.strip():
            raise ValueError(f"{label}: goal is empty; leave it away for the test's own")
        for option in ("goal_path", "expected_path", "include"):
            if isinstance(getattr(self, option), str):
                raise ValueError(f"{label}: {option} is a list, and this is {getattr(self, option)!r}")
        if self.judge_file is not None:
            path = Path(self.judge_file)
            if path.is_absolute() or path.suffix not in KINDS:
                raise ValueError(
                    f"{label}: judge_file is a path relative to the grading module that ends in "
                    f"{', '.join(KINDS)}, and this is {self.judge_file!r}"
                )
            if path.suffix != ".md" and (self.model is not None or self.include):
                raise ValueError(
                    f"{label}: {self.judge_file!r} is a program and chooses what it asks; `model` and `include` "
                    f"belong to a prompt"
                )
        globs_of(self.include)

    @property
    def scale(self) -> Literal["binary", "scalar"] | None:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Known where no file has a say."""
        if self.judge_file is not None and self.judge_file.endswith(".md"):
            return None
        return "binary" if self.binary else "scalar"

    def needs(self, test: Test) -> Sequence[str]:
        """A goal, from the grader or from the test."""
        if self.goal is not None:
            return ()
        goal = resolve(test, self.goal_path)
        if goal is not MISSING and goal is not None and text_of(goal).strip():
            return ()
        path = ".".join(map(str, self.goal_path))
        return (f"judge {self.name!r} needs a goal, and test {test.id!r} has none at {path!r}",)

    def files(self) -> Sequence[str]:
        """The judge's own prompt or program."""
        return () if self.judge_file is None else (self.judge_file,)

    def check(self, base: Path) -> None:
        """Look at the judge file before anybody pays for a run; one that is not there is said elsewhere.

        Raises:
            JudgeError: it is no judge.
            BaseException: what a Python module raises when it is loaded.
        """
        if self.judge_file is None or not (path := base / self.judge_file).is_file():
            return
        if path.suffix == ".py":
            from proctor.graders.judge_program import load_main

            load_main(path, self.judge_file)
        elif path.suffix == ".md":
            from proctor.core.judge_file import check_scale, read_judge_file

            prompt = read_judge_file(path.read_text(encoding="utf-8"), self.judge_file)
            check_scale(prompt, self.judge_file, binary=self.binary)

    def question(self, test: Test) -> JudgeQuestion:
        """What this grader asks of a run of the test."""
        goal = self.goal if self.goal is not None else resolve(test, self.goal_path)
        expected = resolve(test, self.expected_path)
        return JudgeQuestion(
            goal="" if goal is MISSING or goal is None else text_of(goal),
            expected=None if expected is MISSING else expected,
            include=tuple(self.include),
            judge_file=self.judge_file,
            binary=self.binary,
            model=self.model,
        )

    def grade(self, run: RunView) -> Any:
        """Ask the judge."""
        question = self.question(run.test)
        if self.judge_file is not None and self.judge_file.endswith(".py"):
            from proctor.graders.judge_program import ask_program

            return ask_program(run.base, question, run.test, run.output)
        told = {
            "include": question.include,
            "judge_file": question.judge_file,
            "binary": question.binary,
            "model": question.model,
        }
        chosen = {name: value for name, value in told.items() if value}
        return run.judge(goal=question.goal, expected=question.expected, **chosen)
