"""The ids of tests: which names are good ones, and one to propose where there is none."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection

from proctor.loading.fields import MOST_ID_BYTES
from proctor.records.json_value import Json

_RESERVED = frozenset({".", "..", ".staging", ".store", "checklists", "group.json", "attempts.jsonl"})
_DEVICES = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?", re.IGNORECASE | re.DOTALL)
_PROPOSED_CHARACTERS = 40


def normal(test_id: str) -> str:
    """An id in the one form in which it is kept and compared with others (NFC)."""
    return test_id if test_id.isascii() else unicodedata.normalize("NFC", test_id)


def complaint(test_id: str) -> tuple[str, str] | None:
    """Why a text cannot be the id of a test, and what to do; None when it can.

    >>> complaint("refund-late"), complaint("a--1")[0]
    (None, 'has two hyphens in a row, which separate the number of a trial')
    """
    if _PLAIN.fullmatch(test_id) and test_id.casefold() not in _RESERVED and not _DEVICES.fullmatch(test_id):
        return None
    proposed = slug(test_id)
    instead = f"Write for example {proposed}." if proposed and proposed != test_id else "Choose another name."
    rules: list[tuple[str, Callable[[], bool]]] = [
        ("is empty", lambda: not test_id),
        ("starts with a dot", lambda: test_id.startswith(".")),
        ("ends with a dot, which some file systems drop", lambda: test_id.endswith(".")),
        ("has two hyphens in a row, which separate the number of a trial", lambda: "--" in test_id),
        ("starts or ends with a hyphen", lambda: test_id[0] == "-" or test_id[-1] == "-"),
        (f"has the character {_stranger(test_id)!r}", lambda: _stranger(test_id) is not None),
        ("is a name that proctor keeps for itself", lambda: test_id.casefold() in _RESERVED),
        ("is the name of a device on Windows", lambda: _DEVICES.fullmatch(test_id) is not None),
        (f"is longer than {MOST_ID_BYTES} bytes in UTF-8", lambda: len(test_id.encode()) > MOST_ID_BYTES),
    ]
    for what, is_so in rules:
        if is_so():
            return what, f"{instead} Ids are letters, digits, underscores, dots and single hyphens."
    return None


_PLAIN = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_.]|-(?=[A-Za-z0-9_])){0,98}[A-Za-z0-9_]|[A-Za-z0-9_]")


def slug(text: str) -> str:
    """A good id made of the first words of a text; empty when it has none.

    >>> slug("When was Einstein born?")
    'when-was-einstein-born'
    """
    words = "".join(
        character if _is_of_a_word(character) or character == "_" else " "
        for character in normal(text).lower()
    ).split()
    proposal = ""
    for word in words:
        if proposal and len(proposal) + len(word) + 1 > _PROPOSED_CHARACTERS:
            break
        proposal = f"{proposal}-{word}" if proposal else word[:_PROPOSED_CHARACTERS]
    return "" if proposal in _RESERVED or _DEVICES.fullmatch(proposal) else proposal


def proposal(given: Json, taken: Collection[str], *, number: int) -> str:
    """An id for a test that has none, made of its input.

    given: the input; text gives words, anything else the test's number.
    taken: ids, case-folded, that others have.
    """
    base = (slug(given) if isinstance(given, str) else "") or f"test-{number}"
    if base.casefold() not in taken:
        return base
    return next(
        f"{base}-{count}" for count in range(2, len(taken) + 3) if f"{base}-{count}".casefold() not in taken
    )


def _stranger(test_id: str) -> str | None:
    for character in test_id:
        if not (_is_of_a_word(character) or character in "_.-"):
            return character
    return None


def _is_of_a_word(character: str) -> bool:
    # Marks belong to words too: many scripts write vowels with them, and Python's \w leaves them out.
    return unicodedata.category(character)[0] in "LMN"
