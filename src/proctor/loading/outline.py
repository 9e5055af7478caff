"""The ids and tags of a suite, read without running or checking anything: for a shell that completes them.

A suite that is not usable yet has an outline as far as it can be read. Nothing is fetched, no grading module is
imported, and of a typed suite the ids are those that stand in its text.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from proctor.errors import ProctorError
from proctor.loading.disk import real
from proctor.loading.entries import Context
from proctor.loading.faults import Faults
from proctor.loading.json_types import is_list, is_object
from proctor.loading.shapes import gather
from proctor.loading.typed import discover, typed_files
from proctor.records.json_value import Json
from proctor.sources import git_source_of


class Outline(NamedTuple):
    """What is known of a test: its id, and its tags."""

    id: str
    tags: tuple[str, ...] = ()


def outline(source: str, *, base: Path) -> tuple[Outline, ...]:
    """The tests of a suite on this disk, in its order; none for a git source, or for what is no suite.

    source: as it is named on the command line.
    base: the folder that it is relative to.
    """
    try:
        if git_source_of(source, base=base) is not None:
            return ()
        path = real(base / source)
        context = Context(real(base.absolute()), Path())
        if files := typed_files(path, context):
            return _typed(files)
        gathered = gather(path, context, Faults())
    except (ProctorError, OSError, ValueError):
        return ()
    shared: tuple[str, ...] = ()
    if gathered.common is not None:
        defaults = gathered.common.fields.get("defaults")
        shared = _words(defaults.get("tags")) if is_object(defaults) else ()
    return tuple(
        Outline(name, (*shared, *_words(entry.fields.get("tags"))))
        for entry in gathered.entries
        if isinstance(name := entry.fields.get("id", entry.own_id), str)
    )


def conventional_outline(patterns: Sequence[str], *, folder: Path) -> tuple[Outline, ...]:
    """The same of the typed suites that are found by convention below a folder.

    patterns: globs relative to `folder`.
    """
    try:
        return _typed(discover(real(folder.absolute()), patterns))
    except (ProctorError, OSError, ValueError):
        return ()


def _typed(files: Iterable[Path]) -> tuple[Outline, ...]:
    """The cases of typed suites; an id that several of them have is SUITE.CASE."""
    found = [(suite, one) for path in files for suite, one in _cases(path)]
    ids = Counter(one.id.casefold() for _, one in found)
    return tuple(
        one._replace(id=f"{suite}.{one.id}") if ids[one.id.casefold()] > 1 else one for suite, one in found
    )


def _cases(path: Path) -> Iterator[tuple[str, Outline]]:
    """The calls of `case` in a file that name their id by itself, each with the name of the suite."""
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return
    calls = sorted(
        (node for node in ast.walk(tree) if isinstance(node, ast.Call)),
        key=lambda call: (call.lineno, call.col_offset),
    )
    names = [name for call in calls if _called(call) == "define_eval_suite" and (name := _text(call, "name"))]
    for call in calls:
        if _called(call) == "case" and (found := _text(call, "id", at=0)):
            tags = next((keyword.value for keyword in call.keywords if keyword.arg == "tags"), None)
            yield names[0] if names else "", Outline(found, _literal_words(tags))


def _called(call: ast.Call) -> str:
    function = call.func
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _text(call: ast.Call, name: str, *, at: int | None = None) -> str | None:
    """An argument that is a text as it stands."""
    value: ast.expr | None = next((one.value for one in call.keywords if one.arg == name), None)
    if value is None and at is not None and at < len(call.args):
        value = call.args[at]
    return value.value if isinstance(value, ast.Constant) and isinstance(value.value, str) else None


def _literal_words(value: ast.expr | None) -> tuple[str, ...]:
    try:
        return () if value is None else _words(ast.literal_eval(value))
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return ()


def _words(value: Json) -> tuple[str, ...]:
    """The texts of a list, or of a text with commas as a table holds it."""
    if isinstance(value, str):
        return tuple(word for part in value.split(",") if (word := part.strip()))
    if isinstance(value, tuple):
        value = list(value)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    return tuple(word for word in value if isinstance(word, str) and word) if is_list(value) else ()
