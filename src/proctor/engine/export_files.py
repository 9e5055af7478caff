"""Tables as files: CSV, JSONL and Parquet, written batch by batch and put in place when they are whole."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any, Final

import msgspec

from proctor.core.formulas import guarded
from proctor.errors import UsageError
from proctor.records.export import Column, Kind, Record

BATCH: Final = 1000
"""Rows that are in memory at a time."""

ARROW_TYPES: dict[Kind, str] = {"text": "string", "integer": "int64", "number": "float64", "boolean": "bool_"}


def check_format(target: Path, *, for_spreadsheet: bool = False) -> None:
    """Find out before the work whether a file of this name can be made.

    Raises:
        UsageError: its ending names no known format, or none for spreadsheets, or a library is missing.
    """
    if target.suffix not in WRITERS:
        raise UsageError(
            f"{target.name!r} ends in no known format", fix="End its name in .parquet, .csv or .jsonl."
        )
    if for_spreadsheet and target.suffix != ".csv":
        raise UsageError(
            f"{target.name!r} is no CSV file, and only in those do spreadsheets take text for formulas",
            fix="End its name in .csv, or leave out --for-spreadsheet.",
        )
    if target.suffix == ".parquet":
        _arrow("pyarrow")


def write_table(
    rows: Iterable[Record], columns: Sequence[Column], target: Path, *, for_spreadsheet: bool = False
) -> int:
    """Write all rows into a file, whose ending says how, and return their number.

    Args:
        rows: what is written, with a value for each column.
        columns: the columns, in their order.
        target: the file; it is replaced when it is there.
        for_spreadsheet: CSV that is opened by people: no text is computed (`guarded`), and a mark at its
            beginning says that it is UTF-8. Programs read the texts with that apostrophe.

    Raises:
        UsageError: the file cannot be written, its ending is not known, or a library is missing.
    """
    check_format(target, for_spreadsheet=for_spreadsheet)
    temporary = target.with_name(f".{target.name}.part")
    try:
        batches = _batches(rows)
        if for_spreadsheet:
            count = _csv(map(_guarded, batches), columns, temporary, encoding="utf-8-sig")
        else:
            count = WRITERS[target.suffix](batches, columns, temporary)
        temporary.replace(target)
    except OSError as error:
        raise UsageError(
            f"{str(target)!r} cannot be written: {error.strerror}", fix="Name another file with -o."
        ) from error
    finally:
        temporary.unlink(missing_ok=True)
    return count


def _batches(rows: Iterable[Record]) -> Iterator[list[Record]]:
    pending = iter(rows)
    while batch := list(islice(pending, BATCH)):
        yield batch


def _guarded(batch: list[Record]) -> list[Record]:
    return [
        {name: guarded(value) if isinstance(value, str) else value for name, value in row.items()}
        for row in batch
    ]


def _csv(
    batches: Iterable[list[Record]], columns: Sequence[Column], target: Path, *, encoding: str = "utf-8"
) -> int:
    count = 0
    with target.open("w", encoding=encoding, newline="") as file:
        writer = csv.DictWriter(file, [column.name for column in columns])
        writer.writeheader()
        for batch in batches:
            writer.writerows(batch)
            count += len(batch)
    return count


def _jsonl(batches: Iterable[list[Record]], columns: Sequence[Column], target: Path) -> int:
    count = 0
    with target.open("wb") as file:
        for batch in batches:
            for row in batch:
                file.write(msgspec.json.encode({one.name: row[one.name] for one in columns}) + b"\n")
            count += len(batch)
    return count


def _parquet(batches: Iterable[list[Record]], columns: Sequence[Column], target: Path) -> int:
    arrow, parquet = _arrow("pyarrow"), _arrow("pyarrow.parquet")
    schema = arrow.schema([(one.name, getattr(arrow, ARROW_TYPES[one.kind])()) for one in columns])
    count = 0
    with parquet.ParquetWriter(str(target), schema) as writer:
        for batch in batches:
            writer.write_table(arrow.Table.from_pylist(batch, schema=schema))
            count += len(batch)
    return count


def _arrow(name: str) -> Any:
    """A module of pyarrow, whose own types are unknown to the type checker."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        raise UsageError(
            "Parquet needs the library pyarrow, which is not installed",
            fix="Install it with the extra: pip install 'proctor[export]'. Or write .csv or .jsonl.",
        ) from error


WRITERS = {".csv": _csv, ".jsonl": _jsonl, ".parquet": _parquet}
