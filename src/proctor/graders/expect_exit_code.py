"""expect_exit_code: the code that the agent's command ended with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import msgspec

from proctor.graders.assertion import Assertion, Minimum, options_for
from proctor.ports import GraderOptions, RunView
from proctor.records.evidence import Channel
from proctor.records.grade import Grade, failed, passed
from proctor.records.run import Ending


@dataclass(frozen=True, kw_only=True)
class ExitCode(Assertion):
    """The exit code of a command, made by `expect_exit_code`.

    What it checks: the code that proctor saw the agent's process end with.
    Why: for a program, the code is a part of the answer.
    Passes: it is `expected`. Such an end is `ok`, also where the code is not 0.
    Fails: it is another, or the agent's time was up.
    Cannot tell: there is none: a function or an endpoint has no exit code, nor has what a signal ended.

    Attributes:
        expected: 0 to 255.
    """

    kind: ClassVar[str] = "exit-code"
    channel: ClassVar[Channel] = "process"

    expected: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        code: Any = self.expected
        if isinstance(code, bool) or not isinstance(code, int) or not 0 <= code <= 255:
            raise ValueError(
                f"grader {self.name!r}: an exit code is a whole number from 0 to 255, and this is {code!r}"
            )

    @property
    def options(self) -> GraderOptions:
        """As every grader's, and that this end is expected."""
        return msgspec.structs.replace(super().options, exit_code=self.expected)

    def look(self, run: RunView) -> Grade:
        """Compare the codes."""
        code = run.record.exit_code
        if run.record.ending is Ending.TIMEOUT:
            return failed("the agent was ended when its time was up")
        if code == self.expected:
            return passed(f"the exit code is {code}")
        return failed(f"the exit code is {code}, and {self.expected} is expected")


def expect_exit_code(
    expected: int = 0, *, minimum_evidence: Minimum = "observed", name: str = "", **options: Any
) -> ExitCode:
    """The agent's command ends with this exit code, which then counts as having ended well.

    It is a gate unless `must_pass=False` says otherwise; the other options are those of every grader.

    Raises:
        ValueError: an option is out of its range.

    >>> expect_exit_code(3).options.name
    'exit-code 3'
    """
    return ExitCode(
        name=name or f"exit-code {expected}",
        expected=expected,
        minimum_evidence=minimum_evidence,
        **options_for("expect_exit_code", ExitCode, options),
    )
