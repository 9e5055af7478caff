"""Paths that people write, which are to stay below the folder that they are relative to."""

from __future__ import annotations


def is_plain_relative(path: str) -> bool:
    r"""True when a path stays below the folder it is relative to, whatever the system.

    >>> [is_plain_relative(path) for path in ("a/b", "/a", "a/../b", "C:\\a", "")]
    [True, False, False, False, False]
    """
    if not path or has_control(path) or path.startswith(("/", "\\", "~")) or path[1:2] == ":":
        return False
    return ".." not in path.replace("\\", "/").split("/")


def has_control(path: str) -> bool:
    """True when a text has a control character, which no path that people write has."""
    return any(character < " " for character in path)
