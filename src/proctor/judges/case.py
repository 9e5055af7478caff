"""What a judge is shown of a run: texts of a stated size, and a note of what was left out."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
from msgspec import UNSET

from proctor.core.fencing import cut
from proctor.core.include import globs_of, matching
from proctor.host.tree import files_in
from proctor.judges.setup import JudgedRun
from proctor.records.json_value import Json, canonical_text, storable, text_of
from proctor.records.judging import TOOL_CALLS, JudgeQuestion
from proctor.records.trace import Event, ToolCall

LIMITS: Final[Mapping[str, int]] = {
    "output": 40_000,
    "expected": 20_000,
    "input": 10_000,
    "file": 20_000,
    "tool_calls": 20_000,
}
"""Characters of each part that a judge is shown; of a longer one the beginning and the end, with a mark between."""

MOST_FILES: Final = 20
MOST_OF_FILES: Final = 80_000
_MOST_OF_A_VALUE: Final = 2_000


class ShownFile(NamedTuple):
    """A file of the workdir, as the judge sees it."""

    name: str
    text: str


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """All that a judge is shown.

    Attributes:
        goal: what to look for.
        output: None when the agent answered nothing.
        expected: None when there is nothing to compare with.
        input: the task; None when the agent was given nothing.
        files: those of the workdir that were asked for.
        tool_calls: one a line; None when they are not shown.
        left_out: number of characters that were left out, by part.
    """

    goal: str
    output: str | None = None
    expected: str | None = None
    input: str | None = None
    files: tuple[ShownFile, ...] = ()
    tool_calls: str | None = None
    left_out: dict[str, int] = {}

    @property
    def lacks(self) -> str | None:
        """Why there is nothing to judge; None when there is something."""
        if not self.goal.strip():
            return "there is no goal to judge by"
        if not self.output and not self.files and not self.tool_calls:
            return "the agent gave no output, and left nothing else that the judge was to see"
        return None


def case_of(question: JudgeQuestion, run: JudgedRun, *, with_tool_calls: bool = False) -> Case:
    """The case that a question about a run makes.

    with_tool_calls: show them also where `include` does not ask for them.

    Raises:
        ValueError: a pattern of `include` leads out of the workdir.
    """
    test, left_out = run.test, dict[str, int]()

    def shown(part: str, value: Json) -> str | None:
        if value is UNSET:
            return None
        text, missing = cut(text_of(value), LIMITS[part])
        if missing:
            left_out[part] = missing
        return text

    output = run.output if question.output is UNSET else question.output
    expected = test.expected if question.expected is UNSET else question.expected
    files = tuple(_files(run.workdir, globs_of(question.include), left_out))
    with_tool_calls = with_tool_calls or TOOL_CALLS in question.include
    calls = list(_tool_calls(run.events)) if with_tool_calls else []
    return Case(
        goal=question.goal if question.goal is not None else test.goal or "",
        output=None if output is None else shown("output", output),
        expected=None if expected is None else shown("expected", expected),
        input=shown("input", test.input),
        files=files,
        tool_calls=shown("tool_calls", "\n".join(calls)) if calls else None,
        left_out=left_out,
    )


def _files(workdir: Path, globs: Sequence[str], left_out: dict[str, int]) -> Iterator[ShownFile]:
    if not globs or not workdir.is_dir():
        return
    names = matching(files_in(workdir), globs)
    room = MOST_OF_FILES
    for number, name in enumerate(names):
        if number == MOST_FILES or room <= 0:
            left_out["files"] = len(names) - number
            return
        text = _text_of_file(workdir / name)
        if text is None:
            continue
        text, missing = cut(text, min(LIMITS["file"], room))
        if missing:
            left_out[f"file {storable(name)}"] = missing
        room -= len(text)
        yield ShownFile(storable(name), text)


def _text_of_file(path: Path) -> str | None:
    """The text of a regular file; a note for one that is no text; None for a link, a pipe, or what cannot be read.

    The agent chose the path: the last step follows no link, and the steps before it were found to be folders.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return None
        # Beginning and end are shown, and a character has at most four bytes.
        if status.st_size > 64 * LIMITS["file"]:
            return f"(a file of {status.st_size:,} bytes, too large to be shown)"
        content = file.read()
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return f"(a file of {len(content):,} bytes that is no text)"


def _tool_calls(events: Iterable[Event]) -> Iterator[str]:
    for event in events:
        if isinstance(event, ToolCall):
            error = f" failed: {event.error}" if event.error else ""
            yield f"{event.name}({_value(event.arguments)}) -> {_value(event.result)}{error}"


def _value(value: Json) -> str:
    return "" if value is None else cut(canonical_text(value), _MOST_OF_A_VALUE)[0].replace("\n", " ")
