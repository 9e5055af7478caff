"""Cells of a CSV file that a spreadsheet would take for formulas, made inert and back."""

from __future__ import annotations

from typing import Final

FORMULA_STARTS: Final = ("=", "+", "-", "@", "＝", "＋", "－", "＠", "\t", "\r", "\n", "\0")
"""How a cell begins that is computed, and not shown: what OWASP lists under CSV injection, here and in its ASVS."""

_MARK: Final = "'"


def guarded(text: str) -> str:
    """The text with an apostrophe before it where it would be computed; `unguarded` gives the text back.

    >>> guarded("=1+1"), guarded("1+1"), guarded("'=1")
    ("'=1+1", '1+1', "''=1")
    """
    return _MARK + text if _would_count(text) else text


def unguarded(text: str) -> str:
    """The text without the apostrophe that `guarded` put before it.

    >>> unguarded("'=1+1"), unguarded("'tis"), unguarded("=1+1")
    ('=1+1', "'tis", '=1+1')
    """
    return text[1:] if text.startswith(_MARK) and _would_count(text) else text


def _would_count(text: str) -> bool:
    return text.lstrip(_MARK).startswith(FORMULA_STARTS)
