"""Say how far people agree with each other, and graders with people; correct the graders' numbers. Changes nothing.

Cohen's kappa for two, Krippendorff's alpha for several, sensitivity and specificity of each grader, each with its
interval; what is undefined is said to be. With a random sample (`proctor label --sample`) each grader's mean is
corrected for its errors.

Examples:
  proctor agree runs/einstein
  proctor agree runs --by grader
  proctor agree runs --json
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from itertools import groupby
from typing import TYPE_CHECKING

from proctor.cli.arguments import add_paths
from proctor.cli.output import clean, counted, shorten, table, write_json

if TYPE_CHECKING:
    from proctor.records.agreement import AgreementReport, AlphaLine, Corrected, Measured, PairAgreement

MOST_DISAGREEMENTS = 20
INDENT = "  "


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `proctor agree` can be told."""
    from proctor.records.agreement import BYS

    add_paths(parser)
    parser.add_argument(
        "--by", choices=BYS, default="question", help="what the pairs stand under (default: question)"
    )
    parser.add_argument("--json", action="store_true", help="print everything as JSON")


def main(arguments: argparse.Namespace) -> int:
    """Compute, and draw."""
    from proctor.engine.agreement import agreement
    from proctor.errors import UsageError
    from proctor.records.exits import ExitCode

    try:
        report = agreement(arguments.paths, by=arguments.by)
    except ModuleNotFoundError as error:
        if error.name not in ("krippendorff", "numpy"):
            raise
        raise UsageError(
            "agreement of several people needs the library krippendorff, which is not installed",
            fix="Install it: pip install 'proctor[stats]'.",
        ) from error
    if arguments.json:
        write_json(report)
    else:
        for line in lines_of(report):
            print(line)
    return ExitCode.OK if report.labelled else ExitCode.INCONCLUSIVE


def lines_of(report: AgreementReport) -> Iterable[str]:
    """What `proctor agree` prints."""
    people = ", ".join(f"{clean(name)} {count}" for name, count in report.annotators.items())
    yield f"{report.labelled} of {counted(report.runs, 'run')} labelled{': ' if people else ''}{people}"
    if report.seen_grades:
        yield f"{counted(report.seen_grades, 'label')} signed off after a look at the grades"
    yield ""
    yield from _pairs(report)
    if report.corrected:
        yield "corrected for the grader's errors"
        for one in report.corrected:
            yield from _corrected(one)
        yield ""
    yield from _standings(report)
    yield from _disagreements(report)
    for note in report.notes:
        yield clean(note)


def _pairs(report: AgreementReport) -> Iterable[str]:
    def key(pair: PairAgreement) -> str:
        if report.by == "question":
            return f"{pair.question}  {pair.text}"
        if report.by == "grader":
            return f"grader {pair.left}" if pair.is_grader else "people"
        return pair.right

    alphas = {f"{one.question}  {one.text}": one for one in report.alphas}
    for name, members in groupby(report.pairs, key=key):
        yield clean(name)
        alpha = alphas.get(name) if report.by == "question" else None
        if alpha is not None and len(alpha.raters) > 2:
            yield from _alpha(alpha)
        for pair in members:
            yield from _pair(pair, report.by)
        yield ""
    if report.by != "question":
        for alpha in report.alphas:
            if len(alpha.raters) > 2:
                yield clean(f"{alpha.question}  {alpha.text}")
                yield from _alpha(alpha)
                yield ""


def _alpha(line: AlphaLine) -> Iterable[str]:
    who = f"{len(line.raters)} people, {counted(line.alpha.n, 'run')}, {line.level}"
    yield f"{INDENT}krippendorff's alpha {measured(line.alpha)}; {who}"


def _pair(pair: PairAgreement, by: str) -> Iterable[str]:
    asked = "" if by == "question" else f", {clean(pair.question)}"
    left_out = f", {pair.left_out} that one cannot tell" if pair.left_out else ""
    n = pair.agreement.n
    yield f"{INDENT}{clean(pair.left)} and {clean(pair.right)}{asked}: {counted(n, 'run')}{left_out}"
    weighted = ", quadratic weights" if pair.weighting == "quadratic" else ""
    yield f"{INDENT}  agree {measured(pair.agreement)}"
    yield f"{INDENT}  kappa {measured(pair.kappa)}{weighted}"
    if pair.sensitivity is not None and pair.specificity is not None:
        yield f"{INDENT}  sensitivity {measured(pair.sensitivity)}"
        yield f"{INDENT}  specificity {measured(pair.specificity)}"
    if n:
        head = (f"{clean(pair.left)} \\ {clean(pair.right)}", *map(clean, pair.categories))
        rows = [head] + [
            (clean(label), *map(str, row)) for label, row in zip(pair.categories, pair.matrix, strict=True)
        ]
        yield from (f"{INDENT}    {line}" for line in table(rows))


def _corrected(one: Corrected) -> Iterable[str]:
    base = " of a random sample" if one.sample else ", which is all of them"
    missing = f", {one.missing} of it not answered" if one.missing else ""
    yield f"{INDENT}{clean(one.grader)}, {clean(one.question)} {clean(one.text)}"
    yield f"{INDENT}  the grader alone  {measured(one.raw)}; {counted(one.population, 'run')}"
    yield f"{INDENT}  people alone      {measured(one.people)}; {counted(one.labelled, 'run')}{base}{missing}"
    yield f"{INDENT}  corrected         {measured(one.corrected)}; reliance on the grader {one.reliance:.2f}"
    if one.rogan_gladen is not None:
        yield f"{INDENT}  rogan-gladen      {measured(one.rogan_gladen)}"


def _standings(report: AgreementReport) -> Iterable[str]:
    if not report.standings:
        return
    yield "graders by revision"
    for one in report.standings:
        kind = "judge" if one.is_judge else "grader"
        force = "" if one.is_in_force else "  not in force"
        runs = counted(one.runs, "run")
        yield f"{INDENT}{clean(one.grader)}  {kind} {shorten(clean(one.revision), 60)}  {runs}{force}"
        if one.unmeasured:
            yield f"{INDENT}  unmeasured: {clean(one.unmeasured)}"
        else:
            yield f"{INDENT}  {clean(one.question)}: {counted(one.agreement.n, 'run')} with people"
            yield f"{INDENT}  agree {measured(one.agreement)}"
            yield f"{INDENT}  kappa {measured(one.kappa)}"
    yield ""


def _disagreements(report: AgreementReport) -> Iterable[str]:
    differing = report.disagreements
    if not differing:
        return
    yield counted(len(differing), "disagreement")
    for one in differing[:MOST_DISAGREEMENTS]:
        said = f"{one.left} {one.left_said}, {one.right} {one.right_said}"
        yield f"{INDENT}{clean(one.run)}  {clean(one.question)}  {clean(said)}"
        yield from (f"{INDENT}    {shorten(clean(note), 200)}" for note in one.notes)
    if len(differing) > MOST_DISAGREEMENTS:
        yield f"{INDENT}and {len(differing) - MOST_DISAGREEMENTS} more; --json has them all"
    yield ""


def measured(one: Measured) -> str:
    """A number with its interval, or why there is none."""
    if one.value is None:
        return f"undefined: {one.undefined}"
    if one.interval is None:
        return f"{one.value:.3f} (no interval{': ' if one.undefined else ''}{one.undefined})"
    interval = one.interval
    return f"{one.value:.3f} ({interval.low:.3f} to {interval.high:.3f}, {interval.level:.0%}, {interval.method})"
