"""JSON text: what it says, what is wrong with it in plain words, and on which line each field stands."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from typing import Any, NamedTuple, cast

from proctor.loading.faults import FieldPath
from proctor.loading.json_types import is_list, is_object
from proctor.records.json_value import Json

_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL)
_ELSEWHERE = {
    "True": "true",
    "False": "false",
    "None": "null",
    "undefined": "null",
    "TRUE": "true",
    "FALSE": "false",
    "NULL": "null",
}


class TextError(Exception):
    """A text that cannot be read: on which line and column, what was found, what to do."""

    def __init__(self, what: str, fix: str, *, line: int, column: int | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.fix = fix
        self.line = line
        self.column = column


class Parsed(NamedTuple):
    """What a JSON text says, and whether some object in it has a key twice (the last one is kept)."""

    value: Json
    has_duplicates: bool


class Positions(NamedTuple):
    """The line of each field, and the keys that stand twice in one object, with the line of the second."""

    lines: dict[FieldPath, int]
    duplicates: list[tuple[FieldPath, int]]


def parse(text: str) -> Parsed:
    """What a JSON text says.

    Raises:
        TextError: it is not JSON.
    """
    duplicates = False

    def object_of(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
        nonlocal duplicates
        entries = dict(pairs)
        if len(entries) != len(pairs):
            duplicates = True
        return entries

    try:
        value = json.loads(text, object_pairs_hook=object_of)
    except json.JSONDecodeError as error:
        raise _fault_of(error) from error
    except RecursionError as error:
        raise TextError(
            "The values are nested too deeply to be read.", "Nest them at most 100 levels deep.", line=1
        ) from error
    except ValueError as error:
        raise TextError(
            "A whole number has thousands of digits.",
            "Write it as text, in quotes.",
            line=_line_of_number(text),
        ) from error
    return Parsed(value, duplicates)


def positions(text: str, *, depth: int | None = None) -> Positions:
    """Where the fields of a JSON text stand.

    text: must be JSON; what is not is undefined.
    depth: fields further down than this are passed over, which is several times as fast.
    """
    skip = json.JSONDecoder().raw_decode
    lines: dict[FieldPath, int] = {}
    duplicates: list[tuple[FieldPath, int]] = []
    path: list[str | int] = []
    awaits_key: list[bool | None] = []  # one a container that is open; None for a list
    awaits_value = True
    line, counted, position = 1, 0, 0
    while token := _TOKEN.search(text, position):
        word, position = token.group(), token.end()
        line += text.count("\n", counted, token.start())
        counted = token.start()
        if word in "}]":
            path.pop()
            awaits_key.pop()
            awaits_value = False
        elif word == ",":
            step = path[-1]
            if isinstance(step, int):
                path[-1] = step + 1
                awaits_value = True
            else:
                awaits_key[-1] = True
        elif word == ":":
            awaits_value = True
        elif awaits_key and awaits_key[-1]:
            path[-1] = json.loads(word, strict=False)
            awaits_key[-1] = False
            place = tuple(path)
            if place in lines:
                duplicates.append((place, line))
            lines[place] = line
        elif awaits_value:
            if not path or isinstance(path[-1], int):
                lines[tuple(path)] = line
            awaits_value = False
            if word in "{[":
                if depth is not None and len(path) >= depth:
                    position = skip(text, token.start())[1]
                    continue
                path.append("" if word == "{" else 0)
                awaits_key.append(True if word == "{" else None)
                awaits_value = word == "["
    return Positions(lines, duplicates)


def _fault_of(error: json.JSONDecodeError) -> TextError:
    what, fix = _in_our_words(error)
    at = _place_of(error)
    before = error.doc[:at]
    return TextError(what, fix, line=before.count("\n") + 1, column=at - before.rfind("\n"))


def _place_of(error: json.JSONDecodeError) -> int:
    """Where it went wrong: of a comma too many the comma itself, as Python 3.13 has it, not what follows it."""
    before = error.doc[: error.pos].rstrip()
    return len(before) - 1 if _has_comma_too_many(error) and before.endswith(",") else error.pos


def _has_comma_too_many(error: json.JSONDecodeError) -> bool:
    before, rest = error.doc[: error.pos].rstrip(), error.doc[error.pos :].lstrip()
    return (before.endswith(",") and rest[:1] in ("}", "]")) or "trailing comma" in error.msg


def _in_our_words(error: json.JSONDecodeError) -> tuple[str, str]:
    text, at = error.doc, error.pos
    rest = text[at:].lstrip()
    found = _word(rest)
    if not rest:
        return (
            "The text ends in the middle of a value.",
            "Close what is open: a quote, a `}` or a `]` is missing.",
        )
    if error.msg.startswith("Unterminated string"):
        return "A text begins here and never ends.", 'Close it with a `"`.'
    if error.msg.startswith("Invalid control character"):
        return (
            "A text holds a line break or another control character as it is.",
            r'Write a line break as \n, a tab as \t; a closing `"` may also be missing before it.',
        )
    if error.msg.startswith("Invalid \\"):
        return (
            "A text holds a backslash that starts nothing JSON knows.",
            r"Write a backslash itself as two: \\.",
        )
    if rest.startswith("'"):
        return "A text stands in single quotes.", 'Write it in double quotes: "...".'
    if rest.startswith(("//", "/*", "#")):
        return (
            "There is a comment, and JSON has none.",
            "Take it out, or keep the suite as YAML, which has them.",
        )
    if _has_comma_too_many(error):
        return "A comma stands before the end of a list or an object.", "Take the last comma away."
    if found in _ELSEWHERE:
        return f"There is the word {found}, which JSON does not have.", f"Write {_ELSEWHERE[found]}."
    if error.msg.startswith("Extra data"):
        return (
            f"After the end of the value there is more: {found!r}.",
            "A file holds one value; take the rest away.",
        )
    if "property name" in error.msg:
        return f"A field's name was expected, and {found!r} is here.", 'Names stand in double quotes: "id".'
    if "':'" in error.msg:
        return f"A `:` was expected after a field's name, and {found!r} is here.", 'Write "name": value.'
    if "','" in error.msg:
        return f"A comma or the end was expected, and {found!r} is here.", "Put a comma between two entries."
    return f"A value was expected, and {found!r} is here.", 'Text stands in double quotes: "...".'


def _word(text: str) -> str:
    found = re.match(r"\w+|\S", text)
    return found.group()[:40] if found else ""


def _line_of_number(text: str) -> int:
    found = re.search(r"\d{1000}", text)
    return text.count("\n", 0, found.start()) + 1 if found else 1


def unsound_parts(value: Json, *, most_levels: int = 100) -> list[tuple[FieldPath, str, str]]:
    """The parts of a parsed value that cannot be kept as JSON in UTF-8: path, what is the case, what to do.

    Such a part is: nested deeper than `most_levels`, a number that is not finite, a whole number that does
    not fit 64 bits, or a text (or key) with half of a surrogate pair.
    """
    if _is_sound(value, most_levels):
        return []
    found: list[tuple[FieldPath, str, str]] = []
    waiting: list[tuple[FieldPath, Json]] = [((), value)]
    while waiting:
        path, part = waiting.pop()
        if is_object(part) or is_list(part):
            if len(path) >= most_levels:
                found.append(
                    (path, "is nested too deeply", f"Nest values at most {most_levels} levels deep.")
                )
                continue
            if is_object(part) and (halves := [name for name in part if not _encodes(name)]):
                found.append((path, f"has the name {halves[0]!r}, half of a surrogate pair", _WHOLE))
                continue
            steps: Iterable[tuple[str | int, Json]] = part.items() if is_object(part) else enumerate(part)
            waiting.extend(reversed([((*path, step), entry) for step, entry in steps]))
        elif complaint := _scalar_complaint(part):
            found.append((path, *complaint))
    return found


_WHOLE = "Write the character itself, or both halves of it."
_BIG = 1 << 63


def _scalar_complaint(part: Json) -> tuple[str, str] | None:
    if isinstance(part, str) and not _encodes(part):
        return "holds half of a surrogate pair, which is no character", _WHOLE
    if isinstance(part, float) and not math.isfinite(part):
        return f"is {part}, and JSON has no such number", "Write a finite number, or text in quotes."
    if isinstance(part, int) and not -_BIG <= part < 2 * _BIG:
        return "is a whole number that does not fit 64 bits", "Write it as text, in quotes."
    return None


def _is_sound(value: Json, most_levels: int) -> bool:
    level: list[Json] = [value]
    for _ in range(most_levels + 1):
        below: list[Json] = []
        for part in level:
            kind = cast("type[Any]", type(part))
            if kind is str:
                if not part.isascii() and not _encodes(part):
                    return False
            elif kind is dict:
                if not all(key.isascii() or _encodes(key) for key in part):
                    return False
                below.extend(part.values())
            elif kind is list:
                below.extend(part)
            elif (kind is int or kind is float) and _scalar_complaint(part):
                return False
        if not below:
            return True
        level = below
    return False


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
