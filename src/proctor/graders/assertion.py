"""What all assertions share: they are gates, and each says how well it has to have been seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias, cast

import msgspec

from proctor.graders.base import GraderBase
from proctor.ports import RunView
from proctor.records.evidence import Channel, Level
from proctor.records.grade import Cause, Grade, inconclusive
from proctor.records.json_value import Json, digest_of
from proctor.records.run import Ending

Minimum: TypeAlias = Literal["inferred", "observed"]
"""The least evidence that an assertion is content with."""

_NOT_EXPECTED = frozenset(GraderBase.__dataclass_fields__)


@dataclass(frozen=True, kw_only=True)
class Assertion(GraderBase):
    """A grader that expects something, and says how well it has to have been seen.

    Where the channel that it looks at bears less than `minimum_evidence`, it is inconclusive, whatever was seen.

    Attributes:
        minimum_evidence: `observed` or `inferred`.
        must_pass: it is a gate unless this is False.

    Raises:
        ValueError: an option is out of its range.
    """

    kind: ClassVar[str] = ""
    channel: ClassVar[Channel] = "files"
    scale: ClassVar[Literal["binary", "scalar"] | None] = "binary"

    must_pass: bool = True
    minimum_evidence: Minimum = "observed"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.minimum_evidence not in ("inferred", "observed"):
            raise ValueError(
                f"grader {self.name!r}: minimum_evidence is 'observed' or 'inferred', "
                f"and this is {self.minimum_evidence!r}"
            )

    @property
    def expectation(self) -> Mapping[str, Json]:
        """What it expects, by the names of its own parameters; those that say nothing are left out."""
        own = {name: getattr(self, name) for name in self.__dataclass_fields__ if name not in _NOT_EXPECTED}
        return {name: _plain(value) for name, value in own.items() if value is not None and value != ()}

    @property
    def shown_kind(self) -> str:
        """Its kind, as its id names it."""
        return self.kind

    @property
    def assertion_id(self) -> str:
        """Its kind, and 16 characters of the digest of what it expects."""
        return f"{self.shown_kind}:{digest_of(self.expectation).removeprefix('sha256:')[:16]}"

    def level(self, run: RunView) -> Level:
        """How well the run lets its channel be seen."""
        if self.channel == "files":
            return Level.OBSERVED if run.workdir.is_dir() else Level.UNAVAILABLE
        if self.channel == "process":
            was_seen = run.record.exit_code is not None or run.record.ending is Ending.TIMEOUT
            return Level.OBSERVED if was_seen else Level.UNAVAILABLE
        return getattr(run.record.channels, self.channel)

    def grade(self, run: RunView) -> Grade | Any:
        """What was seen, or that too little of it could be."""
        level = self.level(run)
        if not level.bears(Level(self.minimum_evidence)):
            found = inconclusive(
                f"the evidence is {level.value}, and {self.minimum_evidence} is asked for: {self._lacking(level)}",
                cause=Cause.EVIDENCE_TOO_WEAK,
            )
        else:
            found = self.look(run)
        return self.attested(found, level)

    def look(self, run: RunView) -> Grade:
        """The finding, on a channel that bears enough; every assertion defines its own."""
        raise TypeError(f"{type(self).__name__} does not define look()")

    def attested(self, grade: Grade, level: Level) -> Grade:
        """The grade, with what it rests on."""
        seen: Any = grade.evidence or {}
        about = {
            "assertion": self.assertion_id,
            "channel": self.channel,
            "level": level.value,
            "minimum": self.minimum_evidence,
        }
        return msgspec.structs.replace(grade, evidence={**about, **seen})

    def _lacking(self, level: Level) -> str:
        if self.channel == "files":
            return "the run keeps no workdir"
        if self.channel == "process":
            return "the agent has no exit code, as commands have"
        if level is Level.UNAVAILABLE:
            return "there is no trace of the agent's calls"
        return "only the agent itself tells of its calls, or the trace breaks off"


def options_for(maker: str, kind: type[GraderBase], options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that a user gave a function such as `expect_file`, which has `name` under another name.

    Raises:
        ValueError: an option is unknown.
    """
    known = sorted(set(kind.__dataclass_fields__))
    for name in options:
        if name not in known:
            raise ValueError(f"{maker}() has no option {name!r}; it knows {', '.join(known)}")
    return dict(options)


def _plain(value: Any) -> Json:
    if isinstance(value, tuple | list):
        return [_plain(entry) for entry in cast("Sequence[Any]", value)]
    return dict(cast("Mapping[str, Json]", value)) if isinstance(value, Mapping) else value
