"""A comparison in words: the answer first, then the numbers, then what was left out and what would settle it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from proctor.cli.figure_lines import estimated
from proctor.cli.output import clean, counted, number, shorten, table
from proctor.records.comparison import Change, Comparison, Contrast, Difference, Facet, Verdict
from proctor.records.estimate import Interval
from proctor.records.report import Report

MOST_ROWS = 20
"""Tests that are named one by one; the JSON has all."""

NAMES = {"cost_usd": "cost, USD", "tokens": "tokens", "duration_s": "time, s"}
DIGITS = {"cost_usd": 4, "tokens": 0, "duration_s": 3}
"""Decimals of each."""


def comparison_lines(found: Comparison) -> Iterator[str]:
    """What `compare` prints."""
    for place, one in enumerate(found.contrasts):
        if place:
            yield ""
        yield from _contrast(one, found)
    if len(found.contrasts) > 1:
        yield ""
        yield f"all candidates: {found.verdict.value}"


def decision_lines(report: Report) -> Iterator[str]:
    """Whether a grading reached what was demanded; nothing where nothing was."""
    decision = report.decision
    if decision is None or not decision.demands:
        return
    if report.comparison is not None:
        yield ""
        yield from comparison_lines(report.comparison)
    yield ""
    for demand in decision.demands:
        if demand.estimate is not None and demand.at_least is not None:
            yield f"{demand.what} at least {demand.at_least:g}: {demand.outcome}; {estimated(demand.estimate)}"
        elif report.comparison is not None:
            yield f"against {clean(report.comparison.base)}: {report.comparison.verdict.value}"
    yield f"verdict: {decision.verdict}, exit code {decision.exit_code}"


def _contrast(one: Contrast, found: Comparison) -> Iterator[str]:
    yield f"{one.verdict.value}: {clean(one.candidate)} against {clean(found.base)}{_answer(one, found)}"
    yield ""
    level = f"{1 - found.alpha:.0%}"
    rows = [("", "BASE", "CANDIDATE", "DIFFERENCE", level, "P", "TESTS", "VERDICT")]
    rows += [_difference(line.what, line) for line in (one.objective, one.pass_rate)]
    rows += [_difference(f"grader {clean(line.what)}", line) for line in one.graders]
    rows += [_change(line) for line in one.used if line.n]
    yield from table(rows)
    yield ""
    yield f"{counted(one.compared, 'test')} compared, {one.left_out} left out"
    yield from _left_out(one)
    yield from _facets(one)
    yield from _outlook(one.objective, found)


def _answer(one: Contrast, found: Comparison) -> str:
    line = one.objective
    if line.value is None:
        return "; nothing could be compared"
    if line.interval is None:
        return f"; objective {line.value:+.3f}, and one test alone decides nothing"
    if one.verdict is Verdict.SAME and line.equivalence is not None:
        return f"; objective {_span(line.equivalence)}, within the margin of {found.margin:g}"
    return f"; objective {line.value:+.3f}, {line.interval.level:.0%} {_span(line.interval)}"


def _difference(name: str, line: Difference) -> tuple[str, ...]:
    p = line.p if line.p_adjusted is None else line.p_adjusted
    return (
        name,
        number(line.base),
        number(line.candidate),
        "-" if line.value is None else f"{line.value:+.3f}",
        "-" if line.interval is None else _span(line.interval),
        "-" if p is None else "<0.001" if p < 0.001 else f"{p:.3f}",
        str(line.n),
        line.verdict.value,
    )


def _change(line: Change) -> tuple[str, ...]:
    ratio = "" if line.ratio is None else f"x{line.ratio:.2f}"
    if line.ratio_interval is not None:
        ratio += f" ({line.ratio_interval.low:.2f} to {line.ratio_interval.high:.2f})"
    interval, digits = line.interval, DIGITS[line.what]
    return (
        NAMES[line.what],
        f"{line.base:.{digits}f}",
        f"{line.candidate:.{digits}f}",
        f"{line.value:+.{digits}f}",
        "-" if interval is None else f"{interval.low:+.{digits}f} to {interval.high:+.{digits}f}",
        "",
        str(line.n),
        ratio,
    )


def _left_out(one: Contrast) -> Iterator[str]:
    rows = [row for row in one.rows if row.causes]
    for row in rows[:MOST_ROWS]:
        host = f" ({clean(row.host)})" if row.host else ""
        yield f"  left out: {clean(row.test)}{host}: {', '.join(row.causes)}"
    if len(rows) > MOST_ROWS:
        yield f"  ... and {len(rows) - MOST_ROWS} more; --json has all"
    if any(cause.startswith(Facet.GRADERS.value) for row in rows for cause in row.causes):
        yield (
            "  graders differ: grade both sides with one set, and compare again: "
            "`proctor grade BASE CANDIDATE --suite S`"
        )


def _facets(one: Contrast) -> Iterator[str]:
    """What was equal everywhere is not named; everything else is, with the values of the first test."""
    seen: Counter[tuple[str, str]] = Counter()
    first: dict[tuple[str, str], str] = {}
    total = 0
    for row in one.rows:
        total += bool(row.facets)
        for facet in row.facets:
            if facet.match == "equal":
                continue
            key = (facet.match, facet.facet.value)
            seen[key] += 1
            sides = f", as {', '.join(facet.base) or '-'} -> {', '.join(facet.candidate) or '-'}"
            first.setdefault(key, shorten(clean(sides), 100) if facet.base or facet.candidate else "")
    for (match, name), count in sorted(seen.items()):
        yield f"  {match}: {name} in {count} of {counted(total, 'test')}{first[match, name]}"
    if total and not seen:
        yield "  all facets are equal"


def _outlook(line: Difference, found: Comparison) -> Iterator[str]:
    if line.bounds is not None and line.value is not None and not line.bounds.is_exact:
        yield f"with what is missing, the difference is from {line.bounds.low:+.3f} to {line.bounds.high:+.3f}"
    if line.detectable is not None:
        yield f"a true difference of {line.detectable:.3f} would be found four times of five"
    if line.verdict is Verdict.CANNOT_TELL and line.more_tests is not None:
        trials = "" if line.trials_each is None else f", or {line.trials_each} trials of each test,"
        yield (
            f"about {counted(line.more_tests, 'more test')}{trials} would settle it, if what was seen is true "
            f"(margin {found.margin:g})"
        )


def _span(interval: Interval) -> str:
    return f"{interval.low:+.3f} to {interval.high:+.3f}"
