"""What pytest prints of trials. The first line says why; what an agent wrote is shown with control characters inert."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from proctor.cli.output import clean, counted, grade_lines, number, shorten, typed
from proctor.errors import StoreError
from proctor.pytesting.plugin import INCONCLUSIVE
from proctor.records.grade import Outcome
from proctor.records.json_value import text_of
from proctor.records.report import GradeLine, RunReport
from proctor.stores.rundir import RunDir

if TYPE_CHECKING:
    from proctor.pytesting.evaluated import Evaluated

MOST_TRIALS: Final = 5
"""Trials that are shown one by one."""
_LONGEST: Final = 300
_MOST_OUTPUT_LINES: Final = 12


def explained(evaluated: Evaluated) -> str:
    """Why a test did not pass: a line that says it all, then each trial that did not, and where it is recorded."""
    bad = [run for run in evaluated.runs if run.outcome is not Outcome.PASS]
    # What failed was seen; what cannot be told comes after it, unless that is what decides.
    decisive = [run for run in bad if run.outcome is evaluated.outcome] or bad
    shown = sorted(bad, key=lambda run: run not in decisive)
    lines = [_headline(evaluated, decisive), *map(clean, evaluated.notes)]
    for run in shown[:MOST_TRIALS]:
        lines += ["", *_trial(evaluated, run)]
    if len(shown) > MOST_TRIALS:
        lines += ["", f"and {counted(len(shown) - MOST_TRIALS, 'further trial')} that did not pass"]
    recorded = [run for run in shown if (evaluated.group / run.run).is_dir()]
    lines += ["", f"recorded in {clean(shown_path(evaluated.group))}"]
    if recorded:
        lines.append(f"see more: proctor show {typed(shown_path(evaluated.group / recorded[0].run))}")
    return "\n".join(lines)


def why(run: RunReport) -> str:
    """Why a trial did not pass, in a line: how the agent ended, or which grader says what."""
    if not run.ending.is_evidence or (run.outcome is Outcome.INCONCLUSIVE and not run.grades):
        cause = run.cause.value if run.cause is not None else run.ending.value
        return _line(f"{cause}: {run.reason}" if run.reason else cause)
    if run.ending != "ok":
        return _line(f"the agent ended with {run.ending.value}: {run.reason}")
    line = _decisive(run)
    if line is None:
        return run.outcome.value
    gate = "gate " if line.must_pass else ""
    if line.outcome is Outcome.INCONCLUSIVE:
        cause = f" ({line.cause.value})" if line.cause is not None else ""
        said = f"{gate}{line.grader} cannot tell{cause}"
    elif line.scale == "scalar":
        said = f"{gate}{line.grader} gives {number(line.score)}, less than {line.threshold:g}"
    else:
        said = f"{gate}{line.grader} failed"
    return _line(f"{said}: {line.feedback}" if line.feedback else said)


def shown_path(path: Path) -> str:
    """A path as somebody in the current folder writes it."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def _headline(evaluated: Evaluated, decisive: list[RunReport]) -> str:
    inconclusive = INCONCLUSIVE if evaluated.outcome is Outcome.INCONCLUSIVE else ""
    reason = why(decisive[0]) if decisive else "no trial was made"
    if len(evaluated.runs) < 2:
        return inconclusive + reason
    figures = evaluated.report.figures
    from proctor.pytesting.evaluated import needed

    must = needed(len(evaluated.runs), evaluated.min_pass_rate)
    unclear = len(evaluated.runs) - figures.conclusive
    cannot_tell = f", {unclear} cannot be told" if unclear else ""
    counts = f"{figures.passed} of {counted(len(evaluated.runs), 'trial')} passed{cannot_tell}, {must} must"
    return f"{inconclusive}{counts}; {reason}"


def _trial(evaluated: Evaluated, run: RunReport) -> Iterator[str]:
    objective = number(run.objective)
    if run.objective is None:
        objective = f"{run.bounds.low:.3f} to {run.bounds.high:.3f}"
    yield f"{clean(run.run)}  {run.outcome.value}  objective {objective}"
    if run.reason:
        for line in run.reason.split("\n")[:_MOST_OUTPUT_LINES]:
            yield f"    {shorten(clean(line), _LONGEST)}"
    yield from grade_lines(run.grades)
    yield from _output(evaluated.group / run.run)


def _output(path: Path) -> Iterator[str]:
    """The beginning of what the agent answered, where it was recorded."""
    directory = RunDir(path)
    try:
        output = directory.output(directory.facts())
    except StoreError:
        return
    if output is None:
        yield "    no output"
        return
    lines = text_of(output).split("\n")
    yield f"    output: {shorten(clean(lines[0]), _LONGEST)}"
    for line in lines[1:_MOST_OUTPUT_LINES]:
        yield f"            {shorten(clean(line), _LONGEST)}"
    if len(lines) > _MOST_OUTPUT_LINES:
        yield f"            and {counted(len(lines) - _MOST_OUTPUT_LINES, 'more line')}"


def _decisive(run: RunReport) -> GradeLine | None:
    """The grade that says most about why: a gate before others, what failed before what cannot tell."""
    bad = [line for line in run.grades if line.outcome is not Outcome.PASS]
    return min(bad, key=lambda line: (line.outcome is not run.outcome, not line.must_pass), default=None)


def _line(text: str) -> str:
    return shorten(clean(" ".join(text.split())), _LONGEST)
