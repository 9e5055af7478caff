"""Taking the grading code of a test into one deterministic archive, and unpacking it again.

An archive holds the grading module, every local module that it can import (found by reading the imports, and
by loading it), the files that its graders name, and, where the module lies in the test's own folder, the other
files of that folder. Paths are relative to the suite's root. The same files give the same bytes on every
machine.
"""

from __future__ import annotations

import ast
import io
import os
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import Final

import msgspec

from proctor.errors import SuiteError
from proctor.records.json_value import digest_of_bytes
from proctor.records.run import GradersRef
from proctor.records.suite import GradersSource

LIMIT_BYTES: Final = 64 * 1024 * 1024
"""The most that one archive may hold: it is kept with the runs."""

NOT_GRADERS: Final = frozenset({"files", "holdout", "wrong", "node_modules", "__pycache__", ".git"})
"""Folders of a test folder that belong to no grader."""

SOLUTIONS: Final = frozenset({"solution.py", "solution.sh"})
"""Files of a test folder that belong to no grader."""

_EPOCH: Final = (1980, 1, 1, 0, 0, 0)


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    """Grading code as it is stored with a run.

    Attributes:
        ref: digest and entry, as `run.json` names them.
        archive: the bytes of the zip file.
    """

    ref: GradersRef
    archive: bytes


def take(source: GradersSource, extra: Iterable[str] = ()) -> Snapshot:
    """The snapshot of a grading module.

    Args:
        source: where the module lies.
        extra: further files that it needs, relative to the suite's root.

    Raises:
        SuiteError: a file cannot be read, lies outside the suite's root, or all are too large together.
    """
    wanted = {source.module, *closure(source), *_declared(source.module)}
    if source.folder is not None and source.module.is_relative_to(source.folder):
        wanted.update(_folder_files(source.folder))
    wanted.update(source.root / name for name in extra)
    return _archive(source, wanted)


def _declared(module: Path) -> Iterator[Path]:
    """The files that a module names in `data_files = ["golden/*.csv"]`, globs relative to it.

    They are read from the source text: the module may need them as soon as it is loaded.
    """
    tree = _parsed(module)
    for node in tree.body if tree else ():
        if isinstance(node, ast.Assign) and any(
            isinstance(target, ast.Name) and target.id == "data_files" for target in node.targets
        ):
            try:
                patterns = ast.literal_eval(node.value)
            except ValueError:
                raise SuiteError(
                    "`data_files` is not a plain list of texts",
                    where=f"{module.name}:{node.lineno}",
                    fix='Write the names out: data_files = ["golden/*.csv"].',
                ) from None
            for pattern in patterns:
                found = [path for path in module.parent.glob(str(pattern)) if path.is_file()]
                if not found:
                    raise SuiteError(
                        f"`data_files` names {pattern!r}, and there is no such file",
                        where=f"{module.name}:{node.lineno}",
                        fix="Paths are relative to the grading module.",
                    )
                yield from found


def closure(source: GradersSource) -> set[Path]:
    """The local modules that the grading module can import, however indirectly, below the suite's root."""
    return modules_reached([source.module], source.root)


def modules_reached(starts: Iterable[Path], root: Path) -> set[Path]:
    """The modules that `starts` can import, however indirectly, themselves included, below `root`."""
    waiting, reached = list(starts), set[Path]()
    while waiting:
        module = waiting.pop()
        if module in reached:
            continue
        reached.add(module)
        folders = list(dict.fromkeys([*(start.parent for start in starts), root]))
        waiting += [found for found in _imports_of(module, folders) if found.is_relative_to(root)]
    return reached


def imported_names(modules: Iterable[Path]) -> set[str]:
    """The top-level names that some modules import, wherever in their text."""
    names: set[str] = set()
    for module in modules:
        for node in _import_nodes(module):
            if isinstance(node, ast.Import):
                names |= {alias.name.partition(".")[0] for alias in node.names}
            elif node.module and not node.level:
                names.add(node.module.partition(".")[0])
    return names


def read_archive(archive: Path, ref: GradersRef) -> bytes:
    """The bytes of a stored snapshot, which are the ones that were stored.

    Raises:
        SuiteError: the archive is missing, or was changed.
    """
    try:
        content = archive.read_bytes()
    except OSError as error:
        raise SuiteError(
            f"the stored graders cannot be read: {error.strerror}",
            where=str(archive),
            fix="Restore the file, or grade with today's graders: `proctor grade ... --suite SUITE`.",
        ) from error
    if digest_of_bytes(content) != ref.digest:
        raise SuiteError(
            "the stored graders are not the ones that were stored: the archive was changed",
            where=str(archive),
            fix="Restore the file, or grade with today's graders: `proctor grade ... --suite SUITE`.",
        )
    return content


def unpack(content: bytes, into: Path) -> None:
    """Unpack an archive into a new folder, refusing names that would leave it.

    Raises:
        SuiteError: a name would leave the folder.
    """
    into.mkdir(parents=True)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for entry in archive.infolist():
            name = PurePosixPath(entry.filename)
            if name.is_absolute() or ".." in name.parts:
                raise SuiteError(
                    f"the stored graders name a file outside their folder: {entry.filename!r}",
                    fix="Do not use this run's graders; grade with `--suite SUITE`.",
                )
            target = into / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(archive.read(entry))
            if entry.external_attr >> 16 & 0o100:
                target.chmod(0o755)


def _archive(source: GradersSource, files: Iterable[Path]) -> Snapshot:
    root = source.root
    named = sorted((relative(path, root), path) for path in files)
    buffer, total = io.BytesIO(), 0
    # Stored, not deflated: compressors of different machines write different bytes.
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, path in named:
            try:
                content, mode = path.read_bytes(), path.stat().st_mode
            except OSError as error:
                raise SuiteError(
                    f"a file of the graders cannot be read: {error.strerror}",
                    where=str(path),
                    fix="Make it readable, or take it away.",
                ) from error
            total += len(content)
            if total > LIMIT_BYTES:
                raise SuiteError(
                    f"the graders and their files are larger than {LIMIT_BYTES // 1024**2} MiB; they are kept "
                    f"with every group of runs",
                    where=name,
                    fix="Keep large data out of the test's folder, or in its files/ where it is a fixture.",
                )
            info = zipfile.ZipInfo(name, _EPOCH)
            info.external_attr = (0o100755 if mode & 0o100 else 0o100644) << 16
            info.create_system = 3
            archive.writestr(info, content)
    content = buffer.getvalue()
    ref = GradersRef(digest=digest_of_bytes(content), entry=relative(source.module, root))
    return Snapshot(ref=ref, archive=content)


def relative(path: Path, root: Path) -> str:
    """Where a file below `root` stands in an archive.

    Raises:
        SuiteError: it lies outside, by its path or through a link.
    """
    lexical = Path(os.path.normpath(path))
    if not lexical.is_relative_to(root) or not lexical.resolve().is_relative_to(root.resolve()):
        raise SuiteError(
            f"the graders use a file outside their suite: {str(path)!r}",
            fix=f"Keep it below {str(root)!r}; a run must be gradable without anything else.",
        )
    return lexical.relative_to(root).as_posix()


def _folder_files(folder: Path) -> Iterator[Path]:
    for here, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in NOT_GRADERS)
        for name in sorted(names):
            path = Path(here) / name
            is_solution = name in SOLUTIONS and path.parent == folder
            if path.is_file() and not name.endswith(".pyc") and not is_solution:
                yield path


def _imports_of(module: Path, folders: Iterable[Path]) -> Iterator[Path]:
    """The local files that the imports in a module name. A module that does not parse names none."""
    for node in _import_nodes(module):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _find(alias.name.split("."), folders)
        else:
            parts = node.module.split(".") if node.module else []
            within: Iterable[Path] = folders
            if node.level:
                within = [module.parents[node.level - 1]] if len(module.parents) >= node.level else []
                yield from _package_marks(within)
            yield from _find(parts, within)
            for alias in node.names:
                yield from _find([*parts, alias.name], within)


def _import_nodes(module: Path) -> Iterator[ast.Import | ast.ImportFrom]:
    tree = _parsed(module)
    if tree is not None:
        yield from (node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom))


def _parsed(module: Path) -> ast.Module | None:
    """The module's syntax; None for one that does not parse: loading it says what is wrong, with file and line."""
    try:
        return ast.parse(module.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return None


def _find(parts: list[str], folders: Iterable[Path]) -> Iterator[Path]:
    """The files that `import a.b.c` reads: the packages on the way, and the module."""
    if not parts:
        return
    for folder in folders:
        here = folder / parts[0]
        if not here.is_dir() and not here.with_name(parts[0] + ".py").is_file():
            continue
        for part in parts:
            here, module = folder / part, folder / f"{part}.py"
            if module.is_file() and not (here / "__init__.py").is_file():
                yield module
                break
            yield from _package_marks([here])
            folder = here  # noqa: PLW2901
        return


def _package_marks(folders: Iterable[Path]) -> Iterator[Path]:
    for folder in folders:
        if (folder / "__init__.py").is_file():
            yield folder / "__init__.py"
