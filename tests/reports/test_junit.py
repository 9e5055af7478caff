"""JUnit: what CI systems make of a report."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import msgspec
import pytest
import xmlschema
from hypothesis import given, settings

from proctor.records.comparison import Verdict
from proctor.records.details import Details, Excerpt, RunDetails
from proctor.records.grade import Outcome
from proctor.records.report import Report, RunReport
from proctor.reports.junit import OF_THE_WHOLE, junit
from proctor.reports.plain import one_line, visible
from tests.reports.builders import (
    ALL_KINDS,
    GROUP,
    compared,
    crashed,
    every_kind,
    fails,
    grade,
    of,
    passes,
    run,
    saying,
    texts,
    unclear,
)

SCHEMA = xmlschema.XMLSchema(str(Path(__file__).with_name("junit.xsd")))
TAGS = {"failure": "failures", "error": "errors", "skipped": "skipped"}


def written(report: Report, details: Details | None = None) -> ET.Element:
    """The document, once it is valid and its numbers add up."""
    content = junit(report, details or {})
    SCHEMA.validate(content.decode())
    root = ET.fromstring(content)
    for element in (root, *root.findall("testsuite")):
        cases = list(element.iter("testcase"))
        assert element.get("tests") == str(len(cases))
        for tag, name in TAGS.items():
            assert element.get(name) == str(len([case for case in cases if case.find(tag) is not None]))
        assert float(element.get("time", "")) == pytest.approx(
            sum(float(case.get("time", "")) for case in cases)
        )
    return root


def problem(root: ET.Element, name: str) -> str | None:
    """`failure`, `error` or `skipped` of the testcase with that name; None for one that is green."""
    (case,) = [case for case in root.iter("testcase") if case.get("name") == name]
    return next((child.tag for child in case if child.tag in TAGS), None)


def is_green(root: ET.Element) -> bool:
    """What a system thinks that takes what is skipped for green."""
    return root.get("failures") == root.get("errors") == "0"


def test_each_kind_of_run_has_its_element() -> None:
    """A fail is a failure, an agent that did not end well an error, and what cannot be told is skipped."""
    root = written(every_kind())

    assert {
        "passes": None,
        "fails": "failure",
        "crashed": "error",
        "unclear": "skipped",
        "broken": "skipped",
        "stopped": "skipped",
    } == {name: problem(root, name) for name in ALL_KINDS}


@pytest.mark.parametrize(
    ("runs", "demand", "code", "expected"),
    [
        ((passes(),), {}, 0, None),
        ((fails(),), {}, 2, "failure"),
        ((unclear(),), {}, 3, "error"),
        ((crashed(has_gate=False),), {}, 4, "error"),
        ((), {}, 3, "error"),
        ((passes(), passes("u")), {"min_objective": 0.9}, 3, "error"),
        (tuple(fails(f"t{n}", has_gate=False) for n in range(9)), {"min_pass_rate": 0.9}, 2, "failure"),
    ],
)
def test_the_verdict_is_green_only_where_the_exit_code_is_0(
    runs: tuple[RunReport, ...], demand: dict[str, float], code: int, expected: str | None
) -> None:
    """Also where all that is wrong is skipped, which systems take for green, and where nothing was measured."""
    report = of(*runs, **demand)
    root = written(report)

    assert report.decision is not None
    assert code == report.decision.exit_code
    assert expected == problem(root, "verdict")
    assert is_green(root) is (code == 0)


@pytest.mark.parametrize(("change", "code"), [({"unrecorded": ("t",)}, 1), ({"over_budget": True}, 5)])
def test_grades_that_are_not_there_are_no_success(change: dict[str, object], code: int) -> None:
    """Those that could not be written, and those that a judge was not asked for."""
    from proctor.core.decision import Demands, decide

    report = decide(msgspec.structs.replace(of(passes()), **change), Demands())
    root = written(report)

    assert report.decision is not None
    assert code == report.decision.exit_code
    assert not is_green(root)


@pytest.mark.parametrize(
    ("verdict", "code", "expected"),
    [(Verdict.WORSE, 2, "failure"), (Verdict.CANNOT_TELL, 3, "skipped"), (Verdict.SAME, 0, None)],
)
def test_a_baseline_is_a_testcase(verdict: Verdict, code: int, expected: str | None) -> None:
    """Named for what was demanded; the verdict follows it."""
    root = written(of(passes(), comparison=compared(verdict, code)))

    assert expected == problem(root, "not worse than runs/base")
    assert is_green(root) is (code == 0)


def test_a_demand_is_a_testcase_with_the_number_that_decided() -> None:
    """In a suite of its own, so that it is not taken for a test of the agent."""
    root = written(of(*(fails(f"t{n}") for n in range(9)), min_pass_rate=0.9))
    suite = root.findall("testsuite")[-1]
    bad = suite.find("testcase/failure")

    assert OF_THE_WHOLE == suite.get("name")
    assert bad is not None
    assert "missed: 0.000 over 9 tests" in str(bad.get("message"))


def test_a_failure_says_which_grader_failed_and_why() -> None:
    """In the message in a line, in the body in full, with the command that shows all of it."""
    graders = (
        grade("year", Outcome.FAIL, "expected 1879\ngot 1880"),
        grade("tone", Outcome.PASS, must_pass=False),
    )
    details = {(GROUP, "t"): RunDetails(path="runs/one/t", output=Excerpt(text="1880", left_out=12))}
    root = written(of(fails(grades=graders)), details)
    bad = root.find("testsuite/testcase/failure")

    assert bad is not None
    assert ("year (gate): expected 1879 got 1880", "gate failed") == (bad.get("message"), bad.get("type"))
    assert (
        "year (gate): expected 1879\ngot 1880\n\nobjective 0.000\nsee all of it: proctor show runs/one/t"
        == bad.text
    )
    assert "1880\n[proctor: 12 more characters]" == root.findtext("testsuite/testcase/system-out")


def test_several_trials_have_a_testcase_each_with_its_number() -> None:
    """So that no system takes one for a repetition of the other."""
    root = written(of(passes("t"), fails("t", trial=2), passes("u")))
    (suite, _) = root.findall("testsuite")

    assert ["t [trial 1]", "t [trial 2]", "u"] == [case.get("name") for case in suite.findall("testcase")]


def test_the_same_test_of_two_groups_has_two_names() -> None:
    """Systems take testcases that share both names for one."""
    from proctor.core.decision import Demands, decide
    from proctor.core.report import report, report_group

    made = decide(report([report_group(path, [passes("t")]) for path in ("runs/a", "runs/b")]), Demands())
    details = {(path, "t"): RunDetails(path=f"{path}/t", suite="sums") for path in ("runs/a", "runs/b")}
    root = written(made, details)

    assert ["runs/a", "runs/b", "proctor"] == [case.get("classname") for case in root.iter("testcase")]


def test_a_testcase_has_the_number_of_every_grader() -> None:
    """And the objective, its bounds, how it ended, and the exit code of the agent."""
    half = grade("half", score=0.5, scale="scalar", must_pass=False)
    details = {(GROUP, "t"): RunDetails(path="p", suite="sums", exit_code=3)}
    root = written(of(run(grades=(grade("sure"), half), objective=0.75)), details)
    case = root.find("testsuite/testcase")

    assert case is not None
    told = {one.get("name"): one.get("value") for one in case.iter("property")}
    assert ("pass", "0.500", "0.750") == (told["grader.sure"], told["grader.half"], told["objective"])
    assert ("ok", "3", "sums") == (told["ending"], told["agent.exit-code"], case.get("classname"))


@settings(deadline=None, max_examples=80)
@given(texts)
def test_whatever_a_run_holds_comes_back_with_what_xml_forbids_made_visible(text: str) -> None:
    """Control characters and halves of surrogate pairs would make the whole file unreadable."""
    report, details = saying(text)
    root = written(report, details)
    case = next(case for case in root.iter("testcase") if case.get("name") == one_line(text))
    bad = case.find("failure")

    assert bad is not None
    assert visible(text) in str(bad.text)
    assert f"{visible(text)}\n[proctor: 7 more characters]" == case.findtext("system-out")
