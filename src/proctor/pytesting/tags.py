"""The tags of a suite as markers of pytest."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

import pytest

RESERVED: Final = frozenset(("skip", "skipif", "xfail", "parametrize", "usefixtures", "filterwarnings"))
"""Marks that pytest itself acts on: a tag of that name selects by -k alone."""
_MARK: Final = re.compile(r"[^\W_][\w.+-]*")


def as_markers(config: pytest.Config, tags: Iterable[str]) -> Iterator[pytest.MarkDecorator]:
    """A marker for each tag that can be one, registered, so that strict markers let it pass."""
    for tag in tags:
        if tag in RESERVED or not _MARK.fullmatch(tag):
            continue
        known = {line.partition(":")[0].partition("(")[0].strip() for line in config.getini("markers")}
        if tag not in known:
            config.addinivalue_line("markers", f"{tag}: tests of suites with this tag")
        yield getattr(pytest.mark, tag)
