"""Recorded runs as rows of tables, one run in memory at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import msgspec

from proctor.core.attempts import tell_apart
from proctor.engine.reporting import GroupChecklists, read_run
from proctor.errors import StoreError
from proctor.records.export import Record, TableName
from proctor.records.json_value import storable
from proctor.records.report import RunReport
from proctor.records.run import RunFacts
from proctor.records.trace import LlmCall, Trace
from proctor.stores.discover import FoundGroup, discover
from proctor.stores.rundir import RunDir


def exported(paths: Iterable[Path], table: TableName) -> Iterator[Record]:
    """The rows of one table, by group and run. A run that cannot be read has a row among `runs`, and no others.

    Raises:
        StoreError: a path does not exist, or holds no run.
    """
    make = ROWS[table]
    for group in discover(paths):
        counting = _counting(group) if table == "runs" else frozenset[str]()
        checklists = GroupChecklists(group.path) if group.is_group else None
        for run in group.runs:
            report = read_run(run, checklists)
            key: Record = {
                "group": storable(str(group.path)),
                "run": report.run,
                "test": report.test,
                "trial": report.trial,
                "attempt": report.attempt,
            }
            for row in make(run, report):
                yield {**key, **row, "counts": report.run in counting} if table == "runs" else {**key, **row}


def _counting(group: FoundGroup) -> frozenset[str]:
    """Names of the runs in force. Of each run nothing is kept but what decides that."""
    small = (
        msgspec.structs.replace(read_run(run), grades=(), labels=(), metrics=None, reason="")
        for run in group.runs
    )
    return frozenset(run.run for run in tell_apart(small).in_force)


def _facts(run: RunDir) -> RunFacts | None:
    try:
        return run.facts()
    except StoreError:
        return None  # the report says so


def _runs(run: RunDir, report: RunReport) -> Iterator[Record]:
    facts, metrics, fault = _facts(run), report.metrics, report.fault
    models = ", ".join(metrics.models) if metrics is not None else ""
    yield {
        "suite": facts.suite.name if facts else None,
        "tags": ", ".join(facts.test.tags) if facts else None,
        "agent_kind": facts.agent.kind if facts else None,
        "agent": facts.agent.label if facts else None,
        "agent_version": facts.agent.version if facts else None,
        "model": models or (facts.agent.model if facts else None),
        "ending": report.ending.value,
        "fault_owner": fault.owner.value if fault else None,
        "fault_kind": fault.kind if fault else None,
        "outcome": report.outcome.value,
        "objective": report.objective,
        "objective_low": report.bounds.low,
        "objective_high": report.bounds.high,
        "gates_passed": report.gates_passed,
        "cause": report.cause.value if report.cause else None,
        "reason": report.reason or None,
        "label_score": report.label_score,
        "duration_s": report.duration_s,
        "llm_calls": metrics.llm_calls if metrics else None,
        "tool_calls": metrics.tool_calls if metrics else None,
        "tokens_in": metrics.tokens_in_total if metrics else None,
        "tokens_out": metrics.tokens_out_total if metrics else None,
        "cost_usd": metrics.cost_usd_total if metrics else None,
        "started_at": facts.started_at if facts else None,
        "ended_at": facts.ended_at if facts else None,
        "test_digest": facts.test_digest if facts else None,
        "proctor": facts.platform.proctor if facts else None,
    }


def _grades(_: RunDir, report: RunReport) -> Iterator[Record]:
    for line in report.grades:
        costs = [one.cost_usd for one in line.judging]
        known = [cost for cost in costs if cost is not None]
        yield {
            "grader": line.grader,
            "outcome": line.outcome.value,
            "score": line.score,
            "scale": line.scale,
            "weight": line.weight,
            "must_pass": line.must_pass,
            "threshold": line.threshold,
            "samples": line.count,
            "spread": line.spread,
            "cause": line.cause.value if line.cause else None,
            "feedback": line.feedback or None,
            "judge": ", ".join(one.judge for one in line.judging) or None,
            "judge_cost_usd": sum(known) if costs and len(known) == len(costs) else None,
        }


def _labels(_: RunDir, report: RunReport) -> Iterator[Record]:
    for label in report.labels:
        for answer in label.answers:
            yield {
                "checklist": label.checklist,
                "version": label.version,
                "annotator": label.annotator,
                "question": answer.question,
                "question_text": answer.text,
                "answer": _json(answer.answer) if answer.is_answered else None,
                "is_answered": answer.is_answered,
                "score": label.score,
                "is_stale": label.is_stale,
                "note": label.note or None,
                "at": label.at,
            }


def _events(run: RunDir, _: RunReport) -> Iterator[Record]:
    for number, event in enumerate(trace.events if (trace := _trace(run)) is not None else (), start=1):
        is_llm = isinstance(event, LlmCall)
        given, answered = (
            (event.messages_in, event.messages_out) if is_llm else (event.arguments, event.result)
        )
        yield {
            "number": number,
            "kind": "llm" if is_llm else "tool",
            "name": event.model if is_llm else event.name,
            "provider": event.provider if is_llm else None,
            "start_s": event.start_s,
            "duration_s": event.duration_s,
            "tokens_in": event.tokens_in if is_llm else None,
            "tokens_out": event.tokens_out if is_llm else None,
            "cost_usd": event.cost_usd if is_llm else None,
            "error": event.error,
            "try_number": event.attempt,
            "evidence": event.evidence,
            "given": None if given is None else _json(given),
            "answered": None if answered is None else _json(answered),
        }


def _trace(run: RunDir) -> Trace | None:
    try:
        return run.trace(run.facts())
    except StoreError:
        return None  # its row among the runs says so


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


ROWS: Mapping[TableName, Callable[[RunDir, RunReport], Iterator[Record]]] = {
    "runs": _runs,
    "grades": _grades,
    "labels": _labels,
    "events": _events,
}
"""What makes the rows of each table of one run."""
