"""What is done to the pages before and after the site is built."""

from __future__ import annotations

from pathlib import Path

import pytest

from docs.building import external, headings, llms, markup, repository, search
from docs.building.prepare import prepare
from tests.docs.pages import ROOT


def test_a_sample_shows_which_file_it_is() -> None:
    """In the place of the marker that the tests read; the marker itself is gone, whatever it says."""
    page = "<!-- file: a/test.json; refused -->\n```json\n{}\n```\n\n<!-- run -->\n```console\n$ ls\n```\n"

    assert '```json title="a/test.json"\n{}\n```\n\n```console\n$ ls\n```\n' == markup.with_titles(page)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("<p>没有观察到的。\n从不通过。</p>", "<p>没有观察到的。从不通过。</p>"),
        ("<p>一行\n两行</p>", "<p>一行两行</p>"),
        ("<p>它是：\n<code>x</code></p>", "<p>它是：<code>x</code></p>"),
        ("<p>用 proctor\n运行</p>", "<p>用 proctor\n运行</p>"),
        ("<p>one\ntwo</p>", "<p>one\ntwo</p>"),
        ("<pre>一\n二</pre>", "<pre>一\n二</pre>"),
    ],
)
def test_no_line_end_is_drawn_as_a_space_between_chinese_characters(before: str, after: str) -> None:
    """Code, and words of other scripts, keep theirs."""
    assert after == markup.without_breaks(before)


@pytest.mark.parametrize(
    ("page", "link", "wanted"),
    [
        ("docs/en/suites.md", "graders.md#functions", "graders.md#functions"),
        ("docs/en/suites.md", "../../README.md", "repository/readme.md"),
        ("docs/zh/suites.md", "../../CONTRIBUTING.md#the-house", "repository/contributing.md#the-house"),
        ("docs/en/suites.md", "../../examples/smoke/", "repository/examples/smoke.md"),
        ("docs/zh/suites.md", "../en/reference/files.md#run", "reference/files.md#run"),
        ("docs/en/suites.md", "reference/files.md#run", "reference/files.md#run"),
        ("docs/zh/labelling.md", "../images/label-80x24.svg", "../images/label-80x24.svg"),
        ("docs/en/suites.md", "https://example.org/", "https://example.org/"),
    ],
)
def test_a_link_leads_to_the_page_that_the_site_has_for_a_file(page: str, link: str, wanted: str) -> None:
    """Files outside of the pages have pages of their own, in the folder of each language."""
    assert f"[x]({wanted})" == repository.with_site_links(f"[x]({link})", page, page, ROOT)


def test_an_english_file_links_chinese_readers_to_the_same_heading_of_the_chinese_page() -> None:
    """The README is there once; who reads Chinese is led on to Chinese pages."""
    english, chinese = (
        headings.headings((ROOT / f"docs/{language}/suites.md").read_text(encoding="utf-8"))
        for language in ("en", "zh")
    )
    text = f"[x](docs/en/suites.md#{english[2].anchor})"
    made = repository.with_site_links(text, "README.md", "docs/zh/repository/readme.md", ROOT)

    assert f"[x](../suites.md#{chinese[2].anchor})" == made


def test_code_is_no_link(tmp_path: Path) -> None:
    """What stands in a fenced block stays as it is."""
    text = "```\n[x](../../README.md)\n```"

    assert text == repository.with_site_links(text, "docs/en/x.md", "docs/en/x.md", ROOT)


def test_the_site_is_made_of_pages_schemas_and_the_files_that_are_linked(tmp_path: Path) -> None:
    """The README is linked from the first page, and from it others; each is there for both languages."""
    prepare(ROOT, tmp_path / "docs")
    names = {
        path.relative_to(tmp_path / "docs").as_posix()
        for path in (tmp_path / "docs").rglob("*")
        if path.is_file()
    }

    assert {"en/index.md", "zh/index.md", "schema/run.v1.json", "assets/logo.svg"} <= names
    assert {"en/repository/readme.md", "zh/repository/readme.md", "en/repository/contributing.md"} <= names
    assert {"en/reference/api.md", "zh/reference/api.md"} <= names
    assert [] == [name for name in names if name.endswith(".py")]
    for name in names:
        if name.endswith(".md"):
            assert "<!-- file:" not in (tmp_path / "docs" / name).read_text(encoding="utf-8")


PLANTED = (
    ("a.html", '<script src="https://example.org/x.js"></script>', "https://example.org/x.js"),
    ("a.html", '<img srcset="//example.org/x.png 2x">', "//example.org/x.png 2x"),
    ("a.html", '<link rel="stylesheet" href="https://example.org/x.css">', "https://example.org/x.css"),
    ("a.html", '<link rel="preconnect" href="https://example.org">', "https://example.org"),
    ("a.html", '<div style="background: url(https://example.org/x.png)"></div>', "https://example.org/x.png"),
    ("a.html", "<style>@import 'https://example.org/x.css';</style>", "https://example.org/x.css"),
    ("a.css", "@font-face { src: url('https://example.org/x.woff') }", "https://example.org/x.woff"),
    ("a.svg", '<svg><image xlink:href="https://example.org/x.png"/></svg>', "https://example.org/x.png"),
)


@pytest.mark.parametrize(("name", "text", "address"), PLANTED)
def test_what_a_page_loads_from_elsewhere_is_found(
    tmp_path: Path, name: str, text: str, address: str
) -> None:
    """Scripts, pictures, style sheets, fonts."""
    (tmp_path / name).write_text(text)

    assert [f"{name}: {address}"] == external.loads(tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        '<a href="https://example.org/">there</a>',
        '<img src="picture.svg"><script src="../assets/x.js"></script>',
        "<pre>@import 'https://example.org/x.css'</pre>",
        '<img src="data:image/png;base64,AA">',
    ],
)
def test_a_link_is_no_load(tmp_path: Path, text: str) -> None:
    """A reader may follow it; nothing is fetched before."""
    (tmp_path / "a.html").write_text(text)

    assert [] == external.loads(tmp_path)


def test_each_language_finds_its_own_pages_and_those_that_are_in_english_alone() -> None:
    """Relative to its own folder."""
    places = ["suites.html", "reference/files.html", "zh/suites.html"]
    english, chinese = search.by_language([{"location": place} for place in places])

    assert ["suites.html", "reference/files.html"] == [one["location"] for one in english]
    assert ["suites.html", "reference/files.html"] == [one["location"] for one in chinese]


def test_llms_txt_has_a_title_a_summary_and_a_list_of_links_for_each_section() -> None:
    """As llmstxt.org has it."""
    entry = llms.Entry("Guides", "suites.md", "Suites", "A suite is a set of tests.", "")
    wanted = "# proctor\n\n> It runs.\n\n## Guides\n\n- [Suites](suites.md): A suite is a set of tests.\n"

    assert wanted == llms.index("proctor", "It runs.", [entry])


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("# One\n\nIt [runs](x.md).\nMore.\n", "It runs."),
        ("# One\n\n<!-- a note -->\n\n| a |\n\n```\ncode\n```\n\nYes.\n", "Yes."),
        ("# One\n", ""),
    ],
)
def test_the_first_sentence_of_a_page_says_what_it_is_about(text: str, sentence: str) -> None:
    """Headings, markers, tables and samples are no sentences."""
    assert sentence == llms.first_sentence(text)


def test_a_language_model_is_told_what_each_public_name_takes_and_means() -> None:
    """In the place where the site has what mkdocstrings makes of it."""
    made = llms.described("# Python API\n\n::: proctor.grader\n")

    assert made.startswith("# Python API\n\n### proctor.grader\n\n```python\ngrader(")
    assert ":::" not in made
