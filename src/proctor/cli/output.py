"""Records into text or JSON. Nothing in here computes; what an agent wrote is shown with control characters inert."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from proctor.records.report import GradeLine, Move
from proctor.records.trace import Metrics
from proctor.reports.phrases import counted, ended, finding, marks, money, number, seconds, shorten
from proctor.reports.writing import check_place as check_writable
from proctor.reports.writing import json_of, write_whole

__all__ = [
    "check_writable",
    "clean",
    "clean_lines",
    "counted",
    "ended",
    "grade_lines",
    "money",
    "moved_lines",
    "number",
    "seconds",
    "shorten",
    "table",
    "trace_cells",
    "typed",
    "write_json",
]


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


def typed(path: str | os.PathLike[str]) -> str:
    """A path as it is typed on a command line: quoted where the shell would read it as something else.

    >>> print(typed("runs/main"), typed("my runs/$HOME"))
    runs/main 'my runs/$HOME'
    """
    return clean(shlex.quote(os.fspath(path)))


def trace_cells(metrics: Metrics | None) -> tuple[str, str, str]:
    """Cost, model calls and tool calls of a run, for a table; empty where they cannot be told."""
    known = metrics or Metrics()
    calls, tools = ("" if count is None else str(count) for count in (known.llm_calls, known.tool_calls))
    return money(known.cost_usd_total), calls, tools


def table(rows: Sequence[Sequence[str]]) -> Iterable[str]:
    """Lines with aligned columns; the last column is not padded."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)] if rows else []
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row[:-1], widths[:-1], strict=True)]
        yield "  ".join([*cells, row[-1]]).rstrip()


def write_json(record: Any, target: Path | None = None) -> None:
    """A record as one JSON document, on standard output or into a file, which appears whole."""
    text = json_of(record)
    if target is None:
        sys.stdout.flush()
        sys.stdout.buffer.write(text)
        return
    write_whole(target, text)


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
        counts_as = " ".join(marks(grade))
        yield f"{indent}{clean(grade.grader):<{width}}  {finding(grade)}  {counts_as}".rstrip()
        said = grade.feedback
        if grade.cause is not None:
            said = f"[{grade.cause.value}] {said}"
        for line in said.split("\n") if said else ():
            yield f"{indent}    {shorten(clean(line), 300)}"
