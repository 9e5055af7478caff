"""The schemas as they were published, and whether a change keeps what they promised.

A version of a schema is a promise: what matched it goes on matching it. The folder `snapshots` holds each as it was
published. `python -m tests.schemas.published` takes over a change that keeps the promise, and refuses one that does
not: such a change needs the next version, in `proctor/schemas/catalogue.py` and in the format itself.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from proctor.schemas import SCHEMAS, file_name, schema

SNAPSHOTS = Path(__file__).with_name("snapshots")
ADVICE = "what matched before still matches; take it over with `python -m tests.schemas.published`"
REFUSED = (
    "what matched before may not match any more: raise `version` of {name!r} in proctor/schemas/catalogue.py"
)

_LOWER = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties")
_UPPER = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties")
_SAME = ("pattern", "not", "const")
_KNOWN = {
    *_LOWER,
    *_UPPER,
    *_SAME,
    *("title", "description", "default", "$schema", "$id", "$defs", "$ref", "type", "enum", "anyOf"),
    *("properties", "required", "additionalProperties", "propertyNames", "items"),
}


def text_of(name: str) -> str:
    """A schema as it stands in its snapshot."""
    return json.dumps(schema(name), indent=1, ensure_ascii=False) + "\n"


class Finding(NamedTuple):
    """A schema that is not as it was published: its name, what to do, and whether that was a promise broken."""

    name: str
    said: str
    is_broken: bool


def findings() -> Iterator[Finding]:
    """The schemas that are not as they were published."""
    for one in SCHEMAS:
        path = SNAPSHOTS / file_name(one.name)
        if not path.exists():
            yield Finding(one.name, f"it was never published; {ADVICE.partition('; ')[2]}", is_broken=False)
        elif path.read_text(encoding="utf-8") != text_of(one.name):
            broken = breaks(json.loads(path.read_text(encoding="utf-8")), schema(one.name))
            said = REFUSED.format(name=one.name) if broken else ADVICE
            told = "\n".join([said, *(f"  {line}" for line in broken)])
            yield Finding(one.name, told, is_broken=bool(broken))
    known = {file_name(one.name) for one in SCHEMAS}
    for path in sorted(SNAPSHOTS.glob("*.json")):
        name, _, version = path.stem.rpartition(".v")
        current = next((one.version for one in SCHEMAS if one.name == name), 0)
        if path.name not in known and int(version) >= current:
            yield Finding(name, f"{path.name} was published, and is not there any more", is_broken=True)


def breaks(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """Where a value that matches the old schema may not match the new one, or a field is not described any more."""
    return list(_Promise(old, new).broken(old, new, "$", frozenset()))


class _Promise:
    """Two schemas, which refer to parts of their own."""

    def __init__(self, old: Any, new: Any) -> None:
        self._old, self._new = old, new

    def broken(self, old: Any, new: Any, at: str, seen: frozenset[tuple[str, str]]) -> Iterator[str]:
        """Where one part of the new schema keeps less than the old one promised."""
        pair = (old.get("$ref", ""), new.get("$ref", ""))
        if pair in seen:
            return
        seen = seen | {pair} if any(pair) else seen
        old, new = _resolved(old, self._old), _resolved(new, self._new)
        if "anyOf" in old or "anyOf" in new:
            mine, theirs = old.get("anyOf", [old]), new.get("anyOf", [new])
            for number, option in enumerate(mine):
                if all(list(self.broken(option, other, at, seen)) for other in theirs):
                    yield f"{at}: its option {number + 1} is not taken any more"
            return
        yield from _narrowed(old, new, at)
        yield from _tightened(old, new, at)
        for name, one in old.get("properties", {}).items():
            if name in new.get("properties", {}):
                yield from self.broken(one, new["properties"][name], f"{at}.{name}", seen)
            else:
                yield f"{at}.{name}: it is not described any more"
        for word, step in (("additionalProperties", ".*"), ("propertyNames", ".*?"), ("items", "[]")):
            one, other = old.get(word, True), new.get(word, True)
            if other is False and one is not False:
                yield f"{at}: it takes no further fields any more"
            elif isinstance(other, dict) and one is not False:
                yield from self.broken(one if isinstance(one, dict) else {}, other, f"{at}{step}", seen)


def _narrowed(old: Any, new: Any, at: str) -> Iterator[str]:
    """Values and types that are not taken any more."""
    before, after = _values(old), _values(new)
    if after and before - after:
        yield f"{at}: it does not take {', '.join(sorted(before - after))} any more"
    elif after and not before:
        yield f"{at}: it takes a few values alone"
    if "type" in new and not before:
        lost = _types(old) - _types(new) - ({"integer"} if "number" in _types(new) else set())
        if lost or "type" not in old:
            yield f"{at}: it does not take every {', '.join(sorted(lost)) or 'type'} any more"


def _tightened(old: Any, new: Any, at: str) -> Iterator[str]:
    """Bounds that are narrower, fields that have to be there, and words that nobody here knows."""
    if unknown := sorted((set(old) | set(new)) - _KNOWN):
        yield f"{at}: nobody knows what {', '.join(unknown)} changes"
    for word in (*_LOWER, *_UPPER):
        is_narrower = word in new and (
            word not in old or (new[word] > old[word] if word in _LOWER else new[word] < old[word])
        )
        if is_narrower:
            yield f"{at}: {word} was {old.get(word)}, and is {new[word]}"
    for word in ("pattern", "not"):
        if word in new and new[word] != old.get(word):
            yield f"{at}: {word} is another"
    for name in new.get("required", ()):
        if name not in old.get("required", ()):
            yield f"{at}.{name}: it has to be there now"


def _resolved(part: Any, root: Any) -> Any:
    while "$ref" in part:
        part = root["$defs"][part["$ref"].rpartition("/")[2]]
    return part


def _values(part: Any) -> set[str]:
    values = part.get("enum", [part["const"]] if "const" in part else [])
    return {json.dumps(value) for value in values}


def _types(part: Any) -> set[str]:
    kinds = part.get("type", [])
    return {kinds} if isinstance(kinds, str) else set(kinds)


def main() -> int:
    """Take over every change that keeps the promise; 1 when there is one that does not."""
    found = list(findings())
    SNAPSHOTS.mkdir(exist_ok=True)
    for one in found:
        if one.is_broken:
            print(f"{one.name}: {one.said}", file=sys.stderr)
        else:
            (SNAPSHOTS / file_name(one.name)).write_text(text_of(one.name), encoding="utf-8")
            print(f"{one.name}: taken over")
    return int(any(one.is_broken for one in found))


if __name__ == "__main__":
    sys.exit(main())
