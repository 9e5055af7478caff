"""A report as JUnit XML, which every CI system shows: a testcase for each run, and one for the verdict.

The form has no standard; this is what the Maven Surefire plugin writes and what Jenkins, GitLab and the others read:
`testsuites/testsuite/testcase` with `failure`, `error` or `skipped`. An outcome that is a fail is a failure, an agent
that did not end well is an error, and what cannot be told is skipped. Most systems take what is skipped for green,
so the verdict of the whole is a testcase of its own, which is green only where the exit code is 0.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final
from xml.etree import ElementTree as ET

from proctor.records.details import Details, Excerpt, RunDetails
from proctor.records.exits import ExitCode
from proctor.records.report import Demand, GroupReport, Report, RunReport
from proctor.reports.outcomes import (
    base_of,
    demand_reason,
    reasons,
    shown_path,
    status_of,
    verdict_line,
    verdict_reasons,
)
from proctor.reports.phrases import demanded, ended, finding, number, shorten
from proctor.reports.plain import one_line, visible

MOST_OF_MESSAGE: Final = 300
MOST_OF_REASON: Final = 4_000
"""Characters of what a grader said."""
OF_THE_WHOLE: Final = "proctor: what was demanded"
"""Name of the testsuite that holds the verdict."""

_MOMENT: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", re.ASCII)
_NAMES: Final = {"fail": "failure", "error": "error", "inconclusive": "skipped"}


def junit(report: Report, details: Details) -> bytes:
    """The document, as UTF-8. The report has a decision.

    details: without those of a run, its output and its exit code are not told.
    """
    root = ET.Element("testsuites", name="proctor")
    for group in report.groups:
        root.append(_suite(group, details, is_alone=len(report.groups) == 1))
    root.append(_whole(report))
    _count(root, [case for suite in root for case in suite.findall("testcase")])
    ET.indent(root)
    return ET.tostring(root, encoding="utf-8", xml_declaration=True) + b"\n"


def _suite(group: GroupReport, details: Details, *, is_alone: bool) -> ET.Element:
    suite = ET.Element("testsuite", name=one_line(group.path))
    all_known = [details.get((group.path, run.run)) for run in group.runs]
    started = [found[0] for one in all_known if one is not None and (found := _MOMENT.match(one.started_at))]
    if started:
        suite.set("timestamp", min(started))
    figures = group.figures
    _properties(suite, {
        "objective": number(group.mean),
        "objective.tests": str(group.n),
        "objective.bounds": f"{number(group.bounds.low)} {number(group.bounds.high)}",
        "pass-rate": number(figures.pass_rate.value),
        "planned": str(group.planned),
        "graded": str(group.graded),
        "inconclusive": str(group.inconclusive),
        "errored": str(group.errored),
        "harness-failures": str(group.harness_failures),
        "interrupted": str(group.interrupted),
        **({"flaky": ", ".join(figures.flaky)} if figures.flaky else {}),
    })  # fmt: skip
    several = {test.test for test in figures.tests if test.planned > 1}
    cases: list[ET.Element] = []
    for run in group.runs:
        known = details.get((group.path, run.run))
        # Two groups may be of one suite, and systems take what has the same two names for the same.
        of = known.suite if is_alone and known is not None and known.suite else group.path
        name = f"{run.test} [trial {run.trial}]" if run.test in several else run.test
        path = shown_path(group, run, details)
        cases.append(_case(run, known, classname=one_line(of), name=one_line(name), path=path))
    suite.extend(cases)
    _count(suite, cases)
    return suite


def _case(run: RunReport, known: RunDetails | None, *, classname: str, name: str, path: str) -> ET.Element:
    case = ET.Element("testcase", classname=classname, name=name, time=f"{run.duration_s or 0:.3f}")
    _properties(case, dict(_facts(run, known)))
    status = status_of(run)
    if status != "pass":
        found = reasons(run)
        said = "; ".join(f"{why.grader}: {why.text}" if why.grader else why.text for why in found)
        bad = ET.SubElement(case, _NAMES[status], message=shorten(one_line(said), MOST_OF_MESSAGE))
        if status != "inconclusive":
            bad.set("type", _kind(run))
        bad.text = visible("\n".join(_body(run, path)))
    if known is not None:
        for tag, excerpt in (("system-out", known.output), ("system-err", known.stderr)):
            if excerpt is not None and status != "pass":
                ET.SubElement(case, tag).text = visible(_whole_text(excerpt))
    return case


def _kind(run: RunReport) -> str:
    if run.ending != "ok":
        return ended(run)
    return "gate failed" if run.has_gate else "below its bar"


def _facts(run: RunReport, known: RunDetails | None) -> Iterator[tuple[str, str]]:
    yield "outcome", run.outcome.value
    yield "objective", number(run.objective)
    yield "objective.bounds", f"{number(run.bounds.low)} {number(run.bounds.high)}"
    yield "ending", ended(run)
    yield "run", run.run
    yield "trial", str(run.trial)
    yield "attempt", str(run.attempt)
    if known is not None and known.exit_code is not None:
        yield "agent.exit-code", str(known.exit_code)
    if run.metrics is not None and run.metrics.cost_usd_total is not None:
        yield "cost-usd", f"{run.metrics.cost_usd_total:.6f}"
    for grade in run.grades:
        yield f"grader.{grade.grader}", finding(grade)
    if run.label_score is not None:
        yield "label", number(run.label_score)


def _body(run: RunReport, path: str) -> Iterator[str]:
    """What a person reads who opens the testcase: each reason in full, then where to see more."""
    for why in reasons(run):
        said = shorten(why.text, MOST_OF_REASON)
        yield f"{why.grader}: {said}" if why.grader else said
    yield ""
    shown = number(run.objective)
    if run.objective is None:
        shown = f"from {run.bounds.low:.3f} to {run.bounds.high:.3f}"
    yield f"objective {shown}"
    yield f"see all of it: proctor show {path}"


def _whole_text(excerpt: Excerpt) -> str:
    if not excerpt.left_out:
        return excerpt.text
    return f"{excerpt.text}\n[proctor: {excerpt.left_out:,} more characters]"


def _whole(report: Report) -> ET.Element:
    """The suite of the demands and the verdict."""
    decision = report.decision
    assert decision is not None
    suite = ET.Element("testsuite", name=OF_THE_WHOLE)
    _properties(suite, {
        "verdict": decision.verdict,
        "exit-code": str(decision.exit_code),
        "objective": number(report.mean),
        "pass-rate": number(report.pass_rate.value),
    })  # fmt: skip
    cases = [_demand(one, report) for one in decision.demands]
    cases.append(verdict := ET.Element("testcase", classname="proctor", name="verdict", time="0.000"))
    if decision.exit_code != ExitCode.OK:
        # What is skipped is green in most systems, and a command that did not exit with 0 is not.
        tag = "failure" if decision.exit_code == ExitCode.GATE_FAILED else "error"
        message = f"{verdict_line(decision)}: {'; '.join(verdict_reasons(report))}"
        bad = ET.SubElement(verdict, tag, message=shorten(one_line(message), MOST_OF_MESSAGE))
        bad.set("type", decision.verdict)
        bad.text = visible("\n".join([verdict_line(decision), *verdict_reasons(report)]))
    suite.extend(cases)
    _count(suite, cases)
    return suite


def _demand(demand: Demand, report: Report) -> ET.Element:
    case = ET.Element(
        "testcase", classname="proctor", name=one_line(demanded(demand, base_of(report))), time="0.000"
    )
    said = one_line(demand_reason(demand, report))
    if demand.outcome == "missed":
        ET.SubElement(case, "failure", message=said, type="missed").text = said
    elif demand.outcome == "cannot tell":
        ET.SubElement(case, "skipped", message=said)
    return case


def _count(element: ET.Element, cases: Iterable[ET.Element]) -> None:
    """The numbers of an element that holds these cases."""
    listed = list(cases)
    element.set("tests", str(len(listed)))
    for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        element.set(name, str(sum(case.find(tag) is not None for case in listed)))
    element.set("time", f"{sum(float(case.get('time', 0)) for case in listed):.3f}")


def _properties(element: ET.Element, values: Mapping[str, str]) -> None:
    told = ET.SubElement(element, "properties")
    for name, value in values.items():
        ET.SubElement(told, "property", name=one_line(name), value=one_line(value))
