"""Telling objects and lists from other JSON values, in a way that type checkers follow."""

from __future__ import annotations

from typing import TypeGuard

from proctor.records.json_value import Json


def is_object(value: Json) -> TypeGuard[dict[str, Json]]:
    """True for a JSON object."""
    return isinstance(value, dict)


def is_list(value: Json) -> TypeGuard[list[Json]]:
    """True for a JSON list."""
    return isinstance(value, list)
