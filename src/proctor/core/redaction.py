"""Taking secrets out of what is about to be recorded."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, cast

from proctor.core.secret_shapes import may_hold_a_secret, names_a_credential, replaced
from proctor.records.json_value import Json, storable

SHORTEST = 8
"""A shorter value, or a number, is as likely to be something else: taking it out would spoil the record."""


class Redactor:
    """Replaces the values of credential-like variables, and whatever has the shape of a provider's key.

    A value becomes `[redacted NAME]`, after the variable that held it; a key by shape becomes `[redacted]`.
    Neither mark holds a character that JSON would have to escape, so that JSON stays valid.

    >>> redactor = Redactor({"MY_TOKEN": "hunter2hunter2", "PATH": "/usr/bin:/bin"})
    >>> redactor.text("it is hunter2hunter2, or AKIAABCDEFGHIJKLMNOP")
    'it is [redacted MY_TOKEN], or [redacted]'
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        secrets = {
            value: name
            for name, value in environment.items()
            if names_a_credential(name) and len(value) >= SHORTEST and not _is_number(value)
        }
        # The longest first: a value may be part of another one.
        self._values = dict(sorted(secrets.items(), key=lambda item: -len(item[0])))
        self._pattern = _any_of(self._values)
        self._bytes = _any_of_bytes(self._values)

    def text(self, text: str) -> str:
        """The text without secrets."""
        if self._pattern is not None:
            text = self._pattern.sub(lambda found: self._mark(found.group()), text)
        return replaced(text, "[redacted]") if may_hold_a_secret(text) else text

    def value(self, value: Json) -> Json:
        """The JSON value with every text in it, keys included, redacted."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list | tuple):
            return [self.value(entry) for entry in cast("list[Any]", value)]
        if isinstance(value, dict):
            entries = cast("dict[str, Any]", value)
            return {self.text(key): self.value(entry) for key, entry in entries.items()}
        return value

    def content(self, content: bytes) -> bytes:
        """Printed bytes without secrets; bytes that are no text stay what they are."""
        if self._bytes is not None:
            content = self._bytes.sub(
                lambda found: self._mark(found.group().decode("utf-8", "surrogateescape")).encode(), content
            )
        text = content.decode("utf-8", "surrogateescape")
        if not may_hold_a_secret(text):
            return content
        return replaced(text, "[redacted]").encode("utf-8", "surrogateescape")

    def _mark(self, value: str) -> str:
        return f"[redacted {storable(self._values[value])}]"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _any_of(values: Iterable[str]) -> re.Pattern[str] | None:
    choices = [re.escape(value) for value in values]
    return re.compile("|".join(choices)) if choices else None


def _any_of_bytes(values: Iterable[str]) -> re.Pattern[bytes] | None:
    choices = [re.escape(value.encode("utf-8", "surrogateescape")) for value in values]
    return re.compile(b"|".join(choices)) if choices else None
