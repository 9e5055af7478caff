"""What people said of runs, as text."""

from __future__ import annotations

from collections.abc import Iterator

from proctor.cli.output import clean, clean_lines, number
from proctor.core.labels import answer_text
from proctor.records.report import LabelLine, RunReport


def label_cells(run: RunReport) -> tuple[str, str]:
    """The label score of a run and how many people gave it, for a table; `stale` while a live question is open."""
    if not run.labels:
        return "", ""
    people = str(len({line.annotator for line in run.labels}))
    if run.label_score is None and any(line.is_stale for line in run.labels):
        return "stale", people
    mark = "*" if any(line.is_stale for line in run.labels) else ""
    return number(run.label_score) + mark, people


def label_lines(run: RunReport) -> Iterator[str]:
    """What each person answered, a line each."""
    if not run.labels:
        return
    yield "labels"
    for line in run.labels:
        who = f"{clean(line.annotator)}  {clean(line.name)}@{line.version}"
        yield f"  {who}  {_score(line)}  {line.at}  {clean(line.row)[:12]}"
        for answer in line.answers:
            said = answer_text(answer.answer) if answer.is_answered else "unanswered"
            yield f"    {clean(said):<11}  {clean(answer.text)}"
        if line.note:
            yield from (f"    note: {text}" for text in clean_lines(line.note).split("\n"))


def _score(line: LabelLine) -> str:
    told = number(line.score)
    if line.is_stale:
        told = "stale"
    elif line.score is None and not line.bounds.is_exact:
        told = f"{line.bounds.low:.3f} to {line.bounds.high:.3f}"
    return f"{told}{', grades seen' if line.saw_grades else ''}"
