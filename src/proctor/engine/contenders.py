"""The runs that are compared: those of a group that count, and what a judge sees of two of them."""

from __future__ import annotations

from pathlib import Path

import msgspec

from proctor.core.attempts import tell_apart
from proctor.core.faults import row_of
from proctor.core.pairwise import Contender, Pair
from proctor.engine.reporting import read_run
from proctor.errors import StoreError, UsageError
from proctor.judges.case import Case, JudgedRun, case_of
from proctor.records.json_value import storable
from proctor.records.judging import JudgeQuestion
from proctor.records.run import Ending
from proctor.records.suite import Test
from proctor.stores.discover import FoundGroup, discover
from proctor.stores.rundir import RunDir


class ComparedGroup(msgspec.Struct, frozen=True):
    """One side of the comparison.

    Attributes:
        contenders: the runs that count, one a trial, in the order of the group.
        runs: all of them by name.
        is_single: a run directory was named, and no group.
    """

    contenders: tuple[Contender, ...]
    runs: dict[str, RunDir]
    is_single: bool


class PairCases(msgspec.Struct, frozen=True):
    """A pair that is to be judged, and what the judge sees of each side."""

    pair: Pair
    a: Case
    b: Case

    @property
    def lacking(self) -> str:
        """Why there is nothing to compare; empty when there is something on both sides."""
        sides = [side for side, case in (("A", self.a), ("B", self.b)) if case.lacks is not None]
        if not sides:
            return ""
        return (
            f"there is nothing to judge of {' and '.join(sides)}: no output, and no file that was asked for"
        )

    @property
    def left_out(self) -> dict[str, int]:
        """Characters that the judge is not shown, by side and part."""
        return {
            f"{side} {part}": missing
            for side, case in (("A", self.a), ("B", self.b))
            for part, missing in case.left_out.items()
        }


def compared_group(path: Path) -> ComparedGroup:
    """The group, or the single run, that a path names.

    Raises:
        UsageError: it names several groups.
        StoreError: it does not exist, or holds no run.
    """
    found = discover([path])
    if len(found) != 1:
        raise UsageError(
            f"{str(path)!r} holds {len(found)} groups, and one is compared",
            fix=f"Name one of them, such as {str(found[0].path)!r}.",
        )
    group: FoundGroup = found[0]
    runs = {storable(run.name): run for run in group.runs}
    in_force = tell_apart(read_run(run) for run in group.runs).in_force
    contenders = tuple(_contender(runs[report.run]) for report in in_force)
    return ComparedGroup(contenders, runs, is_single=not group.is_group)


def _contender(run: RunDir) -> Contender:
    name = storable(run.name)
    try:
        facts = run.facts()
        return Contender(
            run=name,
            test=facts.test,
            trial=facts.trial,
            ending=facts.ending,
            is_evidence=row_of(facts.ending, facts.defect.type if facts.defect else None).scored_by
            != "nobody",
            input_digest=facts.input_digest,
            output=run.output(facts),
        )
    except StoreError as error:
        report = read_run(run)
        test = Test(id=report.test)
        return Contender(
            run=name, test=test, trial=report.trial, ending=Ending.OK, input_digest="", trouble=error.what
        )


def pair_cases(pair: Pair, sides: tuple[ComparedGroup, ComparedGroup], include: tuple[str, ...]) -> PairCases:
    """What the judge sees of a pair. Input and expected value are those of A's test.

    Raises:
        UsageError: a pattern of `include` leads out of the workdir.
    """
    question = JudgeQuestion(goal=pair.goal, include=include)
    cases: list[Case] = []
    for contender, side in ((pair.a, sides[0]), (pair.b, sides[1])):
        run = side.runs[contender.run]
        trace = run.trace(run.facts())
        judged = JudgedRun(
            output=contender.output,
            test=pair.a.test,
            workdir=run.workdir,
            events=trace.events if trace is not None else (),
        )
        try:
            cases.append(case_of(question, judged))
        except ValueError as error:
            raise UsageError(
                str(error), fix="Name files below the workdir, such as --include '*.md'."
            ) from error
    return PairCases(pair, cases[0], cases[1])
