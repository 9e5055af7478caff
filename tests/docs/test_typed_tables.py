"""The page on typed suites names every field, assertion, code, level and failure that there is, in both languages."""

from __future__ import annotations

import re

import pytest

import proctor.eval
from proctor.eval.rules import FIELDS
from proctor.records.evidence import AgentCode, HarnessCode, Level, Stage
from proctor.records.suite_codes import SuiteCode
from tests.docs.pages import page

NAMES = [
    *FIELDS,
    *(name for name in proctor.eval.__all__ if name.startswith("expect_")),
    *(code.value for code in (*SuiteCode, *HarnessCode, *AgentCode)),
    *(level.value for level in Level),
    *(stage.value for stage in Stage),
]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_page_has_a_row_for_each(language: str) -> None:
    """Somewhere in a table."""
    text = page(f"docs/{language}/typed-suites.md").text
    rows = " ".join(line for line in text.splitlines() if line.startswith("|"))
    named = set(re.findall(r"`([\w-]+)", rows))

    assert [] == [name for name in NAMES if name not in named]
