"""Text of agents, made fit for files that other programs read and people look at."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import Final

_JOINERS: Final = "\u200c\u200d"
"""What holds an emoji or a Persian word together, and turns no line around."""


def visible(text: str) -> str:
    r"""The text with whatever cannot be seen, or stand in XML, as escapes; line ends and tabs stay.

    Control characters, halves of surrogate pairs, characters that turn the direction of a line, and code points
    that are no characters.

    >>> print(visible("a\x1b[31m\tb\x00\u202e 好 👩‍🔬"))
    a\x1b[31m	b\x00\u202e 好 👩‍🔬
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(_seen, text))


def one_line(text: str) -> str:
    """The text as `visible` has it, without line ends and tabs: each run of white space is one space."""
    return visible(" ".join(text.split()))


@lru_cache(maxsize=4096)
def _seen(character: str) -> str:
    if character.isprintable() or character in "\n\t" or character in _JOINERS:
        return character
    category = unicodedata.category(character)
    # A character that a newer Unicode has is none that cannot be seen; a code point that is none is.
    if category in ("Zs", "Co") or (category == "Cn" and not _is_noncharacter(character)):
        return character
    return ascii(character)[1:-1]


def _is_noncharacter(character: str) -> bool:
    point = ord(character)
    return 0xFDD0 <= point <= 0xFDEF or point & 0xFFFE == 0xFFFE
