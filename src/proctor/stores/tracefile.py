"""The file that holds the trace of a run, read line by line and only when somebody asks what it says."""

from __future__ import annotations

from typing import Final

from proctor.core.json_lines import NotJson
from proctor.core.trace import TraceReader
from proctor.core.trace_otlp import Document
from proctor.records.trace import Trace
from proctor.stores.lines import lines_of
from proctor.stores.statelog import STATELOG, read_statelog

TRACE: Final = "trace.jsonl"


def read_trace(folder: str, name: str | None = None) -> Trace | None:
    """What the trace in a run directory says; None when there is no such file, or nothing in it.

    A trace that cannot be opened, a line that cannot be read, a last line that was never finished, and a line in
    which proctor says what is lost make it one that is not whole.

    name: STATELOG for a run whose trace is one; `trace.jsonl` otherwise.
    """
    if name == STATELOG:
        stories = read_statelog(f"{folder}/{STATELOG}").stories
        return stories[0].trace if len(stories) == 1 else None
    reader, is_whole, is_empty = TraceReader(), True, True
    lost: str | None = None
    try:
        for _, line, _ in lines_of(f"{folder}/{TRACE}"):
            is_empty = False
            try:
                document = Document(line)
                lost = lost or document.lost
                for span in document.spans():
                    reader.add(span)
            except (NotJson, RecursionError):
                is_whole = False
    except FileNotFoundError:
        return None
    except OSError:
        return Trace()
    return None if is_empty else reader.finish(is_whole=is_whole and lost is None, lost=lost)
