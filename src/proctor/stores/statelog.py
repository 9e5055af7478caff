"""A statelog file on disk."""

from __future__ import annotations

from typing import Final

from proctor.core.trace_statelog import Statelog, StatelogReader
from proctor.errors import StoreError
from proctor.stores.lines import lines_of

STATELOG: Final = "statelog.jsonl"


def read_statelog(path: str) -> Statelog:
    """What a statelog tells. A last line without an end that cannot be read was never finished, and is left out.

    Raises:
        StoreError: the file cannot be read.
    """
    reader, is_torn = StatelogReader(), False
    try:
        for number, line, is_ended in lines_of(path):
            if reader.add(number, line, is_open=not is_ended) is None:
                is_torn = not is_ended
    except OSError as error:
        raise StoreError(
            f"the statelog cannot be read: {error.strerror}", where=path, fix="Make the file readable."
        ) from error
    return reader.finish(is_torn=is_torn)
