"""What the words of a command line can be: what the shell offers when Tab is pressed.

A completer is given what stands before the cursor, and returns words that begin so. It reads files and runs nothing.
"""

from __future__ import annotations

import argparse
import ast
import os
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from proctor import wiring

if TYPE_CHECKING:
    from proctor.loading.outline import Outline

Completer: TypeAlias = Callable[[str, argparse.Namespace], Iterable[str]]
"""The completions of a beginning, given what else stands on the line."""

SUITE_ENDINGS: Final = (".json", ".yaml", ".yml", ".jsonl", ".csv", "_eval.py")
CHECKLIST_ENDINGS: Final = (".json", ".yaml", ".yml")
_RUN_FILES: Final = ("run.json", "trace.jsonl")


def tests(prefix: str, known: argparse.Namespace) -> Iterator[str]:
    """Ids of the tests of the suite that the line names."""
    return (one.id for one in _suite(known) if one.id.startswith(prefix))


def tags(prefix: str, known: argparse.Namespace) -> Iterator[str]:
    """Tags of that suite, after those that are there already."""
    return _listed(prefix, dict.fromkeys(tag for one in _suite(known) for tag in one.tags))


def endings(prefix: str, known: argparse.Namespace) -> Iterator[str]:
    """Endings that can be run again."""
    from proctor.records.run import Ending

    return _listed(prefix, [one.value for one in Ending if one.is_evidence and one is not Ending.OK])


def facets(prefix: str, known: argparse.Namespace) -> Iterator[str]:
    """What two sides of a comparison can differ in."""
    from proctor.records.comparison import Facet

    return (facet.value for facet in Facet if facet.value.startswith(prefix))


def agents(prefix: str, known: argparse.Namespace) -> Iterator[str]:
    """Kinds of agent, files, and the functions in a file."""
    from proctor.agents.kinds import known_kinds

    name, colon, _ = prefix.partition(":")
    if colon and name.endswith(".py"):
        yield from (f"{name}:{function}" for function in _functions(Path(name).expanduser()))
        return
    yield from (kind for kind in (*known_kinds(), "model:", "http://", "https://") if kind.startswith(prefix))
    yield from paths(prefix, (".py", ".agency"))


def models(prefix: str, known: argparse.Namespace) -> Iterator[str]:
    """The model that is configured, and the providers."""
    from proctor.models.providers import PROVIDERS

    named = [wiring.environment().get("PROCTOR_JUDGE_MODEL", ""), _setting("judge_model")]
    words = (*named, *(f"{name}/" for name in PROVIDERS))
    return (str(word) for word in words if word and str(word).startswith(prefix))


def variables(prefix: str, known: argparse.Namespace) -> Iterator[str]:
    """Names of variables of the environment."""
    return (name for name in sorted(wiring.environment()) if name.startswith(prefix))


def schemas(prefix: str, known: argparse.Namespace) -> Iterator[str]:
    """Names of schemas."""
    from proctor.schemas import SCHEMAS

    return (one.name for one in SCHEMAS if one.name.startswith(prefix))


def rounds(prefix: str, known: argparse.Namespace) -> Iterator[str]:
    """Rounds of grades and labels of the run that the line names."""
    from proctor.stores.rundir import RunDir

    run = getattr(known, "run", None)
    if run is None:
        return
    annotations = RunDir(run).annotations()
    withdrawn = {row.round_id for row in annotations.retractions}
    named = [row.round_id for row in annotations.scores] + [row.id for row in annotations.labels]
    yield from (one for one in dict.fromkeys(named) if one.startswith(prefix) and one not in withdrawn)


def suites(prefix: str, known: argparse.Namespace) -> Iterator[str]:
    """Folders, and files that can be suites."""
    return paths(prefix, SUITE_ENDINGS)


def checklists(prefix: str, known: argparse.Namespace) -> Iterator[str]:
    """Folders, and files that can be checklists."""
    return paths(prefix, CHECKLIST_ENDINGS)


def folders(prefix: str, known: argparse.Namespace) -> Iterator[str]:
    """Folders alone."""
    return paths(prefix, ())


def runs(prefix: str, known: argparse.Namespace) -> Iterator[str]:
    """Folders down to run directories, in which there is nothing more to name."""
    for word in paths(prefix, ()):
        folder = Path(word).expanduser()
        is_run = any((folder / name).is_file() for name in _RUN_FILES)
        yield word.removesuffix("/") if is_run else word


def paths(prefix: str, endings: Sequence[str]) -> Iterator[str]:
    """Folders, each with a slash, and files with one of these endings; hidden ones when the name begins with a dot."""
    before, slash, beginning = prefix.rpartition("/")
    folder = Path(before or slash or ".").expanduser()
    try:
        with os.scandir(folder) as listing:
            found = sorted(listing, key=lambda entry: entry.name)
    except OSError:
        return
    for entry in found:
        if not entry.name.startswith(beginning) or (entry.name.startswith(".") and not beginning):
            continue
        if entry.is_dir():
            yield f"{before}{slash}{entry.name}/"
        elif entry.name.endswith(tuple(endings)) and endings:
            yield f"{before}{slash}{entry.name}"


BY_ARGUMENT: Final[Mapping[str, Completer]] = {
    "agent": agents,
    "allow": facets,
    "artifact": folders,
    "baseline": runs,
    "base": runs,
    "candidates": runs,
    "a": runs,
    "b": runs,
    "checklist": checklists,
    "folder": folders,
    "group": folders,
    "judge_model": models,
    "name": schemas,
    "out": folders,
    "pass_env": variables,
    "paths": runs,
    "require": facets,
    "retry": endings,
    "round": rounds,
    "run": runs,
    "suite": suites,
    "tags": tags,
    "test": tests,
    "work_root": folders,
    "workdir": folders,
}
"""The completer of an argument, by the name that the parser keeps it under."""

OTHERWISE: Final[Mapping[str, Mapping[str, Completer | None]]] = {
    "add": {"agent": None},
    "judge": {"out": None},
}
"""Where a command means something else by a name; None for a word that nobody can know."""


def completer_of(command: str, argument: str) -> Completer | None:
    """What completes an argument of a command; None for the shell's own completion, which names files."""
    return OTHERWISE.get(command, {}).get(argument, BY_ARGUMENT.get(argument))


def _listed(prefix: str, words: Iterable[str]) -> Iterator[str]:
    """The last of several words that are separated by commas."""
    before, comma, beginning = prefix.rpartition(",")
    given = {word.strip() for word in before.split(",")}
    return (f"{before}{comma}{word}" for word in words if word.startswith(beginning) and word not in given)


def _suite(known: argparse.Namespace) -> Sequence[Outline]:
    """The tests of the suite that the line names, before or behind the cursor; else of the one of the settings."""
    from proctor import loading
    from proctor.loading.outline import conventional_outline, outline

    here = wiring.here()
    named = getattr(known, "suite", None) or _named_behind(wiring.completed_line())
    if named:
        return outline(named, base=here)
    settings = loading.find_settings(here)
    folder = settings.folder or here
    configured = settings.get("suite").value
    if configured:
        return outline(configured, base=folder)
    return conventional_outline(settings.get("evals").value, folder=folder)


def _named_behind(line: str) -> str | None:
    """The suite of a line that is not finished, wherever on it: `--suite S`, `-s S`, or a path that there is."""
    words = _words(line)
    for word, following in zip(words, [*words[1:], ""], strict=True):
        if word in ("-s", "--suite") and following:
            return following
        if word.startswith("--suite="):
            return word.removeprefix("--suite=")
    if len(words) > 1 and words[1] in ("tests", "check"):
        behind = zip(words[2:], words[1:], strict=False)
        return next((word for word, before in behind if not before.startswith("-") and _is_there(word)), None)
    return None


def _words(line: str) -> list[str]:
    """The words of a line; of one in which a quote is open, as if it were closed at the end."""
    for end in ("", "'", '"'):
        try:
            return shlex.split(line + end)
        except ValueError:
            continue
    return line.split()


def _is_there(word: str) -> bool:
    return not word.startswith("-") and Path(word).expanduser().exists()


def _functions(file: Path) -> Iterator[str]:
    """The public functions at the top of a file, which is not run."""
    for node in ast.parse(file.read_bytes()).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("_"):
            yield node.name


def _setting(key: str) -> object:
    from proctor import loading

    return loading.find_settings(wiring.here()).get(key).value
