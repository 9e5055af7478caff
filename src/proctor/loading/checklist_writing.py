"""Writing a published revision back into the user's file, which keeps its comments and its order."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from proctor.errors import StoreError, UsageError
from proctor.loading.documents import YAML_ENDINGS
from proctor.records.checklist import Checklist, Question
from proctor.records.json_value import Json

_FIRST = ("id", "text")


def write_definition(path: Path, revision: Checklist) -> None:
    """Make the file say what a revision says. It appears whole; a YAML file keeps its comments.

    Raises:
        UsageError: it is YAML, and what writes YAML is not installed.
        StoreError: it cannot be written.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
        new = _yaml(text, revision) if path.suffix.lower() in YAML_ENDINGS else _json(text, revision)
        if new == text:
            return
        target = path.resolve()  # a link stays one
        temporary = target.with_name(f".{target.name}.{os.getpid()}.part")
        with temporary.open("w", encoding="utf-8", newline="") as file:
            file.write(new)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(target.stat().st_mode & 0o777)
        temporary.replace(target)
    except OSError as error:
        raise StoreError(
            f"the ids of its questions cannot be written into the checklist: {error.strerror or error}",
            where=str(path),
            fix="Make the file writable; what was published is kept, and is written here when it is opened again.",
        ) from error


def check_can_write(path: Path) -> None:
    """Find out before anything is published whether the file can be written afterwards.

    Raises:
        UsageError: it is YAML, and what writes YAML is not installed; or the file or its folder is not writable.
    """
    if path.suffix.lower() in YAML_ENDINGS:
        _round_trip()
    target = path.resolve()
    if not os.access(target, os.W_OK) or not os.access(target.parent, os.W_OK):
        raise UsageError(
            "the ids of its questions cannot be written into the checklist: it is not writable",
            where=str(path),
            fix="Make the file and its folder writable, or copy it to a place that is.",
        )


def _fields(question: Question) -> dict[str, Json]:
    """A question as the file says it: without what is the default."""
    said: dict[str, Json] = msgspec.to_builtins(question)
    worth = said.pop("worth", None)
    if worth:
        said["choices"] = dict(zip(question.choices, map(_short, worth), strict=True))
    if "weight" in said:
        said["weight"] = _short(said["weight"])
    return {key: said[key] for key in (*_FIRST, *(key for key in said if key not in _FIRST)) if key in said}


def _short(number: float) -> float | int:
    return int(number) if float(number).is_integer() else number


def _head(revision: Checklist) -> dict[str, Json]:
    return {
        "name": revision.name,
        "checklistId": revision.checklist,
        "version": revision.version,
        "hash": revision.hash,
    }


def _json(text: str, revision: Checklist) -> str:
    document: dict[str, Json] = json.loads(text)
    document |= _head(revision)
    document["questions"] = [_fields(question) for question in revision.questions]
    document["questions"] = document.pop("questions")  # last, where people look for what is long
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _yaml(text: str, revision: Checklist) -> str:
    round_trip = _round_trip()
    round_trip.preserve_quotes = True
    round_trip.width = 4096
    indent = _indent_of_lists(text)
    round_trip.indent(mapping=2, sequence=indent + 2, offset=indent)
    document: Any = round_trip.load(text)
    _put(document, _head(revision), after="name")
    written: Any = document["questions"]
    by_place = {entry.get("id"): entry for entry in written if entry.get("id")}
    nameless = [entry for entry in written if not entry.get("id")]
    del written[len(revision.questions) :]
    for place, question in enumerate(revision.questions):
        entry = by_place.get(question.id)
        if entry is None:
            entry = next((one for one in nameless if one.get("text") == question.text), None)
            if entry is None:
                entry = round_trip.map()
            else:
                nameless.remove(entry)
        _settle(entry, _fields(question))
        if place < len(written):
            written[place] = entry
        else:
            written.append(entry)
    out = io.StringIO()
    round_trip.dump(document, out)
    return out.getvalue()


def _round_trip() -> Any:
    try:
        from ruamel.yaml import YAML
    except ModuleNotFoundError as error:
        raise UsageError(
            "writing the ids of its questions into a checklist in YAML needs a library that is not installed",
            fix="Install it: pip install 'proctor[label]'; or keep the checklist as JSON.",
        ) from error
    made: Any = YAML()
    return made


def _settle(entry: Any, fields: Mapping[str, Json]) -> None:
    """Make a mapping say exactly these fields, and write only where it says otherwise."""
    for key in [key for key in entry if key not in fields]:
        default = {"weight": 1, "deleted": False, "kind": "yes-no"}.get(key)
        if entry[key] != default:
            del entry[key]
    for key, value in fields.items():
        if key not in entry:
            entry.insert(0 if key == "id" else len(entry), key, value)
        elif entry[key] != value:
            entry[key] = value


def _put(document: Any, fields: Mapping[str, Json], *, after: str) -> None:
    keys = list(document)
    place = keys.index(after) + 1 if after in keys else 0
    for key, value in fields.items():
        if key in document:
            if document[key] != value:
                document[key] = value
        else:
            document.insert(place, key, value)
            place += 1


def _indent_of_lists(text: str) -> int:
    """How far the dash of the first list entry stands in, so that what is written looks as it did."""
    line = next((line for line in text.splitlines() if line.lstrip().startswith("- ")), "")
    return len(line) - len(line.lstrip())
