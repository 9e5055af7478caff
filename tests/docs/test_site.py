"""The site as `make docs` has built it: every page in both languages, every link, search, and nothing from elsewhere.

What needs a browser is left out where there is none.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from docs.building import external, llms
from docs.building.headings import headings
from proctor.schemas import SCHEMAS, schema
from tests.docs.pages import DOCS, ROOT, pages

pytestmark = pytest.mark.site

SITE = ROOT / "site"
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class Read(HTMLParser):
    """A page of the site: the anchors in it, the anchors of its headings in order, and its links."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.headings: list[str] = []
        self.links: list[str] = []
        self.switches: dict[str, str] = {}
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note ids and links."""
        values = {name: value or "" for name, value in attrs}
        if "id" in values:
            self.anchors.add(values["id"])
            if re.fullmatch(r"h[1-6]", tag):
                self.headings.append(values["id"])
        if tag == "a" and "hreflang" in values:
            self.switches[values["hreflang"]] = values["href"]
        for name in ("href", "src"):
            if values.get(name):
                self.links.append(values[name])


@pytest.fixture(scope="module")
def site() -> dict[str, Read]:
    """Every page of the site by its path in it."""
    assert (SITE / "index.html").exists(), "there is no site; `make docs` builds it"
    return {path.relative_to(SITE).as_posix(): Read(path) for path in sorted(SITE.rglob("*.html"))}


def built(language: str, name: str) -> str:
    """The path on the site of a page."""
    return ("" if language == "en" else f"{language}/") + name.removesuffix(".md") + ".html"


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_page_is_there_with_the_anchors_that_github_makes(site: dict[str, Read], language: str) -> None:
    """So that a link works in both places, whatever the script of the heading."""
    for page in pages(language):
        wanted = [one.anchor for one in headings(page.text)]

        assert wanted == [
            one for one in site[built(language, page.path.name)].headings if not one.startswith("__")
        ]


def test_every_link_leads_to_a_file_and_an_anchor_of_the_site(site: dict[str, Read]) -> None:
    """Pages of the README and the examples, the reference, schemas, pictures and styles included."""
    broken = [
        f"{name}: {link}"
        for name, page in site.items()
        if name != "404.html"
        for link in page.links
        if not is_there(site, name, link)
    ]

    assert [] == broken


def is_there(site: dict[str, Read], name: str, link: str) -> bool:
    """True when a link leads out of the site, or to something that it has."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc or link in ("#", "."):
        return True
    target = (SITE / name).parent / unquote(parts.path) if parts.path else SITE / name
    if target.is_dir():
        target /= "index.html"
    if not target.is_file():
        return False
    page = site.get(target.resolve().relative_to(SITE.resolve()).as_posix())
    anchor = unquote(parts.fragment)
    return page is None or not anchor or anchor in page.anchors or anchor.startswith("__")


def test_the_switch_between_the_languages_keeps_the_page(site: dict[str, Read]) -> None:
    """From each page to the same one in the other language, the reference and the README included."""
    for name, page in site.items():
        if name == "404.html":
            continue
        bare = name.removeprefix("zh/")
        leads = {language: (SITE / name).parent / link for language, link in page.switches.items()}

        assert leads["en"].resolve() == (SITE / bare).resolve(), name
        assert leads["zh"].resolve() == (SITE / "zh" / bare).resolve(), name


def test_the_chinese_site_speaks_chinese() -> None:
    """The sections of the nav, the search field, the language of the page."""
    text = (SITE / "zh/index.html").read_text(encoding="utf-8")

    assert [] == [word for word in ("指南", "参考（英文）", "原理", "搜索", 'lang="zh"') if word not in text]


def test_no_marker_of_the_tests_is_shown_and_files_have_their_names() -> None:
    """A sample has a title; no list or fence is left over as text."""
    for path in SITE.rglob("*.html"):
        text = path.read_text(encoding="utf-8")

        assert not re.search(r"<!-- *(file:|run|illustration)", text), path
        assert not re.search(r"<p>(\* |- |```)", text), path
    assert '<span class="filename">suite/birthday/test.json</span>' in (SITE / "index.html").read_text(
        encoding="utf-8"
    )


def test_nothing_is_loaded_from_elsewhere() -> None:
    """Not a font, not a script: the site works without a network."""
    assert [] == external.loads(SITE)


def index(language: str) -> list[dict[str, Any]]:
    """What the search of a language looks through."""
    text = (SITE / ("" if language == "en" else language) / "search/search_index.js").read_text(
        encoding="utf-8"
    )
    entries: list[dict[str, Any]] = json.loads(text.removeprefix("var __index = "))["docs"]
    return entries


@pytest.mark.parametrize(
    ("language", "word", "location"),
    [
        ("en", "inconclusive", "three-answers.html"),
        ("en", "sandbox", "isolation.html"),
        ("en", "--max-trial-tokens", "reference/commands.html"),
        ("zh", "沙箱", "isolation.html"),
        ("zh", "评分器", "graders.html"),
        ("zh", "运行目录", "run-directory.html"),
        ("zh", "--max-trial-tokens", "reference/commands.html"),
    ],
)
def test_a_word_is_in_the_index_as_a_word_of_its_own(language: str, word: str, location: str) -> None:
    """Chinese has no spaces: without a dictionary a sentence would be one word."""
    words = {
        one["location"].partition("#")[0]
        for one in index(language)
        if word in re.split(r"[\s\u200b<>&;()\[\],，。：；、|]+", f"{one['title']} {one['text']}")
    }

    assert location in words


@pytest.mark.parametrize("language", ["en", "zh"])
def test_what_is_found_is_there(site: dict[str, Read], language: str) -> None:
    """Each entry leads to a page of its language, and to an anchor in it."""
    folder = "" if language == "en" else f"{language}/"

    assert [] == [
        one["location"]
        for one in index(language)
        if not is_there(site, f"{folder}index.html", one["location"] or "index.html")
    ]
    assert {path.stem for path in (DOCS / language).glob("*.md")} <= {
        one["location"].partition("#")[0].removesuffix(".html") for one in index(language)
    } | {"index"}


@pytest.mark.parametrize(
    ("page", "query", "first"),
    [
        ("index.html", "sandbox", "isolation.html"),
        ("index.html", "exit codes", "reference/exit-codes.html"),
        ("zh/index.html", "沙箱", "zh/isolation.html"),
        ("zh/index.html", "评分器", "zh/graders.html"),
        ("zh/suites.html", "运行目录", "zh/run-directory.html"),
        ("zh/index.html", "exit codes", "zh/reference/exit-codes.html"),
    ],
)
def test_a_reader_who_searches_finds_the_page(page: str, query: str, first: str) -> None:
    """In a real browser, in the site as it lies on the disk: the first page that is offered is the right one."""
    if CHROMIUM is None:
        pytest.skip("there is no Chromium")
    address = f"{(SITE / page).as_uri()}?q={query}"
    done = subprocess.run(
        [
            CHROMIUM,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-background-networking",
            "--virtual-time-budget=30000",
            "--dump-dom",
            address,
        ],
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    results = re.findall(r'<a href="([^"]+)" class="md-search-result__link"', done.stdout)

    assert [(SITE / first).as_uri()] == [link.partition("?")[0] for link in results[:1]]


def test_each_schema_is_published_under_its_name_and_version() -> None:
    """As the program prints it."""
    names = {path.name for path in (SITE / "schema").iterdir()}

    assert {f"{one.name}.v{one.version}.json" for one in SCHEMAS} == names
    for one in SCHEMAS:
        text = (SITE / f"schema/{one.name}.v{one.version}.json").read_text(encoding="utf-8")

        assert schema(one.name) == json.loads(text)


@pytest.mark.parametrize(("folder", "language"), [("", "en"), ("zh", "zh")])
def test_a_language_model_finds_every_page(folder: str, language: str) -> None:
    """`llms.txt` lists each once with what it is about; the links lead to Markdown; `llms-full.txt` holds them all."""
    top = SITE / folder
    text = (top / "llms.txt").read_text(encoding="utf-8")
    listed = re.findall(r"^- \[([^\]]+)\]\(([^)]+)\): (.+)$", text, re.MULTILINE)
    whole = (top / "llms-full.txt").read_text(encoding="utf-8")

    assert text.startswith("# proctor\n\n> ")
    assert sorted(names(language)) == sorted(name for _, name, _ in listed)
    for title, name, _ in listed:
        page = (top / name).read_text(encoding="utf-8")

        assert llms.title_of(page) == title
        assert page.strip() in whole


def names(language: str) -> Iterable[str]:
    """The pages of a language, and the reference."""
    for path in (DOCS / language).glob("*.md"):
        yield path.name
    for path in (DOCS / "en/reference").glob("*.md"):
        yield f"reference/{path.name}"
