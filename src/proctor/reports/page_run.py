"""A test on the page from inside: what it asks, and of each trial its grades, its output, and what people say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final
from xml.etree import ElementTree as ET

from proctor.core.labels import answer_text
from proctor.records.details import Details, RunDetails
from proctor.records.report import GradeLine, LabelLine, RunReport
from proctor.records.trace import Metrics
from proctor.reports.elements import Content, element, excerpt, table
from proctor.reports.outcomes import TestLine, shown_path, status_of
from proctor.reports.phrases import counted, ended, finding, judging_took, marks, money, number, seconds

MOST_SAID: Final = 2_000
"""Characters of what a grader said, of a reason, of a note."""
MOST_SAMPLES: Final = 20


def test_content(line: TestLine, details: Details) -> Iterator[Content]:
    """What the test asks, then its trials; the first that did not pass is open."""
    known = next(
        (found for run in line.runs if (found := details.get((line.group.path, run.run))) is not None), None
    )
    yield from _asked(line, known)
    runs = sorted(line.runs, key=lambda run: run.trial)
    is_single = len(runs) == 1
    opened = next((run for run in runs if status_of(run) != "pass"), None)
    for run in runs:
        body = element("div", _run(run, line, details), class_="run")
        if is_single:
            yield body
            continue
        yield element("details", element("summary", _headed(run)), body, open=run is opened)


def _asked(line: TestLine, known: RunDetails | None) -> Iterator[Content]:
    if described := line.runs[0].description:
        yield element("p", _bounded(described), class_="described")
    if known is None:
        return
    if known.tags:
        yield element("p", (_tag(tag) for tag in known.tags))
    if known.goal:
        yield element("h3", "goal")
        yield element("p", _bounded(known.goal), class_="prose")
    both = [excerpt("input", known.input), excerpt("expected", known.expected)]
    yield element("div", (element("div", part) for part in both if part), class_="beside")


def _tag(tag: str) -> ET.Element:
    return element("span", tag, class_="tag")


def _headed(run: RunReport) -> Iterator[Content]:
    yield f"trial {run.trial} "
    yield element("span", status_of(run), class_=f"mark {status_of(run)}")
    yield f" {number(run.objective)}"
    if run.duration_s is not None:
        yield element("span", f" {seconds(run.duration_s)}", class_="quiet")


def _run(run: RunReport, line: TestLine, details: Details) -> Iterator[Content]:
    known = details.get((line.group.path, run.run))
    if run.reason:
        yield element("p", _bounded(run.reason), class_=f"reason {status_of(run)}")
    if run.grades:
        heads = ("grader", "found", "counts as", "says")
        grades = table(heads, map(_grade, run.grades), class_="grades")
        yield element("div", grades, class_="scrolled", tabindex="0", role="group", aria_label="grades")
    if known is not None:
        yield from excerpt("output", known.output)
        if known.output is None and run.ending.is_evidence:
            yield element("p", "It answered nothing.", class_="quiet")
        yield from excerpt("standard error", known.stderr)
    yield from _labels(run)
    yield element("dl", _facts(run, known), class_="facts")
    yield element(
        "p", element("code", f"proctor show {shown_path(line.group, run, details)}"), class_="command"
    )


def _grade(grade: GradeLine) -> Iterator[Content]:
    yield grade.grader
    yield element("span", finding(grade), class_=f"mark {grade.outcome.value}")
    yield ", ".join(mark.strip("()") for mark in marks(grade)) or "a part of the objective"
    yield element("div", _said(grade))


def _said(grade: GradeLine) -> Iterator[Content]:
    if grade.cause is not None:
        yield element("span", grade.cause.value, class_="tag")
        yield " "
    yield element("span", _bounded(grade.feedback), class_="prose")
    if grade.samples:
        shown = ", ".join("unclear" if one is None else f"{one:.3g}" for one in grade.samples[:MOST_SAMPLES])
        more = ", …" if len(grade.samples) > MOST_SAMPLES else ""
        spread = "" if grade.spread is None else f", standard deviation {number(grade.spread)}"
        yield element("p", f"{counted(len(grade.samples), 'sample')}: {shown}{more}{spread}", class_="quiet")
    for one in grade.judging:
        yield element("p", f"judged by {one.judge}: {judging_took(one)}", class_="quiet")
    if grade.defect is not None and (grade.defect.stack or grade.defect.printed):
        said = "\n".join(part for part in (grade.defect.stack, grade.defect.printed) if part)
        yield element("details", element("summary", "what went wrong in it"), element("pre", _bounded(said)))


def _labels(run: RunReport) -> Iterator[Content]:
    if not run.labels:
        return
    yield element("h3", f"labels, on average {number(run.label_score)}")
    yield element("div", map(_label, run.labels), class_="labels")


def _label(line: LabelLine) -> ET.Element:
    answers = [
        element(
            "li", element("b", answer_text(one.answer) if one.is_answered else "unanswered"), f" {one.text}"
        )
        for one in line.answers
    ]
    marks = [word for word, holds in (("stale", line.is_stale), ("grades seen", line.saw_grades)) if holds]
    return element(
        "div",
        element(
            "p",
            element("b", line.annotator),
            f", {line.name}@{line.version}: {number(line.score)} ",
            *map(_tag, marks),
        ),
        element("ul", answers),
        element("p", _bounded(line.note), class_="prose") if line.note else None,
    )


def _facts(run: RunReport, known: RunDetails | None) -> Iterator[Content]:
    told: list[tuple[str, str]] = []
    if run.objective is None:
        told.append(("objective", f"from {run.bounds.low:.3f} to {run.bounds.high:.3f}"))
    told.append(("ended", ended(run)))
    if run.fault is not None:
        told.append(("fault", f"{run.fault.owner.value}: {run.fault.kind}"))
    if run.attempt > 1:
        told.append(("attempt", str(run.attempt)))
    if known is not None:
        told += [("exit code", str(known.exit_code))] if known.exit_code is not None else []
        told += [("signal", known.signal)] if known.signal else []
        told += [pair for pair in (("agent", known.agent), ("started", known.started_at)) if pair[1]]
        told += [("note", _bounded(note)) for note in known.notes]
    if run.duration_s is not None:
        told.append(("time", seconds(run.duration_s)))
    if run.metrics is not None:
        told.append(("trace", ", ".join(_trace(run.metrics))))
    for name, value in told:
        yield element("div", element("dt", name), element("dd", value))


def _trace(metrics: Metrics) -> Iterator[str]:
    for count, noun in ((metrics.llm_calls, "model call"), (metrics.tool_calls, "tool call")):
        yield f"{noun}s unknown" if count is None else counted(count, noun)
    if metrics.retries:
        yield f"{metrics.retries} repeated"
    if metrics.errors:
        yield f"{metrics.errors} failed"
    if metrics.llm_calls:
        for tokens, way in ((metrics.tokens_in_total, "in"), (metrics.tokens_out_total, "out")):
            yield f"{'unknown' if tokens is None else f'{tokens:,}'} tokens {way}"
    yield money(metrics.cost_usd_total) or "cost unknown"
    yield from metrics.models


def _bounded(text: str) -> str:
    left = len(text) - MOST_SAID
    return text if left <= 0 else f"{text[:MOST_SAID]}… and {left:,} more characters"
