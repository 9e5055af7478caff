"""Show one run: what went in, what came out, how it ended, its files and its grades. Changes nothing.

Example:
  proctor show runs/einstein/birthday
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import UNSET

from proctor.cli.output import (
    clean,
    clean_lines,
    counted,
    grade_lines,
    money,
    number,
    seconds,
    shorten,
    write_json,
)
from proctor.host.tree import files_in
from proctor.records.json_value import text_of
from proctor.records.report import RunReport
from proctor.records.run import RunFacts
from proctor.records.trace import Event, LlmCall, Metrics

if TYPE_CHECKING:
    from proctor.stores.rundir import RunDir

MOST_CHARACTERS = 4000
MOST_FILES = 50
MOST_EVENTS = 40
MOST_OF_EVENT = 160


class ShowDocument(msgspec.Struct, frozen=True, kw_only=True):
    """What `proctor show --json` prints."""

    schema: str = "proctor.show/1"
    facts: RunFacts
    output: Any
    report: RunReport
    events: tuple[Event, ...] = ()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `proctor show` can be told."""
    parser.add_argument("run", metavar="RUN", type=Path, help="a run directory")
    parser.add_argument("--history", action="store_true", help="list all rounds of grades, and who gave them")
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
    document = ShowDocument(
        facts=facts,
        output=run.output(facts),
        report=read_run(run),
        events=trace.events if trace is not None else (),
    )
    if arguments.json:
        write_json(document)
        return 0
    for line in _lines(document, run.workdir):
        print(line)
    return 0


def _history(run: RunDir, *, as_json: bool) -> int:
    """Every round, oldest first: complete or not, withdrawn or not, and which one is in force."""
    from proctor.core.objective import fold
    from proctor.core.rounds import all_rounds, round_in_force

    annotations = run.annotations()
    in_force = round_in_force(annotations)
    withdrawn = {row.round_id: row for row in annotations.retractions}
    rounds: list[dict[str, Any]] = []
    for one in all_rounds(annotations.scores):
        retraction = withdrawn.get(one.round_id)
        rounds.append(
            {
                "round": one.round_id,
                "at": one.at,
                "rows": len(one.rows),
                "size": one.rows[0].round_size,
                "in_force": in_force is not None and one.round_id == in_force.round_id,
                "objective": fold(one.rows).objective if one.is_complete else None,
                "annotators": sorted({row.annotator.id for row in one.rows}),
                "withdrawn": None
                if retraction is None
                else {"by": retraction.annotator.id, "why": retraction.why},
            }
        )
    if as_json:
        write_json({"schema": "proctor.history/1", "rounds": rounds, "unread_rows": annotations.unread})
        return 0
    for one in rounds:
        state = (
            "in force" if one["in_force"] else "complete" if one["rows"] == one["size"] else "not complete"
        )
        print(
            f"{one['round']}  {one['at']}  {one['rows']}/{one['size']} rows  {number(one['objective'])}  {state}"
        )
        for annotator in one["annotators"]:
            print(f"  {clean(annotator)}")
        if one["withdrawn"]:
            print(f"  withdrawn by {clean(one['withdrawn']['by'])}: {clean(one['withdrawn']['why'])}")
    print(f"{counted(len(rounds), 'round')}; {annotations.unread} rows not understood")
    return 0


def _lines(document: ShowDocument, workdir: Path) -> Iterator[str]:
    facts, report = document.facts, document.report
    yield f"{clean(report.run)}  test {clean(facts.test.id)}  trial {facts.trial}"
    yield f"agent      {facts.agent.kind} {clean(facts.agent.label)}"
    code = "" if facts.exit_code is None else f", exit code {facts.exit_code}"
    yield f"ended      {facts.ending.value}{code}, after {seconds(facts.duration_s)}, at {facts.ended_at}"
    yield f"objective  {number(report.objective)}  {report.outcome.value}, {counted(report.rounds, 'round')} of grades"
    if report.metrics is not None:
        yield f"trace      {clean(_sums(report.metrics))}"
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
    if report.grades:
        yield "grades"
        yield from grade_lines(report.grades, "  ")
    for grade in report.grades:
        if grade.defect is not None and (grade.defect.stack or grade.defect.printed):
            yield from _part(f"defect of {clean(grade.grader)}", grade.defect.stack)
            if grade.defect.printed:
                yield from _part("it printed", grade.defect.printed)
    yield from _events(document.events)
    yield from _files(workdir)


def _sums(metrics: Metrics) -> str:
    """What a trace adds up to, in words."""
    if metrics.llm_calls is None or metrics.tool_calls is None:
        return "not whole: what it adds up to cannot be told"
    tokens = [
        f"{count if count is not None else 'unknown'} tokens {way}"
        for count, way in ((metrics.tokens_in_total, "in"), (metrics.tokens_out_total, "out"))
    ]
    parts = [
        counted(metrics.llm_calls, "model call"),
        counted(metrics.tool_calls, "tool call"),
        *(tokens if metrics.llm_calls else []),
        money(metrics.cost_usd_total) or "cost unknown",
        *metrics.models,
    ]
    return ", ".join(parts)


def _events(events: Sequence[Event]) -> Iterator[str]:
    """The first calls of a trace, a line each."""
    if not events:
        return
    yield "events"
    for event in events[:MOST_EVENTS]:
        if isinstance(event, LlmCall):
            tokens = [
                f"{count} {way}"
                for count, way in ((event.tokens_in, "in"), (event.tokens_out, "out"))
                if count is not None
            ]
            said = "  ".join(["llm ", event.model or "(no name)", *tokens, money(event.cost_usd)])
        else:
            told = [text_of(value) for value in (event.arguments, event.result) if value is not None]
            said = f"tool  {event.name}  {' -> '.join(told)}"
        error = f"  error: {event.error}" if event.error else ""
        line = clean(shorten(f"{said.rstrip()}{error}", MOST_OF_EVENT))
        yield f"  +{event.start_s:.1f}s {seconds(event.duration_s):>6}  {line}"
    if len(events) > MOST_EVENTS:
        yield f"  and {len(events) - MOST_EVENTS} more; --json has them all"


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
