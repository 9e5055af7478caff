"""What judging took, and how much of it is chance, as lines of a report."""

from __future__ import annotations

from collections.abc import Iterable

from proctor.cli.output import clean, counted, money, seconds
from proctor.records.judging import Judging
from proctor.records.report import GroupReport, Noise, Report


def judging_lines(report: Report) -> Iterable[str]:
    """For each group that was judged: who judged it, at what cost, and the noise. None of it is the agent's."""
    for group in report.groups:
        label = f"{clean(group.path)}  " if len(report.groups) > 1 else ""
        yield from (f"{label}{line}" for line in _of_group(group))


def _of_group(group: GroupReport) -> Iterable[str]:
    for one in group.judging:
        yield f"judged by {clean(one.judge)}: {_took(one)}"
    for one in group.noise:
        yield f"noise of {clean(one.grader)}: {_noise(one)}"


def _took(one: Judging) -> str:
    parts = [f"{counted(one.calls, 'question')} asked"]
    if one.hits:
        parts.append(f"{one.hits} answered from the cache")
    if one.calls:
        parts += [
            f"{'unknown' if count is None else f'{count:,}'} tokens {way}"
            for count, way in ((one.tokens_in, "in"), (one.tokens_out, "out"))
        ]
        parts.append(f"{seconds(one.latency_s)} of waiting")
    parts.append(money(one.cost_usd) or "cost unknown")
    return ", ".join(parts)


def _noise(one: Noise) -> str:
    parts: list[str] = []
    if one.judge_sd is not None:
        parts.append(f"the judge's {one.judge_sd:.3f} between samples ({counted(one.repeated, 'run')})")
    if one.between_trials_sd is not None:
        of_agent = "" if one.agent_sd is None else f", of which the agent's {one.agent_sd:.3f}"
        parts.append(f"{one.between_trials_sd:.3f} between trials ({counted(one.tests, 'test')}){of_agent}")
    return "; ".join(parts)
