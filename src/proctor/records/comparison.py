"""Two groups side by side, and what that decides: what `proctor compare` reports."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal, TypeAlias

import msgspec

from proctor.records.estimate import Bounds, Interval

COMPARISON_SCHEMA = "proctor.comparison/1"


class Verdict(StrEnum):
    """What a comparison comes to, as seen from the candidate."""

    BETTER = "better"
    WORSE = "worse"
    SAME = "same"
    CANNOT_TELL = "cannot tell"


class Facet(StrEnum):
    """What can differ between two sides beside the thing that is compared."""

    TEST = "test"
    FIXTURE = "fixture"
    GRADERS = "graders"
    JUDGE = "judge"
    PROCTOR = "proctor"
    HOST = "host"
    HOST_VERSION = "host-version"
    INVOCATION = "invocation"
    MODEL = "model"
    LIMITS = "limits"
    ISOLATION = "isolation"


REQUIRED = (Facet.TEST, Facet.FIXTURE, Facet.GRADERS)
"""What must be equal for a comparison to mean anything, unless it is allowed to differ."""

Match: TypeAlias = Literal["equal", "different", "mixed", "unrecorded"]
Correction: TypeAlias = Literal["holm", "bh"]


class FacetMatch(msgspec.Struct, frozen=True, kw_only=True):
    """One facet of one row.

    Attributes:
        facet: which.
        match: `mixed` where the runs of one side differ among themselves, `unrecorded` where a side does not say.
        base: the values of the base's runs, sorted.
        candidate: the values of the candidate's runs, sorted.
    """

    facet: Facet
    match: Match
    base: tuple[str, ...]
    candidate: tuple[str, ...]


class RowSide(msgspec.Struct, frozen=True, kw_only=True):
    """One test on one side.

    Attributes:
        planned: its trials.
        measured: trials that have an objective.
        conclusive: trials that passed or failed.
        passed: trials that passed.
        objective: their mean; None where there is none.
        bounds: with everything that is missing as worst, and as best.
        pass_rate: None where no trial passed or failed.
    """

    planned: int
    measured: int
    conclusive: int
    passed: int
    objective: float | None
    bounds: Bounds
    pass_rate: float | None


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One test on both sides.

    Attributes:
        test: its id.
        host: the kind of agent; empty where each side has one kind, and the tests alone are aligned.
        base: None where that side does not have it.
        candidate: None where that side does not have it.
        facets: every facet; none where a side is missing.
        causes: why it cannot be compared; none for one that can.
    """

    test: str
    host: str
    base: RowSide | None
    candidate: RowSide | None
    facets: tuple[FacetMatch, ...] = ()
    causes: tuple[str, ...] = ()


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """How far a number of the candidate lies above that of the base, over tests that both have.

    Attributes:
        what: `objective`, `pass rate`, or the name of a grader.
        n: how many tests it is over.
        base: mean over these tests; None where there are none.
        candidate: likewise.
        value: candidate less base.
        se: its standard error, from how the tests' differences differ; None for fewer than two tests.
        interval: None for fewer than two tests.
        equivalence: the narrower interval that must lie within the margin for `same`, of level 1 - 2 alpha.
        bounds: the difference with everything missing at its worst and at its best; None for a grader.
        p: how likely a difference as large as this is by chance alone; None where that cannot be said.
        p_adjusted: the same, corrected for how many differences were looked at.
        test: how `p` was found.
        detectable: the smallest true difference that would be found four times of five; None where unknown.
        more_tests: about how many further tests would settle it; None where nothing more is needed or known.
        trials_each: about how many trials of each test would settle it; None where trials alone cannot.
        verdict: what it comes to.
    """

    what: str
    n: int
    base: float | None
    candidate: float | None
    value: float | None
    se: float | None = None
    interval: Interval | None = None
    equivalence: Interval | None = None
    bounds: Bounds | None = None
    p: float | None = None
    p_adjusted: float | None = None
    test: str = ""
    detectable: float | None = None
    more_tests: int | None = None
    trials_each: int | None = None
    verdict: Verdict = Verdict.CANNOT_TELL


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """How far what the agent used differs. There is no verdict on it: more may be worth it.

    Attributes:
        what: `cost_usd`, `tokens` or `duration_s`, each for one trial.
        n: tests in which both sides say.
        base: mean over these tests.
        candidate: likewise.
        value: candidate less base.
        interval: None for fewer than two tests.
        ratio: candidate by base, the geometric mean over tests; None where one of them is not above 0.
        ratio_interval: likewise; None for fewer than two tests.
    """

    what: str
    n: int
    base: float | None
    candidate: float | None
    value: float | None
    interval: Interval | None = None
    ratio: float | None = None
    ratio_interval: Interval | None = None


class Contrast(msgspec.Struct, frozen=True, kw_only=True):
    """One candidate against the base.

    Attributes:
        candidate: its path.
        verdict: that on the objective.
        compared: rows that could be compared.
        left_out: rows that could not; their causes stand in `rows`.
        objective: decides.
        pass_rate: stands beside it.
        graders: each grader that both sides have, corrected for their number.
        used: cost, tokens and time.
        rows: every test of either side.
    """

    candidate: str
    verdict: Verdict
    compared: int
    left_out: int
    objective: Difference
    pass_rate: Difference
    graders: tuple[Difference, ...]
    used: tuple[Change, ...]
    rows: tuple[Row, ...]


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """Some candidates against one base.

    Attributes:
        base: its path.
        alpha: how often two equal sides may be told apart by chance.
        margin: differences of at most this much count as none.
        correction: for the number of graders; candidates are always corrected by Holm.
        required: facets that must be equal.
        contrasts: one for each candidate, in the order of naming.
        verdict: the worst of theirs: worse, then cannot tell, then same, then better.
        exit_code: what the shell is told.
        warnings: what went wrong in reading.
    """

    schema: str = COMPARISON_SCHEMA
    base: str
    alpha: float
    margin: float
    correction: Correction
    required: tuple[Facet, ...]
    contrasts: tuple[Contrast, ...]
    verdict: Verdict
    exit_code: int
    warnings: tuple[str, ...] = ()
