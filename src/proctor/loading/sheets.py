"""Sheets of labels in a file: CSV for spreadsheets, or JSONL. The same rows, whichever it is.

What an agent wrote could be a formula to a spreadsheet: such cells begin with an apostrophe, which is taken away again
where notes are read.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, Literal, NamedTuple

import msgspec

from proctor.core.formulas import guarded, unguarded
from proctor.core.labels import answer_text
from proctor.errors import UsageError
from proctor.loading.csv_rows import csv_rows
from proctor.loading.documents import text_of_bytes
from proctor.loading.faults import AtLine, Faults, Spot, listed, shown
from proctor.loading.json_text import TextError
from proctor.loading.json_types import is_object
from proctor.records.json_value import Json
from proctor.records.sheet import COLUMNS, NEEDED, SheetRow

SheetFormat = Literal["csv", "jsonl"]

_FREE: Final = ("annotator", "note", "text", "takes", "input", "output", "path", "test")


class ReadRow(NamedTuple):
    """A row of a file that was read: its place, and its cells as they are written."""

    spot: Spot
    cells: dict[str, Json]


def sheet_format(path: Path) -> SheetFormat:
    """What a file is by its ending.

    Raises:
        UsageError: it is neither.
    """
    endings: dict[str, SheetFormat] = {".csv": "csv", ".jsonl": "jsonl"}
    if path.suffix.lower() not in endings:
        raise UsageError(
            f"{str(path)!r} is neither .csv nor .jsonl",
            fix="Give the file one of these endings, or write - for CSV on standard output.",
        )
    return endings[path.suffix.lower()]


def sheet_text(rows: Iterable[SheetRow], kind: SheetFormat) -> str:
    """A sheet as the text of a file."""
    out = io.StringIO(newline="")
    if kind == "jsonl":
        for row in rows:
            fields: dict[str, Json] = msgspec.to_builtins(row)
            out.write(msgspec.json.encode(fields | {"answer": _written(row)}).decode() + "\n")
        return out.getvalue()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in rows:
        cells: dict[str, Json] = msgspec.to_builtins(row)
        cells["answer"] = "" if not row.at and row.answer is None else answer_text(row.answer)
        writer.writerow(_guarded(cells[name]) if name in _FREE else cells[name] for name in COLUMNS)
    return out.getvalue()


def read_sheet(path: Path, faults: Faults) -> Iterator[ReadRow]:
    """The rows of a file; what cannot be read is among the faults.

    Raises:
        UsageError: the file is neither CSV nor JSONL.
    """
    label = str(path)
    kind = sheet_format(path)
    try:
        text = text_of_bytes(path.read_bytes())
    except OSError as error:
        faults.note(Spot(AtLine(label)), f"The file cannot be read: {error.strerror}.", "Name another file.")
        return
    except TextError as fault:
        faults.note(Spot(AtLine(label, fault.line)), fault.what, fault.fix)
        return
    yield from (_read_csv if kind == "csv" else _read_jsonl)(text, label, faults)


def _written(row: SheetRow) -> Json:
    """JSON tells true from "yes": nothing answered is null, and cannot tell is said."""
    if row.answer is None:
        return answer_text(None) if row.at else None
    return row.answer


def _guarded(value: Json) -> Json:
    return guarded(value) if isinstance(value, str) else value


def _read_csv(text: str, label: str, faults: Faults) -> Iterator[ReadRow]:
    lines = io.StringIO(text, newline="")
    for spot, texts in csv_rows(lines, label, faults, _has_good_columns):
        if not any(texts.values()):
            continue
        cells: dict[str, Json] = {**texts}
        for name in ("note", "annotator"):
            if name in texts:
                cells[name] = unguarded(texts[name])
        yield ReadRow(spot, cells)


def _read_jsonl(text: str, label: str, faults: Faults) -> Iterator[ReadRow]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        spot = Spot(AtLine(label, number))
        try:
            value: Json = msgspec.json.decode(line)
        except (msgspec.DecodeError, RecursionError) as error:
            faults.note(spot, f"The line is not JSON: {error}.", "Write one object a line.")
            continue
        if not is_object(value):
            faults.note(spot, f"The line is {shown(value)}.", "Write one object a line.")
        elif _has_good_columns(list(value), spot, faults):
            yield ReadRow(spot, value)


def _has_good_columns(names: list[str], spot: Spot, faults: Faults) -> bool:
    before = len(faults)
    for name in dict.fromkeys(names):
        if name not in COLUMNS:
            faults.note(spot, f"There is the column {shown(name)}.", f"The columns are: {listed(COLUMNS)}.")
        elif names.count(name) > 1:
            faults.note(spot, f"The column {name} is there twice.", "Keep one of the two.")
    for name in NEEDED:
        if name not in names:
            faults.note(
                spot, f"There is no column {name}.", "Start from what `proctor label --export` writes."
            )
    return len(faults) == before
