"""Reading JSON that other programs wrote: half surrogate pairs, bytes that are no UTF-8, and too deep nesting."""

from __future__ import annotations

import re
from typing import Final, TypeVar

import msgspec

T = TypeVar("T")

BOM: Final = b"\xef\xbb\xbf"

_ESCAPES: Final = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\.",
    re.DOTALL,
)


class NotJson(ValueError):
    """A text that is not the JSON that was looked for."""


def decoded(decoder: msgspec.json.Decoder[T], text: bytes | msgspec.Raw) -> T:
    r"""The value of a JSON text.

    Half of a surrogate pair, which programs leave where they cut a text, and bytes that are no UTF-8 become
    U+FFFD.

    Raises:
        NotJson: it is no JSON, not of the decoder's type, or nested too deep.

    >>> decoded(msgspec.json.Decoder(str), rb'"cut \ud83d"') == "cut \ufffd"
    True
    """
    try:
        return decoder.decode(text)
    except RecursionError:
        raise NotJson("it is nested too deep") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as first:
        mended = _mended(bytes(text))
        if mended is None:
            raise NotJson(str(first)) from None
    try:
        return decoder.decode(mended)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise NotJson(str(error)) from None


def _mended(text: bytes) -> bytes | None:
    """The text with U+FFFD for what is no character; None when there is nothing of that kind."""
    mended = _ESCAPES.sub(lambda found: rb"\ufffd" if found[1] else found[0], text)
    try:
        mended.decode()
    except UnicodeDecodeError:
        mended = mended.decode("utf-8", "replace").encode()
    return None if mended == text else mended
