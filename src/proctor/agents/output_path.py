"""Where in an answer the output stands: `$.choices[0].text`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

from proctor.errors import UsageError
from proctor.records.json_value import Json

_STEP = re.compile(r"\.(\w[\w-]*)|\[(-?\d+)\]|\[\"((?:[^\"\\]|\\.)*)\"\]|\['([^']*)'\]")


class Nowhere(Exception):
    """A path leads to nothing; the message says how far it led."""


class OutputPath:
    """A path into a JSON value: names after dots, positions and quoted names in brackets. `$` is the whole.

    A subset of JSONPath (RFC 9535) that names exactly one value.

    >>> OutputPath("$.answers[-1].text").of({"answers": [{"text": "a"}, {"text": "b"}]})
    'b'

    Raises:
        UsageError: the text is no such path.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._steps: list[str | int] = []
        position = 1
        while position < len(text) and (found := _STEP.match(text, position)) is not None:
            name, index, quoted, single = found.groups()
            if index is not None:
                self._steps.append(int(index))
            else:
                self._steps.append(next(one for one in (name, quoted, single) if one is not None))
            position = found.end()
        if not text.startswith("$") or position < len(text):
            raise UsageError(
                f"{text!r} is no path to an output",
                fix="Begin with $, then .name for a field and [0] for a position: $.answer, $.choices[0].text.",
            )

    def of(self, value: Json) -> Json:
        """The value that the path leads to.

        Raises:
            Nowhere: there is none.
        """
        here: Any = value
        led = "$"
        for step in self._steps:
            if isinstance(step, str) and isinstance(here, Mapping) and step in here:
                here = cast("dict[str, Json]", here)[step]
            elif isinstance(step, int) and isinstance(here, list) and _has(cast("list[Json]", here), step):
                here = cast("list[Json]", here)[step]
            else:
                raise Nowhere(f"{led} has no {step!r}" if isinstance(step, str) else f"{led} has no [{step}]")
            led += f".{step}" if isinstance(step, str) else f"[{step}]"
        return here


def _has(items: list[Json], index: int) -> bool:
    return -len(items) <= index < len(items)
