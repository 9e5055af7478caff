"""Reading groups into a comparison: what `compare` draws, and `grade --baseline`."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from proctor.core.comparison import Compared, Rules, among_candidates, contrast, overall
from proctor.core.facets import FacetValues, facets_of
from proctor.engine.reporting import report_found
from proctor.errors import StoreError, UsageError
from proctor.records.comparison import Comparison, Verdict
from proctor.records.exits import ExitCode
from proctor.records.json_value import storable
from proctor.stores.discover import discover
from proctor.stores.rundir import RunDir

FailOn: TypeAlias = Literal["worse", "cannot-tell"]


def compare_paths(
    base: Path,
    candidates: Sequence[Sequence[Path]],
    *,
    rules: Rules,
    fail_on: FailOn = "cannot-tell",
) -> Comparison:
    """Each candidate against the base, from what is on disk now.

    Args:
        base: a run directory, a group, or a folder of groups.
        candidates: the paths of each; several paths are one candidate.
        rules: how it is decided.
        fail_on: `worse` lets what cannot be told pass.

    Raises:
        StoreError: a path does not exist, or holds no run.
        UsageError: scipy is not installed, or `fail_on` is none of these.
    """
    if fail_on not in get_args(FailOn):
        raise UsageError(f"fail_on is {fail_on!r}", fix="Give worse or cannot-tell.")
    check_comparable(base)
    warnings: list[str] = []
    ours = _side([base], warnings)
    contrasts = among_candidates(
        [
            contrast(", ".join(storable(str(path)) for path in paths), ours, _side(paths, warnings), rules)
            for paths in candidates
        ],
        rules,
    )
    verdict = overall(contrasts)
    return Comparison(
        base=storable(str(base)),
        alpha=rules.alpha,
        margin=rules.margin,
        correction=rules.correction,
        required=rules.required,
        contrasts=contrasts,
        verdict=verdict,
        exit_code=exit_code_of(verdict, fail_on),
        warnings=tuple(warnings),
    )


def check_comparable(base: Path) -> None:
    """Find out before the work whether something can be compared with `base`.

    Raises:
        StoreError: it does not exist, or holds no run.
        UsageError: scipy is not installed.
    """
    if importlib.util.find_spec("scipy") is None or importlib.util.find_spec("numpy") is None:
        raise UsageError(
            "a comparison needs the library scipy, which is not installed",
            fix="Install it with the extra: pip install 'proctor[stats]'",
        )
    discover([base])


def exit_code_of(verdict: Verdict, fail_on: FailOn = "cannot-tell") -> ExitCode:
    """Better and same are 0, worse is 2, and what cannot be told is 3 unless it is let pass."""
    if verdict is Verdict.WORSE:
        return ExitCode.GATE_FAILED
    if verdict is Verdict.CANNOT_TELL and fail_on == "cannot-tell":
        return ExitCode.INCONCLUSIVE
    return ExitCode.OK


def _side(paths: Sequence[Path], warnings: list[str]) -> tuple[Compared, ...]:
    return tuple(_runs(paths, warnings))


def _runs(paths: Sequence[Path], warnings: list[str]) -> Iterator[Compared]:
    groups = discover(paths)
    report = report_found(groups)
    warnings += report.warnings
    for group, found in zip(report.groups, groups, strict=True):
        directories = {storable(run.name): run for run in found.runs}
        for run in group.runs:
            directory = directories.get(run.run)
            facets, host = _facets(directory) if directory is not None else (None, "")
            yield Compared(report=run, host=host, facets=facets)


def _facets(run: RunDir) -> tuple[FacetValues | None, str]:
    try:
        facts = run.facts()
        trace = run.trace(facts)
        found = facets_of(facts, run.annotations(), trace.metrics if trace is not None else None)
    except StoreError:
        return None, ""  # its report says so
    return found, facts.agent.kind
