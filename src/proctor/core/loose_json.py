"""JSON as language models write it: single quotes, loose keys, trailing commas, comments, ends that are missing.

What is found is never completed: a number, a word or a string that the text breaks off in is `Broken`, not a value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from proctor.records.json_value import Json

MAX_DEPTH: Final = 24
"""Deeper nesting is no verdict."""

_SPACE: Final = re.compile(r"(?:\s|//[^\n]*|/\*(?:[^*]|\*(?!/)){0,200}\*/)*")
_NUMBER: Final = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_DECIMAL_COMMA: Final = re.compile(r"[-+]?\d+,\d+(?=\s*(?:[}\n]|,\s*[\"'A-Za-z_}]))")
_FRACTION: Final = re.compile(r"[-+]?\d+(?:\.\d+)?\s*(?:/\s*\d+(?:\.\d+)?|%)")
_WORD: Final = re.compile(r"[-+]?[^\W\d]\w*")
_KEY: Final = re.compile(r"[^\W\d][\w \-]{0,60}?(?=\s{0,99}[:=：])")
_WORDS: Final = {
    "true": True, "True": True, "false": False, "False": False, "null": None, "None": None, "undefined": None,
    "NaN": "NaN", "nan": "NaN", "Infinity": "Infinity", "-Infinity": "-Infinity", "inf": "Infinity",
}  # fmt: skip
_QUOTES: Final = {
    '"': '"',
    "'": "'",
    "“": "”",
    "”": "”",
    "„": "“",
    "‘": "’",
    "’": "’",
    "`": "`",
    "「": "」",
    "«": "»",
}
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
# A quote ends a string only where JSON could go on: models leave the quotes inside of a string as they are.
_AFTER_KEY: Final = re.compile(r"\s*(?:$|[:：=])")
_AFTER_VALUE: Final = re.compile(
    r"\s*(?:$|[}\]]|//|\n\s*[\"'“]?[^\W\d]\w{0,60}[\"'”]?\s*[:：]|[,，]\s*"
    r"(?:$|[}\]\[{\"'“„‘`«「]|//|[^\W\d]\w{0,60}\s*[:：]|-?\d|(?:true|false|null|True|False|None)\b))"
)


class Pairs(msgspec.Struct, frozen=True):
    """An object, with every pair as it stands: a key that is there twice is there twice.

    Attributes:
        pairs: keys and values in order.
        start: where it begins in the text.
        end: the position after it.
        is_whole: its closing brace is there.
    """

    pairs: tuple[tuple[str, Json | Pairs], ...]
    start: int
    end: int
    is_whole: bool


class Broken(msgspec.Struct, frozen=True):
    """A value in the middle of which the text ends."""

    text: str


class _NotJson(Exception):
    """What stands here is no JSON, however loosely read."""


class _OutOfSteps(Exception):
    """The text made the reader start over too often."""


def loose_objects(text: str) -> Iterator[Pairs]:
    """The outermost objects of a text, in order, nested ones as values of theirs.

    An object that the text ends in is given as far as it goes. Time is linear in the length of the text: a text that
    makes the reader start over more often than any honest one does is read no further.
    """
    reader = _Reader(text)
    position = 0
    while (start := text.find("{", position)) >= 0:
        try:
            found = reader.object_at(start)
        except _NotJson:
            position = start + 1
        except _OutOfSteps:
            return
        else:
            yield found
            position = max(found.end, start + 1)


class _Reader:
    """Reads values from one text, within a number of steps."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.steps = 4 * len(text) + 2_000

    def object_at(self, start: int, depth: int = 0) -> Pairs:
        """The object whose brace is at `start`."""
        if depth > MAX_DEPTH:
            raise _NotJson
        pairs: list[tuple[str, Json | Pairs]] = []
        position = start + 1
        while True:
            position = self._skip(position)
            if position >= len(self.text):
                return self._cut(pairs, start)
            if self.text[position] == "}":
                return Pairs(tuple(pairs), start, position + 1, is_whole=True)
            if self.text[position] in ",，" and pairs:
                position += 1
                continue
            key, position = self._key(position)
            position = self._skip(position)
            if position >= len(self.text):
                return self._cut(pairs, start)
            if self.text[position] not in ":=：":
                raise _NotJson
            value, position = self._value(self._skip(position + 1), depth, in_object=True)
            pairs.append((key, value))
            position = self._skip(position)
            if position < len(self.text) and self.text[position] not in ",，}" and not self._is_key(position):
                raise _NotJson

    def _cut(self, pairs: list[tuple[str, Json | Pairs]], start: int) -> Pairs:
        if not pairs:
            raise _NotJson
        return Pairs(tuple(pairs), start, len(self.text), is_whole=False)

    def _is_key(self, position: int) -> bool:
        """A comma was forgotten between two lines."""
        return "\n" in self.text[max(0, position - 80) : position] and (
            self.text[position] in _QUOTES or _KEY.match(self.text, position) is not None
        )

    def _key(self, position: int) -> tuple[str, int]:
        if self.text[position] in _QUOTES:
            key, position = self._string(position, _AFTER_KEY)
            if isinstance(key, Broken):
                return "", len(self.text)
            return key, position
        found = _KEY.match(self.text, position)
        if found is None:
            rest = self.text[position : position + 64]
            if re.fullmatch(r"[^\W\d][\w \-]*\s*", rest):
                return "", len(self.text)
            raise _NotJson
        return found[0], found.end()

    def _value(self, position: int, depth: int, *, in_object: bool) -> tuple[Json | Pairs, int]:
        text = self.text
        if position >= len(text):
            return Broken(""), position
        first = text[position]
        if first == "{":
            inner = self.object_at(position, depth + 1)
            return inner, inner.end
        if first == "[":
            return self._array(position, depth + 1)
        if first in _QUOTES:
            return self._string(position, _AFTER_VALUE)
        for pattern in (_FRACTION, _DECIMAL_COMMA) if in_object else (_FRACTION,):
            if (found := pattern.match(text, position)) is not None:
                ends = found.end() == len(text) and not found[0].endswith("%")
                return (Broken(found[0]) if ends else found[0]), found.end()
        if (found := _NUMBER.match(text, position)) is not None:
            return (Broken(found[0]) if found.end() == len(text) else _number(found[0])), found.end()
        if (found := _WORD.match(text, position)) is not None:
            if found.end() == len(text):
                return Broken(found[0]), found.end()
            # A bare word that JSON does not know is what a model wrote without quotes.
            return _WORDS.get(found[0], found[0]), found.end()
        raise _NotJson

    def _array(self, start: int, depth: int) -> tuple[Json, int]:
        if depth > MAX_DEPTH:
            raise _NotJson
        entries: list[Any] = []
        position = start + 1
        while True:
            position = self._skip(position)
            if position >= len(self.text):
                return [*entries, Broken("")], position
            if self.text[position] == "]":
                return entries, position + 1
            if self.text[position] in ",，":
                position += 1
                continue
            value, position = self._value(position, depth, in_object=False)
            entries.append(value)
            position = self._skip(position)
            if position < len(self.text) and self.text[position] not in ",，]":
                raise _NotJson

    def _string(self, start: int, after: re.Pattern[str]) -> tuple[str | Broken, int]:
        text, closing = self.text, _QUOTES[self.text[start]]
        parts: list[str] = []
        position = start + 1
        while position < len(text):
            char = text[position]
            if char == "\\" and position + 1 < len(text):
                escaped = text[position + 1]
                code = text[position + 2 : position + 6]
                if escaped == "u" and re.fullmatch("[0-9a-fA-F]{4}", code):
                    parts.append(chr(int(code, 16)))
                    position += 6
                    continue
                parts.append(_ESCAPES.get(escaped, escaped))
                position += 2
                continue
            if char == closing and after.match(text, position + 1):
                self._spend(position - start)
                return "".join(parts), position + 1
            parts.append(char)
            position += 1
        self._spend(position - start)
        return Broken("".join(parts)), position

    def _skip(self, position: int) -> int:
        found = _SPACE.match(self.text, position)
        end = position if found is None else found.end()
        self._spend(1 + end - position)
        return end

    def _spend(self, steps: int) -> None:
        self.steps -= steps
        if self.steps < 0:
            raise _OutOfSteps


def _number(text: str) -> float | int | str:
    """A number; its text when it is too long for one."""
    if len(text) > 40:
        return text
    if re.fullmatch(r"[-+]?\d+", text):
        return int(text)
    return float(text)
