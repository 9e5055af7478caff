"""From what a judge says to a grade."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from proctor.core.verdict_scale import Scale
from proctor.core.verdicts import Trouble, Unreadable, Verdict, read_verdict
from proctor.records.grade import Cause, Grade, failed, inconclusive, passed
from proctor.records.json_value import Json

MOST_OF_A_REPLY: Final = 20_000
"""Characters that are kept of a reply that cannot be used."""

CAUSES: Final[Mapping[Trouble, Cause]] = {
    "empty": Cause.JUDGE_UNREADABLE,
    "no_verdict": Cause.JUDGE_UNREADABLE,
    "contradiction": Cause.JUDGE_UNREADABLE,
    "cut": Cause.JUDGE_UNREADABLE,
    "off_list": Cause.JUDGE_OFF_LIST,
    "out_of_range": Cause.JUDGE_OUT_OF_RANGE,
    "refused": Cause.JUDGE_REFUSED,
}
"""Why a grade is inconclusive, by what is wrong with the reply."""


def grade_of(verdict: Verdict, scale: Scale, evidence: Mapping[str, Json] | None = None) -> Grade:
    """The grade that a verdict is: an outcome on the binary scale, else a score; a choice stands in the evidence."""
    noted = dict(evidence or {})
    if scale.kind == "choices":
        noted["choice"] = verdict.label
    if scale.kind == "binary":
        grade = (passed if verdict.passed else failed)(verdict.reasoning)
    else:
        grade = Grade(score=verdict.value, feedback=verdict.reasoning)
    return msgspec.structs.replace(grade, evidence=noted or None)


def no_verdict(cause: Cause, reason: str, replies: Sequence[str]) -> Grade:
    """The grade of a judge that gave no verdict, with what it said instead."""
    kept = [reply[:MOST_OF_A_REPLY] for reply in replies]
    grade = inconclusive(f"the judge was asked twice: {reason}", cause=cause)
    return msgspec.structs.replace(grade, evidence={"replies": kept} if kept else None)


def answer_text(answer: Any) -> str:
    """What a program returned, as text that a verdict is read from; its Python form where it is no JSON."""
    try:
        return msgspec.json.encode(answer).decode()
    except (TypeError, ValueError, RecursionError):
        return repr(answer)


def read_answer(answer: Any, scale: Scale) -> Verdict | Unreadable:
    """The verdict in what a program returned: an object with `score` and `reasoning`, or `pass` and `reasoning`."""
    if not isinstance(answer, dict):
        kind = "nothing" if answer is None else f"{type(answer).__name__} {repr(answer)[:200]}"
        key = "pass" if scale.kind == "binary" else "score"
        return Unreadable(
            kind="no_verdict",
            reason=f"it returned {kind}; a judge returns {{'{key}': ..., 'reasoning': ...}}",
        )
    return read_verdict(answer_text(answer), scale)
