"""Grading old runs with the tests and graders that a suite has now."""

from __future__ import annotations

from pathlib import Path

import msgspec

from proctor.engine.fixtures import Seeds
from proctor.engine.grading import Grading, Resolve
from proctor.engine.inputs import KeptInput
from proctor.engine.preflight import Checked
from proctor.host.seed import seed
from proctor.records.run import RunFacts
from proctor.records.suite import Suite, SuiteTest
from proctor.stores.foreign import StatelogRun
from proctor.stores.rundir import FIXTURE, HOLDOUT, RunDir


def todays(suite: Suite, checked: Checked, folder: Path) -> Resolve:
    """What each run is graded with: today's test of its id, as long as the agent would have been given the same.

    A run whose test is gone, or whose input or fixture has changed since, was an answer to another question;
    it is inconclusive. `expected`, `goal`, `metadata` and the graders may have changed: that is what one asks
    for.

    Args:
        suite: as it is now.
        checked: its graders and fixtures.
        folder: an empty folder, which must be there as long as runs are graded.
    """
    by_id = {entry.test.id: entry for entry in suite.tests}
    by_case = {(entry.test.suite, entry.test.case): entry for entry in suite.tests}
    for taken in checked.snapshots:
        (folder / taken.ref.archive_name).write_bytes(taken.archive)

    kept = _kept(checked, folder)

    def resolve(run: RunDir, facts: RunFacts) -> Grading:
        # What a case is called depends on the suites that it is loaded with; which one it is does not.
        was = facts.test
        entry = by_id.get(was.id) if was.case is None else by_case.get((was.suite, was.case))
        if entry is None:
            return Grading(test=facts.test, changed=f"the suite has no test {facts.test.id!r} now")
        inputs = checked.inputs_of(entry.test.id)
        ref = taken.ref if (taken := checked.tests[entry.test.id].snapshot) else None
        return Grading(
            test=entry.test,
            ref=ref,
            archive=folder / ref.archive_name if ref else None,
            changed=_changed(entry, facts, checked.seeds, is_foreign=isinstance(run, StatelogRun)),
            fixture=kept.get(inputs[FIXTURE].digest) if FIXTURE in inputs else None,
            holdout=kept.get(inputs[HOLDOUT].digest) if HOLDOUT in inputs else None,
        )

    return resolve


def by_goal(goal: str) -> Resolve:
    """What each run is graded with when it is judged by a goal: the built-in goal judge, whatever graders it holds.

    goal: for tests that have none of their own.
    """

    def resolve(_: RunDir, facts: RunFacts) -> Grading:
        own = facts.test.goal
        kept = own if own is not None and own.strip() else goal
        return Grading(test=msgspec.structs.replace(facts.test, goal=kept))

    return resolve


def _kept(checked: Checked, folder: Path) -> dict[str, KeptInput]:
    """Today's fixtures and held-out files for graders, each once, by digest."""
    kept: dict[str, KeptInput] = {}
    for test in checked.tests:
        for plan in checked.inputs_of(test).values():
            if plan.digest not in kept:
                path = folder / f"input-{len(kept)}"
                path.mkdir()
                seed(msgspec.structs.replace(plan, git=False), path)
                kept[plan.digest] = KeptInput(path=path)
    return kept


def _changed(entry: SuiteTest, facts: RunFacts, seeds: Seeds, *, is_foreign: bool) -> str | None:
    if entry.test.input_digest != facts.input_digest:
        return "the test's input has changed since the run"
    plan = seeds.get(entry.test.id)
    # The tool that made a foreign run recorded no digest of its files: whoever names a suite for it vouches for them.
    if not is_foreign and (plan.digest if plan else None) != facts.fixture_digest:
        return "the test's files have changed since the run"
    return None
