"""Withdraw a whole round of grades of a run, or a label, by a further row that says who and why.

Nothing is rewritten. The round before it is in force again, and so is what the person had answered before.
`proctor show RUN --history` lists the rounds; `proctor show RUN` has the id of each label.

Example:
  proctor retract runs/einstein/birthday --round 5f2c --why "graded with the wrong rubric"
"""

from __future__ import annotations

import argparse
from datetime import UTC, datetime
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `proctor retract` can be told."""
    parser.add_argument("run", metavar="RUN", type=Path, help="a run directory")
    parser.add_argument(
        "--round", metavar="ID", required=True, help="the round or label, or the beginning of its id"
    )
    parser.add_argument("--why", metavar="TEXT", required=True, help="the reason, in a sentence")
    parser.add_argument("--by", metavar="NAME", help="who withdraws it (default: your user name)")


def main(arguments: argparse.Namespace) -> int:
    """Append the row."""
    from proctor import wiring
    from proctor.core.rounds import all_rounds
    from proctor.errors import UsageError
    from proctor.host.durable import sync
    from proctor.records.annotation import ROW_VERSION, Annotator, RetractRow
    from proctor.stores.discover import find_run

    run = find_run(arguments.run)
    annotations = run.annotations()
    rounds = [one.round_id for one in all_rounds(annotations.scores)]
    rounds += dict.fromkeys(row.id for row in annotations.labels)
    named = [round_id for round_id in rounds if round_id.startswith(arguments.round)]
    if len(named) != 1:
        raise UsageError(
            f"{'no' if not named else 'more than one'} round of the run begins with {arguments.round!r}",
            fix=f"Rounds: {', '.join(rounds) or 'none'}. `proctor show {arguments.run} --history` says more.",
        )
    if not arguments.why.strip():
        raise UsageError("the reason is empty", fix="Say why, in a sentence: --why TEXT.")
    if any(row.round_id == named[0] for row in annotations.retractions):
        raise UsageError(f"round {named[0]} was withdrawn already", fix="There is nothing to do.")
    row = RetractRow(
        v=ROW_VERSION,
        run=run.facts().run,
        at=datetime.now(UTC).isoformat(timespec="milliseconds"),
        annotator=Annotator(kind="human", id=arguments.by or wiring.user_name()),
        round_id=named[0],
        why=arguments.why,
    ).with_id()
    run.append([row])
    sync(run.path)
    print(f"round {named[0]} of {run.name} is withdrawn")
    return 0
