"""What the trials of one test came to, as a test function is given it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import msgspec

from proctor.records.grade import Outcome
from proctor.records.report import GroupReport, RunReport


class Evaluated(msgspec.Struct, frozen=True, kw_only=True):
    """One test of a suite, run and graded. It is recorded, whatever a test function makes of it.

    Attributes:
        test: its id.
        group: the folder that its runs are recorded in.
        report: the numbers of this test alone: every trial with its grades, the mean, the pass rate, and whether it
            is flaky.
        min_pass_rate: share of the trials that must pass, 0 to 1.
        notes: sentences about what went wrong beside the agent.
    """

    test: str
    group: Path
    report: GroupReport
    min_pass_rate: float = 1.0
    notes: tuple[str, ...] = ()

    @property
    def runs(self) -> tuple[RunReport, ...]:
        """The trials, also those that never ended."""
        return self.report.runs

    @property
    def objective(self) -> float | None:
        """Mean objective of the trials, 0 to 1; None when none of them has one."""
        return self.report.mean

    @property
    def pass_rate(self) -> float | None:
        """Share of the trials that passed, 0 to 1; None when any of them neither passed nor failed."""
        bounds = self.report.figures.pass_bounds
        return bounds.low if bounds.is_exact else None

    @property
    def outcome(self) -> Outcome:
        """Whether as many trials passed as must; inconclusive where those that cannot be told decide."""
        return outcome_of(self.runs, self.min_pass_rate)

    def __repr__(self) -> str:
        """In a line, since pytest shows it beside assertions."""
        figures, objective = self.report.figures, self.objective
        shown = "unknown" if objective is None else f"{objective:.3f}"
        return f"<{self.test}: {self.outcome.value}, {figures.passed} of {len(self.runs)} passed, objective {shown}>"

    def assert_passed(self, min_pass_rate: float | None = None) -> None:
        """Fail the pytest test, and say why in a line, unless enough trials passed.

        min_pass_rate: share of the trials that must pass, 0 to 1; what was said before when None.

        Raises:
            AssertionError: too few passed, or it cannot be told.
        """
        __tracebackhide__ = True
        asked = self if min_pass_rate is None else msgspec.structs.replace(self, min_pass_rate=min_pass_rate)
        if asked.outcome is not Outcome.PASS:
            raise AssertionError(asked.explain().partition("\n")[0])

    def explain(self) -> str:
        """Why it did not pass: the first line says it all, those below show each trial and where it is recorded."""
        from proctor.pytesting.words import explained

        return explained(self)


def needed(trials: int, min_pass_rate: float) -> int:
    """How many of so many trials must pass, at least.

    >>> needed(3, 1.0), needed(3, 0.5), needed(10, 0.7), needed(4, 0.0)
    (3, 2, 7, 0)
    """
    # 0.7 * 10 is a little more than 7 in binary, and nobody means 8.
    return math.ceil(round(min_pass_rate * trials, 9))


def outcome_of(runs: Sequence[RunReport], min_pass_rate: float) -> Outcome:
    """The outcome of some trials together.

    They pass when enough of them passed; they fail when not enough could have, whatever the inconclusive ones are;
    anything else cannot be told.
    """
    outcomes = [run.outcome for run in runs]
    passed, unclear = outcomes.count(Outcome.PASS), outcomes.count(Outcome.INCONCLUSIVE)
    if not any(outcome is not Outcome.INCONCLUSIVE for outcome in outcomes):
        return Outcome.INCONCLUSIVE
    must = needed(len(outcomes), min_pass_rate)
    if passed >= must:
        return Outcome.PASS
    return Outcome.INCONCLUSIVE if passed + unclear >= must else Outcome.FAIL
