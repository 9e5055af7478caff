"""expect_workdir_unchanged: the agent left the files that it was given as they were."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from proctor.graders.assertion import Assertion, Minimum, options_for
from proctor.graders.reference import shown
from proctor.graders.scratch import matches_any
from proctor.ports import RunView
from proctor.records.changes import Changes
from proctor.records.evidence import Level
from proctor.records.grade import Grade, Outcome, passed

_MOST_NAMED: Final = 10


@dataclass(frozen=True, kw_only=True)
class WorkdirUnchanged(Assertion):
    """The files that a test starts with, made by `expect_workdir_unchanged`.

    What it checks: what the agent added, changed and removed, as it was recorded when the trial ended.
    Why: a question is to be answered, and nothing to be touched; or only one folder is.
    Passes: there is no such file beside those that `except_` names.
    Fails: there is one; the first of them are named.
    Cannot tell: the run does not say what was changed, as one that was added by hand.

    Attributes:
        except_: globs of what may change: without a slash a name at any depth, else a path from the top.
    """

    kind: ClassVar[str] = "workdir-unchanged"

    except_: Sequence[str] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.except_, str):
            raise ValueError(
                f"grader {self.name!r}: except_ is a list of globs, and this is {self.except_!r}"
            )

    def level(self, run: RunView) -> Level:
        """Observed where it was recorded what changed."""
        return Level.UNAVAILABLE if run.record.changes is None else Level.OBSERVED

    def look(self, run: RunView) -> Grade:
        """Look at what changed."""
        changes = run.record.changes or Changes()
        said = [
            f"{verb} {shown(change.path)}"
            for verb, members in (
                ("added", changes.added),
                ("changed", changes.changed),
                ("removed", changes.removed),
            )
            for change in members
            if not matches_any(change.path, self.except_)
        ]
        if not said:
            return passed("nothing was changed" + (" that may not be" if self.except_ else ""))
        more = f"\nand {len(said) - _MOST_NAMED} more" if len(said) > _MOST_NAMED else ""
        return Grade(outcome=Outcome.FAIL, feedback="\n".join(said[:_MOST_NAMED]) + more)


def expect_workdir_unchanged(
    except_: Sequence[str] = (), *, minimum_evidence: Minimum = "observed", name: str = "", **options: Any
) -> WorkdirUnchanged:
    """The agent changed none of the files in its workdir, beside those that the globs in `except_` name.

    It is a gate unless `must_pass=False` says otherwise; the other options are those of every grader.

    Raises:
        ValueError: an option is out of its range.

    >>> expect_workdir_unchanged(except_=["reports/**"]).options.name
    'workdir-unchanged'
    """
    return WorkdirUnchanged(
        name=name or "workdir-unchanged",
        except_=except_ if isinstance(except_, str) else tuple(except_),
        minimum_evidence=minimum_evidence,
        **options_for("expect_workdir_unchanged", WorkdirUnchanged, options),
    )
