"""Say what is installed, and find what killed proctors have left running or lying about.

What is missing is no fault: each line says what it is for, and how to get it. Which keys of models are set is said,
never what they are, and nobody is asked. Exit code 1 when something that was left behind cannot be removed.

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
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from proctor import wiring
from proctor.cli.installed import installed, judge_model, providers, unreadable_settings
from proctor.cli.output import clean, counted, shorten, table, write_json
from proctor.records.exits import ExitCode
from proctor.records.shown import Findings, Item, JudgeModel, Left

_MOST_LINES = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `proctor doctor` can be told."""
    parser.add_argument("--clean", action="store_true", help="end and remove what was left behind")
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")


def main(arguments: argparse.Namespace) -> int:
    """Look, clean if that was asked, and say both."""
    theirs = wiring.environment()
    agency, judge = _configured(theirs)
    items = tuple(installed(theirs, agency=agency))
    # Processes first: a folder that one of them stands in is free only when it is gone.
    processes = tuple(_processes(clean_up=arguments.clean))
    groups = tuple(_groups(clean_up=arguments.clean))
    folders = tuple(_folders(clean_up=arguments.clean))
    stays = any(left.cleaned is False for left in (*processes, *groups, *folders))
    code = ExitCode.CANNOT if stays else ExitCode.OK
    found = Findings(
        installed=items,
        providers=tuple(providers(theirs)),
        judge=judge,
        sandbox=_sandbox(),
        limits=_limits(),
        processes=processes,
        groups=groups,
        folders=folders,
    )
    if arguments.json:
        write_json(found)
        return code
    for line in table([_row(item) for item in items]):
        print(line)
    print()
    for line in _models(found):
        print(line)
    print(f"sandbox: {clean(found.sandbox)}")
    print(f"limits: {found.limits}")
    print(f'tab completion: eval "$(proctor completion {_shell(theirs)})"')
    print()
    for lefts in (processes, groups, folders):
        for left in lefts[:_MOST_LINES]:
            print(_sentence(left))
        if len(lefts) > _MOST_LINES:
            print(f"... and {len(lefts) - _MOST_LINES} more")
    print(_summary(processes, groups, folders, cleaned=arguments.clean))
    return code


def _configured(theirs: Mapping[str, str]) -> tuple[str, JudgeModel]:
    """The command that compiles .agency files, and the model of judges, as the project says."""
    from proctor.errors import UsageError
    from proctor.loading import find_settings

    try:
        settings = find_settings(wiring.here())
    except UsageError as error:
        return "agency", unreadable_settings(error)
    agency = theirs.get("PROCTOR_AGENCY_CMD") or settings.get("agency_cmd").value or "agency"
    if model := theirs.get("PROCTOR_JUDGE_MODEL", "").strip():
        return agency, judge_model(model, "PROCTOR_JUDGE_MODEL", theirs)
    configured, origin = settings.get("judge_model")
    return agency, judge_model(configured, origin if configured else None, theirs)


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

    theirs = wiring.environment()
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


def _models(found: Findings) -> Iterator[str]:
    """Whose models can be asked, whose cannot for want of a key, and which one judges ask."""
    rows = [
        (one.name, f"{one.key} is set" if one.key else "without a key", clean(one.host))
        for one in found.providers
        if one.is_ready
    ]
    yield "models can be asked of"
    yield from (f"  {line}" for line in table(rows))
    if missing := [
        f"{one.name} ({(one.get or '').removeprefix('set ')})" for one in found.providers if not one.is_ready
    ]:
        yield f"  and, with a key, of {', '.join(missing)}"
    judge = found.judge
    named = f"{clean(judge.model)}, from {clean(judge.origin or '')}" if judge.model else ""
    problem = clean(f"{judge.problem}: {judge.get}") if judge.problem else ""
    yield f"judge model: {'; '.join(part for part in (named, problem) if part)}"


def _shell(theirs: Mapping[str, str]) -> str:
    name = Path(theirs.get("SHELL", "")).name
    return name if name in ("zsh", "fish") else "bash"


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
