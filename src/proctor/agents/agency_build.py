"""An `.agency` file made ready to be called: what it imports, copied out of the user's folder, and compiled there."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from proctor.agents.streams import tail_of
from proctor.core.words import split_words
from proctor.errors import AgentError
from proctor.host.child import Exit, start_command, supervise
from proctor.records.run import Limits

DEFAULT_COMMAND = "agency"
"""The Agency language's own tool, as it is installed."""

BUILD_WITHIN_S = 180.0
"""Seconds that compiling may take."""

_IMPORTED = re.compile(rb"""(?:\bfrom|\bimport)\s*\(?\s*["'](\.{1,2}/[^"'\n]+)["']""")
_ENDINGS = ("", ".agency", ".js", ".mjs", ".ts", ".json")
_PROJECT_FILES = ("agency.json", "package.json", "tsconfig.json")
_SHOWN_LINES = 12


class Tools(msgspec.Struct, frozen=True):
    """The programs that are needed.

    Attributes:
        agency: the Agency tool, and arguments that go first.
        node: the Node.js that compiled modules run in.
    """

    agency: tuple[str, ...]
    node: str


class Project(msgspec.Struct, frozen=True):
    """The files of an agent.

    Attributes:
        root: the folder that all of them are below.
        files: relative to it, the agent's own first.
    """

    root: Path
    files: tuple[Path, ...]


def find_tools(command: str, launch_dir: Path, environment: Mapping[str, str]) -> Tools:
    """The programs that `command` names, as a shell would split it, and Node.js.

    Raises:
        AgentError: one of them is not there.
    """
    path = environment.get("PATH", "")
    try:
        words = split_words(command) or [DEFAULT_COMMAND]
    except ValueError as error:
        raise AgentError(
            f"A quotation mark in the name of the Agency tool is never closed: {command!r}.",
            fix="Correct agency_cmd in the settings, or PROCTOR_AGENCY_CMD.",
        ) from error
    named = str(launch_dir / words[0]) if "/" in words[0] else words[0]
    agency = shutil.which(named, path=path)
    if agency is None:
        raise AgentError(
            f"An .agency file is compiled by the Agency language's own tool, and there is no {words[0]!r}.",
            fix="Install it (npm install -g agency-lang), or name it: agency_cmd in the settings, or "
            "PROCTOR_AGENCY_CMD.",
        )
    node = shutil.which("node", path=path)
    if node is None:
        raise AgentError(
            "A compiled .agency file runs in Node.js, and there is no 'node'.", fix="Install it."
        )
    return Tools((agency, *words[1:]), node)


def project_of(file: Path) -> Project:
    """The agent's file, what it imports by relative paths, and what its project says of itself.

    Raises:
        AgentError: it imports a file that is not there.
    """
    found: dict[Path, None] = {}
    waiting = [file.resolve()]
    while waiting:
        one = waiting.pop(0)
        if one in found:
            continue
        found[one] = None
        if one.suffix != ".json":
            named = {found.decode("utf-8", "replace") for found in _IMPORTED.findall(one.read_bytes())}
            waiting += [_imported(one, name) for name in sorted(named)]
    root = _root_of(list(found))
    extra = [root / name for name in _PROJECT_FILES if (root / name).is_file()]
    return Project(root, tuple(path.relative_to(root) for path in dict.fromkeys([*found, *extra])))


def build(project: Project, folder: Path, tools: Tools, environment: Mapping[str, str]) -> Path:
    """Copy the project into `folder` and compile it there; the compiled module, relative to it.

    Raises:
        AgentError: it does not compile.
        OSError: it cannot be copied.
    """
    for name in project.files:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(project.root / name, folder / name)
    if (modules := modules_of(project.root) or _modules_around(tools.agency[0])) is not None:
        (folder / "node_modules").symlink_to(modules)
    main = project.files[0]
    before = set(folder.rglob("*.js"))
    ended = run_tool(
        [*tools.agency, "compile", str(main)],
        folder,
        environment,
        BUILD_WITHIN_S,
        printed := folder / ".printed",
    )
    said = [*tail_of(printed).splitlines(), *tail_of(printed.with_suffix(".err")).splitlines()]
    if ended.code != 0:
        how = "did not end in time" if ended.timed_out else f"ended with {ended.code or ended.signal}"
        raise AgentError(
            f"{main} does not compile: the compiler {how}.",
            where=str(main),
            fix="\n    ".join(["Correct what it says:", *said[-_SHOWN_LINES:]]),
        )
    beside = folder / main.with_suffix(".js")
    made = [beside] if beside.is_file() else sorted(set(folder.rglob(f"{main.stem}.js")) - before)
    if not made:
        raise AgentError(
            f"{' '.join(tools.agency[1:]) or 'agency'} compile {main} wrote no {main.stem}.js.",
            where=str(main),
            fix="\n    ".join(["Look at what it said:", *said[-_SHOWN_LINES:]]),
        )
    return made[0].relative_to(folder)


def run_tool(
    argv: Sequence[str], folder: Path, environment: Mapping[str, str], limit_s: float, printed: Path
) -> Exit:
    """Run a program in a folder, within a limit; what it prints goes to `printed`, and `.err` beside it.

    Raises:
        AgentError: it cannot be started.
    """
    try:
        child = start_command(
            argv, cwd=folder, env=environment, stdout=printed, stderr=printed.with_suffix(".err")
        )
    except (OSError, ValueError) as error:
        raise AgentError(f"{argv[0]!r} could not be started: {error}", fix="Look at what it is.") from error
    return supervise(child, Limits(timeout_s=limit_s))


def modules_of(root: Path) -> Path | None:
    """The `node_modules` that a project finds; None where there is none."""
    found = (folder / "node_modules" for folder in (root, *root.parents))
    return next((folder for folder in found if folder.is_dir()), None)


def _modules_around(program: str) -> Path | None:
    """The `node_modules` that a program stands in."""
    return next((folder for folder in Path(program).resolve().parents if folder.name == "node_modules"), None)


def _imported(importer: Path, named: str) -> Path:
    base = importer.parent / named
    candidates = [Path(f"{base}{ending}") for ending in _ENDINGS]
    if base.suffix == ".js":
        # What is compiled from TypeScript or Agency is imported by the name that it will have.
        candidates += [base.with_suffix(".ts"), base.with_suffix(".agency")]
    for candidate in candidates:
        if candidate.is_file():
            return candidate.resolve()
    raise AgentError(
        f"{importer.name} imports {named!r}, which is not there.",
        where=str(importer),
        fix="Correct the import.",
    )


def _root_of(files: list[Path]) -> Path:
    """The nearest folder above all files that says that a project begins there, else the one that holds them."""
    common = files[0].parent
    while not all(file.is_relative_to(common) for file in files):
        common = common.parent
    for folder in (common, *common.parents):
        if any((folder / name).is_file() for name in ("agency.json", "package.json")):
            return folder
    return common
