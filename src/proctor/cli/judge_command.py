"""Ask a judge which of two groups of runs is better, pair by pair, in both orders. Changes nothing in either of them.

Runs are paired by test and trial. The goal of a test comes before --goal. The verdict is kept in a file.

Examples:
  proctor judge runs/before runs/after
  proctor judge runs/before runs/after --goal "answers in one sentence" --samples 3
  proctor judge runs/before/birthday runs/after/birthday --include "report.md" --json
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from proctor.cli.arguments import dollars, positive_int
from proctor.cli.output import check_writable, clean, counted, number, seconds, shorten, table, write_json
from proctor.cli.progress import Progress
from proctor.records.exits import ExitCode

if TYPE_CHECKING:
    from proctor.records.estimate import Estimate
    from proctor.records.verdict import PairRow, PairVerdict, PositionBias, Winner


WINNERS: tuple[Winner, ...] = ("A", "B", "tie")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `proctor judge` can be told."""
    parser.add_argument("a", metavar="A", type=Path, help="a group, or a run directory")
    parser.add_argument("b", metavar="B", type=Path, help="the one to compare it with")
    parser.add_argument("--goal", metavar="TEXT", help="what to look for where a test has no goal of its own")
    parser.add_argument(
        "--samples", metavar="K", type=positive_int, default=1, help="ask K times in each order (default: 1)"
    )
    parser.add_argument(
        "--include",
        metavar="GLOB",
        action="append",
        default=[],
        help="show the judge these files of the workdir too, or @tool-calls; repeat for more",
    )
    parser.add_argument(
        "--model",
        "--judge-model",
        metavar="PROVIDER/NAME",
        dest="judge_model",
        help="the model that is asked (default: PROCTOR_JUDGE_MODEL, else judge_model in the settings)",
    )
    parser.add_argument(
        "--max-cost", metavar="USD", type=dollars, help="what judging may cost, in US dollars"
    )
    parser.add_argument("--no-cache", action="store_true", help="ask anew what the judge has answered before")
    parser.add_argument(
        "-o", "--out", metavar="FILE", type=Path, help="the verdict file (default: A.vs.B.verdict.json here)"
    )
    parser.add_argument("--json", action="store_true", help="print the verdict as JSON")


def main(arguments: argparse.Namespace) -> int:
    """Judge, keep the verdict, and draw it."""
    from proctor.engine.pairwise import Asking, compare_pairs
    from proctor.engine.work import now
    from proctor.loading.judging import judge_setup
    from proctor.records.judging import JudgeOptions

    options = JudgeOptions(
        model=arguments.judge_model, max_cost_usd=arguments.max_cost, use_cache=not arguments.no_cache
    )
    target = arguments.out or _default_file(arguments.a, arguments.b)
    check_writable(target)
    progress = Progress(sys.stderr)
    verdict = compare_pairs(
        arguments.a,
        arguments.b,
        Asking(
            setup=judge_setup(options),
            goal=arguments.goal,
            samples=arguments.samples,
            include=tuple(arguments.include),
            at=now(),
        ),
        on_start=lambda total: progress.begin("judged", total),
        on_done=progress.step,
    )
    progress.end()
    write_json(verdict, target)
    if arguments.json:
        write_json(verdict)
    else:
        for line in verdict_lines(verdict):
            print(line)
        print(f"verdict: {clean(str(target))}")
    if verdict.ran_out:
        return ExitCode.OUT_OF_BUDGET
    return ExitCode.INCONCLUSIVE if verdict.undecided or not verdict.rows else ExitCode.OK


def _default_file(a: Path, b: Path) -> Path:
    """`A.vs.B.verdict.json`, in the folder that the user stands in."""
    names = [path.resolve().name for path in (a, b)]
    return Path(f"{names[0]}.vs.{names[1]}.verdict.json")


def verdict_lines(verdict: PairVerdict) -> Iterable[str]:
    """The verdict as text: pairs, wins, position bias, what could not be paired, and what it took."""
    yield f"A  {clean(verdict.a)}"
    yield f"B  {clean(verdict.b)}"
    yield f"judge  {clean(verdict.judge)}"
    if verdict.rows:
        yield ""
        yield from table([("TEST", "TRIAL", "BETTER", "WHY"), *map(_cells, verdict.rows)])
    yield ""
    yield (
        f"{counted(len(verdict.rows), 'pair')} = A better {verdict.wins_a} + B better {verdict.wins_b} + "
        f"ties {verdict.ties} + undecided {verdict.undecided}"
    )
    if verdict.by_ending:
        yield f"{verdict.by_ending} of them decided by an agent that did not end well, and not by the judge"
    if verdict.rate.value is not None:
        said = f"{verdict.winner} is better" if verdict.winner else "too close to call"
        yield f"win rate of A {_estimate(verdict.rate)}: {said}"
    if verdict.position is not None:
        yield from _position_lines(verdict.position)
    for entry in verdict.unpaired:
        trial = f" trial {entry.trial}" if entry.trial > 1 else ""
        yield f"not compared: {clean(entry.test)}{trial}: {clean(entry.reason)}"
    took = verdict.judging
    if took is not None:
        tokens = (
            "tokens unknown" if took.tokens_in is None or took.tokens_out is None
            else f"{took.tokens_in:,} tokens in, {took.tokens_out:,} out"
        )  # fmt: skip
        cost = "cost unknown" if took.cost_usd is None else f"${took.cost_usd:.4f}"
        yield (
            f"judging: {counted(took.calls, 'call')}, {took.hits} from the cache, {tokens}, {cost}, "
            f"{seconds(took.latency_s)}"
        )
    if verdict.ran_out:
        yield "not every pair was judged: that could have cost more than --max-cost"


def _cells(row: PairRow) -> tuple[str, str, str, str]:
    better = "undecided" if row.winner is None else row.winner
    why = row.reason
    if row.answers and row.winner is not None:
        sides = [answer.winner for answer in row.answers if answer.winner is not None]
        counts = " ".join(f"{side} {sides.count(side)}" for side in WINNERS if side in sides)
        first = next((answer for answer in row.answers if answer.winner == row.winner), row.answers[0])
        why = f"{counts}: {first.reasoning}" if first.reasoning else counts
    return clean(row.test), str(row.trial), better, shorten(clean(" ".join(why.split())), 60)


def _position_lines(position: PositionBias) -> Iterable[str]:
    yield (
        f"position: first {position.first}, second {position.second}, ties {position.ties}; "
        f"both orders agree in {position.agreed} of {counted(position.samples, 'sample')}"
    )
    yield f"          share of the first {_estimate(position.share)}; 0.500 is no bias"


def _estimate(estimate: Estimate) -> str:
    interval = estimate.interval
    shown = "no interval" if interval is None else f"{interval.low:.3f} to {interval.high:.3f}, 95%"
    return f"{number(estimate.value)} ({shown})"
