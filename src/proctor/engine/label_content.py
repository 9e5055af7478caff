"""What a person sees of a run while labelling it: texts that a terminal or a page can show as they are."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final

import msgspec
from msgspec import UNSET

from proctor.engine.labelled_runs import LabelledRun
from proctor.errors import StoreError
from proctor.host.tree import files_in
from proctor.records.json_value import Json, text_of
from proctor.records.trace import Event, LlmCall

MOST_FILE_BYTES: Final = 400_000
MOST_FILES: Final = 2_000


class RunContent(msgspec.Struct, frozen=True, kw_only=True):
    """A run's parts. Nothing is made inert yet: whoever shows it does that.

    Attributes:
        input: what the agent was given; None when there was nothing.
        output: what it answered, or the last message of its model; None when there is neither.
        output_note: why the output is not an output, in a sentence; empty when it is.
        expected: what the test compares with; None when it has none.
        goal: what a judge is to look for; None when the test has none.
        files: the files of the workdir, relative to it.
        calls: model calls and tool calls, in order.
        grades: what graders said, a text each.
    """

    input: str | None
    output: str | None
    output_note: str
    expected: str | None
    goal: str | None
    files: tuple[str, ...]
    calls: tuple[str, ...]
    grades: tuple[str, ...]


def content_of(run: LabelledRun) -> RunContent:
    """What there is to see of a run; a part that cannot be read says so in its place."""
    test = run.facts.test
    output, note = _output(run)
    try:
        trace = run.run.trace(run.facts)
        events = trace.events if trace else ()
        calls = tuple(_call(event) for event in events)
    except StoreError as error:
        events, calls = (), (f"(the trace cannot be read: {error.what})",)
    if output is None:
        last = next((event.messages_out for event in reversed(events) if isinstance(event, LlmCall)), None)
        if last is not None:
            output, note = readable(last), "no output was recorded; this is the last message of its model"
    return RunContent(
        input=None if test.input is UNSET else readable(test.input),
        output=output,
        output_note=note,
        expected=None if test.expected is UNSET else readable(test.expected),
        goal=test.goal,
        files=tuple(sorted(files_in(run.run.workdir))[:MOST_FILES]),
        calls=calls,
        grades=tuple(_grade(run)),
    )


def file_text(run: LabelledRun, name: str) -> str:
    """The text of a workdir's file, or a sentence about one that has none. No link is followed."""
    path = run.run.workdir / name
    try:
        if _leaves(path, run.run.workdir):
            return "(it lies behind a link, which is not followed)"
        mode = path.lstat().st_mode
        if stat.S_ISLNK(mode):
            return f"(a link to {os.readlink(path)})"  # noqa: PTH115  as text
        if not stat.S_ISREG(mode):
            return "(no regular file)"
        with path.open("rb") as file:
            content = file.read(MOST_FILE_BYTES + 1)
    except OSError as error:
        return f"(it cannot be read: {error.strerror or error})"
    if b"\0" in content:
        return f"(not text; {path.stat().st_size} bytes)"
    text = content[:MOST_FILE_BYTES].decode("utf-8", "backslashreplace")
    return text + ("\n(cut here; the file is longer)" if len(content) > MOST_FILE_BYTES else "")


def readable(value: Json) -> str:
    """A value as people read it: text as it is, chat messages one below the other, other JSON indented."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict | list):
        return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
    return text_of(value)


def _output(run: LabelledRun) -> tuple[str | None, str]:
    try:
        output = run.run.output(run.facts)
    except StoreError as error:
        return None, f"the output cannot be read: {error.what}"
    if output is not None:
        return readable(output), ""
    return None, "no output was recorded"


def _call(event: Event) -> str:
    error = f"\nerror: {event.error}" if event.error else ""
    if isinstance(event, LlmCall):
        tokens = ", ".join(
            f"{count} tokens {way}"
            for count, way in ((event.tokens_in, "in"), (event.tokens_out, "out"))
            if count is not None
        )
        answered = "" if event.messages_out is None else f"\n{readable(event.messages_out)}"
        return f"+{event.start_s:.1f}s  model {event.model or '(no name)'}  {tokens}{answered}{error}"
    parts = [
        f"\n{word}: {readable(value)}"
        for word, value in (("given", event.arguments), ("gave", event.result))
        if value is not None
    ]
    return f"+{event.start_s:.1f}s  tool {event.name}{''.join(parts)}{error}"


def _grade(run: LabelledRun) -> list[str]:
    if not run.report.grades:
        return [run.report.reason or "no grades"]
    lines: list[str] = []
    for grade in run.report.grades:
        found = (
            grade.outcome.value if grade.score is None or grade.scale == "binary" else f"{grade.score:.3f}"
        )
        gate = "  gate" if grade.must_pass else ""
        said = f"\n{grade.feedback}" if grade.feedback else ""
        lines.append(f"{grade.grader}  {found}{gate}{said}")
    return lines


def _leaves(path: Path, workdir: Path) -> bool:
    return not path.parent.resolve().is_relative_to(workdir.resolve())
