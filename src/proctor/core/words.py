"""A command line as words, without a shell."""

from __future__ import annotations

import shlex


def split_words(command: str) -> list[str]:
    """The words of a command: whitespace separates, quotes of both kinds group, nothing else is special.

    Raises:
        ValueError: a quotation mark is never closed.

    >>> split_words("tool --flag='a b' '' $HOME")
    ['tool', '--flag=a b', '', '$HOME']
    """
    splitter = shlex.shlex(command, posix=True, punctuation_chars=False)
    splitter.whitespace_split = True
    splitter.commenters = ""
    splitter.escape = ""
    return list(splitter)
