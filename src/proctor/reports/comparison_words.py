"""A comparison in words: the answer first, then the numbers, then what was left out and what would settle it.

Names are as they were recorded; who draws them makes them inert.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from proctor.records.comparison import Change, Comparison, Contrast, Difference, Facet, Verdict
from proctor.records.estimate import Interval
from proctor.reports.phrases import counted, number, shorten

NAMES = {"cost_usd": "cost, USD", "tokens": "tokens", "duration_s": "time, s"}
DIGITS = {"cost_usd": 4, "tokens": 0, "duration_s": 3}
"""Decimals of each."""


class Moved(NamedTuple):
    """A test with the objective that it has on each side."""

    test: str
    base: float
    candidate: float


def headline(one: Contrast, found: Comparison, name: Callable[[str], str] = str) -> str:
    """The answer: `better: runs/new against runs/base; objective +0.500, 95% +0.136 to +0.746`.

    name: draws the names of both sides.
    """
    return f"{one.verdict.value}: {name(one.candidate)} against {name(found.base)}{answer(one, found)}"


def columns(found: Comparison) -> tuple[str, ...]:
    """The heads of `difference_rows`."""
    return ("", "BASE", "CANDIDATE", "DIFFERENCE", f"{1 - found.alpha:.0%}", "P", "TESTS", "VERDICT")


def difference_rows(one: Contrast) -> Iterator[tuple[str, ...]]:
    """Objective, pass rate, each grader, and what the agent used: a row each."""
    for line in (one.objective, one.pass_rate):
        yield _difference(line.what, line)
    for line in one.graders:
        yield _difference(f"grader {line.what}", line)
    for line in one.used:
        if line.n:
            yield _change(line)


def remarks(one: Contrast, found: Comparison, *, most: int | None = None) -> Iterator[str]:
    """What was left out, which facets differ, and what would settle it.

    most: tests that are named one by one; all of them when None.
    """
    yield f"{counted(one.compared, 'test')} compared, {one.left_out} left out"
    yield from _left_out(one, most)
    yield from _facets(one)
    yield from _outlook(one.objective, found)


def moved_tests(one: Contrast) -> list[Moved]:
    """Tests that were compared and whose objective is another on each side; what fell the most comes first."""
    found: list[Moved] = []
    for row in one.rows:
        if row.causes or row.base is None or row.candidate is None:
            continue
        base, candidate = row.base.objective, row.candidate.objective
        if base is not None and candidate is not None and number(base) != number(candidate):
            found.append(Moved(f"{row.test} ({row.host})" if row.host else row.test, base, candidate))
    return sorted(found, key=lambda moved: moved.candidate - moved.base)


def moved_title(moved: Sequence[Moved]) -> str:
    """`3 tests with another objective: 1 fell, 2 rose`."""
    fell = sum(one.candidate < one.base for one in moved)
    return f"{counted(len(moved), 'test')} with another objective: {fell} fell, {len(moved) - fell} rose"


def answer(one: Contrast, found: Comparison) -> str:
    """The difference that decided, as the end of the headline."""
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


def _left_out(one: Contrast, most: int | None) -> Iterator[str]:
    rows = [row for row in one.rows if row.causes]
    shown = rows if most is None else rows[:most]
    for row in shown:
        host = f" ({row.host})" if row.host else ""
        yield f"  left out: {row.test}{host}: {', '.join(row.causes)}"
    if len(rows) > len(shown):
        yield f"  ... and {len(rows) - len(shown)} more; --json has all"
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
            first.setdefault(key, shorten(sides, 100) if facet.base or facet.candidate else "")
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
