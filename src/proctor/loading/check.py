"""An object that somebody wrote, against the table of its fields."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from proctor.core.secret_shapes import names_a_credential
from proctor.errors import did_you_mean
from proctor.loading.faults import BROKEN, Faults, Spot, listed, shown
from proctor.loading.fields import Field, fits
from proctor.loading.json_types import is_list, is_object
from proctor.records.json_value import Json


def checked(
    raw: Mapping[str, Json],
    fields: Sequence[Field],
    spot: Spot,
    faults: Faults,
    *,
    of: str = "a test",
    renamed: Mapping[str, str] | None = None,
) -> dict[str, Json]:
    """The fields of an object that are known and hold what they may; each other one is noted as a fault.

    of: what has these fields, for messages: "is not a field of a test".
    renamed: names of other tools, with what to do instead.
    """
    known = {field.name: field for field in fields}
    good: dict[str, Json] = {}
    for key, value in raw.items():
        field = known.get(key)
        if field is None:
            _note_unknown(key, value, fields, spot, faults, of=of, renamed=renamed or {})
        elif value is BROKEN:
            continue
        elif fits(value, field.schema):
            good[key] = value
        else:
            note_wrong(field, value, spot.at(key), faults)
    return good


def note_wrong(field: Field, value: Json, spot: Spot, faults: Faults) -> None:
    """Note that a field holds what it does not take; the entry at fault, where a list holds it."""
    schema = field.schema
    if is_list(value) and value and "items" in schema:
        for index, entry in enumerate(value):
            if entry is not BROKEN and not fits(entry, schema["items"]):
                faults.note(
                    spot.at(index),
                    f"{spot.at(index).field} is {shown(entry)}; `{field.name}` takes {field.takes}.",
                    f"Write for example {field.example}.",
                )
        return
    faults.note(
        spot,
        f"{spot.field} is {shown(value)}; it takes {field.takes}.",
        _advice(field, value),
    )


def _advice(field: Field, value: Json) -> str:
    """What to write instead: the same value the way the field takes it, if there is such a way."""
    kind = field.schema.get("type")
    if kind == "string" and isinstance(value, int | float) and not isinstance(value, bool):
        return f'Write it in quotes: "{value}".'
    if isinstance(value, str) and kind in ("number", "integer"):
        number = float(value) if re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", value) else 0
        if fits(number, field.schema):
            return f"Write it without quotes: {value}."
    if isinstance(value, str) and value and kind == "array" and fits([value], field.schema):
        return (
            f"Write {json.dumps([value], ensure_ascii=False)}." if len(value) < 60 else "Write it as a list."
        )
    rest = "." if field.is_needed else ", or leave it out."
    return f"Write for example {field.example}{rest}"


def object_at(
    value: Json, spot: Spot, faults: Faults, *, what: str, example: str = '{"id": "a", "input": "..."}'
) -> dict[str, Json] | None:
    """The value when it is an object; otherwise None, with a fault.

    what: the thing that is an object: "a test".
    """
    if is_object(value):
        return value
    if value is not BROKEN:
        faults.note(
            spot,
            f"{spot.field or 'The file'} is {shown(value)}; {what} is an object.",
            f"Write for example {example}.",
        )
    return None


def _note_unknown(
    key: str,
    value: Json,
    fields: Sequence[Field],
    spot: Spot,
    faults: Faults,
    *,
    of: str,
    renamed: Mapping[str, str],
) -> None:
    place = spot.at(key)
    names = [field.name for field in fields]
    if key in renamed:
        faults.note(place, f"{place.field} is not a field of {of}: {shown(value)}.", renamed[key])
        return
    if names_a_credential(key):
        faults.note(
            place,
            f"{place.field} has the name of a credential: {_first_characters(value)}.",
            "Take it out: a suite holds no credentials. Give them to the agent through its environment.",
        )
        return
    near = did_you_mean(key, names)
    advice = f"Did you mean `{near}`?" if near else f"The fields of {of} are: {listed(names)}."
    own = " Fields of your own stand under `metadata`." if "metadata" in names else ""
    faults.note(place, f"{place.field} is not a field of {of}: {shown(value)}.", advice + own)


def _first_characters(value: Json) -> str:
    return repr(value[:4] + "...") if isinstance(value, str) else type(value).__name__
