"""Both languages have the same pages, and every link leads somewhere."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import DOCS, ROOT, Page, broken_links, page, pages
from tests.docs.parity import differences


def test_the_languages_have_the_same_pages_headings_samples_tables_and_links() -> None:
    """`make docs-parity` says the same, with the line of each difference."""
    assert [] == [str(one) for one in differences()]
    assert {"index.md", "suites.md", "running.md", "graders.md"} <= {
        path.name for path in (DOCS / "en").glob("*.md")
    }


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_link_leads_to_a_file_and_a_heading(language: str) -> None:
    """Of the pages, and of the README."""
    assert [] == broken_links([*pages(language), page("README.md")])


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_language_links_within_itself(language: str) -> None:
    """A reader of one page is not sent to another language, but by the index, and to the reference."""
    other = {"en": "/zh/", "zh": "/en/"}[language]
    strangers = [
        one.name
        for one in pages(language)
        if one.path.name != "index.md" and f"..{other}" in one.text.replace("../en/reference/", "")
    ]

    assert [] == strangers


PAGE = """# One

[two](#two), [below](other.md#below), [there](https://example.org/) and ![seen](../images/seen.svg).

| a | b |
| --- | --- |
| 1 | 2 |

## Two

<!-- run -->
```console
$ proctor --version
```
"""
OTHER = "# Other\n\n## Above\n\n## Below\n"


@pytest.mark.parametrize(
    ("before", "after", "line", "said"),
    [
        ("## Two", "### Two", 9, "level 3"),
        ("## Two\n", "## Two\n\n## Three\n", 11, "'Three'"),
        ("## Two\n", "", 1, "no heading for ## 'Two' (line 9)"),
        ("--version", "--help", 13, "$ proctor --help"),
        ("<!-- run -->", "<!-- illustration -->", 12, "'illustration'"),
        ("```console", "```bash", 12, "'bash'"),
        ("```\n", "```\n\n```python\n```\n", 16, "that English has not"),
        ("<!-- run -->\n```console\n$ proctor --version\n```\n", "", 1, "sample of line 12 is missing"),
        ("| 1 | 2 |\n", "", 5, "2 rows and 2 columns"),
        ("| 1 | 2 |\n", "| 1 | 2 |\n| 3 | 4 |\n", 5, "4 rows and 2 columns"),
        ("| a | b |\n| --- | --- |\n| 1 | 2 |", "| a |\n| --- |\n| 1 |", 5, "3 rows and 1 columns"),
        ("| a | b |\n| --- | --- |\n| 1 | 2 |\n", "", 1, "the table of line 5 is missing"),
        ("[two](#two)", "two", 1, "no link to page.md, heading 2"),
        ("#below", "#above", 1, "other.md, heading 2"),
        ("https://example.org/", "https://example.com/", 1, "https://example.com/"),
        ("seen.svg", "unseen.svg", 1, "no link to ../images/seen.svg"),
    ],
)
def test_the_check_finds_a_planted_difference(
    tmp_path: Path, before: str, after: str, line: int, said: str
) -> None:
    """Headings, samples, tables, links: what is missing, too much, or otherwise is found where it is."""
    for language in ("en", "zh"):
        (tmp_path / language).mkdir()
        (tmp_path / language / "page.md").write_text(PAGE)
        (tmp_path / language / "other.md").write_text(OTHER)
    assert [] == differences(tmp_path)

    changed = after.join(PAGE.rsplit(before, 1))
    (tmp_path / "zh/page.md").write_text(changed)
    found = differences(tmp_path)

    assert changed != PAGE
    assert ("docs/zh/page.md", line) == found[0][:2]
    assert said in " ".join(one.what for one in found)


@pytest.mark.parametrize(("language", "other"), [("en", "zh"), ("zh", "en")])
def test_the_check_finds_a_page_that_is_there_in_one_language_alone(
    tmp_path: Path, language: str, other: str
) -> None:
    """Whichever it is."""
    for each in ("en", "zh"):
        (tmp_path / each).mkdir()
    (tmp_path / language / "page.md").write_text(PAGE)

    assert [f"docs/{language}/page.md:1: there is no docs/{other}/page.md"] == list(
        map(str, differences(tmp_path))
    )


def test_the_check_can_be_asked_by_hand() -> None:
    """It prints nothing, and ends with 0, when nothing differs."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.docs.parity"], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("link", "is_broken"),
    [
        ("(#two)", False),
        ("(#three)", True),
        ("(dependencies.md)", False),
        ("(dependencies.md#nothing)", True),
        ("(nowhere.md)", True),
        ("(../../README.md)", False),
        ("(../../../elsewhere.md)", True),
        ("(https://example.org/)", False),
    ],
)
def test_the_check_finds_a_planted_broken_link(link: str, is_broken: bool) -> None:
    """No such file, no such heading, or outside of the repository."""
    planted = Page(DOCS / "en/planted.md", f"# One\n\n[two]{link}\n\n## Two\n")

    assert is_broken is bool(broken_links([planted]))
