"""What a function returned, as plain JSON; or where in it something stands that is none.

Dataclasses, pydantic models and msgspec structs are known by what they carry: nothing is imported for them.
"""

from __future__ import annotations

import math
import re
from typing import Any, cast

_DEEPEST = 100
_LONE_SURROGATES = re.compile("[\ud800-\udfff]")
_SURROGATE_NOTE = "The output held half of a surrogate pair, which is no character; U+FFFD stands for it."


class NotJson(Exception):
    """A value is no JSON; the message says where in it, and what stands there."""

    def __init__(self, where: str, what: str) -> None:
        super().__init__(f"The function returned something that is not JSON: {where}: {what}")


class Plain:
    """Turns one value into plain JSON.

    Attributes:
        notes: what was changed on the way, a sentence each.
    """

    def __init__(self) -> None:
        self.notes: list[str] = []

    def of(self, value: Any, where: str = "$", depth: int = 0) -> Any:
        """The value as None, bool, int, float, str, lists and string-keyed dicts.

        Raises:
            NotJson: it has a part that is none of these, NaN or an infinity, or nests too deep.
        """
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, int):
            return int(value)
        if isinstance(value, float):
            if not math.isfinite(value):
                raise NotJson(where, str(float(value)))
            return float(value)
        if depth == _DEEPEST:
            raise NotJson(where, f"it nests deeper than {_DEEPEST} levels, or holds itself")
        if isinstance(value, dict):
            return self._entries(cast("dict[Any, Any]", value), where, depth)
        if isinstance(value, list | tuple):
            items = cast("list[Any]", value)
            return [self.of(item, f"{where}[{index}]", depth + 1) for index, item in enumerate(items)]
        fields = _fields_of(value)
        if fields is None:
            raise NotJson(where, _type_name(value))
        return self._entries(fields, where, depth)

    def _entries(self, entries: dict[Any, Any], where: str, depth: int) -> dict[str, Any]:
        plain: dict[str, Any] = {}
        for key, entry in entries.items():
            if not isinstance(key, str):
                raise NotJson(where, f"the key {key!r} is of type {_type_name(key)}, and keys are strings")
            plain[self._text(key)] = self.of(entry, f"{where}{_step(key)}", depth + 1)
        return plain

    def _text(self, text: str) -> str:
        # The plain text also of a member of a string enumeration, whose own `str` may say another.
        exact = str.__str__(text)
        if exact.isascii():
            return exact
        clean = _LONE_SURROGATES.sub("\ufffd", exact)
        if clean != exact and _SURROGATE_NOTE not in self.notes:
            self.notes.append(_SURROGATE_NOTE)
        return clean


def _fields_of(value: Any) -> dict[str, Any] | None:
    kind = cast("Any", type(value))
    if hasattr(kind, "__dataclass_fields__"):
        from dataclasses import fields

        return {field.name: getattr(value, field.name) for field in fields(value)}
    if hasattr(kind, "__struct_encode_fields__"):
        names = zip(kind.__struct_encode_fields__, kind.__struct_fields__, strict=True)
        config = kind.__struct_config__
        tag = {config.tag_field: config.tag} if config.tag_field else {}
        return tag | {written: getattr(value, name) for written, name in names}
    if hasattr(kind, "model_dump") and hasattr(kind, "model_fields"):
        return value.model_dump(mode="json")
    return None


def _step(key: str) -> str:
    return f".{key}" if key.isidentifier() else f"[{key!r}]"


def _type_name(value: Any) -> str:
    kind = cast("type[object]", type(value))
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
