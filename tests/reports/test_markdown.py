"""Markdown: what a reviewer reads in a pull request."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from markdown_it import MarkdownIt
from markdown_it.token import Token

from proctor.core.decision import Demands, decide
from proctor.core.report import report, report_group
from proctor.records.comparison import Verdict
from proctor.records.grade import Outcome
from proctor.records.report import RunReport
from proctor.reports.markdown import MOST, comparison_markdown, report_markdown
from proctor.reports.markdown_text import block, code
from proctor.reports.plain import one_line, visible
from tests.reports.builders import (
    compared,
    every_kind,
    fails,
    grade,
    of,
    passes,
    saying,
    texts,
)

RENDERER = MarkdownIt("gfm-like")
OURS = re.compile(r"<details><summary>[\w ,:]+</summary>|</details>")
TITLE = re.compile(r"^## (\S+) ([\w ]+), exit code (\d+)$")


def tokens(text: str) -> list[Token]:
    """The document as a renderer has it, those inside of lines too."""
    found: list[Token] = []
    for token in RENDERER.parse(text):
        found.append(token)
        found += token.children or []
    return found


def shape(text: str) -> list[str]:
    """The kinds of what a document is made of, less the code spans and the text between them."""
    return [token.type for token in tokens(text) if token.type not in ("text", "code_inline")]


def test_the_verdict_comes_first_with_its_exit_code() -> None:
    """In words."""
    found = TITLE.match(report_markdown(of(passes("a"), fails("b"))).splitlines()[0])

    assert found is not None
    assert ("failed", "2") == found.groups()[1:]


def test_what_did_not_pass_comes_before_what_did() -> None:
    """With the graders that failed and why in one line; what passed is folded."""
    text = report_markdown(
        of(passes("good"), fails("bad", grades=(grade("year", Outcome.FAIL, "got\n1880"),)))
    )
    bad, good = text.split("<details>")

    assert "| ❌ fail | `bad` | 0/1 | 0.000 | `year (gate)` `got 1880` |" in bad
    assert "| `good` | 1/1 | 1.000 |" in good


def test_every_number_has_its_interval_and_what_is_missing() -> None:
    """Wilson of 1 in 3 is 0.061 to 0.792; and the states add up to what was planned."""
    text = report_markdown(every_kind())

    assert "| objective | 0.333 | 0.061 to 0.792 | 0.167 to 0.667 | 3 tests |" in text
    assert (
        "- planned 6 = graded 2 + inconclusive 1 + errored 1 + harness failures 1 + interrupted 1\n" in text
    )


def test_a_flaky_test_is_named() -> None:
    """In the list of its own, and in its line."""
    text = report_markdown(of(passes("t"), fails("t", trial=2), passes("u")))

    assert "- flaky, passed in one trial and failed in another: `t`" in text
    assert "| ❌ fail | `t` | 1/2, flaky | 0.500 | trial 2:" in text


def test_a_comparison_stands_in_the_report_and_alone() -> None:
    """The answer, a row for each grader, the tests that moved, the facets that differ."""
    found = compared(Verdict.WORSE, 2)
    alone = comparison_markdown(found)

    assert alone.startswith("## ❌ worse, exit code 2\n")
    for text in (alone, report_markdown(of(passes(), comparison=found))):
        assert "❌ worse: `runs/base` against `runs/base`; objective -0.250, 95% -0.400 to +0.100" in text
        assert (
            "| grader `runs/base` | 0.500 | 0.250 | -0.250 | -0.400 to +0.100 | &lt;0.001 | 3 | worse |"
            in text
        )
        assert "<details><summary>1 test with another objective: 1 fell, 0 rose</summary>" in text
        assert "| `runs/base` | 1.000 | 0.000 |" in text
        assert "  different: model in 1 of 1 test, as runs/base -> runs/base" in text


@pytest.mark.parametrize("make", [passes, fails])
def test_a_file_of_very_many_tests_stays_short_and_says_what_it_left_out(
    make: Callable[..., RunReport],
) -> None:
    """GitHub takes 65,536 characters in a comment."""
    feedback = "| long ` words " * 100
    text = report_markdown(of(*(make(f"test-{n}" * 5, feedback=feedback) for n in range(1500))))
    left = re.search(
        r"^(\d+) more tests: left out, since the file would be too long; the JSON has all$", text, re.M
    )
    rows = len(re.findall(r"^\|.*`test-", text, re.M))

    assert len(text) <= MOST
    assert left is not None
    assert 1500 == int(left[1]) + rows


def test_as_many_comparisons_as_there_are_have_room_too() -> None:
    """Many candidates, graders, and tests that moved."""
    import msgspec

    found = compared(Verdict.WORSE, 2, "x" * 400)
    (one,) = found.contrasts
    wide = msgspec.structs.replace(one, graders=one.graders * 500, rows=one.rows * 500)
    text = report_markdown(of(passes(), comparison=msgspec.structs.replace(found, contrasts=(wide,) * 30)))

    assert len(text) <= MOST


@settings(deadline=None, max_examples=300)
@given(texts)
def test_a_code_span_shows_the_text_and_nothing_else(text: str) -> None:
    """In a cell of a table, whatever stands in it; the renderer sees text alone."""
    table = RENDERER.parse(f"| a | b |\n| - | - |\n| {code(text, 10_000)} | end |\n\nafter")
    cells = [token for token in table if token.type == "inline"][2:4]

    assert [one_line(text), "end"] == [
        "".join(child.content for child in cell.children or []) for cell in cells
    ]
    assert {"text", "code_inline"} >= {child.type for cell in cells for child in cell.children or []}


@settings(deadline=None, max_examples=150)
@given(texts)
def test_a_block_holds_its_lines_and_ends_where_it_should(text: str) -> None:
    """Whatever fences are in it."""
    found = RENDERER.parse(f"{block([text])}\n\nafter")

    assert ["fence", "paragraph_open", "inline", "paragraph_close"] == [token.type for token in found]
    assert f"{visible(text)}\n" == found[0].content


@settings(deadline=None, max_examples=40)
@given(texts)
def test_no_name_of_a_group_changes_the_shape(text: str) -> None:
    """Where there are several groups, they are named in the tables."""

    def document(name: str) -> str:
        groups = [report_group(name, [passes(name), fails("b")]), report_group(f"{name}2", [passes(name)])]
        return report_markdown(decide(report(groups), Demands()))

    assert shape(document("plain")) == shape(document(text))


@settings(deadline=None, max_examples=120)
@given(texts)
def test_no_text_of_others_changes_the_shape_of_the_document(text: str) -> None:
    """No HTML but ours, no link, no image, no mention outside of a code span, no further cell or heading."""
    document = report_markdown(saying(text)[0])
    found = tokens(document)

    assert shape(report_markdown(saying("plain")[0])) == shape(document)
    assert {"html_block"} >= {token.type for token in found if token.type.startswith("html")}
    for token in found:
        if token.type == "html_block":
            assert "" == OURS.sub("", token.content).strip()
        if token.type == "text":
            ours = token.content.replace("pass@", "").replace("<0.001", "")
            assert not re.search(r"[@#<]|://|www\.", ours)
