"""Tables of tests: a record a line (JSONL) or a row (CSV), read one after the other.

Columns of a CSV file are `id`, `input`, `expected`, `goal`, `files`, `graders`, `timeout`, `trials`, `tags`,
`description`, and any number of `metadata.NAME`. A cell is text, also when it looks like JSON; an empty one
means that the test has no such field. `timeout` and `trials` are numbers; tags are separated by commas.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from proctor.errors import did_you_mean
from proctor.loading import json_text
from proctor.loading.check import object_at
from proctor.loading.csv_rows import csv_rows
from proctor.loading.documents import note_text_error, note_unsound, text_of_bytes
from proctor.loading.entries import Entry
from proctor.loading.faults import AtLine, Faults, Spot, listed, shown
from proctor.loading.fields import RENAMED_TEST_FIELDS, TEST_FIELDS
from proctor.loading.json_text import TextError
from proctor.records.json_value import Json

METADATA = "metadata."
COLUMNS = tuple(field.name for field in TEST_FIELDS if field.name != "metadata")
_NUMBER_COLUMNS = frozenset({"timeout", "trials"})
_NUMBER = re.compile(r"-?[0-9]{1,15}(\.[0-9]{1,15})?")


class _Line(NamedTuple):
    number: int
    text: str


def read_jsonl(path: Path, label: str, faults: Faults) -> Iterator[Entry]:
    """The tests of a file with one JSON object a line; blank lines are passed over."""
    try:
        for line in _lines(path):
            if not line.text.strip():
                continue
            if line.text.strip() in ("{", "["):
                raise TextError(
                    "A record does not end on its line.",
                    'Write each test on one line, or call the file .json: {"inputs": [...]}.',
                    line=line.number,
                )
            entry = _record(line, path.parent, label, faults)
            if entry is not None:
                yield entry
    except TextError as fault:
        note_text_error(fault, label, faults)


def _record(line: _Line, folder: Path, label: str, faults: Faults) -> Entry | None:
    spot = Spot(AtLine(label, line.number))
    try:
        parsed = json_text.parse(line.text)
    except TextError as fault:
        fault.line = line.number
        note_text_error(fault, label, faults)
        return None
    if parsed.has_duplicates:
        for twice, _ in json_text.positions(line.text).duplicates:
            faults.note(
                spot, f"{spot.at(*twice).field} is given twice in the same object.", "Keep one of the two."
            )
    fields = object_at(note_unsound(parsed.value, spot, faults), spot, faults, what="a test")
    return None if fields is None else Entry(spot, fields, folder, spot.where)


def read_csv(path: Path, label: str, faults: Faults) -> Iterator[Entry]:
    """The tests of a file with one row a test, the first row naming the columns."""
    lines = (line.text for line in _lines(path))
    try:
        for spot, cells in csv_rows(lines, label, faults, _is_good_header):
            yield Entry(spot, _fields_of(cells), path.parent, spot.where)
    except TextError as fault:
        note_text_error(fault, label, faults)


def _fields_of(cells: dict[str, str]) -> dict[str, Json]:
    fields: dict[str, Json] = {}
    metadata: dict[str, Json] = {}
    for column, cell in cells.items():
        if not cell:
            continue
        if column.startswith(METADATA):
            metadata[column.removeprefix(METADATA)] = cell
        elif column == "tags":
            fields[column] = [tag for part in cell.split(",") if (tag := part.strip())]
        elif column in _NUMBER_COLUMNS and _NUMBER.fullmatch(cell.strip()):
            fields[column] = float(cell)
        else:
            fields[column] = cell
    if metadata:
        fields["metadata"] = metadata
    return fields


def _is_good_header(header: list[str], spot: Spot, faults: Faults) -> bool:
    before = len(faults)
    if len(header) == 1 and (";" in header[0] or "\t" in header[0]):
        other = "semicolons" if ";" in header[0] else "tabs"
        faults.note(spot, f"The columns are separated by {other}.", "Save the table with commas.")
        return False
    for column in header:
        if column not in COLUMNS and (not column.startswith(METADATA) or column == METADATA):
            _note_unknown_column(column, spot, faults)
    for column in sorted({column for column in header if header.count(column) > 1}):
        faults.note(spot, f"The column {shown(column)} is there twice.", "Keep one of the two.")
    if "id" not in header and len(faults) == before:
        faults.note(
            spot,
            f"There is no column `id`; the columns are {listed(header)}.",
            "Add one, with a name for each test that does not depend on the order of rows.",
        )
    return len(faults) == before


def _note_unknown_column(column: str, spot: Spot, faults: Faults) -> None:
    what = f"There is the column {shown(column)}, and tests have no such field."
    if column in RENAMED_TEST_FIELDS:
        faults.note(spot, what, RENAMED_TEST_FIELDS[column])
        return
    if column.startswith(("input.", "expected.")):
        faults.note(spot, what, "Cells are text; keep tests whose input is an object as JSONL.")
        return
    near = did_you_mean(column.strip(), COLUMNS)
    own = f"Did you mean `{near}`?" if near else f"The columns are: {listed(COLUMNS)}."
    faults.note(spot, what, f"{own} Columns of your own are called metadata.NAME.")


def _lines(path: Path) -> Iterator[_Line]:
    """The lines of a file, with their ends, as they are read.

    Raises:
        TextError: the file cannot be opened, or one of its lines is not text in UTF-8.
    """
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                yield _Line(number, text_of_bytes(line, first_line=number, may_be_blank=True))
    except OSError as error:
        raise TextError(
            f"The file cannot be read: {error.strerror or error}.", "Check its name and permissions.", line=1
        ) from error
