"""What the record of a run says beside its output: whose fault it is, and what was changed."""

from __future__ import annotations

from collections.abc import Iterator

from proctor.cli.output import clean
from proctor.records.changes import Changes, FileChange
from proctor.records.run import RunFacts

MOST_CHANGES = 20


def fault_lines(facts: RunFacts) -> Iterator[str]:
    """Whose fault it is, where the ending says nothing about the agent."""
    fault = facts.fault
    if fault is None:
        return
    said = f"fault      {fault.owner.value}: {clean(fault.kind)}"
    if fault.ended is not None:
        said += f"; it had ended with {clean(fault.ended)}"
    if fault.rule is not None:
        said += f", by {clean(fault.rule)}"
    yield said


def change_lines(changes: Changes | None) -> Iterator[str]:
    """What became of the files that the agent was given: counts, and the first of them."""
    if not changes:
        return
    parts = (
        ("+", "added", changes.added),
        ("~", "changed", changes.changed),
        ("-", "removed", changes.removed),
    )
    counts = ", ".join(f"{len(found)} {word}" for _, word, found in parts if found)
    yield f"changes  {counts}"
    listed = sorted(
        ((one.path, mark, one) for mark, _, found in parts for one in found), key=lambda one: one[0]
    )
    for path, mark, one in listed[:MOST_CHANGES]:
        yield f"  {mark} {clean(path)}{_what(one)}"
    if len(listed) > MOST_CHANGES:
        yield f"  and {len(listed) - MOST_CHANGES} more; --json has them all"


def _what(change: FileChange) -> str:
    return f"  ({', '.join(change.what)})" if change.what else ""
