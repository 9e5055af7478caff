"""Rows of a CSV file, each cell under the name that the first row gives it; what is wrong is said by its line."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator

from proctor.loading.faults import AtLine, Faults, Spot


def csv_rows(
    lines: Iterable[str],
    label: str,
    faults: Faults,
    is_good_header: Callable[[list[str], Spot, Faults], bool],
) -> Iterator[tuple[Spot, dict[str, str]]]:
    """The rows below the first one that can be read, with their places; lines that hold nothing are passed over.

    Args:
        lines: of the file, each with its end.
        label: what the file is called in faults.
        faults: takes what is wrong.
        is_good_header: says whether the names of the first row will do, and notes why not.
    """
    rows = csv.reader(lines, strict=True)
    header: list[str] | None = None
    line = 1
    try:
        for row in rows:
            number, line = line, rows.line_num + 1
            if not row:
                continue
            spot = Spot(AtLine(label, number))
            if header is None:
                header = row
                if not is_good_header(header, spot, faults):
                    return
            elif len(row) != len(header):
                faults.note(
                    spot,
                    f"The row has {len(row)} cells, and the first row names {len(header)} columns.",
                    'Put cells that hold a comma, a quote or a line break in quotes: "a, b".',
                )
            else:
                yield spot, dict(zip(header, row, strict=True))
    except csv.Error as error:
        faults.note(Spot(AtLine(label, line)), *_in_our_words(error))


def _in_our_words(error: csv.Error) -> tuple[str, str]:
    said = str(error)
    if "field larger" in said:
        return "A cell holds more than 131,072 characters.", "Keep rows as large as this as JSONL."
    if "new-line character" in said:
        return "A lone carriage return ends a line.", "Save the table with the usual line ends."
    if "unexpected end" in said:
        return "A cell in quotes never ends.", 'Close it with a `"`; write a quote inside a cell as two: "".'
    if "expected after" in said:
        return "There is more after the closing quote of a cell.", 'Write a quote inside a cell as two: "".'
    return f"The row cannot be read: {said}.", "Check its quotes and commas."
