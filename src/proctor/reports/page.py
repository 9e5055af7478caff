"""A report as one page of HTML that opens from a disk: nothing is loaded, and nothing of an agent is markup.

The page is whole without its script, which only filters, sorts and opens. Its policy forbids every source but its own
style and script, which it names by digest, so that even a defect in the making of it could run nothing.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final
from xml.etree import ElementTree as ET

from proctor.records.comparison import Comparison
from proctor.records.details import Details
from proctor.records.report import Report
from proctor.reports.elements import element, html
from proctor.reports.outcomes import verdict_line, verdict_reasons
from proctor.reports.page_comparison import comparison_sections
from proctor.reports.page_overview import moved_section, overview
from proctor.reports.page_tests import tests_section
from proctor.reports.phrases import counted, shorten
from proctor.version import __version__

_HERE: Final = Path(__file__).parent


def report_page(report: Report, details: Details) -> bytes:
    """The page, as UTF-8. The report has a decision."""
    decision = report.decision
    assert decision is not None
    title = _named([group.path for group in report.groups])
    head = _masthead(title, decision.verdict, decision.exit_code, verdict_reasons(report))
    sections = [overview(report)]
    if report.comparison is not None:
        sections += comparison_sections(report.comparison)
    sections += [tests_section(report, details), *moved_section(report)]
    return _document(f"{verdict_line(decision)}: {title}", head, sections)


def comparison_page(found: Comparison) -> bytes:
    """The page of a comparison, as UTF-8."""
    title = f"{_named([one.candidate for one in found.contrasts])} against {found.base}"
    head = _masthead(title, found.verdict.value, found.exit_code, found.warnings)
    return _document(f"{found.verdict.value}: {title}", head, comparison_sections(found))


def _masthead(title: str, verdict: str, exit_code: int, said: Iterable[str]) -> ET.Element:
    lines = [element("li", line) for line in said]
    return element(
        "header",
        element("p", element("span", "proctor", class_="brand"), " ", element("span", title, class_="paths")),
        element("h1", verdict, " ", element("small", f"exit code {exit_code}")),
        element("ul", lines) if lines else None,
        class_=f"masthead {verdict.replace(' ', '-')}",
    )


def _document(title: str, head: ET.Element, sections: Sequence[ET.Element]) -> bytes:
    style, script = ((_HERE / name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    policy = (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    page = element(
        "html",
        element(
            "head",
            element("meta", charset="utf-8"),
            element("meta", http_equiv="Content-Security-Policy", content=policy),
            element("meta", name="viewport", content="width=device-width, initial-scale=1"),
            element("meta", name="color-scheme", content="light dark"),
            element("meta", name="referrer", content="no-referrer"),
            element("title", f"proctor: {shorten(title, 200)}"),
            _own("style", style),
        ),
        element(
            "body",
            head,
            element("main", *sections),
            element("footer", f"Made by proctor {__version__}. The numbers are those of the JSON report."),
            _own("script", script),
        ),
        lang="en",
    )
    return html(page)


def _own(tag: str, text: str) -> ET.Element:
    """Style or script of ours, as it is: its digest stands in the policy."""
    made = ET.Element(tag)
    made.text = text
    return made


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _named(paths: Sequence[str]) -> str:
    """One path, or the first with the number of the others."""
    if not paths:
        return "nothing"
    others = len(paths) - 1
    return paths[0] if not others else f"{paths[0]} and {counted(others, 'more group')}"
