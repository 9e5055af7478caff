"""What the solutions of a suite, right and wrong, prove about its graders."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

import msgspec

from proctor.records.exits import ExitCode
from proctor.records.grade import Outcome
from proctor.records.run import Ending

PROOF_SCHEMA = "proctor.check/1"


class ProofVerdict(StrEnum):
    """The three answers about a test."""

    OK = "ok"
    BROKEN = "broken"
    UNCLEAR = "unclear"


class Tried(msgspec.Struct, frozen=True, kw_only=True):
    """One run that was made to try out a test's graders.

    Attributes:
        role: the test's own solution, the agent that does nothing, or a wrong solution.
        name: `reference`, `no-op`, or that of the wrong solution.
        ending: how the run ended.
        outcome: what its grades come to.
        objective: 0 to 1; None when it could not be told.
    """

    role: Literal["reference", "no-op", "wrong"]
    name: str
    ending: Ending
    outcome: Outcome
    objective: float | None


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """What was found about a test, in a sentence.

    Attributes:
        weight: `broken`: the test grades wrongly; `unclear`: it could not be told; `ok`: good to know.
    """

    weight: ProofVerdict
    said: str


class TestProof(msgspec.Struct, frozen=True, kw_only=True):
    """What was found about one test.

    Attributes:
        test: its id.
        verdict: the worst of the findings; `ok` when there is none.
        ceiling: objective of the reference; None without one, or when it could not be told.
        floor: the best objective of the no-op and the wrong solutions; None when none could be told.
        tried: the runs that were made, and what they came to.
        findings: what was noticed, a sentence each.
    """

    __test__ = False

    test: str
    verdict: ProofVerdict
    ceiling: float | None
    floor: float | None
    tried: tuple[Tried, ...]
    findings: tuple[Finding, ...] = ()


class SuiteProof(msgspec.Struct, frozen=True, kw_only=True):
    """What was found about all tests of a suite.

    Attributes:
        suite: its name.
        tests: in the order of the suite.
    """

    schema: str = PROOF_SCHEMA
    suite: str
    tests: tuple[TestProof, ...]

    def count(self, verdict: ProofVerdict) -> int:
        """How many tests have this verdict."""
        return sum(test.verdict is verdict for test in self.tests)

    @property
    def exit_code(self) -> ExitCode:
        """What `check` tells the shell: a broken test before one that is unclear."""
        if self.count(ProofVerdict.BROKEN):
            return ExitCode.GATE_FAILED
        return ExitCode.INCONCLUSIVE if self.count(ProofVerdict.UNCLEAR) else ExitCode.OK
