"""The files that a workdir starts with, and the digest of them."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from proctor.errors import Fault, SuiteError
from proctor.host.tree import kind_of
from proctor.records.json_value import digest_of

_EXECUTABLE = stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH


class _Entry(NamedTuple):
    """One thing in a fixture. `link` is the target of a symbolic link; folders have neither flag."""

    path: str
    is_folder: bool = False
    is_executable: bool = False
    link: str | None = None


def seed(fixture: Path, workdir: Path) -> None:
    """Copy a fixture into a workdir: hidden files, empty folders, executable bits, links that stay inside.

    Raises:
        SuiteError: the fixture is no folder, or holds what cannot be given to every trial alike; every such
            path is named.
    """
    for entry in _entries(fixture):
        source, target = fixture / entry.path, workdir / entry.path
        if entry.is_folder:
            target.mkdir(exist_ok=True)
        elif entry.link is not None:
            target.symlink_to(entry.link)
        else:
            with _reading(fixture, entry.path):
                shutil.copyfile(source, target)
            if entry.is_executable:
                mode = target.stat().st_mode
                # Executable for everyone who may read it, as far as the umask lets them.
                target.chmod(mode | (mode & 0o444) >> 2)


def fixture_digest(fixture: Path) -> str:
    """Digest of relative paths, contents, executable bits and link targets; nothing else of the machine.

    Raises:
        SuiteError: as `seed` does.
    """
    rows: list[list[str]] = []
    for entry in _entries(fixture):
        if entry.is_folder:
            rows.append([entry.path, "folder"])
        elif entry.link is not None:
            rows.append([entry.path, "link", entry.link])
        else:
            with _reading(fixture, entry.path), (fixture / entry.path).open("rb") as content:
                digest = hashlib.file_digest(content, "sha256").hexdigest()
            rows.append([entry.path, "executable" if entry.is_executable else "file", digest])
    return digest_of(rows)


def _entries(fixture: Path) -> list[_Entry]:
    """Everything in a fixture, each folder before what it holds, in an order that is the same everywhere."""
    if not fixture.is_dir():
        raise SuiteError(
            f"The files of a test are to be a folder, and {str(fixture)!r} is none.",
            where=str(fixture),
            fix="Name a folder in `files`.",
        )
    faults: list[Fault] = []
    found = sorted(_walk(fixture, Path(os.path.realpath(fixture)), "", faults))
    if faults:
        raise SuiteError.of(faults)
    return found


def _walk(fixture: Path, real: Path, inside: str, faults: list[Fault]) -> Iterator[_Entry]:
    with _reading(fixture, inside), os.scandir(fixture / inside) as listing:
        listed = list(listing)
    for entry in listed:
        path = f"{inside}{entry.name}"
        if entry.is_symlink():
            target = os.readlink(entry.path)  # noqa: PTH115  as text, not as a Path made tidy
            if _stays_inside(entry.path, target, real):
                yield _Entry(path, link=target)
            else:
                faults.append(_fault(entry.path, f"The symbolic link {path!r} leads out to {target!r}."))
        elif entry.is_dir():
            yield _Entry(path, is_folder=True)
            yield from _walk(fixture, real, f"{path}/", faults)
        else:
            mode = entry.stat().st_mode
            if stat.S_ISREG(mode):
                yield _Entry(path, is_executable=bool(mode & _EXECUTABLE))
            else:
                faults.append(_fault(entry.path, f"The file {path!r} is a {kind_of(mode)}."))


def _stays_inside(link: str, target: str, real: Path) -> bool:
    # An absolute target would lead from the workdir back to the fixture, also where it lies inside.
    return not target.startswith("/") and Path(os.path.realpath(link)).is_relative_to(real)


def _fault(path: str, what: str) -> Fault:
    return Fault(
        what, path, "Put a plain file or a relative link that stays inside the fixture in its place."
    )


@contextmanager
def _reading(fixture: Path, path: str) -> Generator[None]:
    """Turns a refusal to read this path of the fixture into a SuiteError that names it."""
    try:
        yield
    except OSError as err:
        if err.filename is None or Path(err.filename) != fixture / path:
            raise
        raise SuiteError(
            f"{path!r} of a fixture cannot be read: {err.strerror}.",
            where=str(fixture / path),
            fix="Make it readable, or take it out of the fixture.",
        ) from err
