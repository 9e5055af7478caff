"""Numbers of bytes as people write and read them."""

from __future__ import annotations

import re
from typing import Final

_WRITTEN: Final = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,6})?) ?(?:([KMGT])(?:i?B)?|B)?", re.IGNORECASE)
_UNITS: Final = "KMGT"


def size_of(text: str) -> int | None:
    """The number of bytes that a text says; None for a text that says none. A unit is a power of 1024.

    >>> size_of("2G"), size_of("1.5 MiB"), size_of("512"), size_of("2 pounds")
    (2147483648, 1572864, 512, None)
    """
    found = _WRITTEN.fullmatch(text.strip())
    if found is None:
        return None
    power = _UNITS.index(found[2].upper()) + 1 if found[2] else 0
    return int(float(found[1]) * 1024**power) if "." in found[1] else int(found[1]) * 1024**power


def size_text(count: int) -> str:
    """A number of bytes with its largest unit of which there is at least one.

    >>> size_text(1073741824), size_text(1610612736), size_text(512)
    ('1 GiB', '1.5 GiB', '512 bytes')
    """
    for power in range(len(_UNITS), 0, -1):
        if count >= 1024**power:
            return f"{count / 1024**power:.4g} {_UNITS[power - 1]}iB"
    return f"{count} bytes" if count != 1 else "1 byte"
