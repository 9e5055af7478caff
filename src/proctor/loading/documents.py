"""One file that holds one value: read, decoded, parsed, with a fault for whatever stands in the way."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Protocol

from proctor.loading import json_text
from proctor.loading.faults import BROKEN, AtLine, Faults, FieldPath, Spot, field_text
from proctor.loading.json_text import Positions, TextError
from proctor.records.json_value import Json

YAML_ENDINGS = (".yaml", ".yml")
OBJECT_ENDINGS = (".json", *YAML_ENDINGS)


class ReadDocument(Protocol):
    """A file's value, and where each of its fields stands."""

    label: str
    value: Json

    def line_of(self, path: FieldPath) -> int | None:
        """The line of a field; that of the nearest field above when it is not there."""
        ...

    def entry_line(self, path: FieldPath) -> int | None:
        """The line of a field at most two levels down, found without looking at what is deeper."""
        ...


class JsonDocument:
    """A JSON file that was read."""

    def __init__(self, label: str, text: str, value: Json) -> None:
        self.label = label
        self.value = value
        self._text = text

    @cached_property
    def positions(self) -> Positions:
        """Where every field stands; worked out when first asked for, as only messages need it."""
        return json_text.positions(self._text)

    @cached_property
    def _entries(self) -> dict[FieldPath, int]:
        return json_text.positions(self._text, depth=2).lines

    def line_of(self, path: FieldPath) -> int | None:
        """The line of a field; that of the nearest field above when it is not there."""
        return nearest(self.positions.lines, path)

    def entry_line(self, path: FieldPath) -> int | None:
        """The line of a field at most two levels down, found without looking at what is deeper."""
        return nearest(self._entries, path)


def nearest(lines: dict[FieldPath, int], path: FieldPath) -> int | None:
    """The line of a field, or of the nearest one above it that has a line."""
    for length in range(len(path), -1, -1):
        if path[:length] in lines:
            return lines[path[:length]]
    return None


def read_document(path: Path, label: str, faults: Faults) -> ReadDocument | None:
    """The document in a JSON or YAML file; None when it cannot be read, which is then among the faults."""
    try:
        text = text_of_file(path)
        if path.suffix.lower() in YAML_ENDINGS:
            document: ReadDocument = yaml_document(label, text, faults)
        else:
            value, has_duplicates = json_text.parse(text)
            document = JsonDocument(label, text, value)
            if has_duplicates:
                _note_duplicates(document, faults)
    except TextError as fault:
        note_text_error(fault, label, faults)
        return None
    document.value = note_unsound(document.value, Spot(document), faults)
    return document


def note_text_error(fault: TextError, label: str, faults: Faults) -> None:
    """Note that a file cannot be read, at the line and column where that shows."""
    faults.note(Spot(AtLine(label, fault.line, fault.column)), fault.what, fault.fix)


def text_of_file(path: Path) -> str:
    """The text of a file, less a byte order mark.

    Raises:
        TextError: it cannot be opened, is empty, or is not text in UTF-8.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise TextError(
            f"The file cannot be opened: {error.strerror or error}.",
            "Check its name and permissions.",
            line=1,
        ) from error
    return text_of_bytes(content)


def text_of_bytes(content: bytes, *, first_line: int = 1, may_be_blank: bool = False) -> str:
    """Bytes as text, less a byte order mark.

    first_line: the number of their first line in the file.

    Raises:
        TextError: they are empty or not text in UTF-8.
    """
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise TextError("The file is in UTF-16.", "Save it as UTF-8.", line=first_line)
    try:
        text = content.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise TextError(
            f"The byte 0x{content[error.start]:02x} is not text in UTF-8.",
            "Save the file as UTF-8.",
            line=first_line + content.count(b"\n", 0, error.start),
        ) from error
    if "\0" in text:
        line = first_line + text.count("\n", 0, text.index("\0"))
        raise TextError(
            "There is a NUL byte, which no text file has.", "Save the file as UTF-8 text.", line=line
        )
    if not may_be_blank and not text.strip():
        raise TextError("The file is empty.", 'Write the tests into it: {"inputs": [...]}.', line=first_line)
    return text


def _note_duplicates(document: JsonDocument, faults: Faults) -> None:
    for path, line in document.positions.duplicates:
        first = document.label if not path else field_text(path)
        faults.note(
            Spot(AtLine(document.label, line)),
            f"{first} is given twice in the same object.",
            "Keep one of the two.",
        )


def note_unsound(value: Json, spot: Spot, faults: Faults) -> Json:
    """Note the parts that JSON cannot hold, and put BROKEN in their place; BROKEN itself when all is."""
    for path, complaint, fix in json_text.unsound_parts(value):
        part = spot.at(*path)
        faults.note(part, f"{part.field or 'The value'} {complaint}.", fix)
        if not path:
            return BROKEN
        holder = value
        for step in path[:-1]:
            holder = holder[step]
        holder[path[-1]] = BROKEN
    return value


def yaml_document(label: str, text: str, faults: Faults) -> ReadDocument:
    """A YAML file that was read.

    Raises:
        TextError: it is not YAML, or PyYAML is not installed.
    """
    try:
        from proctor.loading.yaml_text import YamlDocument
    except ModuleNotFoundError as error:
        raise TextError("Reading YAML needs PyYAML.", "Install it: pip install pyyaml.", line=1) from error
    return YamlDocument(label, text, faults)
