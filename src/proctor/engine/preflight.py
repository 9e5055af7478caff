"""Looking at every fixture and every grader of every selected test, before anybody pays for a run."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import msgspec

from proctor.engine import snapshot
from proctor.engine.fixtures import Seeds, plan_holdouts, plan_seeds
from proctor.engine.protocol import applies
from proctor.engine.snapshot import Snapshot
from proctor.engine.snapshot_scripts import installed, is_script, packages_named, scripts_reached, versions
from proctor.engine.workers import GraderServer, GradingModule
from proctor.errors import Fault, SuiteError
from proctor.host.seed import SeedPlan
from proctor.ports import GraderOptions
from proctor.records.suite import GradersSource, Suite, SuiteTest
from proctor.stores.rundir import FIXTURE, HOLDOUT


class CheckedTest(msgspec.Struct, frozen=True, kw_only=True):
    """A test's graders, as they will be stored with its runs.

    Attributes:
        snapshot: None when the test has no graders of its own.
        has_gate: one of them is a gate.
        reads_fixture: one of them looks at the files that the workdir started with.
        exit_codes: those that one of them expects of a command.
    """

    snapshot: Snapshot | None = None
    has_gate: bool = False
    reads_fixture: bool = False
    exit_codes: tuple[int, ...] = ()


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """What the check of a suite gives.

    Attributes:
        tests: by test id.
        seeds: what the workdir of each test starts with, by test id.
        holdouts: the files of each test that no agent sees, by test id.
        warnings: sentences about what is allowed, and hardly meant.
    """

    tests: dict[str, CheckedTest]
    seeds: Seeds
    holdouts: Seeds
    warnings: tuple[str, ...]

    @property
    def snapshots(self) -> Sequence[Snapshot]:
        """Each snapshot once."""
        kept = {
            one.snapshot.ref.digest: one.snapshot for one in self.tests.values() if one.snapshot is not None
        }
        return tuple(kept.values())

    def inputs_of(self, test: str) -> Mapping[str, SeedPlan]:
        """What is kept with a run of this test for its graders, by name of the folder."""
        inputs = {HOLDOUT: self.holdouts[test]} if test in self.holdouts else {}
        if self.tests[test].reads_fixture and test in self.seeds:
            inputs[FIXTURE] = self.seeds[test]
        return inputs


def check_suite(suite: Suite, start: Callable[[], GraderServer]) -> Checked:
    """Look at every fixture, load every grading module from its snapshot, and ask its graders what each test lacks.

    Args:
        start: starts the server of workers; not called for a suite without graders.

    Raises:
        SuiteError: all that was found: fixtures that cannot be given to an agent, modules that do not load,
            tests that lack what a grader reads.
    """
    by_source: dict[GradersSource, list[SuiteTest]] = {}
    for entry in suite.tests:
        if entry.graders is not None:
            by_source.setdefault(entry.graders, []).append(entry)
    checked = {entry.test.id: CheckedTest() for entry in suite.tests}
    faults, warnings = list[Fault](), dict[str, None]()
    plans: list[Seeds] = []
    for planner in (plan_seeds, plan_holdouts):
        try:
            plans.append(planner(suite))
        except SuiteError as error:
            faults += [fault._replace(where=_below(fault.where, suite)) for fault in error.faults]
    server = start() if by_source else None
    for source, entries in by_source.items():
        assert server is not None
        try:
            taken, module = _take(source, server)
        except SuiteError as error:
            faults += [_placed(fault, source, suite) for fault in error.faults]
            continue
        graders = module.loaded.graders
        doubts = (*_doubtful(graders, _shown(source, suite)), *module.loaded.doubts)
        warnings |= dict.fromkeys(doubts)
        for entry in entries:
            mine = [options for options in graders if applies(options, entry.test)]
            faults += _faults(entry, mine, module.lacks(entry.test), _shown(source, suite))
            checked[entry.test.id] = CheckedTest(
                snapshot=taken,
                has_gate=any(one.must_pass for one in mine),
                reads_fixture=any("fixture" in one.reads for one in mine),
                exit_codes=tuple({one.exit_code for one in mine if one.exit_code is not None}),
            )
        module.close()
    if faults:
        raise SuiteError.of(faults)
    seeds, holdouts = plans
    return Checked(tests=checked, seeds=seeds, holdouts=holdouts, warnings=tuple(warnings))


def _take(source: GradersSource, server: GraderServer) -> tuple[Snapshot, GradingModule]:
    """Take the snapshot, load it, and take it again with what loading it found to be missing."""
    taken = snapshot.take(source)
    module = server.fresh(taken, source.root)
    try:
        loaded = module.loaded
        folder = Path(taken.ref.entry).parent
        named = {*loaded.taken, *(str(folder / name) for name in loaded.files)}
        inside = {snapshot.relative(source.root / name, source.root) for name in named}
        missing = {name for name in inside if not module.holds(Path(name))}
        absent = sorted(name for name in missing if not (source.root / name).is_file())
        if absent:
            raise SuiteError(
                f"a grader names the file {absent[0]!r}, and there is no such file",
                where=taken.ref.entry,
                fix="Paths are relative to the grading module; look at the name, or write the file.",
            )
        scripts = [source.root / name for name in inside if name.endswith(".py")]
        others = scripts_reached(path for name in inside if is_script(path := source.root / name))
        more = others | snapshot.modules_reached(scripts, source.root) if scripts else others
        named = {snapshot.relative(path, source.root) for path in more}
        extra = missing | {name for name in named if not module.holds(Path(name))}
        reached = snapshot.modules_reached([source.module, *scripts], source.root)
        local = {path.stem for path in reached}
        packages = installed_packages((snapshot.imported_names(reached) | set(loaded.imported)) - local)
        packages |= versions(installed(packages_named(others), [source.root, Path.cwd()]))
    except SuiteError:
        module.close()
        raise
    if extra:
        module.close()
        taken = snapshot.take(source, extra)
        module = server.fresh(taken, source.root)
    ref = msgspec.structs.replace(taken.ref, packages=packages)
    return msgspec.structs.replace(taken, ref=ref), module


def installed_packages(modules: set[str]) -> dict[str, str]:
    """The installed distributions, with their versions, that some top-level modules belong to; not proctor itself."""
    foreign = modules - sys.stdlib_module_names - {"proctor"}
    if not foreign:
        return {}
    from importlib import metadata

    names = {name for module in foreign for name in _owners().get(module, ())}
    return {name: metadata.version(name) for name in sorted(names)}


@lru_cache(maxsize=1)
def _owners() -> Mapping[str, Sequence[str]]:
    """Which distributions each top-level module belongs to. Every file of every distribution is looked at for it."""
    from importlib import metadata

    return metadata.packages_distributions()


def _faults(
    entry: SuiteTest, graders: Sequence[GraderOptions], lacks: Sequence[str], where: str
) -> list[Fault]:
    if not graders:
        return [
            Fault(
                f"no grader of {where} applies to test {entry.test.id!r}",
                entry.where,
                "Widen the `scope` of a grader, or name another module in `graders`.",
            )
        ]
    if all(options.weight == 0 for options in graders):
        return [
            Fault(
                f"every grader that applies to test {entry.test.id!r} has weight 0, so it has no objective",
                entry.where,
                "Give at least one of them a weight above 0.",
            )
        ]
    fix = "Add the field to the test, or limit the grader with scope=[...]."
    faults = [Fault(lack, entry.where, fix) for lack in lacks]
    reading = next((one.name for one in graders if "holdout" in one.reads), None)
    if reading is not None and entry.holdout is None:
        what = f"grader {reading!r} reads held-out files, and test {entry.test.id!r} has none"
        faults.append(Fault(what, entry.where, "Put them into a folder holdout/ beside its test.json."))
    return faults


def _doubtful(graders: Sequence[GraderOptions], where: str) -> list[str]:
    return [
        f"{where}: gate {options.name!r} gives scores and its threshold is 0, so it cannot fail; "
        f"set threshold=..."
        for options in graders
        if options.must_pass and options.scale == "scalar" and options.threshold == 0
    ]


def _shown(source: GradersSource, suite: Suite) -> str:
    try:
        return source.module.relative_to(suite.root).as_posix()
    except ValueError:
        return source.module.name


def _placed(fault: Fault, source: GradersSource, suite: Suite) -> Fault:
    where = fault.where if fault.where not in ("", source.module.name) else _shown(source, suite)
    return fault._replace(where=where)


def _below(where: str, suite: Suite) -> str:
    """A place as the suite's author knows it: relative to the suite's root where it lies below."""
    path = Path(where)
    return path.relative_to(suite.root).as_posix() if path.is_relative_to(suite.root) else where
