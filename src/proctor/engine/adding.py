"""Making run directories from traces that other programs wrote. Everything is looked at before anything is written."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from proctor.core.redaction import Redactor
from proctor.engine.preflight import Checked
from proctor.errors import Fault, ProctorError, StoreError, UsageError
from proctor.host.place import Place
from proctor.host.tree import copy_tree, remove_tree
from proctor.records.grade import Defect
from proctor.records.json_value import Json
from proctor.records.run import RUN_SCHEMA, AgentIdentity, AttemptRow, Ending, Platform, RunFacts, SuiteRef
from proctor.records.suite import SuiteTest, Test
from proctor.stores.brought import FoundTrace, look_into, write_trace
from proctor.stores.group import GroupDir
from proctor.stores.rundir import FACTS, RunDir
from proctor.stores.tracefile import TRACE

MOST_OUTPUT_BYTES: Final = 16 * 1024 * 1024
_FOLDER_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,100}")
_TAKEN: Final = frozenset({"checklists"})


class Material(msgspec.Struct, frozen=True, kw_only=True):
    """What a user brings.

    Attributes:
        traces: files of traces.
        workdir: the files as the agent left them, for a single trace.
        output: a file that holds what the agent answered, for a single trace.
        agent: what the agent is called.
        ending: how the runs ended, where the traces do not say it rightly.
    """

    traces: tuple[Path, ...]
    workdir: Path | None = None
    output: Path | None = None
    agent: str | None = None
    ending: Ending | None = None


class TestOfSuite(msgspec.Struct, frozen=True, kw_only=True):
    """The test that the runs are of, and what they are graded with."""

    __test__ = False

    entry: SuiteTest
    suite: SuiteRef
    checked: Checked


class PlannedRun(msgspec.Struct, frozen=True, kw_only=True):
    """One run directory that will be written."""

    run_dir: str
    trial: int
    trace: FoundTrace


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What `add` will do.

    Attributes:
        group: the group's folder.
        runs: what is written.
        skipped: names of the run directories that hold one of the traces already.
        output: what the agent answered, from the file that was named.
    """

    group: Path
    material: Material
    test: TestOfSuite | None
    runs: tuple[PlannedRun, ...]
    skipped: tuple[str, ...]
    output: Json = None


def plan(
    group: Path, material: Material, test: TestOfSuite | None = None, faults: Iterable[Fault] = ()
) -> Plan:
    """What is to be written, and what is there already. Nothing is changed.

    faults: what was found before; it is told together with what is found here.

    Raises:
        UsageError: every fault: files that cannot be read, a trace in two files that differ, names that are taken,
            names that no folder of the group can have, a workdir or an output for several traces.
    """
    found = list(faults)
    traces = _traces(material.traces, found)
    runs, skipped = _named(group, traces, test.entry.test.id if test else None, found)
    output = _output(material.output, found)
    if material.workdir is not None:
        found += _workdir_faults(material.workdir)
    if len(traces) > 1:
        found += [
            Fault(
                f"{option} belongs to one run, and there are {len(traces)} traces",
                str(named),
                "Add the traces one by one, each from a file of its own.",
            )
            for option, named in (("--workdir", material.workdir), ("--output", material.output))
            if named is not None
        ]
    if found:
        raise UsageError.of(found)
    return Plan(
        group=group, material=material, test=test, runs=tuple(runs), skipped=tuple(skipped), output=output
    )


def carry_out(planned: Plan, platform: Platform, environment: Mapping[str, str]) -> None:
    """Write the runs, each whole or not at all; when this returns, they are on the disk.

    Raises:
        StoreError: the group cannot be written, or a file was changed since it was looked at.
    """
    if not planned.runs:
        return
    try:
        planned.group.mkdir(parents=True, exist_ok=True)
        group = GroupDir.reopen(planned.group)
    except OSError as error:
        raise StoreError(
            f"the group cannot be made: {error.strerror}",
            where=str(planned.group),
            fix="Name another folder.",
        ) from error
    try:
        _keep_inputs(planned.test, group)
        redactor = Redactor(environment)
        for run in planned.runs:
            _write(run, planned, group, redactor, platform)
    except OSError as error:
        raise StoreError(
            f"the runs cannot be written: {error.strerror or error}",
            where=str(planned.group),
            fix="Make room on the disk, then repeat the command: what is written already is skipped.",
        ) from error
    finally:
        group.finish()


def _keep_inputs(test: TestOfSuite | None, group: GroupDir) -> None:
    if test is None:
        return
    for taken in test.checked.snapshots:
        group.keep_graders(taken.ref, taken.archive)
    for kept in test.checked.inputs_of(test.entry.test.id).values():
        group.keep_tree(kept)


def _write(run: PlannedRun, planned: Plan, group: GroupDir, redactor: Redactor, platform: Platform) -> None:
    facts = _facts(run, planned, redactor, platform)
    place = Place.create(None, facts.test, {})
    try:
        if planned.material.workdir is not None:
            place.workdir.rmdir()
            left_out = copy_tree(planned.material.workdir, place.workdir)
            left_out += _drop(group.path, planned.material.workdir, place.workdir)
            if left_out:
                note = f"not kept from the workdir: {', '.join(left_out[:20])}"
                facts = msgspec.structs.replace(facts, notes=(*facts.notes, note))
        trace = place.root / run.trace.file
        with trace.open("wb") as target:
            write_trace(run.trace, target)
        inputs = planned.test.checked.inputs_of(facts.test.id) if planned.test else None
        digest = group.publish(
            run.run_dir, facts, place, redactor=redactor, inputs=inputs, more={run.trace.file: trace}
        )
    finally:
        place.remove()
    group.log_attempt(
        AttemptRow(
            v=1,
            event="ended",
            run_dir=run.run_dir,
            test=facts.test.id,
            trial=facts.trial,
            attempt=1,
            at=facts.ended_at,
            ending=facts.ending,
            facts=digest,
        )
    )


def _drop(group: Path, workdir: Path, copy: Path) -> list[str]:
    """Take the group out of the copy of a workdir that it lies in."""
    inside, around = group.resolve(), workdir.resolve()
    if not inside.is_relative_to(around):
        return []
    remove_tree(copy / inside.relative_to(around))
    return [f"{inside.relative_to(around)} (the group itself)"]


def _facts(run: PlannedRun, planned: Plan, redactor: Redactor, platform: Platform) -> RunFacts:
    trace, material, mine = run.trace, planned.material, planned.test
    test = mine.entry.test if mine else Test(id=run.run_dir)
    checked = mine.checked if mine else None
    graders = checked.tests[test.id] if checked else None
    ending = material.ending or trace.ending
    output = planned.output if material.output is not None else trace.output
    return RunFacts(
        schema=RUN_SCHEMA,
        run=trace.trace_id,
        test=test,
        trial=run.trial,
        attempt=1,
        ending=ending,
        output=redactor.value(output),
        trace=None if trace.file == TRACE else trace.file,
        defect=_defect(ending, trace, redactor),
        agent=AgentIdentity(
            kind=trace.kind, label=material.agent or trace.agent or "unknown", digest=trace.code
        ),
        suite=mine.suite if mine else SuiteRef(name=""),
        graders=graders.snapshot.ref if graders and graders.snapshot else None,
        test_digest=test.digest,
        input_digest=test.input_digest,
        fixture_digest=checked.seeds[test.id].digest if checked and test.id in checked.seeds else None,
        fixture_commit=mine.entry.fixture_commit if mine else None,
        holdout_digest=checked.holdouts[test.id].digest if checked and test.id in checked.holdouts else None,
        started_at=trace.started_at,
        ended_at=trace.ended_at,
        duration_s=trace.duration_s,
        # Where it ran is not known; which proctor took it in, is.
        platform=Platform(proctor=platform.proctor, python="", system="", machine=""),
        workdir=material.workdir is not None,
        has_gate=graders.has_gate if graders else False,
    )


def _defect(ending: Ending, trace: FoundTrace, redactor: Redactor) -> Defect | None:
    if ending is Ending.OK or not trace.error:
        return None
    return Defect(type=ending.value, message=redactor.text(trace.error))


def _traces(paths: Sequence[Path], faults: list[Fault]) -> list[FoundTrace]:
    """The traces of all files, each once."""
    by_id: dict[str, FoundTrace] = {}
    for path in paths:
        try:
            found = look_into(path)
        except StoreError as error:
            faults += error.faults
            continue
        for trace in found:
            first = by_id.setdefault(trace.trace_id, trace)
            if first.digest != trace.digest:
                faults.append(
                    Fault(
                        f"trace {trace.trace_id!r} is in {str(first.path)!r} too, and not the same there",
                        str(path),
                        "Name one of the two files; or put them together, when each holds a part of it.",
                    )
                )
    return list(by_id.values())


def _named(
    group: Path, traces: Sequence[FoundTrace], test: str | None, faults: list[Fault]
) -> tuple[list[PlannedRun], list[str]]:
    """What each trace's run is called, and the runs that are there already."""
    there = dict(_recorded(group, test)) if test is not None else {}
    runs: list[PlannedRun] = []
    skipped: list[str] = []
    fresh = [trace for trace in traces if trace.trace_id not in there]
    skipped += [there[trace.trace_id][0] for trace in traces if trace.trace_id in there]
    trial = max((number for _, number in there.values()), default=0)
    planned: dict[str, str] = {}
    for trace in fresh:
        if test is None:
            name, number = _name_of(trace), 1
        else:
            trial += 1
            name, number = test if len(fresh) == 1 and not there else f"{test}--{trial}", trial
        other = planned.setdefault(name.casefold(), trace.trace_id)
        fault, is_there = _obstacle(group, name, trace)
        if other != trace.trace_id:
            fault = Fault(
                f"traces {other!r} and {trace.trace_id!r} would have the same name, {name!r}",
                str(trace.path),
                "Add them to two groups.",
            )
        if fault is not None:
            faults.append(fault)
        elif is_there:
            skipped.append(name)
        else:
            runs.append(PlannedRun(run_dir=name, trial=number, trace=trace))
    return runs, skipped


def _name_of(trace: FoundTrace) -> str:
    return trace.trace_id[:12] if trace.file == TRACE else trace.trace_id


def _obstacle(group: Path, name: str, trace: FoundTrace) -> tuple[Fault | None, bool]:
    """Why there cannot be a run of that name; and whether this very run is there already."""
    is_id = trace.file != TRACE and name == trace.trace_id
    if is_id and (not _FOLDER_NAME.fullmatch(name) or name.casefold() in _TAKEN):
        what = f"the trace id {name[:100]!r} cannot be the name of a folder"
        return Fault(what, str(trace.path), "Give the run a name of its own: --test ID --suite S."), False
    final = group / name
    if not final.exists() and not final.is_symlink():
        return None, False
    try:
        is_same = (final / FACTS).is_file() and RunDir(final).facts().run == trace.trace_id
    except StoreError:
        is_same = False
    if is_same:
        return None, True
    what = f"{name!r} is there already, and it is not the run of trace {trace.trace_id!r}"
    return Fault(what, str(final), "Name another group, or take it away."), False


def _recorded(group: Path, test: str) -> Iterator[tuple[str, tuple[str, int]]]:
    """The runs of a test that the group has: by their id, name and trial."""
    if not group.is_dir():
        return
    for run in GroupDir(group).runs():
        if run.name == test or run.name.startswith(f"{test}--"):
            try:
                facts = run.facts()
            except ProctorError:
                continue  # its name is found to be taken, where that is the one to be given
            yield facts.run, (run.name, facts.trial)


def _output(path: Path | None, faults: list[Fault]) -> Json:
    """What the agent answered: UTF-8 text less one final line end."""
    if path is None:
        return None
    try:
        if path.stat().st_size > MOST_OUTPUT_BYTES:
            what = f"the output is larger than {MOST_OUTPUT_BYTES // 1024**2} MiB"
            faults.append(Fault(what, str(path), "Name a file with the answer alone."))
            return None
        text = path.read_bytes().decode("utf-8", "replace")
    except OSError as error:
        faults.append(Fault(f"the output cannot be read: {error.strerror}", str(path), "Name a file."))
        return None
    return (text.removesuffix("\n").removesuffix("\r") if text.endswith("\n") else text) or None


def _workdir_faults(workdir: Path) -> Iterator[Fault]:
    if not workdir.is_dir():
        yield Fault("the workdir is not a folder", str(workdir), "Name the folder that the agent worked in.")
    elif Path(tempfile.gettempdir()).resolve().is_relative_to(workdir.resolve()):
        yield Fault(
            "the workdir holds the folder of temporary files, which it is copied through",
            str(workdir),
            "Name the folder that the agent worked in, or set TMPDIR to another one.",
        )
