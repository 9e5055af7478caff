"""The table of faults in the pages is the one that the program goes by."""

from __future__ import annotations

import pytest

from proctor.core.faults import TABLE
from proctor.loading.fault_rules import FAULT_RULE_FIELDS
from tests.docs.pages import page

YES = {"en": "yes", "zh": "是"}
OTHER = {"en": "any other", "zh": "其他"}


def rows(language: str) -> list[list[str]]:
    """The cells of every table row of the page."""
    text = page(f"docs/{language}/endings.md").text
    return [
        [cell.strip().replace("`", "") for cell in line.strip().strip("|").split("|")]
        for line in text.splitlines()
        if line.startswith("|")
    ]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_page_has_the_rows_of_the_table_in_its_order(language: str) -> None:
    """Ending, kinds, owner, who scores it, what it is counted as, and what runs it again."""
    wanted = [
        [
            row.ending.value,
            ", ".join(row.kinds) or (OTHER[language] if row.counted == "harness_failures" else ""),
            row.owner.value,
            row.scored_by,
            row.counted.replace("_", " "),
            YES[language] if row.is_resumed else "",
            YES[language] if row.retry else "",
        ]
        for row in TABLE
    ]

    assert wanted == [row for row in rows(language) if len(row) == 7][2:]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_kind_and_every_field_of_a_rule_is_explained(language: str) -> None:
    """In a row of its own or together with others like it."""
    explained = {
        word.strip()
        for row in rows(language)
        if len(row) == 2
        for word in row[0].replace("、", ",").split(",")
    }

    assert [] == [kind for row in TABLE for kind in row.kinds if kind not in explained]
    assert [] == [field.name for field in FAULT_RULE_FIELDS if field.name not in explained]
