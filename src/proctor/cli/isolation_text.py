"""What a run was kept apart from and what it used, as lines of text."""

from __future__ import annotations

from collections.abc import Iterator

from proctor.cli.output import clean, seconds
from proctor.core.sizes import size_text
from proctor.records.isolation import Isolation, Usage
from proctor.records.run import RunFacts


def isolation_lines(facts: RunFacts) -> Iterator[str]:
    """What it used, where that is known, and what was let in or kept from it, where that was not the usual."""
    if facts.usage is not None and (used := _used(facts.usage)):
        yield f"used       {used}"
    found = facts.isolation
    if found is None:
        return
    if found.sandbox != "none":
        yield f"sandbox    {clean(_sandbox(found))}"
    if found.home != "private":
        yield f"home       {clean(found.home)}: the operator's own"
    for title, names in (("passed", found.passed), ("withheld", found.withheld)):
        if names:
            yield f"{title:<10} {clean(', '.join(names))}"


def _used(usage: Usage) -> str:
    parts: list[str] = []
    if usage.memory_bytes is not None:
        parts.append(f"{size_text(usage.memory_bytes)} of memory")
    if usage.cpu_s is not None:
        parts.append(f"{seconds(usage.cpu_s)} of processor time")
    if usage.processes is not None:
        parts.append(f"{usage.processes} {'process' if usage.processes == 1 else 'processes'} at a time")
    return ", ".join(parts)


def _sandbox(found: Isolation) -> str:
    hosts = f": {', '.join(found.hosts)}" if found.hosts else ""
    user = f", user {found.user}" if found.user is not None else ""
    return f"{found.sandbox}, network {found.network}{hosts}{user}"
