"""Gathering faults: what is wrong at which field of which file, all of them before anything is raised."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, Protocol, TypeAlias

from proctor.core.secret_shapes import masked
from proctor.errors import Fault, ProctorError, SuiteError

FieldPath: TypeAlias = tuple[str | int, ...]
"""The keys and positions that lead to a value: `("inputs", 3, "timeout")`."""

SHOWN_CHARACTERS = 80


class Document(Protocol):
    """Something that was read, and can say on which line each of its fields stands."""

    @property
    def label(self) -> str:
        """The file as people call it: relative to where they are, when it lies below."""
        ...

    def line_of(self, path: FieldPath) -> int | None:
        """The line of a field, from 1; that of the nearest field above when it is not there."""
        ...


class Spot(NamedTuple):
    """A field of a document."""

    document: Document
    path: FieldPath = ()

    def at(self, *steps: str | int) -> Spot:
        """A field below this one."""
        return Spot(self.document, self.path + steps)

    @property
    def field(self) -> str:
        """The field as people write it: `inputs[3].timeout`."""
        return field_text(self.path)

    @property
    def file(self) -> str:
        """The document's label, in one line whatever the file is called."""
        return _printable(self.document.label)

    @property
    def line(self) -> int:
        """The line, from 1; 0 for the whole file."""
        return self.document.line_of(self.path) or 0

    @property
    def where(self) -> str:
        """File and line, and the column where it is known."""
        column = getattr(self.document, "column", None)
        return self.file + (f":{self.line}" if self.line else "") + (f":{column}" if column else "")


class AtLine(NamedTuple):
    """A record that stands on one line of a file, with all its fields; no line stands for the whole file."""

    label: str
    line: int | None = None
    column: int | None = None

    def line_of(self, path: FieldPath) -> int | None:
        """The record's line, whatever the field."""
        return self.line


class _Noted(NamedTuple):
    spot: Spot
    what: str
    fix: str


class Faults:
    """The faults of one suite, in the order in which they were found."""

    def __init__(self) -> None:
        self._noted: list[_Noted] = []

    def note(self, spot: Spot, what: str, fix: str) -> None:
        """Remember one fault, secrets masked. Its line is worked out only when all are raised."""
        self._noted.append(_Noted(spot, masked(what), masked(fix)))

    def include(self, error: ProctorError, spot: Spot) -> None:
        """Take over the faults of an error that was raised on behalf of a field."""
        for fault in error.faults:
            self.note(spot, fault.what, fault.fix)

    def __len__(self) -> int:
        return len(self._noted)

    def raise_any(self, kind: type[ProctorError] = SuiteError) -> None:
        """Raise all of them as one: file by file, and from top to bottom in each.

        Raises:
            ProctorError: of that kind, when there is at least one fault.
        """
        files = {
            label: number
            for number, label in enumerate(dict.fromkeys(each.spot.file for each in self._noted))
        }
        placed = [(files[each.spot.file], each.spot.line, each) for each in self._noted]
        placed.sort(key=lambda place: place[:2])
        if placed:
            raise kind.of(Fault(each.what, each.spot.where, each.fix) for _, _, each in placed)


class Broken:
    """Stands in a value for a part that already has its fault, so that nothing else is said about it."""

    def __repr__(self) -> str:
        return "..."


BROKEN = Broken()


def field_text(path: Iterable[str | int]) -> str:
    """A path as people write it.

    >>> field_text(("inputs", 3, "metadata", "of whom"))
    'inputs[3].metadata.of whom'
    """
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    text = _printable(text)
    return text if len(text) <= 2 * SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}...{text[-20:]}"


def shown(value: object) -> str:
    """A value as a message shows it: Python's notation, secrets masked, cut to some 80 characters.

    >>> shown("x" * 200)[-9:]
    "xxxxx...'"
    """
    if isinstance(value, str):
        # Masked before the cut: half a secret has no shape to be known by.
        text = masked(value)
        return repr(text if len(text) <= SHOWN_CHARACTERS else text[:SHOWN_CHARACTERS] + "...")
    try:
        text = masked(repr(value))
    except (RecursionError, ValueError):
        # ValueError: Python refuses to write integers of more than 4300 digits.
        return f"a {type(value).__name__} that is too large to show"
    text = _printable(text)
    return text if len(text) <= SHOWN_CHARACTERS else text[:SHOWN_CHARACTERS] + "..."


def listed(names: Iterable[str], *, most: int = 20) -> str:
    """Names in a row, cut with a count of those left out.

    >>> listed(["a", "b", "c"], most=2)
    'a, b and 1 more'
    """
    every = [_printable(name) for name in names]
    if len(every) <= most:
        return ", ".join(every)
    return f"{', '.join(every[:most])} and {len(every) - most} more"


def _printable(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode("ascii")
        for character in text
    )
