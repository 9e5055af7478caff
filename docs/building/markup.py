"""Turns the Markdown of the repository into what a reader of the site is to see."""

from __future__ import annotations

import re

_SAMPLE = re.compile(
    r"^<!-- *(?P<marker>[^\n]*?) *-->\n(?P<fence>`{3,})(?P<language>[\w-]*)[ ]*$", re.MULTILINE
)
_FILE = re.compile(r"file: *(?P<path>[^;]+)")
_PRE = re.compile(r"(<pre.*?</pre>)", re.DOTALL)
_WIDE = "\u2014\u2018\u2019\u201c\u201d\u2026\u3000-\u303f\u3400-\u9fff\uff00-\uffef"
_BREAK = re.compile(
    f"(?<=[{_WIDE}])\n(?=[{_WIDE}])|(?<=[\u3001\u3002\uff01\uff08\uff09\uff0c\uff1a\uff1b\uff1f])\n"
)


def with_titles(text: str) -> str:
    """A page whose samples show the file that they are, in place of the marker that the tests read."""
    return _SAMPLE.sub(_titled, text)


def _titled(found: re.Match[str]) -> str:
    named = _FILE.match(found["marker"])
    title = f' title="{named["path"].strip()}"' if named else ""
    return f"{found['fence']}{found['language'] or 'text'}{title}"


def without_breaks(html: str) -> str:
    """A page without the ends of lines that would be drawn as a space between two Chinese characters.

    The pages have a sentence on each line; Chinese has no space between sentences. Code is left as it is.
    """
    parts = _PRE.split(html)
    return "".join(part if part.startswith("<pre") else _BREAK.sub("", part) for part in parts)
