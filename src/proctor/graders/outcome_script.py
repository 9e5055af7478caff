"""expect_outcome: a grading script of its own says pass, fail, or inconclusive."""

from __future__ import annotations

import importlib.util
import inspect
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

from msgspec import UNSET

from proctor.graders.base import GraderBase
from proctor.ports import RunView
from proctor.records.grade import Cause, Grade, Outcome
from proctor.records.json_value import text_of
from proctor.records.outcome_script import EvalGraderContext, EvalScriptOutcome


class BrokenScript(ValueError):
    """A grading script does not keep its contract."""


@dataclass(frozen=True, kw_only=True)
class OutcomeScript(GraderBase):
    """A grading script, made by `expect_outcome`.

    What it checks: whatever its `grade` function looks at, in the workdir that the agent left.
    Why: a program of its own, typed end to end, is the plainest way to say when work is done.
    Passes: `grade` returns the outcome `pass`.
    Fails: it returns `fail`.
    Cannot tell: it returns `inconclusive`. A script without `grade`, an exception, another shape, an empty
    detail or a time-out is `EVAL_GRADER_FAILED`, with message and stack kept for its author.

    Attributes:
        script: path of the script, relative to the module that names it.
    """

    scale: ClassVar[Literal["binary", "scalar"] | None] = "binary"
    failure_cause: ClassVar[Cause | None] = Cause.EVAL_GRADER_FAILED

    script: str

    def __post_init__(self) -> None:
        if not self.name:
            object.__setattr__(self, "name", Path(self.script).stem)
        super().__post_init__()
        if Path(self.script).is_absolute():
            raise ValueError(
                f"grader {self.name!r}: script is a path relative to the module that names it, "
                f"and this is {self.script!r}"
            )

    def files(self) -> Sequence[str]:
        """The script."""
        return (self.script,)

    def doubts(self, base: Path) -> Sequence[str]:
        """Loads the script, once, before anybody pays for a run that it could not grade.

        Raises:
            BaseException: what the script itself raises, or BrokenScript; the check of the suite says it.
        """
        if (base / self.script).is_file():  # when it is not, the snapshot says so
            _grade_function(base / self.script, self.script)
        return ()

    async def grade(self, run: RunView) -> Grade:
        """Call the script's `grade`.

        Raises:
            BrokenScript: the script does not keep its contract.
        """
        function = _grade_function(run.base / self.script, self.script)
        with tempfile.TemporaryDirectory(prefix="proctor-artifact-") as empty:
            context = EvalGraderContext(
                artifact_root=Path(empty),
                fixture_path=run.workdir,
                prompt="" if run.test.input is UNSET else text_of(run.test.input),
            )
            returned = function(context)
            if inspect.isawaitable(returned):
                returned = await returned
        return _as_grade(returned, self.script)


def expect_outcome(script: str, *, must_pass: bool = True, **options: Any) -> OutcomeScript:
    """A grader that runs the grading script at `script`, relative to the module that names it.

    It is a gate unless `must_pass=False` says otherwise; the other options are those of every grader, and its
    name is the script's stem.

    Raises:
        ValueError: an option is out of its range, or the path is absolute.
    """
    unknown = sorted(set(options) - set(GraderBase.__dataclass_fields__))
    if unknown:
        known = ", ".join(sorted(GraderBase.__dataclass_fields__))
        raise ValueError(f"expect_outcome() has no option {unknown[0]!r}; it knows {known}")
    return OutcomeScript(script=script, must_pass=must_pass, **options)


def _grade_function(path: Path, shown: str) -> Callable[[EvalGraderContext], Any]:
    # A name that no import can meet, and that two scripts of the same stem do not share.
    name = f"outcome script {path}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise BrokenScript(f"{shown} is no Python module; a grading script is a .py file")
    module = importlib.util.module_from_spec(spec)
    folder = str(path.parent)
    if folder not in sys.path:
        sys.path.append(folder)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    function = getattr(module, "grade", None)
    if not callable(function):
        raise BrokenScript(f"{shown} does not define a function named grade")
    return function


def _as_grade(returned: Any, shown: str) -> Grade:
    if not isinstance(returned, EvalScriptOutcome):
        raise BrokenScript(f"grade() in {shown} returned {type(returned).__name__}, not an EvalScriptOutcome")
    outcome: Any = returned.outcome
    detail: Any = returned.detail
    if outcome not in ("pass", "fail", "inconclusive"):
        raise BrokenScript(
            f"outcome is 'pass', 'fail' or 'inconclusive', and grade() in {shown} gave {outcome!r}"
        )
    if not isinstance(detail, str) or not detail.strip():
        raise BrokenScript(f"detail is a sentence, and grade() in {shown} gave {detail!r}")
    cause = Cause.UNDECIDED if outcome == "inconclusive" else None
    return Grade(outcome=Outcome(outcome), feedback=detail, cause=cause)
