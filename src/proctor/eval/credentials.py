"""What looks like a credential in a case."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, cast

import msgspec

from proctor.core.secret_shapes import names_a_credential, secret_in
from proctor.records.json_value import Json

_OPEN: Final = ("metadata", "expected")
"""Fields that take keys of any name."""


def suspects_in(fields: Mapping[str, Json]) -> Iterator[tuple[str, str]]:
    """Path and kind of what looks like a credential: a text anywhere, a key where any name is allowed.

    >>> list(suspects_in({"metadata": {"api_key": "x"}}))
    [('metadata.api_key', 'has the name of a credential')]
    """
    for name, value in fields.items():
        yield from _suspects(value, name, is_open=name in _OPEN)


def _suspects(value: Json, path: str, *, is_open: bool) -> Iterator[tuple[str, str]]:
    if isinstance(value, msgspec.Struct):
        value = msgspec.to_builtins(value)
    if isinstance(value, str):
        if (secret := secret_in(value)) is not None:
            yield path, f"looks like a secret: {secret[:4]!r} and more"
    elif isinstance(value, Mapping):
        for key, part in cast("Mapping[Any, Any]", value).items():
            below = f"{path}.{key}"
            if is_open and isinstance(key, str) and names_a_credential(key):
                yield below, "has the name of a credential"
            yield from _suspects(part, below, is_open=is_open)
    elif isinstance(value, list | tuple):
        for index, part in enumerate(cast("Sequence[Any]", value)):
            yield from _suspects(part, f"{path}[{index}]", is_open=is_open)
