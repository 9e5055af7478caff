"""What graders may look at beside the workdir: the files that it started with, and those that the agent never saw."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from proctor.errors import SuiteError
from proctor.host.seed import plan_seed
from proctor.ports import GraderOptions
from proctor.records.run import RunFacts
from proctor.stores.rundir import RunDir


class KeptInput(msgspec.Struct, frozen=True, kw_only=True):
    """A folder that is kept for graders.

    Attributes:
        path: where it lies.
        digest: what it held when it was kept; None where that need not be looked at again.
        git: part of that digest: the workdir began as a repository.
    """

    path: Path
    digest: str | None = None
    git: bool = False

    @property
    def is_intact(self) -> bool:
        """True when it holds what it held."""
        try:
            return self.digest is None or plan_seed(self.path, git=self.git).digest == self.digest
        except SuiteError:
            return False


def recorded_inputs(run: RunDir, facts: RunFacts) -> tuple[KeptInput | None, KeptInput | None]:
    """(fixture, held-out files) as the run itself holds them."""
    fixture = holdout = None
    if facts.holdout_digest is not None:
        holdout = KeptInput(path=run.holdout, digest=facts.holdout_digest)
    if facts.fixture_digest is not None:
        # It is there only where a grader reads it; one that reads it and does not find it is told so.
        git = facts.test.files is not None and facts.test.files.git
        fixture = KeptInput(path=run.fixture, digest=facts.fixture_digest, git=git)
    return fixture, holdout


def why_unusable(
    graders: Sequence[GraderOptions], fixture: KeptInput | None, holdout: KeptInput | None
) -> str | None:
    """Why these graders cannot be asked: what one of them reads is not there, or not as it was; None when they can.

    Nothing is read unless a grader reads it.
    """
    readers = {name: grader.name for grader in reversed(graders) for name in grader.reads}
    if not readers:
        return None
    if "holdout" in readers and holdout is None:
        return f"grader {readers['holdout']!r} reads held-out files, and the run has none"
    for name, kept in (("fixture", fixture), ("holdout", holdout)):
        if name in readers and kept is not None and not kept.is_intact:
            return (
                f"inputs/{kept.path.name} of the run is not what it was, and grader {readers[name]!r} reads it; "
                "restore it, or grade with --suite"
            )
    return None
