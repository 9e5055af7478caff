"""The lines of a file that another program wrote."""

from __future__ import annotations

from collections.abc import Iterator

from proctor.core.json_lines import BOM


def lines_of(path: str) -> Iterator[tuple[int, bytes, bool]]:
    """The lines of a file that are not blank: number, text without its end, and whether it has one.

    Lines end in a line feed only. A byte order mark at the start is no part of the first.

    Raises:
        OSError: it cannot be read.
    """
    with open(path, "rb") as file:  # noqa: PTH123  many runs are read one after another
        for number, line in enumerate(file, start=1):
            text = line.removeprefix(BOM) if number == 1 else line
            if not text.isspace():
                yield number, text.removesuffix(b"\n"), text.endswith(b"\n")
