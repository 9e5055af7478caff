"""The page: whole without its script, nothing loaded, nothing of an agent is markup."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings

from proctor.records.comparison import Verdict
from proctor.records.details import Details
from proctor.records.grade import Outcome
from proctor.records.report import Report
from proctor.reports.markdown import report_markdown
from proctor.reports.page import comparison_page, report_page
from proctor.reports.plain import visible
from tests.reports.builders import (
    ALL_KINDS,
    HOSTILE,
    compared,
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

VOID = {"meta", "input", "br"}


class Seen(HTMLParser):
    """What a browser makes of a page: its elements with the names of their attributes, and its text."""

    def __init__(self, page: bytes) -> None:
        super().__init__()
        self.elements: list[tuple[str, tuple[str, ...]]] = []
        self.values: list[tuple[str, str]] = []
        self.own: dict[str, str] = {}
        self.text = ""
        self._open: list[str] = []
        self.feed(page.decode())
        self.close()
        assert not self._open, self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, tuple(name for name, _ in attrs)))
        self.values += [(name, value or "") for name, value in attrs]
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert tag == self._open.pop()

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] in ("style", "script"):
            self.own[self._open[-1]] = data
        else:
            self.text += data


def seen(report: Report, details: Details | None = None) -> Seen:
    """The page of a report."""
    return Seen(report_page(report, details or {}))


def test_the_page_says_the_verdict_its_reasons_and_every_run() -> None:
    """Without a script: the text stands in the page."""
    text = seen(every_kind()).text

    assert "failed exit code 2" in text
    assert "a gate failed in 2 of 6 runs, 1 of which did not end well" in text
    assert "planned 6 = graded 2 + inconclusive 1 + errored 1 + harness failures 1 + interrupted 1" in text
    for name in ALL_KINDS:
        assert f"proctor show runs/one/{name}" in text


def test_the_trials_of_a_test_are_counted_as_in_markdown() -> None:
    """Of those that passed or failed; the others are unclear, and stand in no denominator."""
    made = of(
        *(unclear("all", trial=trial) for trial in (1, 2)),
        *(passes("some", trial=trial) for trial in (1, 2)),
        unclear("some", trial=3),
        fails("some", trial=4),
        passes("none"),
        fails("gate"),
    )
    page, markdown = seen(made).text, report_markdown(made)

    for counted in ("0/0 passed, 2 unclear", "2/3 passed, 1 unclear", "1/1 passed", "0/1 passed"):
        assert counted in page
        assert f"| {counted.replace(' passed', '')}" in markdown
    assert "a gate failed in 2 of 8 runs" in page
    assert "did not end well" not in page


def test_the_parts_of_the_bar_add_up_to_what_was_planned() -> None:
    """Each run is in one of them."""
    text = seen(every_kind()).text
    legend = re.search(
        r"6 planned(1 passed)(1 failed)(1 error)(1 inconclusive)(1 harness failure)(1 interrupted)", text
    )

    assert legend is not None


@pytest.mark.parametrize("name", ["report", "comparison"])
def test_the_page_loads_nothing_and_lets_only_its_own_script_run(name: str) -> None:
    """Its policy names style and script by digest; there is no address in it, and no attribute that runs."""
    found = compared(Verdict.WORSE, 2)
    page = seen(of(passes(), comparison=found)) if name == "report" else Seen(comparison_page(found))
    (policy,) = [value for name, value in page.values if value.startswith("default-src")]

    assert "default-src 'none';" in policy
    for kind in ("style", "script"):
        digest = base64.b64encode(hashlib.sha256(page.own[kind].encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    names = {attribute for _, attributes in page.elements for attribute in attributes}
    assert not names & {"src", "href", "style", "srcset", "action"}
    assert not [attribute for attribute in names if attribute.startswith("on")]
    assert not re.search(r"https?://|url\(|@import|fetch\(|innerHTML", "".join(page.own.values()))


def test_a_table_has_heads_and_every_test_is_the_head_of_its_row() -> None:
    """So that who hears the page knows which number is of which test."""
    page = seen(every_kind())

    assert (
        len([tag for tag, attributes in page.elements if tag == "tbody" and "data-status" in attributes]) == 6
    )
    assert ("caption", ("class",)) in page.elements
    assert [] == [names for tag, names in page.elements if tag == "th" and "scope" not in names]
    assert [] == [names for tag, names in page.elements if tag == "svg" and "aria-hidden" not in names]


def test_samples_labels_and_defects_stand_in_the_run() -> None:
    """And what was left out of a text is said."""
    judged = grade("judge", score=0.5, scale="scalar", threshold=0.4, samples=(0.25, None, 0.75), spread=0.25)
    report, details = saying("hello")
    text = seen(of(run(grades=(judged,)))).text + seen(report, details).text

    assert "3 samples: 0.25, unclear, 0.75, standard deviation 0.250" in text
    assert "labels, on average 1.000" in text
    assert "yes hello" in text
    assert "and 7 more characters" in text


def test_a_long_text_is_cut_and_the_rest_counted() -> None:
    """A grader that says very much does not make the page unusable."""
    page = report_page(of(fails(grades=(grade("g", Outcome.FAIL, "word " * 10_000),))), {})

    assert b"and 48,000 more characters" in page
    assert len(page) < 60_000


def test_what_the_script_looks_for_is_in_the_page() -> None:
    """Elements by their id, and the attributes that it reads."""
    page = seen(of(passes("t"), fails("t", trial=2)))
    script = page.own["script"]
    ids = {value for name, value in page.values if name == "id"}
    names = {name for name, _ in page.values}

    assert set(re.findall(r'getElementById\("(\w+)"\)', script)) <= ids
    assert {f"data-{name}" for name in re.findall(r"dataset\.(\w+)", script)} <= names


@settings(deadline=None, max_examples=120)
@given(texts)
def test_no_text_of_others_makes_an_element_or_an_attribute(text: str) -> None:
    """Whatever was written into names, feedback, reasons, outputs, labels or paths."""
    report, details = saying(text)
    page = seen(report, details)

    assert seen(*saying("plain")).elements == page.elements
    assert visible(text) in page.text


@settings(deadline=None, max_examples=60)
@given(texts)
def test_no_text_of_others_changes_the_page_of_a_comparison(text: str) -> None:
    """Names of tests, graders and groups, and values of facets."""
    found = Seen(comparison_page(compared(Verdict.CANNOT_TELL, 3, text)))

    assert Seen(comparison_page(compared(Verdict.CANNOT_TELL, 3, "plain"))).elements == found.elements


def test_the_same_report_makes_the_same_bytes() -> None:
    """No time and no chance is in it."""
    report, details = saying(HOSTILE[0])

    assert report_page(report, details) == report_page(report, details)
