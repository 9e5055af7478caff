"""Settings of a project: `[tool.proctor]` in pyproject.toml, or proctor.toml, whichever is nearest upward."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any, NamedTuple, cast

import msgspec

from proctor.errors import UsageError
from proctor.loading.check import checked
from proctor.loading.documents import note_text_error, text_of_bytes
from proctor.loading.fault_rules import note_wrong_rules
from proctor.loading.faults import Faults, FieldPath, Spot
from proctor.loading.fields import OWN_SCHEMA
from proctor.loading.json_text import TextError
from proctor.loading.json_types import is_object
from proctor.loading.secrets import note_secrets
from proctor.loading.setting_table import SETTINGS
from proctor.records.json_value import Json

_BY_KEY = {setting.field.name: setting for setting in SETTINGS}
_FILES = ("proctor.toml", "pyproject.toml")
_TABLE = ("tool", "proctor")


class Resolved(NamedTuple):
    """A value, and where it came from: a flag, the test, the suite, a line of a file, or the default."""

    value: Json
    origin: str


class SettingRow(NamedTuple):
    """A setting as `proctor config` shows it."""

    key: str
    value: Json
    origin: str
    meaning: str


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings that a project's file gives.

    Attributes:
        values: those that are written, by key.
        file: the file that they stand in; None when there is none.
        lines: the line of each.
        label: the file as messages name it.
    """

    values: dict[str, Json] = {}
    file: Path | None = None
    lines: dict[str, int] = {}
    label: str = ""

    def get(self, key: str) -> Resolved:
        """A setting's value: from the file, else its default.

        Raises:
            KeyError: there is no such setting.
        """
        setting = _BY_KEY[key]
        if key in self.values:
            line = self.lines.get(key)
            return Resolved(self.values[key], self.label if line is None else f"{self.label}:{line}")
        return Resolved(setting.default, "default")

    def path(self, key: str, *, base: Path) -> Path | None:
        """A setting that is a path, made absolute; None when it has no value.

        base: what the default is relative to; a path from the file is relative to the file's folder.

        Raises:
            KeyError: there is no such setting, or it is no path. A suite may be a git source: load it with
                `folder` as its base.
        """
        if not _BY_KEY[key].is_path:
            raise KeyError(key)
        value, _ = self.get(key)
        if value is None:
            return None
        folder = self.folder if key in self.values else None
        return (folder or base) / Path(value).expanduser()

    @property
    def folder(self) -> Path | None:
        """The folder of the file, to which what stands in it is relative; None without a file."""
        return None if self.file is None else self.file.parent

    def explain(self) -> tuple[SettingRow, ...]:
        """Every setting with its value and where that came from, in the order of the table."""
        return tuple(
            SettingRow(setting.field.name, *self.get(setting.field.name), setting.field.meaning)
            for setting in SETTINGS
        )


def find_settings(folder: Path) -> Settings:
    """The settings that hold in a folder: those of the nearest file upward that has any.

    In one folder proctor.toml comes before pyproject.toml; a pyproject.toml without `[tool.proctor]` is
    passed over.

    Raises:
        UsageError: the file cannot be read, or has keys or values that are none; holds all faults.
    """
    start = folder.resolve()
    for place in (start, *start.parents):
        for name in _FILES:
            file = place / name
            if file.is_file() and (found := _read(file, start)) is not None:
                return found
    return Settings()


def resolve(
    key: str, *, flag: Json = None, test: Json = None, suite: Json = None, settings: Settings
) -> Resolved:
    """The value of a setting: that of the flag, else the test's, else the suite's, else the project's.

    flag, test, suite: None where none is given; zero is a value.

    Raises:
        KeyError: there is no such setting.
    """
    for value, origin in ((flag, f"--{key.replace('_', '-')}"), (test, "the test"), (suite, "the suite")):
        if value is not None:
            return Resolved(value, origin)
    return settings.get(key)


def _read(file: Path, base: Path) -> Settings | None:
    label = file.relative_to(base).as_posix() if file.is_relative_to(base) else file.as_posix()
    faults = Faults()
    table: dict[str, Any] | None = None
    text = ""
    try:
        try:
            content = file.read_bytes()
        except OSError as error:
            raise TextError(
                f"The file cannot be read: {error.strerror}.", "Check its permissions.", line=1
            ) from error
        if file.name == "pyproject.toml" and b"proctor" not in content:
            return None
        text = text_of_bytes(content, may_be_blank=True)
        table = _table_of(text, file.name)
    except TextError as fault:
        note_text_error(fault, label, faults)
    faults.raise_any(UsageError)
    if table is None:
        return None
    document = _TomlDocument(label, text, () if file.name == "proctor.toml" else _TABLE)
    spot = Spot(document)
    fields = (*(setting.field for setting in SETTINGS), OWN_SCHEMA)
    good = checked(table, fields, spot, faults, of="the settings")
    good.pop(OWN_SCHEMA.name, None)
    note_wrong_rules(good.get("faults"), spot.at("faults"), faults)
    note_secrets(table, spot, faults, named=None, allowed=frozenset())
    faults.raise_any(UsageError)
    lines = {key: line for key in good if (line := document.line_of((key,))) is not None}
    return Settings(values=good, file=file, lines=lines, label=label)


def _table_of(text: str, name: str) -> dict[str, Any] | None:
    try:
        written: Any = tomllib.loads(text.replace("\r\n", "\n"))
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        place = re.search(r"\(at line (\d+), column (\d+)\)", str(error))
        said = re.sub(r" \(at .*\)$", "", str(error))
        line, column = (int(place[1]), int(place[2])) if place else (text.count("\n") + 1, None)
        raise TextError(
            f"It is not TOML: {said}.", "Check quotes and brackets here.", line=line, column=column
        ) from error
    if name == "proctor.toml":
        return cast("dict[str, Any]", written)
    for step in _TABLE:
        written = written.get(step) if is_object(written) else None
    if written is None or is_object(written):
        return written
    raise TextError("tool.proctor is not a table.", "Write [tool.proctor] and the settings below it.", line=1)


class _TomlDocument:
    """A TOML file, of which the lines of a table's keys are known."""

    def __init__(self, label: str, text: str, table: tuple[str, ...]) -> None:
        self.label = label
        self._lines: dict[str, int] = {}
        header, inside = ".".join(table), not table
        self._start: int | None = None if table else 1
        for number, line in enumerate(text.splitlines(), start=1):
            if opened := re.match(r"\s*\[\s*([^\[\]]+?)\s*\]", line):
                name = re.sub(r"[\s\"']", "", opened[1])
                inside = name == header
                if inside:
                    self._start = number
                elif not header or name.startswith(header + "."):
                    self._lines.setdefault(name.removeprefix(header).lstrip(".").split(".")[0], number)
            elif inside and (key := re.match(r"""\s*["']?([^\s"'=.]+)["']?\s*[=.]""", line)):
                self._lines.setdefault(key[1], number)

    def line_of(self, path: FieldPath) -> int | None:
        """The line of the first step of a path."""
        return self._lines.get(str(path[0]), self._start) if path else self._start
