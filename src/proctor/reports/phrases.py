"""Numbers and names in words, the same in every form of a report and on the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from proctor.records.estimate import Bounds, Estimate, Figures, Interval, Reliability
from proctor.records.fault import Owner
from proctor.records.grade import Outcome
from proctor.records.judging import Judging
from proctor.records.report import Demand, GradeLine, GroupReport, LabelSum, Noise, RunReport


def shorten(text: str, width: int) -> str:
    """At most `width` characters, with a mark where something is left out."""
    return text if len(text) <= width else text[: width - 1] + "…"


def first_line(text: str, width: int) -> str:
    """The first line that says something, of at most `width` characters."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        return ""
    return shorten(lines[0] + (" …" if len(lines) > 1 else ""), width)


def seconds(duration_s: float | None) -> str:
    """A duration for people: `0.4s`, `47s`, `5m17s`, `1h02m`."""
    if duration_s is None:
        return ""
    if duration_s < 9.95:
        return f"{duration_s:.1f}s"
    whole = round(duration_s)
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m{whole % 60:02}s"
    return f"{whole // 3600}h{whole % 3600 // 60:02}m"


def number(value: float | None) -> str:
    """A score with three decimals; `-` where it is undefined."""
    return "-" if value is None else f"{value:.3f}"


def money(usd: float | None) -> str:
    """US dollars with four decimals, less of them where that is exact; empty where it cannot be told.

    >>> money(0.0), money(1.5), money(0.00123), money(0.000004), money(None)
    ('$0.00', '$1.50', '$0.0012', '<$0.0001', '')
    """
    if usd is None:
        return ""
    if 0 < usd < 0.0001:
        return "<$0.0001"
    text = f"{usd:.4f}"
    return "$" + (text[:-2] if text.endswith("00") else text)


def counted(n: int, noun: str) -> str:
    """A number with its noun: `1 test`, `3 tests`."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def people(count: int) -> str:
    """`1 person`, `2 people`."""
    return "1 person" if count == 1 else f"{count} people"


def estimated(estimate: Estimate) -> str:
    """`0.750 over 4 tests, 95% from 0.420 to 0.930 (error 0.120)`."""
    text = f"{number(estimate.value)} over {counted(estimate.tests, 'test')}"
    interval = estimate.interval
    if estimate.value is None:
        return text
    if interval is None:
        return f"{text}, no interval"
    # Where all are the same, the error is 0 and says nothing; the interval knows better.
    error = f" (error {number(estimate.se)})" if estimate.se and estimate.se >= 0.0005 else ""
    return f"{text}, {interval.level:.0%} {spread(interval)}{error}"


def spread(interval: Interval) -> str:
    """`from 0.420 to 0.930`."""
    return f"from {interval.low:.3f} to {interval.high:.3f}"


def could_be(bounds: Bounds) -> str:
    """What a number can be with everything that is missing; empty where nothing is."""
    if bounds.is_exact:
        return ""
    return f"; with what is missing, from {bounds.low:.3f} to {bounds.high:.3f}"


def span(bounds: Bounds) -> str:
    """One number where nothing is missing, else both ends."""
    return number(bounds.low) if bounds.is_exact else f"{bounds.low:.3f}..{bounds.high:.3f}"


def passed_of(figures: Figures) -> str:
    """How many of the trials that passed or failed did pass; empty where none did either."""
    if not figures.conclusive:
        return ""
    return f"{figures.passed} of {counted(figures.conclusive, 'trial')} passed"


def counts_of(group: GroupReport) -> str:
    """How the planned runs fall into states; the states add up."""
    return (
        f"planned {group.planned} = graded {group.graded} + inconclusive {group.inconclusive} + "
        f"errored {group.errored} + harness failures {group.harness_failures}{_owners(group)} + "
        f"interrupted {group.interrupted}"
    )


def reliability_of(figures: Figures) -> str:
    """How reliable the agent is, or that too few trials were made to tell; empty where nothing was measured."""
    if not figures.conclusive:
        return ""
    found = figures.reliability
    if found is None:
        return "smoke: no test has 3 trials, so that nothing is said about reliability"
    return (
        f"reliability over {_covered(found)}: pass@{found.k} {span(found.pass_at_k)} "
        f"pass^{found.k} {span(found.pass_hat_k)}"
    )


def noise_of_trials(figures: Figures) -> str:
    """How much the trials of one test differ; empty where none was tried twice."""
    if figures.trials_sd is None:
        return ""
    return (
        f"noise between trials of a test: standard deviation {number(figures.trials_sd)} "
        f"over {counted(figures.repeated, 'test')}"
    )


def demanded(demand: Demand, base: str = "") -> str:
    """What was asked for: `objective at least 0.8`, `not worse than runs/main`."""
    if demand.at_least is not None:
        return f"{demand.what} at least {demand.at_least:g}"
    return f"not worse than {base}" if base else "not worse than the baseline"


def ended(run: RunReport) -> str:
    """How a run ended, and whose fault that is, where it says nothing about the agent."""
    if run.fault is None or run.fault.owner is Owner.HARNESS:
        return run.ending.value
    return f"{run.ending.value} ({run.fault.owner.value})"


def finding(grade: GradeLine) -> str:
    """What a grader found: an outcome, or a score."""
    if grade.outcome is Outcome.INCONCLUSIVE or grade.scale == "binary":
        return grade.outcome.value
    return number(grade.score)


def marks(grade: GradeLine) -> Iterator[str]:
    """What a grade counts as: a gate, a bar that must be reached, a weight."""
    if grade.must_pass:
        yield "gate"
    if grade.scale == "scalar" and grade.threshold > 0:
        yield f"(bar {grade.threshold:g}: {grade.outcome.value})"
    if grade.weight != 1:
        yield f"weight {grade.weight:g}"


def label_summary(run: RunReport) -> str:
    """What people say of a run, in half a line: `label 0.750 by 2 people, 1 stale`."""
    who = len({line.annotator for line in run.labels})
    stale = sum(line.is_stale for line in run.labels)
    told = f", {stale} stale" if stale else ""
    return f"label {number(run.label_score)} by {people(who)}{told}"


def labels_of(labels: LabelSum, planned: int) -> str:
    """How far labelling is in a group."""
    stale = f"; {labels.stale} stale" if labels.stale else ""
    mean = (
        f"mean label {number(labels.mean)} over {counted(labels.n, 'run')}" if labels.n else "no label score"
    )
    return (
        f"{mean}; {labels.runs} of {counted(planned, 'run')} labelled by {people(labels.annotators)}{stale}"
    )


def judging_took(one: Judging) -> str:
    """What a judge took: questions, tokens, waiting, cost."""
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


def noise_in_words(one: Noise) -> str:
    """How much of what a grader says is chance."""
    parts: list[str] = []
    if one.judge_sd is not None:
        parts.append(f"the judge's {one.judge_sd:.3f} between samples ({counted(one.repeated, 'run')})")
    if one.between_trials_sd is not None:
        of_agent = "" if one.agent_sd is None else f", of which the agent's {one.agent_sd:.3f}"
        parts.append(f"{one.between_trials_sd:.3f} between trials ({counted(one.tests, 'test')}){of_agent}")
    return "; ".join(parts)


def _owners(group: GroupReport) -> str:
    """Whose fault the failures are, where that is not all proctor's or the machine's."""
    if set(group.owners) <= {Owner.HARNESS}:
        return ""
    return f" ({', '.join(f'{owner.value} {group.owners[owner]}' for owner in sorted(group.owners))})"


def _covered(found: Reliability) -> str:
    if found.left_out:
        return f"{found.tests} of {found.tests + found.left_out} tests"
    return counted(found.tests, "test")
