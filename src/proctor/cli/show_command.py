"""Show one run: what went in, what came out, how it ended, its trace, its files and its grades. Changes nothing.

Examples:
  proctor show runs/einstein/birthday
  proctor show runs/einstein/birthday --trace
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import UNSET

from proctor.cli.isolation_text import isolation_lines
from proctor.cli.label_text import label_lines
from proctor.cli.output import (
    clean,
    clean_lines,
    counted,
    grade_lines,
    number,
    seconds,
    write_json,
)
from proctor.cli.record_text import change_lines, fault_lines
from proctor.cli.trace_text import event_lines, model_lines, sums_line, trace_lines
from proctor.host.tree import files_in
from proctor.records.json_value import text_of
from proctor.records.shown import History, HistoryRound, ShowDocument, TraceDocument, Withdrawal
from proctor.records.trace import Trace

if TYPE_CHECKING:
    from proctor.stores.rundir import RunDir

MOST_CHARACTERS = 4000
MOST_FILES = 50


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `proctor show` can be told."""
    parser.add_argument("run", metavar="RUN", type=Path, help="a run directory")
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument(
        "--history", action="store_true", help="list all rounds of grades, and who gave them"
    )
    instead.add_argument(
        "--trace", action="store_true", help="list all calls of models and tools, with what was said"
    )
    parser.add_argument("--json", action="store_true", help="print everything as JSON")


def main(arguments: argparse.Namespace) -> int:
    """Read, and draw the run."""
    from proctor.engine.reporting import read_run
    from proctor.stores.discover import find_run

    run = find_run(arguments.run)
    if arguments.history:
        return _history(run, as_json=arguments.json)
    facts = run.facts()
    trace = run.trace(facts)
    if arguments.trace:
        return _trace(trace, as_json=arguments.json)
    document = ShowDocument(
        facts=facts,
        output=run.output(facts),
        report=read_run(run),
        events=trace.events if trace is not None else (),
        at_least=trace.at_least if trace is not None else None,
        changes=run.changes(facts),
    )
    if arguments.json:
        write_json(document)
        return 0
    for line in _lines(document, trace, run.workdir):
        print(line)
    return 0


def _trace(trace: Trace | None, *, as_json: bool) -> int:
    """The whole trace, or that there is none."""
    if as_json:
        write_json(TraceDocument(trace=trace))
    elif trace is None:
        print("the run has no trace")
    else:
        for line in trace_lines(trace):
            print(line)
    return 0


def _history(run: RunDir, *, as_json: bool) -> int:
    """Every round, oldest first: complete or not, withdrawn or not, and which one is in force."""
    from proctor.core.objective import fold
    from proctor.core.rounds import all_rounds, round_in_force

    annotations = run.annotations()
    in_force = round_in_force(annotations)
    withdrawn = {row.round_id: row for row in annotations.retractions}
    rounds: list[HistoryRound] = []
    for one in all_rounds(annotations.scores):
        retraction = withdrawn.get(one.round_id)
        rounds.append(
            HistoryRound(
                round=one.round_id,
                at=one.at,
                rows=len(one.rows),
                size=one.rows[0].round_size,
                in_force=in_force is not None and one.round_id == in_force.round_id,
                objective=fold(one.rows).objective if one.is_complete else None,
                annotators=tuple(sorted({row.annotator.id for row in one.rows})),
                withdrawn=None
                if retraction is None
                else Withdrawal(by=retraction.annotator.id, why=retraction.why),
            )
        )
    if as_json:
        write_json(History(rounds=tuple(rounds), unread_rows=annotations.unread))
        return 0
    for one in rounds:
        state = "in force" if one.in_force else "complete" if one.rows == one.size else "not complete"
        print(f"{one.round}  {one.at}  {one.rows}/{one.size} rows  {number(one.objective)}  {state}")
        for annotator in one.annotators:
            print(f"  {clean(annotator)}")
        if one.withdrawn is not None:
            print(f"  withdrawn by {clean(one.withdrawn.by)}: {clean(one.withdrawn.why)}")
    print(f"{counted(len(rounds), 'round')}; {annotations.unread} rows not understood")
    return 0


def _lines(document: ShowDocument, trace: Trace | None, workdir: Path) -> Iterator[str]:
    facts, report = document.facts, document.report
    yield f"{clean(report.run)}  test {clean(facts.test.id)}  trial {facts.trial}"
    agent = facts.agent
    version = f", version {clean(agent.version)}" if agent.version else ""
    model = f", told to use {clean(agent.model)}" if agent.model else ""
    yield f"agent      {agent.kind} {clean(agent.label)}{version}{model}"
    if facts.artifact is not None:
        yield f"artifact   {facts.artifact}"
    code = "" if facts.exit_code is None else f", exit code {facts.exit_code}"
    yield f"ended      {facts.ending.value}{code}, after {seconds(facts.duration_s)}, at {facts.ended_at}"
    yield from fault_lines(facts)
    yield from isolation_lines(facts)
    yield f"objective  {number(report.objective)}  {report.outcome.value}, {counted(report.rounds, 'round')} of grades"
    if trace is not None:
        yield f"trace      {sums_line(trace)}"
    if report.reason:
        yield from _part("reason", report.reason)
    for note in facts.notes:
        yield from _part("note", note)
    if facts.test.input is not UNSET:
        yield from _part("input", text_of(facts.test.input))
    yield from _part("output", "(nothing)" if document.output is None else text_of(document.output))
    if facts.test.expected is not UNSET:
        yield from _part("expected", text_of(facts.test.expected))
    if facts.defect is not None and facts.defect.stack:
        yield from _part("stack", facts.defect.stack)
    yield from label_lines(report)
    if report.grades:
        yield "grades"
        yield from grade_lines(report.grades, "  ")
    for grade in report.grades:
        if grade.defect is not None and (grade.defect.stack or grade.defect.printed):
            yield from _part(f"defect of {clean(grade.grader)}", grade.defect.stack)
            if grade.defect.printed:
                yield from _part("it printed", grade.defect.printed)
    if trace is not None:
        yield from model_lines(trace)
        yield from event_lines(trace.events)
    if facts.fixture_digest is not None:
        yield from change_lines(document.changes)
    yield from _files(workdir)


def _part(title: str, text: str) -> Iterator[str]:
    yield title
    cut = text if len(text) <= MOST_CHARACTERS else text[:MOST_CHARACTERS] + f"… ({len(text)} characters)"
    for line in clean_lines(cut.rstrip("\n")).split("\n"):
        yield f"  {line}"


def _files(workdir: Path) -> Iterator[str]:
    names = sorted(files_in(workdir))
    if names:
        yield f"workdir  {clean(str(workdir))}"
        yield from (f"  {clean(name)}" for name in names[:MOST_FILES])
        if len(names) > MOST_FILES:
            yield f"  and {len(names) - MOST_FILES} more"
