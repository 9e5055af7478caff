"""JSON values: their type, their canonical form, and when two of them are equal."""

from __future__ import annotations

import hashlib
import json
from typing import Any, TypeAlias, cast

Json: TypeAlias = Any
"""None, bool, int, float, str, or lists and string-keyed dicts of them."""


def canonical_text(value: Json) -> str:
    """The one text of a JSON value: compact, keys sorted, integral floats written as integers.

    Two values that are equal as JSON have the same canonical text. A string is quoted here; see `text_of`.

    >>> canonical_text({"b": 2.0, "a": [True, None]})
    '{"a":[true,null],"b":2}'
    """
    return json.dumps(
        _plain(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


def text_of(value: Json) -> str:
    """The text of a value as graders read it: a string is itself, anything else its canonical JSON.

    >>> text_of("a b"), text_of([1, 2.0]), text_of({"b": 1, "a": None})
    ('a b', '[1,2]', '{"a":null,"b":1}')
    """
    return value if isinstance(value, str) else canonical_text(value)


def storable(name: str) -> str:
    r"""A name or a path of the system as text that can be stored: bytes that are no UTF-8 become escapes.

    >>> print(storable("caf\udce9"))
    caf\xe9
    """
    return (
        name
        if name.isascii()
        else name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    )


def digest_of(value: Json) -> str:
    """`sha256:` and the hex digest of a value's canonical text."""
    return digest_of_bytes(canonical_text(value).encode("utf-8", "surrogatepass"))


def digest_of_bytes(content: bytes) -> str:
    """`sha256:` and the hex digest of some bytes."""
    return "sha256:" + hashlib.sha256(content).hexdigest()


def json_equal(left: Json, right: Json) -> bool:
    """JSON's equality: true is not 1, 1 equals 1.0, the order of keys is nothing.

    >>> json_equal({"a": 1, "b": [2]}, {"b": [2.0], "a": 1}), json_equal(True, 1), json_equal(1, "1")
    (True, False, False)
    """
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        ours, theirs = cast("dict[str, Json]", left), cast("dict[str, Json]", right)
        return ours.keys() == theirs.keys() and all(json_equal(ours[key], theirs[key]) for key in ours)
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        mine, other = cast("list[Json]", left), cast("list[Json]", right)
        return len(mine) == len(other) and all(map(json_equal, mine, other))
    if isinstance(left, int | float) and isinstance(right, int | float):
        return left == right
    if isinstance(left, str) and isinstance(right, str):
        return left == right
    return left is None and right is None


def _plain(value: Json) -> Json:
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    if isinstance(value, dict):
        entries = cast("dict[str, Json]", value)
        return {key: _plain(entry) for key, entry in entries.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in cast("list[Json]", value)]
    return value
