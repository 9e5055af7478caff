"""Patterns of workdir files that a judge is shown, and which paths they match."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from proctor.records.judging import TOOL_CALLS


def globs_of(include: Iterable[str]) -> tuple[str, ...]:
    """The patterns of `include` that speak of files.

    Raises:
        ValueError: one is empty, absolute, or goes upward.

    >>> globs_of(["report.md", "@tool-calls"])
    ('report.md',)
    """
    globs = tuple(pattern for pattern in include if pattern != TOOL_CALLS)
    for pattern in globs:
        if not pattern or pattern.startswith(("/", "@")) or ".." in pattern.split("/"):
            raise ValueError(
                f"include has patterns of files in the workdir, such as 'report.md' or 'src/**/*.py', or "
                f"{TOOL_CALLS!r}, and this is {pattern!r}"
            )
    return globs


def matching(paths: Iterable[str], globs: Iterable[str]) -> list[str]:
    """The relative paths that a pattern matches as a whole, sorted; `**` stands for any number of folders.

    >>> matching(["a.md", "b/c.md", "b/d.txt"], ["**/*.md"])
    ['a.md', 'b/c.md']
    """
    patterns = [pattern.split("/") for pattern in globs]
    return sorted(path for path in paths if any(_matches(path.split("/"), one) for one in patterns))


def _matches(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    # The parts of the pattern that may have been reached after each part of the path: linear, whatever the agent
    # named its folders.
    reached = _with_skips({0}, pattern)
    for part in parts:
        stepped: set[int] = set()
        for at in reached:
            if at < len(pattern):
                if pattern[at] == "**":
                    stepped.add(at)
                elif fnmatchcase(part, pattern[at]):
                    stepped.add(at + 1)
        reached = _with_skips(stepped, pattern)
    return len(pattern) in reached


def _with_skips(reached: set[int], pattern: Sequence[str]) -> set[int]:
    """Those that were reached, and those behind a `**` that stands for no folder."""
    found = set(reached)
    for at in sorted(reached):
        while at < len(pattern) and pattern[at] == "**":
            at += 1  # noqa: PLW2901
            found.add(at)
    return found
