"""Graders that are plain functions, which ask for what they need by parameter name."""

from __future__ import annotations

import inspect
import json
import re
import typing
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Literal, overload

import msgspec
from msgspec import UNSET

from proctor.graders.base import GraderBase
from proctor.ports import RunView
from proctor.records.grade import Grade, failed
from proctor.records.json_value import Json
from proctor.records.suite import Test

PARAMETERS: Final = (
    "output",
    "expected",
    "input",
    "test",
    "workdir",
    "record",
    "judge",
    "fixture",
    "holdout",
)
"""What a grading function may ask for."""

_DECODED: Final = ("output", "expected", "input")
"""Parameters whose value is decoded into the type that annotates them."""


@dataclass(frozen=True, kw_only=True)
class FunctionGrader(GraderBase):
    """A function over the run; made by `grader`.

    Attributes:
        function: `def` or `async def`; returns a bool, a number from 0 to 1, an outcome, or a Grade.
    """

    default_name: ClassVar[str] = ""

    function: Callable[..., Any]
    _wanted: dict[str, _Wanted] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not self.name:
            name = getattr(self.function, "__name__", "")
            if name == "<lambda>" or not name:
                raise ValueError("a lambda has no name of its own: grader(lambda output: ..., name='...')")
            object.__setattr__(self, "name", name)
        super().__post_init__()
        object.__setattr__(self, "_wanted", _parameters_of(self.function, self.name))

    @property
    def reads(self) -> tuple[Literal["fixture", "holdout"], ...]:
        """`fixture` when it asks for that, `holdout` when it cannot do without."""
        holdout = self._wanted.get("holdout")
        reads: list[Literal["fixture", "holdout"]] = ["fixture"] if "fixture" in self._wanted else []
        return (*reads, "holdout") if holdout is not None and holdout.required else tuple(reads)

    def needs(self, test: Test) -> Sequence[str]:
        """Each parameter without a default must have a value in the test, of the type that it is annotated with."""
        return tuple(
            sentence
            for wanted in self._wanted.values()
            if (sentence := wanted.lacks(test, self.name)) is not None
        )

    def grade(self, run: RunView) -> Grade | Any:
        """Call the function with what it asks for."""
        given: dict[str, Any] = {}
        for name, wanted in self._wanted.items():
            value = _value_of(name, run)
            if value is UNSET:
                if wanted.required:
                    said = wanted.lacks(run.test, self.name)
                    raise LookupError(said or f"grader {self.name!r} asks for {name!r}, and the run has none")
                continue
            if wanted.type is not None:
                try:
                    value = decode(value, wanted.type)
                except UndecodableValue as error:
                    return failed(f"{name} is not {wanted.type_name}: {error}")
            given[name] = value
        return self.function(**given)


class UndecodableValue(ValueError):
    """A value that cannot be read as the type it should have; says where and why."""


class _Wanted(msgspec.Struct, frozen=True):
    """One parameter: whether it must have a value, and the type to decode into (None: as it is)."""

    name: str
    required: bool
    type: Any = None

    @property
    def type_name(self) -> str:
        """The type as its author wrote it, without the modules that its parts come from."""
        return getattr(self.type, "__name__", None) or re.sub(r"\b(?:\w+\.)+(?=\w)", "", str(self.type))

    def lacks(self, test: Test, grader_name: str) -> str | None:
        if self.name == "fixture" and self.required and test.files is None:
            return f"grader {grader_name!r} asks for 'fixture', and test {test.id!r} has no files"
        if self.name not in ("expected", "input"):
            return None
        value = getattr(test, self.name)
        if value is UNSET:
            missing = f"grader {grader_name!r} asks for {self.name!r}, which test {test.id!r} does not have"
            return missing if self.required else None
        if self.type is not None and self.name == "expected":
            try:
                decode(value, self.type)
            except UndecodableValue as error:
                return f"grader {grader_name!r}: {self.name} of test {test.id!r} is not {self.type_name}: {error}"
        return None


@overload
def grader(function: Callable[..., Any], /, **options: Any) -> FunctionGrader: ...
@overload
def grader(**options: Any) -> Callable[[Callable[..., Any]], FunctionGrader]: ...
def grader(
    function: Callable[..., Any] | None = None, /, **options: Any
) -> FunctionGrader | Callable[[Callable[..., Any]], FunctionGrader]:
    """A grader made of a function, as a call, as `@grader`, or as `@grader(weight=2)`.

    The function asks for what it needs by parameter name: any of `output`, `expected`, `input`, `test`,
    `workdir`, `record`, `judge`, `fixture` (the folder that the workdir was seeded from), `holdout` (the folder of
    files that no agent sees). A parameter that is annotated with a type gets its value decoded into it.
    The options are those of every grader.

    Raises:
        ValueError: an option is out of its range, a lambda has no name, or a parameter is unknown.

    >>> grader(lambda output: "1879" in str(output), name="mentions-year").options.name
    'mentions-year'
    """
    known = set(GraderBase.__dataclass_fields__)
    unknown = sorted(set(options) - known)
    if unknown:
        raise ValueError(f"grader() has no option {unknown[0]!r}; it knows {', '.join(sorted(known))}")
    if function is None:
        return lambda decorated: FunctionGrader(function=decorated, **options)
    return FunctionGrader(function=function, **options)


def decode(value: Json, wanted: Any) -> Any:
    """`value` as an instance of `wanted`: a plain type, a dataclass, a msgspec Struct or a pydantic model.

    Text is read as JSON first unless text is what is wanted.

    Raises:
        UndecodableValue: it cannot be.
    """
    if isinstance(value, str) and not _accepts_text(wanted):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError) as error:
            raise UndecodableValue(f"the text is no JSON ({error})") from error
    try:
        if hasattr(wanted, "model_validate"):
            return wanted.model_validate(value)
        return msgspec.convert(value, wanted, strict=True)
    except (msgspec.ValidationError, ValueError, TypeError) as error:
        raise UndecodableValue(str(error)) from error


def _accepts_text(wanted: Any) -> bool:
    try:
        msgspec.convert("text", wanted)
    except (msgspec.ValidationError, ValueError, TypeError):
        return wanted is str
    return True


def _parameters_of(function: Callable[..., Any], grader_name: str) -> dict[str, _Wanted]:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        raise ValueError(
            f"grader {grader_name!r}: {function!r} is not a function with named parameters"
        ) from None
    hints = _hints_of(function)
    wanted: dict[str, _Wanted] = {}
    for parameter in signature.parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        if parameter.name not in PARAMETERS or parameter.kind is parameter.POSITIONAL_ONLY:
            if parameter.default is not parameter.empty:
                continue
            raise ValueError(
                f"grader {grader_name!r} asks for {parameter.name!r}; a grading function may ask for "
                f"{', '.join(PARAMETERS)}"
            )
        hint = hints.get(parameter.name) if parameter.name in _DECODED else None
        decoded = None if hint in (None, Any, object) else hint
        wanted[parameter.name] = _Wanted(parameter.name, parameter.default is parameter.empty, decoded)
    return wanted


def _hints_of(function: Callable[..., Any]) -> dict[str, Any]:
    target = function if inspect.isroutine(function) else type(function).__call__
    try:
        return typing.get_type_hints(target)
    except (NameError, TypeError):
        # A hint that only a type checker can see says nothing about decoding.
        return {}


def _value_of(name: str, run: RunView) -> Any:
    if name in ("expected", "input"):
        return getattr(run.test, name)
    if name in ("fixture", "holdout"):
        folder = getattr(run, name)
        return UNSET if folder is None else folder
    return getattr(run, name)
