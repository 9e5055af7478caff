"""What a grader says of a run: a score from 0 to 1, or an outcome, with feedback and evidence."""

from __future__ import annotations

import math
from enum import StrEnum
from typing import Any

import msgspec

from proctor.records.json_value import Json


class Outcome(StrEnum):
    """The three answers."""

    PASS = "pass"
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"


class Cause(StrEnum):
    """Why something is neither seen to pass nor seen to fail."""

    GRADER_RAISED = "grader_raised"
    """The grader raised an exception."""
    GRADER_RETURNED_NONSENSE = "grader_returned_nonsense"
    """The grader returned something that is no grade: a string, nothing, NaN, a score outside 0 to 1."""
    GRADER_TIMEOUT = "grader_timeout"
    """The grader went past its time limit and was ended."""
    GRADER_DIED = "grader_died"
    """The grader ended its own process, or ran out of memory."""
    GRADERS_UNLOADABLE = "graders_unloadable"
    """The grading module could not be loaded."""
    INPUTS_UNUSABLE = "inputs_unusable"
    """A grader reads the fixture or the held-out files, and the run does not hold them as they were."""
    EVAL_GRADER_FAILED = "EVAL_GRADER_FAILED"
    """An outcome script did not give an outcome; stage `grader`."""
    TEST_LACKS_FIELD = "test_lacks_field"
    """The grader reads a field that the test does not have."""
    NO_JUDGE = "no_judge"
    """A judge is needed, and no model is configured."""
    NOTHING_TO_JUDGE = "nothing_to_judge"
    """The run has no output and no file for the judge to look at, or there is no goal; it was not asked."""
    JUDGE_UNREADABLE = "judge_unreadable"
    """The judge replied twice without a verdict that can be read."""
    JUDGE_OFF_LIST = "judge_off_list"
    """The judge replied twice with something that is none of its choices."""
    JUDGE_OUT_OF_RANGE = "judge_out_of_range"
    """The judge replied twice with a number that is not on its scale."""
    JUDGE_REFUSED = "judge_refused"
    """The judge refused twice to answer, or the provider's filter held its answers back."""
    JUDGE_TIMEOUT = "judge_timeout"
    """The judge gave no answer in time, twice."""
    JUDGE_UNAVAILABLE = "judge_unavailable"
    """The model could not be asked: key, credit, rate limit, name, network."""
    JUDGE_OVER_BUDGET = "judge_over_budget"
    """Asking the judge could have cost more than `--max-cost` allows."""
    JUDGE_BROKEN = "judge_broken"
    """The judge file, or the program that it is, cannot be used."""
    NO_GRADERS = "no_graders"
    """The test has neither graders nor a goal."""
    EVIDENCE_TOO_WEAK = "evidence_too_weak"
    """What an assertion looks at could not be seen, or not as well as its `minimum_evidence` asks."""
    GRADER_CHANGED_WORKDIR = "grader_changed_workdir"
    """The grader changed the files that the agent left, which it may only read."""
    UNDECIDED = "undecided"
    """The grader itself says that it cannot tell."""
    NOT_GRADED = "not_graded"
    """No complete round of grades is recorded for the run."""
    TEST_CHANGED = "test_changed"
    """The suite that was named no longer holds this test as it ran."""
    INTERRUPTED = "interrupted"
    """The operator stopped the run, or it started and never ended."""
    HARNESS_FAILURE = "harness_failure"
    """proctor or the machine could not do its part of the run."""


class Defect(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What went wrong in somebody's code, kept whole for its author.

    Attributes:
        type: name of the exception class, or a short word where there was none.
        message: what it said.
        stack: the traceback as text, empty where there is none.
        printed: the last part of what the code had printed.
    """

    type: str
    message: str
    stack: str = ""
    printed: str = ""


class Grade(msgspec.Struct, frozen=True, omit_defaults=True):
    """One grader's finding on one run. Give a `score` or an `outcome`, never both.

    Attributes:
        score: 0.0 (worst) to 1.0 (best), for partial credit.
        outcome: pass, fail, or inconclusive, where there is nothing in between.
        feedback: a sentence for the person who reads the report.
        cause: why it is inconclusive.
        evidence: any JSON that backs the finding.
        defect: what went wrong, when code did.

    Raises:
        ValueError: neither or both are given, or the score is not a finite number from 0 to 1.
    """

    score: float | None = None
    outcome: Outcome | None = None
    feedback: str = ""
    cause: Cause | None = None
    evidence: Json = None
    defect: Defect | None = None

    def __post_init__(self) -> None:
        given: Any = self.score
        if (given is None) == (self.outcome is None):
            raise ValueError("a Grade has a score or an outcome, and not both")
        if given is not None:
            # bool is an int in Python, and the author who wrote True meant an outcome.
            if isinstance(given, bool) or not isinstance(given, int | float):
                raise ValueError(f"a score is a number from 0 to 1, and this is {given!r}")
            if not math.isfinite(given) or not 0 <= given <= 1:
                raise ValueError(f"a score is a number from 0 to 1, and this is {given!r}")
        else:
            msgspec.structs.force_setattr(self, "outcome", Outcome(str(self.outcome)))


def scalar(score: float, feedback: str = "") -> Grade:
    """A grade with partial credit: `score` from 0 to 1."""
    return Grade(score=score, feedback=feedback)


def passed(feedback: str = "") -> Grade:
    """A grade that passes."""
    return Grade(outcome=Outcome.PASS, feedback=feedback)


def failed(feedback: str = "") -> Grade:
    """A grade that fails: the agent's work was seen and found wanting."""
    return Grade(outcome=Outcome.FAIL, feedback=feedback)


def inconclusive(
    feedback: str = "", *, cause: Cause = Cause.UNDECIDED, defect: Defect | None = None
) -> Grade:
    """A grade for what was neither seen to pass nor seen to fail."""
    return Grade(outcome=Outcome.INCONCLUSIVE, feedback=feedback, cause=cause, defect=defect)
