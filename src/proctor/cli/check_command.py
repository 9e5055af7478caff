"""Try out a suite on its own solutions, before a model is paid for: can its graders tell right from wrong?

Each test's solution must score 1 (or pass), the agent that does nothing and each script in wrong/ must not pass,
each grader must say the same twice, and each must have failed something. Exit code 2: a test is broken;
3: something could not be told.

Examples:
  proctor check evals/einstein
  proctor check evals/einstein --test 'birth*' --json
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from proctor.cli.arguments import add_selection, positive_int, selected_suite
from proctor.cli.output import clean, counted, number, shorten, table, write_json
from proctor.cli.progress import Progress
from proctor.cli.signals import cancel_on_signals

if TYPE_CHECKING:
    from proctor.engine.execute import Event
    from proctor.records.proof import SuiteProof, TestProof, Tried


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `proctor check` can be told."""
    add_selection(parser, with_input=False)
    parser.add_argument("-n", "--parallel", metavar="N", type=positive_int, help="runs at once")
    parser.add_argument("--json", action="store_true", help="print what was found as JSON")


def main(arguments: argparse.Namespace) -> int:
    """Try out, and draw the table."""
    from proctor import evaluation
    from proctor.records.exits import ExitCode

    progress = Progress(sys.stderr)
    suite = selected_suite(arguments)
    if suite.commit is not None:
        progress.note(
            f"suite at commit {suite.commit[:12]}; its solutions and graders are code that will run here"
        )

    def on_event(event: Event) -> None:
        if event.cell is not None and event.kind != "started":
            progress.step(event.cell.run_dir)

    with cancel_on_signals(progress, "interrupted: nothing is kept") as cancel:
        proof = evaluation.prove(
            suite,
            parallel=arguments.parallel,
            cancel=cancel,
            on_start=lambda total: progress.begin("tried", total),
            on_event=on_event,
        )
    progress.end()
    if proof is None:
        return ExitCode.INTERRUPTED
    if arguments.json:
        write_json(proof)
    else:
        for line in _lines(proof):
            print(line)
    return proof.exit_code


def _lines(proof: SuiteProof) -> Iterable[str]:
    from proctor.records.proof import ProofVerdict

    rows = [("TEST", "VERDICT", "CEILING", "FLOOR")]
    for test in proof.tests:
        rows.append((test.test, test.verdict.value, number(test.ceiling), number(test.floor)))
        rows += [_row(tried) for tried in test.tried]
    yield from table(rows)
    yield ""
    for test in proof.tests:
        yield from _findings(test)
    counts = [f"{proof.count(verdict)} {verdict.value}" for verdict in ProofVerdict]
    yield f"{counted(len(proof.tests), 'test')}: {', '.join(counts)}"


def _row(tried: Tried) -> tuple[str, str, str, str]:
    """A run below its test; its score stands where the test's ceiling or floor comes from."""
    name = f"wrong/{clean(tried.name)}" if tried.role == "wrong" else tried.name
    outcome = tried.outcome.value if tried.ending == "ok" else tried.ending.value
    score = number(tried.objective)
    ceiling, floor = (score, "") if tried.role == "reference" else ("", score)
    return f"  {shorten(name, 48)}", outcome, ceiling, floor


def _findings(test: TestProof) -> Iterable[str]:
    for finding in test.findings:
        weight = "note" if finding.weight == "ok" else finding.weight.value
        yield f"{test.test}  {weight}: {shorten(clean(finding.said), 300)}"
    if test.findings:
        yield ""
