"""Verdicts in objects: the outermost level that has one counts, and everything there must agree."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import cast

from proctor.core.loose_json import MAX_DEPTH, Broken, Pairs
from proctor.core.verdict_scale import Scale
from proctor.core.verdict_values import Misread, Reading, number_of, read_value
from proctor.core.verdict_words import INVERTED, MOST, REASONS, STRONG, WEAK, Found, name_of
from proctor.records.json_value import Json


def found_in(top: Pairs, scale: Scale) -> list[Found]:
    """What the object says: the findings of its outermost level that has any."""
    level: list[Pairs] = [top]
    for _ in range(MAX_DEPTH):
        found = [entry for pairs in level for entry in _found_here(pairs, scale)]
        if found:
            return found
        level = [inner for pairs in level for _, value in pairs.pairs for inner in _inside(value)]
        if not level:
            break
    return []


def reasoning_in(top: Pairs) -> str:
    """The reasons that the object gives, its own before those of objects in it; empty when there are none."""
    level: list[Pairs] = [top]
    for _ in range(MAX_DEPTH):
        said = [
            _text(value)
            for pairs in level
            for key, value in pairs.pairs
            if name_of(key) in REASONS and _text(value)
        ]
        if said:
            return "\n".join(said)
        level = [inner for pairs in level for _, value in pairs.pairs for inner in _inside(value)]
        if not level:
            break
    return ""


def as_pairs(value: Json) -> Pairs | None:
    """Decoded JSON as an object, where it is one, a list of one, or such JSON within a string."""
    if isinstance(value, Pairs):
        return value
    if isinstance(value, list) and len(cast("list[Json]", value)) == 1:
        return as_pairs(cast("list[Json]", value)[0])
    if isinstance(value, str) and value.lstrip().startswith(("{", "[", '"{')):
        return strict_pairs(value)
    return None


def strict_pairs(text: str) -> Pairs | None:
    """A text that is JSON, and an object."""
    try:
        value = json.loads(text, strict=False, object_pairs_hook=_pairs)
    except (ValueError, RecursionError):
        return None
    return None if value == text else as_pairs(value)


def _pairs(pairs: list[tuple[str, Json]]) -> Pairs:
    return Pairs(tuple(pairs), 0, 0, is_whole=True)


def _found_here(pairs: Pairs, scale: Scale) -> Iterator[Found]:
    most = next(
        (number for key, value in pairs.pairs if name_of(key) in MOST and (number := _number(value))), None
    )
    for key, value in pairs.pairs:
        name = name_of(key)
        is_strong = name in STRONG[scale.kind]
        if not is_strong and name not in WEAK[scale.kind]:
            continue
        if isinstance(value, Pairs | list):
            continue
        if isinstance(value, Broken):
            yield Found(Misread("cut", "the reply ends in the middle of its verdict"))
            continue
        read = read_value(value, scale)
        if scale.kind == "binary" and name in INVERTED:
            read = _inverted(read)
        if scale.kind == "score" and most is not None and _number(value) is not None:
            yield Found(_share(value, most, read, scale), is_strong)
            continue
        yield Found(read, is_strong)


def _number(value: Json) -> float | None:
    return None if isinstance(value, Pairs | Broken) else number_of(value)


def _share(value: Json, most: float, read: Reading | Misread, scale: Scale) -> Reading | Misread:
    """`{"score": 8, "max_score": 10}`: points of so many, unless the points alone are a verdict too."""
    share = read_value(f"{_number(value)}/{most}", scale)
    if isinstance(share, Misread) or (isinstance(read, Reading) and abs(read.value - share.value) > 1e-9):
        if isinstance(read, Reading) and isinstance(share, Reading):
            return Misread("contradiction", f"{value} of {most:g} can be read in two ways")
        return read
    return share


def _inverted(read: Reading | Misread) -> Reading | Misread:
    if isinstance(read, Misread):
        return read
    return Reading(1.0 - read.value, "fail" if read.value else "pass")


def _inside(value: Json) -> Iterator[Pairs]:
    if isinstance(value, Pairs):
        yield value
    elif isinstance(value, list):
        yield from (entry for entry in cast("list[Json]", value) if isinstance(entry, Pairs))
    elif isinstance(value, str) and (packed := as_pairs(value)) is not None:
        yield packed


def _text(value: Json) -> str:
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, Broken):
        return value.text.strip()
    if isinstance(value, list):
        return "\n".join(entry for entry in cast("list[Json]", value) if isinstance(entry, str)).strip()
    return ""
