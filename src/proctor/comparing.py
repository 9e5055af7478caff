"""A comparison from Python: what `proctor compare` decides, as a value."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from proctor.errors import UsageError

if TYPE_CHECKING:
    from proctor.evaluation import Group
    from proctor.records.comparison import Comparison


def compare(
    base: str | Path | Group,
    *candidates: str | Path | Group,
    margin: float = 0.02,
    confidence: float = 0.95,
    correction: Literal["holm", "bh"] = "holm",
    require: Sequence[str] = (),
    allow: Sequence[str] = (),
    fail_on: Literal["worse", "cannot-tell"] = "cannot-tell",
) -> Comparison:
    """Each candidate against the base, test by test, from the grades that are recorded now.

    Args:
        base: a run directory, a group, or a folder of groups.
        candidates: what is compared with it; likewise, one or more.
        margin: differences of at most this much count as none; from 0 to 1.
        confidence: how often an interval is to hold the true number; from 0.5 to 1, both excluded.
        correction: for the number of graders: Holm, or Benjamini and Hochberg.
        require: facets that must be equal besides test, fixture and graders.
        allow: facets that may differ although they must be equal otherwise.
        fail_on: what gives the comparison an exit code other than 0.

    Raises:
        StoreError: a path does not exist, or holds no run.
        UsageError: scipy is not installed, no candidate is given, or an argument is none of those above.
    """
    from proctor.core.comparison import rules
    from proctor.engine.comparing import compare_paths

    if not candidates:
        raise UsageError("nothing is compared with the base", fix="Name a candidate, as compare(base, new).")
    return compare_paths(
        _path(base),
        [[_path(candidate)] for candidate in candidates],
        rules=rules(
            margin=margin, confidence=confidence, correction=correction, require=require, allow=allow
        ),
        fail_on=fail_on,
    )


def _path(given: str | Path | Group) -> Path:
    return Path(given) if isinstance(given, str | Path) else given.path
