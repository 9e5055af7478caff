"""A report as Markdown, for a pull request or the summary of a CI job: the verdict, the numbers, what needs a look.

The file stays short enough for a comment on GitHub, and says what was left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from proctor.records.comparison import Comparison, Contrast
from proctor.records.estimate import Bounds, Estimate
from proctor.records.report import GroupReport, Report
from proctor.reports.comparison_words import (
    columns,
    difference_rows,
    headline,
    moved_tests,
    moved_title,
    remarks,
)
from proctor.reports.markdown_text import block, code, heads, row
from proctor.reports.outcomes import (
    Status,
    TestLine,
    reasons,
    status_of,
    test_lines,
    verdict_line,
    verdict_reasons,
)
from proctor.reports.phrases import (
    counted,
    counts_of,
    labels_of,
    noise_of_trials,
    number,
    passed_of,
    reliability_of,
    shorten,
)

MOST: Final = 60_000
"""Characters of a file. GitHub takes 65,536 in a comment, and 1 MiB in the summary of a step."""
MOST_OF_COMPARISON: Final = 25_000
"""Characters of several candidates; the first is always shown."""
MOST_GROUPS: Final = 20
MOST_GRADERS: Final = 40
MOST_NAMED: Final = 10
MOST_MOVED: Final = 30
MOST_REASONS: Final = 3
"""Groups, graders, what a comparison left out, tests that moved, reasons of a test: which are shown one by one."""

_SIGNS: Final[dict[Status, str]] = {"fail": "❌", "error": "💥", "inconclusive": "❔", "pass": "✅"}
_VERDICT_SIGNS: Final = {"passed": "✅", "failed": "❌", "cannot tell": "❔", "not done": "⛔"}
_COMPARISON_SIGNS: Final = {"better": "✅", "same": "✅", "worse": "❌", "cannot tell": "❔"}


def report_markdown(report: Report) -> str:
    """The document. The report has a decision."""
    decision = report.decision
    assert decision is not None
    parts = [f"## {_VERDICT_SIGNS.get(decision.verdict, '❌')} {verdict_line(decision)}"]
    parts.append("\n".join(f"- {said}" for said in verdict_reasons(report, code)))
    parts.append("\n".join(_numbers(report)))
    parts += _remarks(report)
    if report.comparison is not None:
        parts += ["### Against the baseline", *_comparison(report.comparison)]
    head = "\n\n".join(part for part in parts if part)
    return head + "".join(_tests(report, MOST - len(head)))


def comparison_markdown(found: Comparison) -> str:
    """The document of a comparison."""
    title = f"## {_COMPARISON_SIGNS[found.verdict.value]} {found.verdict.value}, exit code {found.exit_code}"
    return "\n\n".join([title, *_comparison(found)]) + "\n"


def _numbers(report: Report) -> Iterator[str]:
    groups = report.groups[:MOST_GROUPS]
    estimates = [report.objective, *(group.figures.objective for group in groups)]
    level = next((f"{one.interval.level:.0%}" for one in estimates if one.interval), "interval")
    yield from heads(("", "value", level, "with what is missing", "over"), right=(1,))
    if len(report.groups) > 1:
        yield _number("objective of all groups", report.objective, _between(report.bounds))
        yield _number("pass rate of all groups", report.pass_rate)
    for group in groups:
        of = f" of {code(group.path, 100)}" if len(report.groups) > 1 else ""
        figures = group.figures
        counts = f"; {said}" if (said := passed_of(figures)) else ""
        yield _number(f"objective{of}", figures.objective, _between(group.bounds))
        yield _number(f"pass rate{of}", figures.pass_rate, _between(figures.pass_bounds), counts)
    if left := len(report.groups) - len(groups):
        yield row([f"and {counted(left, 'more group')}", "", "", "", ""])


def _number(name: str, estimate: Estimate, missing: str = "", counts: str = "") -> str:
    interval = estimate.interval
    where = "" if interval is None else f"{interval.low:.3f} to {interval.high:.3f}"
    return row([name, number(estimate.value), where, missing, f"{counted(estimate.tests, 'test')}{counts}"])


def _between(bounds: Bounds) -> str:
    return "" if bounds.is_exact else f"{bounds.low:.3f} to {bounds.high:.3f}"


def _remarks(report: Report) -> Iterator[str]:
    """How the runs add up, how reliable the agent is, and what went wrong in reading."""
    said: list[str] = []
    for group in report.groups[:MOST_GROUPS]:
        of = f"{code(group.path, 100)}: " if len(report.groups) > 1 else ""
        said += [f"- {of}{line}" for line in _of_group(group) if line]
    yield "\n".join(said)
    yield "\n".join(f"- warning: {code(text, 300)}" for text in report.warnings[:MOST_NAMED])


def _of_group(group: GroupReport) -> Iterator[str]:
    yield counts_of(group)
    # A caret or an underscore in them is no markup, and an at sign stands before no name.
    yield reliability_of(group.figures)
    yield noise_of_trials(group.figures)
    if flaky := group.figures.flaky:
        named = ", ".join(code(test, 60) for test in flaky[:MOST_NAMED])
        more = f" and {len(flaky) - MOST_NAMED} more" if len(flaky) > MOST_NAMED else ""
        yield f"flaky, passed in one trial and failed in another: {named}{more}"
    if group.labels is not None:
        yield labels_of(group.labels, group.planned)
    if group.set_aside:
        yield f"{counted(len(group.set_aside), 'further attempt')} set aside"


def _comparison(found: Comparison) -> Iterator[str]:
    room = MOST_OF_COMPARISON
    for place, one in enumerate(found.contrasts):
        parts = list(_contrast(one, found))
        room -= sum(map(len, parts))
        if room < 0 and place:
            yield f"and {counted(len(found.contrasts) - place, 'more candidate')}; the JSON has all"
            break
        yield from parts
    if len(found.contrasts) > 1:
        yield f"all candidates: **{found.verdict.value}**"


def _contrast(one: Contrast, found: Comparison) -> Iterator[str]:
    yield f"{_COMPARISON_SIGNS[one.verdict.value]} {headline(one, found, code)}"
    lines = heads([name.lower() for name in columns(found)], right=(1, 2, 3, 6))
    rows = list(difference_rows(one))
    for cells in rows[:MOST_GRADERS]:
        name = cells[0].removeprefix("grader ")
        shown = f"grader {code(name, 100)}" if name != cells[0] else name
        lines.append(row([shown, *(cell.replace("<", "&lt;") for cell in cells[1:])]))
    if len(rows) > MOST_GRADERS:
        lines.append(row([f"and {len(rows) - MOST_GRADERS} more", *[""] * 7]))
    yield "\n".join(lines)
    if moved := moved_tests(one):
        lines = heads(("test", "base", "candidate"), right=(1, 2))
        lines += [
            row([code(test, 120), number(base), number(candidate)])
            for test, base, candidate in moved[:MOST_MOVED]
        ]
        left = len(moved) - MOST_MOVED
        lines += [row([f"and {left} more", "", ""])] if left > 0 else []
        title = moved_title(moved)
        yield "\n".join([f"<details><summary>{title}</summary>\n", *lines, "\n</details>"])
    yield block(shorten(line, 300) for line in remarks(one, found, most=MOST_NAMED))


def _tests(report: Report, room: int) -> Iterator[str]:
    """The tests, those that need a look first, as far as there is room."""
    lines = test_lines(report)
    bad = [line for line in lines if line.status != "pass"]
    good = lines[len(bad) :]
    several = len(report.groups) > 1
    group_column = ("group",) if several else ()
    if bad:
        title = f"\n\n### {len(bad)} of {counted(len(lines), 'test')} did not pass\n\n"
        head = heads(("", "test", *group_column, "passed", "objective", "why"), right=(4 if several else 3,))
        told = title + _table(head, [_bad_row(line, several) for line in bad], room - len(title))
        room -= len(told)
        yield told
    if good:
        title = f"\n\n<details><summary>{_passed(len(good), len(lines))}</summary>\n\n"
        head = heads(("test", *group_column, "passed", "objective"), right=(3 if several else 2,))
        rows = [row(_cells(line, several)) for line in good]
        yield f"{title}{_table(head, rows, room - len(title) - 20)}\n\n</details>"
    yield "\n"


def _passed(good: int, tests: int) -> str:
    return f"all {counted(tests, 'test')} passed" if good == tests else f"{counted(good, 'test')} passed"


def _table(head: Sequence[str], rows: Sequence[str], room: int) -> str:
    """As many rows as there is room for, and how many are left out."""
    note = 120
    kept = list(head)
    room -= sum(len(line) + 1 for line in head) + note
    for place, line in enumerate(rows):
        room -= len(line) + 1
        if room < 0:
            left = counted(len(rows) - place, "more test")
            return "\n".join(
                [*kept, f"\n{left}: left out, since the file would be too long; the JSON has all"]
            )
        kept.append(line)
    return "\n".join(kept)


def _cells(line: TestLine, several: bool) -> list[str]:
    figures = line.figures
    passed = f"{figures.passed}/{figures.passed + figures.failed}"
    unclear = figures.planned - figures.passed - figures.failed
    marks = [f"{unclear} unclear"] if unclear else []
    marks += ["flaky"] if figures.is_flaky else []
    return [
        code(line.test, 120),
        *([code(line.group.path, 100)] if several else []),
        ", ".join([passed, *marks]),
        number(figures.mean),
    ]


def _bad_row(line: TestLine, several: bool) -> str:
    return row([f"{_SIGNS[line.status]} {line.status}", *_cells(line, several), _why(line)])


def _why(line: TestLine) -> str:
    """Why the first of its gravest trials did not pass."""
    run = next(run for run in line.runs if status_of(run) == line.status)
    trial = f"trial {run.trial}: " if len(line.runs) > 1 else ""
    found = reasons(run)
    said = [
        f"{code(why.grader, 60)} {code(why.text, 160)}" if why.grader else code(why.text, 160)
        for why in found
    ]
    more = f"; and {len(said) - MOST_REASONS} more" if len(said) > MOST_REASONS else ""
    return f"{trial}{'; '.join(said[:MOST_REASONS])}{more}"
