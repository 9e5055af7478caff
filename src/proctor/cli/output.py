"""Records into text or JSON. Nothing in here computes; what an agent wrote is shown with control characters inert."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from proctor.records.fault import Owner
from proctor.records.grade import Outcome
from proctor.records.report import GradeLine, LabelSum, Move, RunReport
from proctor.records.trace import Metrics


def clean(text: str) -> str:
    r"""One line of untrusted text: control, format and separator characters are shown as escapes.

    >>> print(clean("a\x1b[31mb\nc"))
    a\x1b[31mb\nc
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)


def clean_lines(text: str) -> str:
    """Several lines of untrusted text, each made inert."""
    return "\n".join(clean(line) for line in text.split("\n"))


def shorten(text: str, width: int) -> str:
    """At most `width` characters, with a mark where something is left out."""
    return text if len(text) <= width else text[: width - 1] + "…"


def seconds(duration_s: float | None) -> str:
    """A duration for people: `0.4s`, `47s`, `5m17s`, `1h02m`."""
    if duration_s is None:
        return ""
    if duration_s < 9.95:
        return f"{duration_s:.1f}s"
    whole = round(duration_s)
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m{whole % 60:02}s"
    return f"{whole // 3600}h{whole % 3600 // 60:02}m"


def number(value: float | None) -> str:
    """A score with three decimals; `-` where it is undefined."""
    return "-" if value is None else f"{value:.3f}"


def money(usd: float | None) -> str:
    """US dollars with four decimals, less of them where that is exact; empty where it cannot be told.

    >>> money(0.0), money(1.5), money(0.00123), money(0.000004), money(None)
    ('$0.00', '$1.50', '$0.0012', '<$0.0001', '')
    """
    if usd is None:
        return ""
    if 0 < usd < 0.0001:
        return "<$0.0001"
    text = f"{usd:.4f}"
    return "$" + (text[:-2] if text.endswith("00") else text)


def trace_cells(metrics: Metrics | None) -> tuple[str, str, str]:
    """Cost, model calls and tool calls of a run, for a table; empty where they cannot be told."""
    known = metrics or Metrics()
    calls, tools = ("" if count is None else str(count) for count in (known.llm_calls, known.tool_calls))
    return money(known.cost_usd_total), calls, tools


def counted(n: int, noun: str) -> str:
    """A number with its noun: `1 test`, `3 tests`."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def table(rows: Sequence[Sequence[str]]) -> Iterable[str]:
    """Lines with aligned columns; the last column is not padded."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)] if rows else []
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row[:-1], widths[:-1], strict=True)]
        yield "  ".join([*cells, row[-1]]).rstrip()


def write_json(record: Any, target: Path | None = None) -> None:
    """A record as one JSON document, on standard output or into a file, which appears whole."""
    text = msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n"
    if target is None:
        sys.stdout.flush()
        sys.stdout.buffer.write(text)
        return
    from proctor.errors import UsageError

    temporary = target.with_name(f".{target.name}.part")
    try:
        temporary.write_bytes(text)
        temporary.replace(target)
    except OSError as error:
        raise UsageError(
            f"{str(target)!r} cannot be written: {error.strerror}", fix="Name another file with -o."
        ) from error


def check_writable(target: Path) -> None:
    """Find out before the work whether a file can be written after it.

    Raises:
        UsageError: it cannot.
    """
    import os

    from proctor.errors import UsageError

    folder = target.absolute().parent
    if target.is_dir() or not folder.is_dir() or not os.access(folder, os.W_OK):
        what = (
            "is a folder"
            if target.is_dir()
            else f"cannot be written: {str(folder)!r} is no folder to write into"
        )
        raise UsageError(f"{str(target)!r} {what}", fix="Name another file with -o; nothing was done.")


def ended(run: RunReport) -> str:
    """How a run ended, and whose fault that is, where it says nothing about the agent."""
    if run.fault is None or run.fault.owner is Owner.HARNESS:
        return run.ending.value
    return f"{run.ending.value} ({run.fault.owner.value})"


def moved_lines(moved: Sequence[Move]) -> Iterable[str]:
    """Which verdicts moved against the round before, and why."""
    yield f"moved against the round before: {counted(len(moved), 'grade')}"
    for move in moved:
        verdicts = f"{move.before or 'none'} -> {move.after or 'none'}"
        yield f"  {clean(move.run)}  {clean(move.grader)}  {verdicts}  {clean(move.why)}"


def grade_lines(grades: Sequence[GradeLine], indent: str = "    ") -> Iterable[str]:
    """One line a grade, and what the grader said below it."""
    width = max((len(clean(grade.grader)) for grade in grades), default=0)
    for grade in grades:
        marks = " ".join(_marks(grade))
        yield f"{indent}{clean(grade.grader):<{width}}  {_finding(grade)}  {marks}".rstrip()
        said = grade.feedback
        if grade.cause is not None:
            said = f"[{grade.cause.value}] {said}"
        for line in said.split("\n") if said else ():
            yield f"{indent}    {shorten(clean(line), 300)}"


def label_summary(run: RunReport) -> str:
    """What people say of a run, in half a line: `label 0.750 by 2 people, 1 stale`."""
    who = len({line.annotator for line in run.labels})
    stale = sum(line.is_stale for line in run.labels)
    told = f", {stale} stale" if stale else ""
    return f"label {number(run.label_score)} by {_people(who)}{told}"


def labels_line(labels: LabelSum, planned: int) -> str:
    """How far labelling is in a group."""
    stale = f"; {labels.stale} stale" if labels.stale else ""
    mean = (
        f"mean label {number(labels.mean)} over {counted(labels.n, 'run')}" if labels.n else "no label score"
    )
    return (
        f"{mean}; {labels.runs} of {counted(planned, 'run')} labelled by {_people(labels.annotators)}{stale}"
    )


def _people(count: int) -> str:
    return "1 person" if count == 1 else f"{count} people"


def _finding(grade: GradeLine) -> str:
    if grade.outcome is Outcome.INCONCLUSIVE or grade.scale == "binary":
        return grade.outcome.value
    return number(grade.score)


def _marks(grade: GradeLine) -> Iterable[str]:
    if grade.must_pass:
        yield "gate"
    if grade.scale == "scalar" and grade.threshold > 0:
        yield f"(bar {grade.threshold:g}: {grade.outcome.value})"
    if grade.weight != 1:
        yield f"weight {grade.weight:g}"
