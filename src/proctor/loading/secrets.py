"""Refusing the secrets that somebody left in a suite."""

from __future__ import annotations

from collections.abc import Iterable

from proctor.core.secret_shapes import may_hold_a_secret, secret_in
from proctor.loading.faults import Faults, FieldPath, Spot, field_text
from proctor.loading.json_types import is_list, is_object
from proctor.records.json_value import Json


def note_secrets(
    fields: dict[str, Json], spot: Spot, faults: Faults, *, named: str | None, allowed: frozenset[str]
) -> None:
    """Note each value, and each name of a field, that has the shape of a provider's key.

    Fields with a credential's name need no look here: where any name is allowed, in `input`, `expected` and
    `metadata`, these are too, and elsewhere the tables of fields refuse them.

    named: the id of the test (or `defaults`), with which the names in `allowed` begin.
    allowed: fields to pass over, with all that is below them.
    """
    # Python's notation keeps what keys are made of, and looking at it once is many times as fast as a walk.
    if not may_hold_a_secret(repr(fields)):
        return
    waiting: list[tuple[FieldPath, Json]] = [((), fields)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, str):
            if (secret := secret_in(value)) is not None:
                _note(path, f"looks like a secret: {secret[:4]!r} and more", spot, faults, named, allowed)
        elif is_object(value) or is_list(value):
            pairs: Iterable[tuple[str | int, Json]] = value.items() if is_object(value) else enumerate(value)
            for step, entry in pairs:
                below = (*path, step)
                if isinstance(step, str) and secret_in(step) is not None:
                    _note(
                        path,
                        f"has a name that looks like a secret: {step[:4]!r} and more",
                        spot,
                        faults,
                        named,
                        allowed,
                    )
                waiting.append((below, entry))


def _note(
    path: FieldPath, what: str, spot: Spot, faults: Faults, named: str | None, allowed: frozenset[str]
) -> None:
    full: FieldPath = (named, *path) if named is not None else spot.path + path
    if any(field_text(full[:length]) in allowed for length in range(1, len(full) + 1)):
        return
    faults.note(
        spot.at(*path),
        f"{spot.at(*path).field or 'The test'} {what}.",
        "Take it out of the suite; what an agent needs, it gets through its environment. If it is no secret: "
        f"--allow-credentials '{field_text(full)}'.",
    )
