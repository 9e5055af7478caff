"""Say what is installed, and find what killed proctors have left running or lying about.

Looked for are living processes that carry the mark of a proctor that is gone, control groups that it made, and
folders `proctor-*` in the system's temporary space whose proctor is gone and which no process uses. Nothing that is
in use, or another user's, is ever touched.

Examples:
  proctor doctor
  proctor doctor --clean
  proctor doctor --json
"""

from __future__ import annotations

import argparse
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import msgspec

from proctor.cli.output import clean, counted, shorten, table, write_json
from proctor.records.exits import ExitCode
from proctor.version import __version__

_VERSION_TIMEOUT_S = 10
_MOST_LINES = 20
_PROGRAMS = (
    ("git", "suites from git, and `git: true` fixtures", "https://git-scm.com/downloads"),
    ("node", "agents that are written for it", "https://nodejs.org/en/download"),
    ("bwrap", "a sandbox for agents", "the package `bubblewrap` of a Linux distribution"),
)
"""Programs that proctor may call: name, for what, and how to get it."""


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that proctor uses.

    Attributes:
        version: None when it is not there.
        where: its path.
        serves: what it is for, when proctor can do without it.
        get: how to get it, when it is not there.
    """

    name: str
    version: str | None
    where: str | None = None
    serves: str | None = None
    get: str | None = None


class Left(msgspec.Struct, frozen=True, kw_only=True):
    """One process, control group or folder that was left behind.

    Attributes:
        what: its command, or its path.
        cleaned: it is gone now; None when that was not asked for.
    """

    kind: Literal["process", "group", "folder"]
    what: str
    pid: int | None = None
    cleaned: bool | None = None


class Findings(msgspec.Struct, frozen=True, kw_only=True):
    """What `proctor doctor --json` prints."""

    schema: str
    installed: tuple[Item, ...]
    sandbox: str
    limits: str
    processes: tuple[Left, ...]
    groups: tuple[Left, ...]
    folders: tuple[Left, ...]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `proctor doctor` can be told."""
    parser.add_argument("--clean", action="store_true", help="end and remove what was left behind")
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")


def main(arguments: argparse.Namespace) -> int:
    """Look, clean if that was asked, and say both."""
    installed = tuple(_installed())
    # Processes first: a folder that one of them stands in is free only when it is gone.
    processes = tuple(_processes(clean_up=arguments.clean))
    groups = tuple(_groups(clean_up=arguments.clean))
    folders = tuple(_folders(clean_up=arguments.clean))
    stays = any(left.cleaned is False for left in (*processes, *groups, *folders))
    code = ExitCode.CANNOT if stays else ExitCode.OK
    found = Findings(
        schema="proctor.doctor/1",
        installed=installed,
        sandbox=_sandbox(),
        limits=_limits(),
        processes=processes,
        groups=groups,
        folders=folders,
    )
    if arguments.json:
        write_json(found)
        return code
    for line in table([_row(item) for item in installed]):
        print(line)
    print(f"sandbox: {clean(found.sandbox)}")
    print(f"limits: {found.limits}")
    print()
    for lefts in (processes, groups, folders):
        for left in lefts[:_MOST_LINES]:
            print(_sentence(left))
        if len(lefts) > _MOST_LINES:
            print(f"... and {len(lefts) - _MOST_LINES} more")
    print(_summary(processes, groups, folders, cleaned=arguments.clean))
    return code


def _installed() -> Iterator[Item]:
    yield Item(name="proctor", version=__version__, where=str(Path(__file__).resolve().parents[1]))
    yield Item(name="python", version=platform.python_version(), where=sys.executable)
    yield Item(name="system", version=f"{platform.system()} {platform.release()}", where=platform.machine())
    for name, serves, get in _PROGRAMS:
        path = shutil.which(name)
        version = _version_of(path) if path else None
        yield Item(name=name, version=version, where=path, serves=serves, get=None if path else get)
    yield from _libraries()


def _version_of(program: str) -> str:
    """The first line that it says of its version, from its first digit on."""
    try:
        said = subprocess.run(
            [program, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_VERSION_TIMEOUT_S,
            check=False,
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return "does not say its version"
    line = (said.splitlines() or [""])[0]
    at = next((index for index, character in enumerate(line) if character.isdigit()), 0)
    return line[at:].strip() or "does not say its version"


def _libraries() -> Iterator[Item]:
    """The libraries of proctor's own extras, as its package names them."""
    from importlib import metadata

    try:
        required = metadata.requires("proctor") or []
    except metadata.PackageNotFoundError:
        return
    for requirement in required:
        needed, _, condition = requirement.partition(";")
        extra = condition.partition("extra ==")[2].strip(" '\"")
        if not extra or extra == "dev":
            continue
        name = needed.strip().rstrip("0123456789.,<>=!~ ")
        try:
            version = metadata.version(name)
        except metadata.PackageNotFoundError:
            version = None
        get = None if version else f"pip install 'proctor[{extra}]'"
        yield Item(name=name, version=version, serves=f"the extra {extra!r}", get=get)


def _processes(*, clean_up: bool) -> Iterator[Left]:
    from proctor.host.leftovers import end_process, left_processes

    for left in left_processes():
        yield Left(
            kind="process", what=left.command, pid=left.pid, cleaned=end_process(left) if clean_up else None
        )


def _folders(*, clean_up: bool) -> Iterator[Left]:
    from proctor.host.leftovers import left_folders, remove_folder

    for left in left_folders(Path(tempfile.gettempdir())):
        yield Left(kind="folder", what=str(left.path), cleaned=remove_folder(left) if clean_up else None)


def _groups(*, clean_up: bool) -> Iterator[Left]:
    from proctor.host.cgroups import left_groups, remove_group

    for folder in left_groups():
        yield Left(kind="group", what=str(folder), cleaned=remove_group(folder) if clean_up else None)


def _sandbox() -> str:
    """Whether there can be one here, tried out."""
    from proctor.errors import UsageError
    from proctor.host.isolation import isolate
    from proctor.host.premises import Premises
    from proctor.host.sandbox import Bubblewrap, find_programs
    from proctor.host.sandbox_view import programs_of, view_of
    from proctor.wiring import environment

    theirs = environment()
    try:
        programs = find_programs(theirs.get("PATH"))
        view = view_of([], tools=programs_of(theirs), hidden=(), needed=(), home=None)

        def made(folder: Path) -> Bubblewrap:
            return Bubblewrap(programs, view, folder, launch_dir=folder, has_network=False)

        with Premises(isolated=isolate(theirs), enclosure=made) as premises:
            premises.check()
    except UsageError as error:
        return f"{error.what}. {error.fix}"
    except OSError as error:
        return f"it cannot be tried out: {error}"
    return "bwrap works here"


def _limits() -> str:
    """What can be held of all processes of a trial together."""
    from proctor.host.cgroups import trees_for

    names = {"memory": "memory", "pids": "the number of processes"}
    held = [name for key, name in names.items() if any(key in tree.controllers for tree in trees_for([key]))]
    if not held:
        return "no control groups can be made here: memory is held for each process, their number in a sandbox alone"
    missing = [name for name in names.values() if name not in held]
    lacking = f"; not {missing[0]}" if missing else ""
    return f"control groups hold {' and '.join(held)} of all processes of a trial together{lacking}"


def _row(item: Item) -> tuple[str, str, str]:
    serves = f"for {item.serves}" if item.serves else ""
    if item.version is None:
        return clean(item.name), "not installed", f"{serves}: {item.get}"
    return clean(item.name), clean(item.version), clean(item.where or serves)


def _sentence(left: Left) -> str:
    which = f" {left.pid} " if left.pid else ""
    named = f"{left.kind}{which} {shorten(clean(left.what), 200)}"
    gone, stays = ("ended", "cannot be ended") if left.pid else ("removed", "cannot be removed whole")
    return named if left.cleaned is None else f"{named}  {gone if left.cleaned else stays}"


def _summary(
    processes: tuple[Left, ...], groups: tuple[Left, ...], folders: tuple[Left, ...], *, cleaned: bool
) -> str:
    every = (*processes, *groups, *folders)
    if not every:
        return "nothing is left of earlier runs"
    living = f"{len(processes)} living {'process' if len(processes) == 1 else 'processes'}"
    control = f", {counted(len(groups), 'control group')}" if groups else ""
    counts = f"{living}{control} and {counted(len(folders), 'folder')} of earlier runs"
    if not cleaned:
        return f"{counts} left behind; `proctor doctor --clean` ends and removes them"
    gone = sum(left.cleaned is True for left in every)
    return f"{counts} found, {gone} of them gone now"
