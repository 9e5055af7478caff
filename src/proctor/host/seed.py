"""The files that a workdir starts with: looked at once, and then copied as they were seen, or not at all."""

from __future__ import annotations

import hashlib
import os
import stat
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from proctor.errors import Fault, SuiteError
from proctor.host.tree import kind_of
from proctor.records.json_value import digest_of

_EXECUTABLE: Final = stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH
_REPOSITORY: Final = ".git"
_GIT_TIMEOUT_S: Final = 120.0
_GIT_IDENTITY: Final = {
    f"GIT_{role}_{what}": value
    for role in ("AUTHOR", "COMMITTER")
    for what, value in (
        ("NAME", "proctor"),
        ("EMAIL", "proctor@localhost"),
        ("DATE", "2000-01-01T00:00:00+00:00"),
    )
}


class SeedEntry(msgspec.Struct, frozen=True, order=True):
    """One thing in a fixture; exactly one of `digest` (a file) and `link` is there, and neither for a folder."""

    path: str
    digest: str | None = None
    is_executable: bool = False
    link: str | None = None


class SeedPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What a workdir starts with, as it was found when the run was planned.

    Attributes:
        source: the fixture's folder.
        entries: each folder before what it holds, in an order that is the same everywhere.
        git: the workdir becomes a repository of one commit.
        digest: of relative paths, contents, executable bits, link targets and `git`; nothing else of the machine.
    """

    source: Path
    entries: tuple[SeedEntry, ...]
    git: bool
    digest: str


def plan_seed(fixture: Path, include: Sequence[str] = (), *, git: bool = False) -> SeedPlan:
    """Look at a fixture: hidden files, empty folders, executable bits, links that stay inside. `.git` is left out.

    Args:
        fixture: the folder.
        include: globs of what is taken, relative to it; a folder is taken with all that it holds. All when empty.
        git: the workdir is to become a repository of one commit.

    Raises:
        SuiteError: the fixture is no folder, a glob matches nothing, or it holds what cannot be given to every
            trial alike; every such path is named.
    """
    if not fixture.is_dir():
        raise SuiteError(
            f"The files of a test are to be a folder, and {str(fixture)!r} is none.",
            where=str(fixture),
            fix="Name a folder in `files`.",
        )
    faults: list[Fault] = []
    wanted = _wanted(fixture, include, faults)
    entries = tuple(
        sorted(
            entry
            for entry in _walk(fixture, Path(os.path.realpath(fixture)), "", faults)
            if wanted is None or _is_wanted(entry.path, wanted)
        )
    )
    if faults:
        raise SuiteError.of(faults)
    rows = [[entry.path, entry.digest, entry.is_executable, entry.link] for entry in entries]
    return SeedPlan(source=fixture, entries=entries, git=git, digest=digest_of([rows, git]))


def seed(plan: SeedPlan, workdir: Path) -> None:
    """Give a new workdir the planned files.

    Raises:
        SuiteError: a file is no longer what it was when the run was planned, or git does not do its part.
    """
    for entry in plan.entries:
        source, target = plan.source / entry.path, workdir / entry.path
        if entry.link is not None:
            target.symlink_to(entry.link)
        elif entry.digest is None:
            target.mkdir(exist_ok=True)
        else:
            _copy(source, target, entry)
    if plan.git:
        _commit(workdir)


def _copy(source: Path, target: Path, entry: SeedEntry) -> None:
    try:
        content = source.read_bytes()
    except OSError as error:
        raise _changed(entry, f"cannot be read now: {error.strerror}") from error
    if hashlib.sha256(content).hexdigest() != entry.digest:
        raise _changed(entry, "has changed since the run was planned")
    target.write_bytes(content)
    if entry.is_executable:
        mode = target.stat().st_mode
        # Executable for everyone who may read it, as far as the umask lets them.
        target.chmod(mode | (mode & 0o444) >> 2)


def _changed(entry: SeedEntry, what: str) -> SuiteError:
    return SuiteError(
        f"The file {entry.path!r} of the fixture {what}.",
        fix="Leave the suite alone while it runs; run the test again.",
    )


def _commit(workdir: Path) -> None:
    """Make a workdir a repository of one commit that is the same everywhere: no hooks, no settings of this machine."""
    environment = {
        "PATH": os.defpath,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CEILING_DIRECTORIES": str(workdir.parent),
        **_GIT_IDENTITY,
    }
    for words in (
        ["init", "--quiet", "--initial-branch=main", "--template="],
        ["add", "--all", "--force"],
        ["commit", "--quiet", "--allow-empty", "--no-verify", "--no-gpg-sign", "--message=fixture"],
    ):
        try:
            done = subprocess.run(
                ["git", *words],
                cwd=workdir,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_GIT_TIMEOUT_S,
                check=False,
            )
            said = done.stderr.strip() if done.returncode else None
        except (OSError, subprocess.TimeoutExpired) as error:
            said = str(error)
        if said is not None:
            raise SuiteError(
                f"The fixture cannot be made a repository: `git {words[0]}` says {said!r}.",
                fix="Install git 2.28 or newer, or set `git` to false.",
            )


def _wanted(fixture: Path, include: Sequence[str], faults: list[Fault]) -> set[str] | None:
    """The paths that the globs match; None for all."""
    if not include:
        return None
    wanted: set[str] = set()
    for pattern in include:
        found = {path.relative_to(fixture).as_posix() for path in fixture.glob(pattern)}
        if not found:
            faults.append(
                Fault(
                    f"The pattern {pattern!r} of `include` matches nothing in the fixture.",
                    str(fixture),
                    "Patterns are relative to the fixture; `**/*.csv` looks in every folder.",
                )
            )
        wanted |= found
    return wanted


def _is_wanted(path: str, wanted: set[str]) -> bool:
    """True for a match, for what lies in a folder that matches, and for the folders on the way to a match."""
    parts = path.split("/")
    if "." in wanted or any("/".join(parts[:depth]) in wanted for depth in range(1, len(parts) + 1)):
        return True
    return any(match.startswith(f"{path}/") for match in wanted)


def _walk(fixture: Path, real: Path, inside: str, faults: list[Fault]) -> Iterator[SeedEntry]:
    try:
        with os.scandir(fixture / inside) as listing:
            listed = list(listing)
    except OSError as error:
        faults.append(_unreadable(fixture / inside, error))
        return
    for entry in listed:
        path = f"{inside}{entry.name}"
        if entry.name == _REPOSITORY:
            continue
        if entry.is_symlink():
            target = os.readlink(entry.path)  # noqa: PTH115  as text, not as a Path made tidy
            if _stays_inside(entry.path, target, real):
                yield SeedEntry(path, link=target)
            else:
                faults.append(_refused(entry.path, f"The symbolic link {path!r} leads out to {target!r}."))
        elif entry.is_dir():
            yield SeedEntry(path)
            yield from _walk(fixture, real, f"{path}/", faults)
        else:
            mode = entry.stat().st_mode
            if not stat.S_ISREG(mode):
                faults.append(_refused(entry.path, f"The file {path!r} is a {kind_of(mode)}."))
                continue
            try:
                with open(entry.path, "rb") as content:  # noqa: PTH123  a Path for each of very many costs
                    digest = hashlib.file_digest(content, "sha256").hexdigest()
            except OSError as error:
                faults.append(_unreadable(Path(entry.path), error))
                continue
            yield SeedEntry(path, digest=digest, is_executable=bool(mode & _EXECUTABLE))


def _stays_inside(link: str, target: str, real: Path) -> bool:
    # An absolute target would lead from the workdir back to the fixture, also where it lies inside.
    with suppress(OSError):
        return not target.startswith("/") and Path(os.path.realpath(link)).is_relative_to(real)
    return False


def _refused(path: str, what: str) -> Fault:
    return Fault(
        what, path, "Put a plain file or a relative link that stays inside the fixture in its place."
    )


def _unreadable(path: Path, error: OSError) -> Fault:
    return Fault(
        f"{path.name!r} of a fixture cannot be read: {error.strerror}.",
        str(path),
        "Make it readable, or take it out of the fixture.",
    )
