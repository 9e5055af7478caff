"""Putting a scaffold together from the files of this package, and writing it: all of it, or nothing."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final, Literal, NamedTuple, TypeAlias, get_args

import msgspec

from proctor.errors import Fault, UsageError
from proctor.schemas import schema

Kind: TypeAlias = Literal["function", "command", "claude", "codex"]
Service: TypeAlias = Literal["github", "gitlab"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
SERVICES: Final[tuple[Service, ...]] = get_args(Service)

SCHEMAS: Final = ("suite", "test", "settings")
"""The schemas that the files of a scaffold name; they are written beside them, so that an editor needs no network."""

SCHEMA_FOLDER: Final = ".proctor"

MOST_NAMED: Final = 5
"""Files that an error names; it counts the others."""


class _Way(NamedTuple):
    """What differs between the kinds of agent.

    Attributes:
        parts: folders of this package that are laid one over the other.
        run: the command line that runs it.
        edit: what there is to edit of it, for the README.
        program: the npm package that has to be there, in CI; empty where there is none.
    """

    parts: tuple[str, ...]
    run: str
    edit: str
    program: str = ""


_SKILL = "`artifact/`: what you test with the coding agent. One skill stands in it; a whole plugin can."

_WAYS: Final[Mapping[Kind, _Way]] = {
    "function": _Way(
        ("common", "function"), "proctor run agent.py", "`agent.py`: call your own agent in `main`."
    ),
    "command": _Way(
        ("common", "command"),
        "proctor run --agent-cmd 'sh agent.sh {input}'",
        "`agent.sh`: start your own program in it, or name that in its place.",
    ),
    "claude": _Way(
        ("common", "host"), "proctor run claude --artifact artifact", _SKILL, "@anthropic-ai/claude-code"
    ),
    "codex": _Way(("common", "host"), "proctor run codex --artifact artifact", _SKILL, "@openai/codex"),
}


class Scaffold(NamedTuple):
    """A project that is not written yet.

    Attributes:
        kind: the kind of agent that it is for.
        files: what it consists of, by path.
        next: commands that can be typed in its folder.
    """

    kind: Kind
    files: Mapping[str, bytes]
    next: tuple[str, ...]


def scaffold(kind: Kind, service: Service | None = None) -> Scaffold:
    """The files for a kind of agent.

    Args:
        kind: of agent.
        service: a CI service that the evaluations shall run in; None for none.
    """
    way = _WAYS[kind]
    words = {
        "commands": _aligned(
            ("proctor check", "can the graders tell right from wrong?"),
            (f"{way.run} --grade", "run the agent, and grade what it did"),
            ("proctor list runs", "every run so far"),
        ),
        "plain_run": way.run,
        "edit": f"1. {way.edit}",
        "install": _install(way, service),
    }
    made: dict[str, bytes] = {
        # The folder that runs are kept in tells git itself that they are not to be committed.
        "runs/.gitignore": b"*\n!.gitignore\n",
    }
    for part in (*way.parts, *((service,) if service is not None else ())):
        for path, content in _files_in(files("proctor.scaffolds").joinpath("files", part), ""):
            made[path] = _filled(content, words)
    for name in SCHEMAS:
        text = msgspec.json.format(msgspec.json.encode(schema(name)), indent=2) + b"\n"
        made[f"{SCHEMA_FOLDER}/{name}.schema.json"] = text
    commands = ("proctor check", f"{way.run} --grade", "proctor list runs")
    return Scaffold(kind, dict(sorted(made.items())), commands)


def write(made: Scaffold, folder: Path) -> None:
    """Write a scaffold into a folder, which is made when it is not there. Nothing that is there is touched.

    Raises:
        UsageError: some of its files are there already, of which the first are named; or the folder cannot be
            written. Then nothing was written.
    """
    taken = [str(folder / path) for path in made.files if os.path.lexists(folder / path)]
    faults = [*([_taken(taken)] if taken else []), *_hidden_settings(folder)]
    if faults:
        raise UsageError.of(faults)
    done: list[Path] = []
    try:
        for path, content in made.files.items():
            _make_folders((folder / path).parent, done)
            with (folder / path).open("xb") as file:
                done.append(folder / path)
                file.write(content)
    except BaseException as error:
        _take_back(done)
        if isinstance(error, OSError):
            raise UsageError(
                f"{str(error.filename or folder)!r} cannot be written: {error.strerror or error}",
                fix="Name another folder; nothing was written.",
            ) from error
        raise


def _taken(paths: Sequence[str]) -> Fault:
    """What cannot be written, since it is there."""
    if len(paths) == 1:
        fix = "Nothing was written. Name another folder, or move it away."
        return Fault("it is there already", paths[0], fix)
    named = list(paths[:MOST_NAMED])
    named += [f"and {len(paths) - MOST_NAMED} more"] if len(paths) > MOST_NAMED else []
    fix = "Nothing was written. Name another folder, or move them away."
    return Fault(f"{len(paths)} of the files are there already: {', '.join(named)}", "", fix)


def _hidden_settings(folder: Path) -> Iterator[Fault]:
    """What would be settings no more, as a proctor.toml comes before them."""
    path = folder / "pyproject.toml"
    try:
        tools = tomllib.loads(path.read_text(encoding="utf-8")).get("tool", {})
    except (OSError, ValueError):
        return
    if isinstance(tools, dict) and "proctor" in tools:
        fix = "Nothing was written. Name another folder, such as one of its own in here."
        yield Fault("it has settings of proctor already, and a proctor.toml would hide them", str(path), fix)


def _aligned(*lines: tuple[str, str]) -> str:
    """Commands with what each is for, one below the other."""
    width = max(len(command) for command, _ in lines)
    return "\n".join(f"{command:<{width}}  # {purpose}" for command, purpose in lines)


def _install(way: _Way, service: Service | None) -> str:
    lines = ["pip install proctor"]
    if way.program and service == "gitlab":
        lines.append("apt-get update && apt-get install --yes npm")
    if way.program:
        lines.append(f"npm install --global {way.program}")
    return " && ".join(lines)


def _files_in(folder: Traversable, before: str) -> Iterator[tuple[str, bytes]]:
    for entry in folder.iterdir():
        if entry.is_dir() and entry.name != "__pycache__":
            yield from _files_in(entry, f"{before}{entry.name}/")
        elif entry.is_file():
            yield f"{before}{entry.name}", entry.read_bytes()


def _filled(content: bytes, words: Mapping[str, str]) -> bytes:
    """The text with each `{{word}}` replaced."""
    for word, text in words.items():
        content = content.replace(b"{{" + word.encode() + b"}}", text.encode())
    return content


def _make_folders(folder: Path, done: list[Path]) -> None:
    """Make a folder and those above it, and remember which were made."""
    missing: list[Path] = []
    while not folder.is_dir():
        missing.append(folder)
        folder = folder.parent
    for one in reversed(missing):
        one.mkdir()
        done.append(one)


def _take_back(done: list[Path]) -> None:
    """Take away what was made, newest first; a folder that somebody else put something into stays."""
    for path in reversed(done):
        with suppress(OSError):
            if path.is_dir() and not path.is_symlink():
                path.rmdir()
            else:
                path.unlink()
