"""Public kits for people who extend proctor: what every grader must keep to, as tests to inherit.

from proctor.testing import GraderContract, a_run

class TestShort(GraderContract):
grader = Short(most=10)
passes = a_run(output="brief")
fails = a_run(output="far too long an answer")
"""

from __future__ import annotations

import copy
import inspect
import shutil
import tempfile
import weakref
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

import msgspec
from msgspec import UNSET, UnsetType

from proctor.core.samples import Folded, fold_samples
from proctor.errors import JudgeError
from proctor.graders.returned import as_grade
from proctor.ports import Grader, GraderOptions, RunView
from proctor.records.grade import Grade, Outcome
from proctor.records.json_value import Json
from proctor.records.run import Ending, Record
from proctor.records.suite import Test


def a_run(
    output: Json = None,
    *,
    expected: Json | UnsetType = UNSET,
    input: Json | UnsetType = UNSET,  # noqa: A002  # the field's own name
    goal: str | None = None,
    metadata: Mapping[str, Json] | None = None,
    files: Mapping[str, str] | None = None,
    judge: Callable[..., Any] | None = None,
) -> RunView:
    """A finished run to show to a grader. Its workdir is there as long as the run is.

    Args:
        output: what the agent answered.
        expected: of the test; absent unless given, as are the other fields.
        input: of the test.
        goal: of the test.
        metadata: of the test.
        files: what the agent left in its workdir: path to text.
        judge: answers when a grader asks a judge; without it there is none.
    """
    workdir = Path(tempfile.mkdtemp(prefix="proctor-run-"))
    for name, text in (files or {}).items():
        path = workdir / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    view = RunView(
        output=output,
        test=Test(id="test", input=input, expected=expected, goal=goal, metadata=dict(metadata or {})),
        workdir=workdir,
        record=Record(ending=Ending.OK),
        judge=judge or _no_judge,
        base=workdir,
    )
    weakref.finalize(view, shutil.rmtree, workdir, ignore_errors=True)
    return view


def grade(grader: Grader, run: RunView) -> Folded:
    """What the engine would make of this grader on this run, bar applied.

    Raises:
        Exception: whatever the grader raises; the engine would record it as an inconclusive grade.
    """
    returned = grader.grade(run)
    if inspect.isawaitable(returned):
        import asyncio

        returned = asyncio.run(_wait(returned))
    return fold_samples([as_grade(returned)], grader.options)


class GraderContract:
    """Tests that every grader passes; inherit it in a class whose name begins with `Test`.

    Attributes:
        grader: the grader under test.
        passes: a run that it passes.
        fails: a run that it fails.
        cannot_tell: a run that it is inconclusive about; None for a grader that can always tell.
    """

    __test__: ClassVar[bool] = False

    grader: ClassVar[Any]
    passes: ClassVar[RunView]
    fails: ClassVar[RunView]
    cannot_tell: ClassVar[RunView | None] = None

    def __init_subclass__(cls) -> None:
        cls.__test__ = True

    def test_it_passes_what_is_right(self) -> None:
        """The run that it should pass meets its bar."""
        assert Outcome.PASS is grade(self.grader, self.passes).outcome

    def test_it_fails_what_is_wrong_and_says_why(self) -> None:
        """The run that it should fail does not, and there is feedback unless it is a mere number."""
        found = grade(self.grader, self.fails)

        assert Outcome.FAIL is found.outcome
        assert found.feedback or found.scale == "scalar"

    def test_it_says_when_it_cannot_tell(self) -> None:
        """What was not seen is neither passed nor failed."""
        if self.cannot_tell is not None:
            assert Outcome.INCONCLUSIVE is grade(self.grader, self.cannot_tell).outcome

    def test_it_says_the_same_twice(self) -> None:
        """Grading changes neither the grader nor the run."""
        for run in (self.passes, self.fails):
            assert grade(self.grader, run) == grade(self.grader, run)

    def test_it_needs_nothing_more_than_these_runs_have(self) -> None:
        """`needs` is empty for a test that it can grade."""
        for run in (self.passes, self.fails):
            assert list(self.grader.needs(run.test)) == []

    def test_its_options_are_whole(self) -> None:
        """It has a name, and its options can be stored."""
        options = self.grader.options

        assert options.name
        assert options == msgspec.convert(msgspec.to_builtins(options), GraderOptions)

    def test_it_can_be_copied(self) -> None:
        """Each run gets a grader of its own."""
        twin = copy.deepcopy(self.grader)

        assert grade(self.grader, self.passes) == grade(twin, self.passes)


async def _wait(awaitable: Any) -> Any:
    return await awaitable


def _no_judge(*_: Any, **__: Any) -> Grade:
    raise JudgeError("no judge model is configured", fix="Give a_run(judge=...) a function that answers.")


__all__ = ["GraderContract", "a_run", "grade"]
