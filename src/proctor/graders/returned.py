"""What a grader may return, made into a Grade."""

from __future__ import annotations

from typing import Any

from proctor.records.grade import Grade, Outcome, failed, passed, scalar


class NotAGrade(ValueError):
    """A grader returned something that is neither a bool, a number from 0 to 1, an outcome, nor a Grade."""


def as_grade(returned: Any) -> Grade:
    """The grade that a returned value stands for.

    Raises:
        NotAGrade: it stands for none: text, nothing, NaN, a number outside 0 to 1, any other object.
    """
    if isinstance(returned, Grade):
        return returned
    if isinstance(returned, bool):
        return passed() if returned else failed()
    if isinstance(returned, Outcome):
        return Grade(outcome=returned)
    if isinstance(returned, int | float):
        try:
            return scalar(float(returned))
        except (ValueError, OverflowError) as error:
            raise NotAGrade(f"it returned {returned!r}; {error}") from error
    if hasattr(returned, "item") and getattr(returned, "shape", None) == ():
        return as_grade(returned.item())  # a scalar of a numeric library, such as numpy.bool_
    kind = "nothing (None)" if returned is None else f"{type(returned).__name__} {_cut(repr(returned))}"
    raise NotAGrade(
        f"it returned {kind}; a grader returns a bool, a number from 0 to 1, an outcome, or a Grade"
    )


def _cut(text: str, limit: int = 200) -> str:
    return text if len(text) <= limit else text[:limit] + "…"
