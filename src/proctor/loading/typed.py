"""Typed suites: which files are some, and the suite that one or several of them are together."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec

from proctor import wiring
from proctor.core.relative import is_plain_relative
from proctor.errors import Fault, SuiteError, UsageError
from proctor.host.interpreter import python_command
from proctor.host.limited import run_limited
from proctor.loading.disk import is_file, is_folder
from proctor.loading.entries import Context
from proctor.loading.faults import AtLine, Faults, Spot
from proctor.loading.ids import complaint
from proctor.loading.paths import GitFixtures, fixture_of
from proctor.loading.typed_child import TypedCase, TypedSuite
from proctor.records.run import Limits
from proctor.records.suite import GradersSource, Suite, SuiteTest
from proctor.records.suite_codes import SuiteCode

ENDING: Final = "_eval.py"
DEFAULT_PATTERNS: Final = (f"evals/**/*{ENDING}",)
LOAD_S: Final = 60.0
_TAIL: Final = 500
_CLASSIC_ENDINGS: Final = (".json", ".jsonl", ".csv", ".yaml", ".yml")


def discover(folder: Path, patterns: Sequence[str]) -> list[Path]:
    """The files that these patterns name below a folder, sorted; no hidden ones, and none behind a link.

    Raises:
        UsageError: a pattern leaves the folder.
    """
    found: set[Path] = set()
    for pattern in patterns:
        if not is_plain_relative(pattern):
            raise UsageError(
                f"{SuiteCode.CONFIG_INVALID.value}  `evals` holds {pattern!r}, which can leave the project",
                fix=f'Patterns are relative to the file of the settings: ["{DEFAULT_PATTERNS[0]}"].',
            )
        found.update(path for path in folder.glob(pattern) if _is_plain(path, folder))
    return sorted(found)


def typed_files(path: Path, context: Context) -> list[Path]:
    """The typed suites that a path is: itself, or those below a folder that holds no other suite; none of them.

    Raises:
        SuiteError: a folder holds both kinds, or the file is a link that leaves a checkout.
    """
    if path.name.endswith(ENDING) and is_file(path):
        if context.leaves_checkout(path):
            raise SuiteError(
                "It is a link that leaves the repository that the suite is from.",
                where=context.label_of(path),
                fix="Keep the files of a suite from git in its repository.",
            )
        return [path]
    if not is_folder(path):
        return []
    files = discover(path, [f"**/*{ENDING}"])
    if not files:
        return []
    other = next(_classic(path), None)
    if other is None:
        return files
    beside = [file for file in files if file.parent == path and b"define_eval_suite" in file.read_bytes()]
    if beside:
        raise SuiteError(
            f"The folder mixes shapes of suites: a typed one ({beside[0].name}), and {other.name}.",
            where=context.label_of(path),
            fix="Keep one shape in a folder, or name the file that is meant.",
        )
    return []


def _classic(folder: Path) -> Iterator[Path]:
    """What makes a folder a suite that is written as data."""
    for child in sorted(folder.iterdir()):
        if not child.name.startswith(".") and child.suffix.lower() in _CLASSIC_ENDINGS and child.is_file():
            yield child
        if child.is_dir():
            yield from (
                child / name for name in ("test.json", "test.yaml", "test.yml") if is_file(child / name)
            )


def typed_suite(files: Sequence[Path], root: Path, source: str, context: Context) -> Suite:
    """One suite of the cases of all these files. A case's id that several of them have is `SUITE.CASE`.

    Raises:
        SuiteError: every fault of every file, each with its code, file and line.
    """
    loaded: list[tuple[Path, TypedSuite]] = []
    faults: list[Fault] = []
    named: dict[str, Path] = {}
    for path in files:
        one = _load(path)
        faults += [Fault(what, _shown(where, path, context), fix) for what, where, fix in one.faults]
        faults += _credentials(one, path, context)
        if not one.faults:
            first = named.setdefault(one.name.casefold(), path)
            if first is not path:
                what = f"the suite {one.name!r} is defined in {context.label_of(first)} as well"
                fix = "Give each suite a name of its own."
                faults.append(Fault(f"{SuiteCode.DUPLICATE.value}  {what}", context.label_of(path), fix))
        loaded.append((path, one))
    ids = Counter(written.test.id.casefold() for _, one in loaded for written in one.cases)
    tests: list[SuiteTest] = []
    git = GitFixtures(context)
    for path, one in loaded:
        for written in one.cases:
            is_shared = ids[written.test.id.casefold()] > 1
            made, wrong = _test(written, path, git, context, name=one.name if is_shared else None)
            faults += wrong
            if made is not None:
                tests.append(made)
    if faults:
        raise SuiteError.of(faults)
    single = loaded[0][1].name if len(loaded) == 1 else root.name
    return Suite(name=single, source=source, root=root, tests=tuple(tests))


def _test(
    written: TypedCase, path: Path, git: GitFixtures, context: Context, *, name: str | None
) -> tuple[SuiteTest | None, list[Fault]]:
    """The case as a test of this machine, and what is wrong with where its parts lie."""
    test, where = written.test, f"{context.label_of(path)}:{written.line}"
    test_id = f"{name}.{test.id}" if name is not None else test.id
    if (wrong := complaint(test_id)) is not None:
        what, fix = wrong
        return None, [Fault(f"{SuiteCode.CASE_INVALID.value}  the id {test_id!r} {what}", where, fix)]
    located = None
    if test.files is not None:
        faults = Faults()
        spot = Spot(AtLine(context.label_of(path), written.line), ("fixture",))
        located = fixture_of(msgspec.to_builtins(test.files), spot, path.parent, path.parent, git, faults)
        if located is None:
            try:
                faults.raise_any()
            except SuiteError as error:
                code = f"{SuiteCode.FIXTURE_INVALID.value}  case {test.id!r}: "
                return None, [fault._replace(what=code + fault.what) for fault in error.faults]
    return (
        SuiteTest(
            test=msgspec.structs.replace(test, id=test_id, graders=path.name),
            where=where,
            fixture=None if located is None else located.folder,
            fixture_commit=None if located is None else located.commit,
            graders=GradersSource(root=path.parent, module=path),
        ),
        [],
    )


def _load(path: Path) -> TypedSuite:
    """What a suite's file gives, run in a process of its own, with limits."""
    with tempfile.TemporaryDirectory(prefix="proctor-suite-") as name:
        room = Path(name)
        reply, out, err = room / "reply.json", room / "out", room / "err"
        ended = run_limited(
            python_command("proctor.loading.typed_child:main", str(path), str(reply)),
            cwd=path.parent,
            env=wiring.environment(),
            stdout=out,
            stderr=err,
            limits=Limits(timeout_s=LOAD_S, grace_s=1.0),
        )
        if not ended.timed_out and reply.is_file():
            return msgspec.json.decode(reply.read_bytes(), type=TypedSuite)
        printed = err.read_bytes()[-_TAIL:].decode("utf-8", "replace").strip()
    how = f"took longer than {LOAD_S:g} s" if ended.timed_out else "ended its process"
    what = f"{SuiteCode.LOAD_FAILED.value}  loading the suite {how}{f': {printed}' if printed else ''}"
    return TypedSuite(faults=((what, str(path), "Leave to graders and agents what takes time."),))


def _credentials(one: TypedSuite, path: Path, context: Context) -> Iterable[Fault]:
    for field, kind, where in one.suspects:
        steps = field.replace("[", ".[").split(".")
        if any(
            ".".join(steps[:length]).replace(".[", "[") in context.allowed
            for length in range(1, len(steps) + 1)
        ):
            continue
        fix = f"Take it out of the suite. If it is no secret: --allow-credentials '{field}'."
        what = f"{SuiteCode.CREDENTIAL_REJECTED.value}  {field} {kind}"
        yield Fault(what, _shown(where, path, context), fix)


def _shown(where: str, path: Path, context: Context) -> str:
    """File and line as messages name them."""
    file, colon, line = where.rpartition(":")
    place, after = (Path(file), f":{line}") if colon and line.isdigit() else (Path(where), "")
    return context.label_of(place if place.is_absolute() else path) + after


def _is_plain(path: Path, folder: Path) -> bool:
    below = path.relative_to(folder)
    if any(part.startswith(".") for part in below.parts) or not path.name.endswith(".py"):
        return False
    places = (path, *(folder / parent for parent in below.parents))
    return path.is_file() and not any(place.is_symlink() for place in places if place != folder)
