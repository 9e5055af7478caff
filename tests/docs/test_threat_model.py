"""The threat model names rules that are tested, by names that exist."""

from __future__ import annotations

import re

import pytest

from tests.docs.pages import ROOT, page

TESTS = ROOT / "tests"


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_rule_that_the_page_names_is_a_test(language: str) -> None:
    """A renamed test is renamed there; both languages name the same ones."""
    tested = {
        name
        for file in TESTS.rglob("test_*.py")
        for name in re.findall(r"^(?:async )?def (test_\w+)", file.read_text(encoding="utf-8"), re.MULTILINE)
    }
    named = re.findall(r"`(test_\w+)`", page(f"docs/{language}/threat-model.md").text)

    assert [] == [name for name in named if name not in tested]
    assert named == re.findall(r"`(test_\w+)`", page("docs/en/threat-model.md").text)
    assert len(named) > 50
