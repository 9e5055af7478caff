"""What people want to read of runs beside their numbers, from what is on disk."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from msgspec import UNSET

from proctor.errors import StoreError
from proctor.host.tail import tail
from proctor.records.details import Details, Excerpt, RunDetails
from proctor.records.grade import Outcome
from proctor.records.json_value import storable, text_of
from proctor.records.report import GroupReport, Report, RunReport
from proctor.records.run import RunFacts
from proctor.stores.discover import discover
from proctor.stores.rundir import STDERR, RunDir

MOST_OF_ALL: Final = 2_000_000
"""Characters of outputs in a whole report, so that one of thousands of runs can still be opened."""
MOST_OF_ONE: Final = 4_000
LEAST_OF_ONE: Final = 400
"""Characters of one output that are shown, however many runs there are."""


def details_of(report: Report) -> Details:
    """What the run directories of a report say; a run that cannot be read has no details.

    The more runs there are, the less of each output is taken.
    """
    most = max(LEAST_OF_ONE, min(MOST_OF_ONE, MOST_OF_ALL // max(1, len(report.runs))))
    return {key: details for group in report.groups for key, details in _of_group(group, most)}


def _of_group(group: GroupReport, most: int) -> Iterator[tuple[tuple[str, str], RunDetails]]:
    try:
        found = discover([Path(group.path)])
    except StoreError:
        return  # it was moved since the report was made
    directories = {storable(run.name): run for one in found for run in one.runs}
    for run in group.runs:
        directory = directories.get(run.run)
        if directory is None:
            continue  # planned, and never started
        try:
            yield (group.path, run.run), _of_run(directory, run, most)
        except StoreError:
            continue  # the report of the run says so


def _of_run(directory: RunDir, run: RunReport, most: int) -> RunDetails:
    facts = directory.facts()
    test = facts.test
    output = directory.output(facts)
    is_good = run.outcome is Outcome.PASS
    printed = "" if is_good else tail(Path(directory.absolute(STDERR)), most // 2)
    return RunDetails(
        path=storable(str(directory.path)),
        suite=facts.suite.name,
        agent=_agent(facts),
        started_at=facts.started_at,
        exit_code=facts.exit_code,
        signal=facts.signal,
        tags=test.tags,
        goal=test.goal or "",
        input=None if test.input is UNSET else _head(text_of(test.input), most),
        expected=None if test.expected is UNSET else _head(text_of(test.expected), most),
        output=None if output is None else _head(text_of(output), most),
        stderr=Excerpt(text=printed, is_end=True) if printed else None,
        notes=facts.notes,
    )


def _agent(facts: RunFacts) -> str:
    agent = facts.agent
    version = f", version {agent.version}" if agent.version else ""
    model = f", told to use {agent.model}" if agent.model else ""
    return f"{agent.kind} {agent.label}{version}{model}"


def _head(text: str, most: int) -> Excerpt:
    return Excerpt(text=text[:most], left_out=max(0, len(text) - most))
