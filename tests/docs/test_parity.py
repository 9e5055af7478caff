"""Both languages have the same pages, and every link leads somewhere."""

from __future__ import annotations

import pytest

from tests.docs.pages import DOCS, Page, blocks, broken_links, heading_levels, page, pages

NAMES = sorted(path.name for path in (DOCS / "en").glob("*.md"))


def differences(one: str, other: str) -> list[str]:
    """What two translations of one page do not have in common, that they should."""
    found: list[str] = []
    levels = heading_levels(one), heading_levels(other)
    if levels[0] != levels[1]:
        found.append(f"headings: {levels[0]} and {levels[1]}")
    samples = [[block._replace(line=0) for block in blocks(text)] for text in (one, other)]
    if len(samples[0]) != len(samples[1]):
        found.append(f"{len(samples[0])} samples and {len(samples[1])}")
    for mine, theirs in zip(*samples, strict=False):
        if mine != theirs:
            found.append(f"sample:\n{mine}\n{theirs}")
    return found


def test_the_languages_have_the_same_pages() -> None:
    """By name."""
    assert NAMES == sorted(path.name for path in (DOCS / "zh").glob("*.md"))
    assert {"index.md", "suites.md", "running.md", "graders.md", "evaluations.md"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_page_has_the_same_headings_and_samples_in_both(name: str) -> None:
    """Levels in order, and samples byte for byte with their markers."""
    assert [] == differences(page(f"docs/en/{name}").text, page(f"docs/zh/{name}").text)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_link_leads_to_a_file_and_a_heading(language: str) -> None:
    """Of the pages, and of the README."""
    assert [] == broken_links([*pages(language), page("README.md")])


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_language_links_within_itself(language: str) -> None:
    """A reader of one page is not sent to another language, except where the index offers it."""
    other = {"en": "/zh/", "zh": "/en/"}[language]
    strangers = [
        one.name for one in pages(language) if one.path.name != "index.md" and f"..{other}" in one.text
    ]

    assert [] == strangers


PAGE = "# One\n\n[two](#two)\n\n## Two\n\n<!-- run -->\n```console\n$ proctor --version\n```\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("## Two", "### Two"),
        ("## Two\n", "## Two\n\n## Three\n"),
        ("--version", "--help"),
        ("<!-- run -->", "<!-- illustration -->"),
        ("```console", "```bash"),
        ("```\n", "```\n\n```python\n```\n"),
    ],
)
def test_the_check_finds_a_planted_difference(before: str, after: str) -> None:
    """A heading of another level, one more, another command, marker or language, one more sample."""
    changed = after.join(PAGE.rsplit(before, 1))

    assert [] == differences(PAGE, PAGE)
    assert changed != PAGE
    assert [] != differences(PAGE, changed)


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
    planted = Page(DOCS / "en/planted.md", PAGE.replace("(#two)", link))

    assert is_broken is bool(broken_links([planted]))
