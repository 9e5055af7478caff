"""Numbers that were estimated, and how far they can be trusted."""

from __future__ import annotations

from typing import Literal

import msgspec


class Bounds(msgspec.Struct, frozen=True):
    """The least and the most that a number can be, given what is missing.

    Attributes:
        low: with everything that is missing as worst.
        high: with everything that is missing as best.
    """

    low: float
    high: float

    @property
    def is_exact(self) -> bool:
        """True when nothing that is missing could change the number."""
        return self.low >= self.high


class Interval(msgspec.Struct, frozen=True, kw_only=True):
    """Where a number lies, as far as what was seen can tell.

    Attributes:
        low: its lower end.
        high: its upper end.
        level: how often an interval made so holds the true number.
        method: how it was made.
    """

    low: float
    high: float
    level: float
    method: str


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """A mean over tests. What is undefined is None, never 0.

    Attributes:
        value: None when nothing was measured.
        tests: how many tests it is over.
        trials: how many trials of them.
        se: its standard error, clustered by test; None where one test was tried once.
        interval: None where nothing can be said.
    """

    value: float | None
    tests: int
    trials: int
    se: float | None = None
    interval: Interval | None = None


class Reliability(msgspec.Struct, frozen=True, kw_only=True):
    """What several trials of a test say about several more.

    Attributes:
        k: how many trials are meant.
        pass_at_k: how likely at least one of `k` trials passes; two numbers where some are inconclusive.
        pass_hat_k: how likely all of `k` trials pass; likewise.
        tests: how many tests it is over: those with at least `k` trials that were graded.
        left_out: tests with fewer.
    """

    k: int
    pass_at_k: Bounds
    pass_hat_k: Bounds
    tests: int
    left_out: int = 0


class TestFigures(msgspec.Struct, frozen=True, kw_only=True):
    """The trials of one test. Those that say nothing about the agent are in `planned` alone.

    Attributes:
        test: its id.
        planned: its trials.
        passed: trials that passed.
        failed: trials that failed, those that did not end well included.
        inconclusive: trials of which nobody can tell.
        mean: of the objectives; None where no trial has one.
        reliability: None below three trials that were graded.
        is_flaky: one trial passed and another failed.
    """

    __test__ = False

    test: str
    planned: int
    passed: int
    failed: int
    inconclusive: int
    mean: float | None
    reliability: Reliability | None
    is_flaky: bool


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """What the trials of some tests come to.

    Attributes:
        objective: the mean over tests of the mean over trials.
        pass_rate: the share of trials that passed, likewise; without those of which nobody can tell.
        pass_bounds: that share with everything missing as failed, and as passed.
        passed: trials that passed.
        conclusive: trials that passed or failed.
        evidence: `smoke` where no test has three trials that were graded, so that nothing is said of reliability.
        reliability: over the tests that have three; None for a smoke test.
        trials_sd: the standard deviation of the objective between trials of one test, pooled: the agent's noise, and
            with it what its judges add; None where no test was tried twice.
        repeated: the number of tests that this is over.
        flaky: tests that passed in one trial and failed in another.
        tests: each test by itself, in the order of the runs.
    """

    objective: Estimate
    pass_rate: Estimate
    pass_bounds: Bounds
    passed: int
    conclusive: int
    evidence: Literal["smoke", "reliability"]
    reliability: Reliability | None = None
    trials_sd: float | None = None
    repeated: int = 0
    flaky: tuple[str, ...] = ()
    tests: tuple[TestFigures, ...] = ()
