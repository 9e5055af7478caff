"""What all built-in graders share: the options, checked when the grader is made."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from proctor.ports import GraderOptions, RunView
from proctor.records.grade import Cause, Grade
from proctor.records.suite import Test


@dataclass(frozen=True, kw_only=True)
class GraderBase:
    """A grader with the common options; subclass it, or implement `proctor.ports.Grader` on your own.

    Attributes:
        name: unique in its module; the class's `default_name` when not given.
        weight: share in the objective, 0 or more.
        must_pass: makes it a gate: when it fails, the run's objective is 0.
        threshold: the bar of a scalar, 0 to 1.
        samples: how often it is asked, 1 or more.
        aggregate: binary samples pass when `all` or when `any` of them do; scalars average.
        scope: tags or ids of the tests that it applies to; every test when empty.
        timeout: seconds that it may take.

    Raises:
        ValueError: an option is out of its range.

    >>> @dataclass(frozen=True, kw_only=True)
    ... class Short(GraderBase):
    ...     default_name: ClassVar[str] = "short"
    ...     most: int = 80
    ...     def grade(self, run: RunView) -> bool:
    ...         return len(str(run.output)) <= self.most
    >>> Short(must_pass=True).options.name
    'short'
    """

    default_name: ClassVar[str] = ""
    scale: ClassVar[Literal["binary", "scalar"] | None] = None
    failure_cause: ClassVar[Cause | None] = None

    name: str = ""
    weight: float = 1.0
    must_pass: bool = False
    threshold: float = 0.0
    samples: int = 1
    aggregate: Literal["all", "any"] = "all"
    scope: Sequence[str] = ()
    timeout: float = 60.0

    def __post_init__(self) -> None:
        if not self.name:
            object.__setattr__(self, "name", type(self).default_name)
        _check_options(self)

    @property
    def options(self) -> GraderOptions:
        """Name, weight, gate and the other options, as the engine reads them."""
        return GraderOptions(
            name=self.name,
            weight=float(self.weight),
            must_pass=self.must_pass,
            threshold=float(self.threshold),
            samples=self.samples,
            aggregate=self.aggregate,
            scope=tuple(self.scope),
            timeout=float(self.timeout),
            failure_cause=self.failure_cause,
            scale=self.scale,
            reads=self.reads,
        )

    @property
    def reads(self) -> tuple[Literal["fixture", "holdout"], ...]:
        """What it looks at beside the workdir."""
        return ()

    def needs(self, test: Test) -> Sequence[str]:
        """What `test` lacks for this grader, a sentence each."""
        return ()

    def files(self) -> Sequence[str]:
        """Files that this grader reads, relative to the grading module."""
        return ()

    def grade(self, run: RunView) -> Grade | Any:
        """The finding on one run; every grader defines its own."""
        raise TypeError(f"{type(self).__name__} does not define grade()")


def _check_options(grader: GraderBase) -> None:
    """Raise ValueError for the first option that is out of its range."""
    label = grader.name or type(grader).__name__

    def refuse(option: str, value: object, rule: str) -> None:
        raise ValueError(f"grader {label!r}: {option} is {rule}, and this is {value!r}")

    weight, threshold, timeout = grader.weight, grader.threshold, grader.timeout
    if not grader.name:
        raise ValueError(f"a {type(grader).__name__} needs a name: name='...'")
    if not _is_number(weight) or weight < 0:
        refuse("weight", weight, "a number of 0 or more")
    if not _is_number(threshold) or not 0 <= threshold <= 1:
        refuse("threshold", threshold, "a number from 0 to 1")
    if not _is_number(timeout) or timeout <= 0:
        refuse("timeout", timeout, "a number of seconds above 0")
    if isinstance(grader.samples, bool) or not isinstance(grader.samples, int) or grader.samples < 1:  # pyright: ignore[reportUnnecessaryIsInstance]
        refuse("samples", grader.samples, "a whole number of 1 or more")
    if grader.aggregate not in ("all", "any"):
        refuse("aggregate", grader.aggregate, "'all' or 'any'")
    if not isinstance(grader.must_pass, bool):  # pyright: ignore[reportUnnecessaryIsInstance]
        refuse("must_pass", grader.must_pass, "True or False")
    if isinstance(grader.scope, str):
        refuse("scope", grader.scope, "a list of tags or test ids")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
