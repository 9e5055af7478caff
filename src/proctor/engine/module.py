"""Loading a grading module inside a worker, from its unpacked snapshot."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from proctor.engine.protocol import Load
from proctor.errors import SuiteError
from proctor.eval.suite import EvalSuite
from proctor.ports import Grader


def load_graders(load: Load) -> tuple[Grader, ...]:
    """The graders that the module defines, checked.

    Raises:
        SuiteError: it does not define `graders`, an entry is no grader, or two have one name.
        BaseException: whatever the module itself raises.
    """
    module = _import(load)
    entries = _entries(module, load.entry)
    graders = tuple(_as_grader(entry, position, load.entry) for position, entry in enumerate(entries))
    names: set[tuple[str, tuple[str, ...]]] = set()
    is_typed = not hasattr(module, "graders")
    for grader in graders:
        name = grader.options.name
        # Each case of a typed suite has names of its own.
        known = (name, grader.options.scope if is_typed else ())
        if known in names:
            raise SuiteError(
                f"two graders are named {name!r}",
                where=load.entry,
                fix="Give one of them another name: name='...'.",
            )
        names.add(known)
    if all(grader.options.weight == 0 for grader in graders):
        raise SuiteError(
            "every grader has weight 0, so there is no objective",
            where=load.entry,
            fix="Give at least one grader a weight above 0.",
        )
    return graders


def taken_from_original(load: Load) -> tuple[str, ...]:
    """Files of modules that were loaded from the original folder since the snapshot lacks them, relative to it."""
    taken: list[str] = []
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if load.original and isinstance(file, str) and file.startswith(load.original.rstrip("/") + "/"):
            taken.append(str(Path(file).relative_to(load.original)))
    return tuple(sorted(taken))


def top_level_modules() -> set[str]:
    """Names of the loaded top-level modules that are not of the standard library."""
    return {name.partition(".")[0] for name in sys.modules} - sys.stdlib_module_names


def _import(load: Load) -> ModuleType:
    """Import the module under its dotted name where its folders are packages, else under its own stem."""
    sys.dont_write_bytecode = True
    snapshot = Path(load.snapshot)
    path = snapshot / load.entry
    roots = [snapshot] if load.original is None else [snapshot, Path(load.original)]
    folders = [str(root / Path(load.entry).parent) for root in roots] + [str(root) for root in roots]
    sys.path[:0] = list(dict.fromkeys(folders))
    name = _module_name(snapshot, Path(load.entry))
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise SuiteError(
            "the grading module is not in its snapshot",
            where=load.entry,
            fix="Restore the run's graders folder.",
        )
    if "." in name:
        return importlib.import_module(name)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _module_name(root: Path, entry: Path) -> str:
    parts = [entry.stem]
    folder = entry.parent
    while folder != Path() and (root / folder / "__init__.py").is_file():
        parts.insert(0, folder.name)
        folder = folder.parent
    return ".".join(parts)


def _entries(module: ModuleType, entry: str) -> Iterable[Any]:
    if not hasattr(module, "graders"):
        if isinstance(suite := getattr(module, "suite", None), EvalSuite):
            return suite.graders()
        raise SuiteError(
            "the module does not define `graders`",
            where=entry,
            fix="Write graders = [...], with one grader or more.",
        )
    given: Any = module.graders
    entries = list(cast("list[Any]", given)) if isinstance(given, list | tuple) else [given]
    if not entries:
        raise SuiteError("`graders` is an empty list", where=entry, fix="Put at least one grader into it.")
    return entries


def _as_grader(entry: Any, position: int, where: str) -> Grader:
    from proctor.graders.function import grader

    if isinstance(entry, type):
        raise SuiteError(
            f"graders[{position}] is the class {entry.__name__}, not a grader",
            where=where,
            fix=f"Write {entry.__name__}(), with its options in the brackets.",
        )
    if all(hasattr(entry, member) for member in ("options", "needs", "files", "grade")):
        return cast("Grader", entry)
    if callable(entry):
        return grader(cast("Callable[..., Any]", entry))
    raise SuiteError(
        f"graders[{position}] is {type(entry).__name__} {entry!r}, not a grader",
        where=where,
        fix="A grader is a built-in such as ExactMatch(), or a function: grader(lambda output: ..., name='...').",
    )
