"""The error tree. Every error says what is the case, where, and what to do.

    ProctorError
    ├── UsageError      the command line asks for something that cannot be done
    ├── SuiteError      a suite file, a fixture or a grading module is not usable
    ├── AgentError      the agent that was named cannot be started at all
    ├── JudgeError      a judge cannot answer
    ├── ModelError      a language model cannot be asked, or does not answer
    ├── StoreError      a run directory cannot be read or written
    └── UnknownName     a name that nothing answers to

Built-in exceptions are for mistakes of programmers; whatever a user can cause is one of these, and the
command line prints it as sentences, without a traceback.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple, TypeAlias

ModelErrorKind: TypeAlias = Literal[
    "no_key",
    "auth",
    "out_of_credit",
    "rate_limit",
    "not_found",
    "timeout",
    "unavailable",
    "bad_request",
    "missing_extra",
]
"""Why a model was not asked, or did not answer."""


class Fault(NamedTuple):
    """One thing that is wrong, at one place: what is the case, where, and what to do about it."""

    what: str
    where: str
    fix: str

    def __str__(self) -> str:
        place = f"{self.where}  " if self.where else ""
        return f"{place}{self.what}\n    {self.fix}"


class ProctorError(Exception):
    """Base of all errors that proctor raises on purpose.

    Attributes:
        faults: every fault that was found, at least one.
    """

    def __init__(self, what: str, *, fix: str, where: str = "") -> None:
        self.faults: tuple[Fault, ...] = (Fault(what, where, fix),)
        super().__init__(str(self.faults[0]))

    @property
    def what(self) -> str:
        """What is the case, in one sentence."""
        return self.faults[0].what

    @property
    def fix(self) -> str:
        """What to do, in one sentence."""
        return self.faults[0].fix

    def __str__(self) -> str:
        return "\n".join(str(fault) for fault in self.faults)

    @classmethod
    def of(cls, faults: Iterable[Fault]) -> ProctorError:
        """One error of this kind that carries several faults; at least one must be given."""
        listed = tuple(faults)
        error = cls(listed[0].what, fix=listed[0].fix, where=listed[0].where)
        error.faults = listed
        return error


class UsageError(ProctorError):
    """The command line asks for something that cannot be done."""


class SuiteError(ProctorError):
    """A suite file, a fixture or a grading module is not usable."""


class AgentError(ProctorError):
    """The agent that was named cannot be started at all."""


class JudgeError(ProctorError):
    """A judge cannot answer."""


class ModelError(ProctorError):
    """A language model cannot be asked, or does not answer.

    Attributes:
        kind: `no_key`, `auth`, `out_of_credit`, `rate_limit`, `not_found`, `timeout`, `unavailable`, `bad_request` or
            `missing_extra`.
        retry_after_s: how long the provider asks to wait; None when it does not say.
    """

    def __init__(
        self,
        what: str,
        *,
        fix: str,
        where: str = "",
        kind: ModelErrorKind = "unavailable",
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(what, fix=fix, where=where)
        self.kind: ModelErrorKind = kind
        self.retry_after_s = retry_after_s

    @property
    def is_transient(self) -> bool:
        """True when the same question may be answered a little later."""
        return self.kind in ("rate_limit", "unavailable")


class StoreError(ProctorError):
    """A run directory cannot be read or written."""


class UnknownName(ProctorError):
    """A name that nothing answers to."""


def did_you_mean(name: str, known: Sequence[str]) -> str | None:
    """The known name that is nearest to `name`, or None when nothing is near."""
    from difflib import get_close_matches

    folded = {candidate.casefold().replace("-", "_"): candidate for candidate in known}
    near = get_close_matches(name.casefold().replace("-", "_"), list(folded), n=1, cutoff=0.6)
    return folded[near[0]] if near else None
