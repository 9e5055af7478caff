"""Answer a checklist about recorded runs by hand: in a terminal, or in a sheet that goes out and comes back.

The answers of each run are appended to its annotations.jsonl when you sign them off. What is not signed off is kept,
and you go on where you stopped, whatever happened in between.

Examples:
  proctor label runs/einstein --checklist helpful.yaml
  proctor label runs --checklist helpful.yaml --sample 100 --annotator ada
  proctor label runs --checklist helpful.yaml --export sheet.csv --annotator ada
  proctor label runs --checklist helpful.yaml --import sheet.csv
"""

from __future__ import annotations

import argparse
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from proctor.cli.arguments import add_paths, positive_int
from proctor.cli.output import clean, counted

if TYPE_CHECKING:
    from proctor.engine.label_sessions import LabelRequest


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `proctor label` can be told."""
    from proctor.core.ordering import ORDERS

    add_paths(parser)
    parser.add_argument(
        "--checklist", metavar="FILE", type=Path, required=True, help="the questions, in .json, .yaml or .yml"
    )
    parser.add_argument("--annotator", metavar="NAME", help="who labels (default: your user name)")
    parser.add_argument(
        "--order",
        choices=ORDERS,
        help="which runs come first: as given, by chance, where graders are unsure, where opinions differ",
    )
    parser.add_argument("--seed", metavar="S", type=int, default=0, help="another seed, another chance")
    parser.add_argument(
        "--sample", metavar="N", type=positive_int, help="N runs, drawn by chance; the draw is recorded"
    )
    way = parser.add_mutually_exclusive_group()
    way.add_argument(
        "--export",
        metavar="FILE",
        type=Path,
        help="write a sheet, .csv or .jsonl; - is CSV on standard output",
    )
    way.add_argument(
        "--import", metavar="FILE", type=Path, dest="import_from", help="take the answers of a sheet"
    )


def main(arguments: argparse.Namespace) -> int:
    """Open the screen, or write or read a sheet."""
    from proctor import wiring
    from proctor.engine.label_sessions import LabelRequest

    annotator = (arguments.annotator or "").strip()
    request = LabelRequest(
        paths=tuple(arguments.paths),
        file=arguments.checklist,
        annotator=annotator or wiring.user_name(),
        order=arguments.order,
        seed=arguments.seed,
        sample=arguments.sample,
    )
    if arguments.export is not None:
        return _export(request, arguments.export, annotator or None)
    if arguments.import_from is not None:
        return _import(request, arguments.import_from)
    return _label(request)


def now() -> str:
    """The time, for rows."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _label(request: LabelRequest) -> int:
    from proctor import wiring
    from proctor.engine.label_sessions import start_session
    from proctor.errors import UsageError

    is_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    if not is_terminal or wiring.environment().get("TERM", "dumb") in ("", "dumb", "unknown"):
        raise UsageError(
            "labelling on a screen needs a terminal that can move its cursor, and this is none",
            fix="Write a sheet with --export FILE, fill it in, and take it in with --import FILE.",
        )
    try:
        from proctor.tui.app import LabelApp
    except ModuleNotFoundError as error:
        raise UsageError(
            "labelling on a screen needs the library textual, which is not installed",
            fix="Install it: pip install 'proctor[label]'; or work in a sheet: --export FILE, --import FILE.",
        ) from error
    session = start_session(request, now=now, clock=time.monotonic)
    try:
        app = LabelApp(session)
        app.run()
        progress = session.progress
    finally:
        session.close()
    print(
        f"{progress.labelled} of {counted(progress.total, 'run')} labelled by {clean(request.annotator)}, "
        f"{progress.left} left"
    )
    if app.failure is not None:
        raise app.failure
    if progress.left:
        print("what is not signed off is kept: the same command goes on")
    return 0


def _export(request: LabelRequest, target: Path, annotator: str | None) -> int:
    from proctor.cli.output import check_writable
    from proctor.engine.label_sessions import open_runs
    from proctor.engine.label_sheet import sheet_of
    from proctor.loading.sheets import sheet_format, sheet_text
    from proctor.reports.writing import write_whole

    is_stdout = str(target) == "-"
    kind = "csv" if is_stdout else sheet_format(target)
    if not is_stdout:
        check_writable(target)
    opening = open_runs(request, now=now)
    rows = list(sheet_of(opening.runs, opening.checklist, annotator=annotator))
    text = sheet_text(rows, kind)
    if is_stdout:
        sys.stdout.write(text)
        return 0
    write_whole(target, text.encode())
    _tell(opening.notes)
    answered = sum(bool(row.at) for row in rows)
    print(
        f"{clean(str(target))}: {counted(len(rows), 'row')} for {counted(len(opening.runs), 'run')}, "
        f"{answered} of them answered"
    )
    return 0


def _import(request: LabelRequest, source: Path) -> int:
    from proctor.engine.label_sessions import open_runs
    from proctor.engine.label_sheet import import_sheet
    from proctor.loading.sheets import sheet_format

    sheet_format(source)
    opening = open_runs(request, now=now)
    done = import_sheet(
        source,
        opening.runs,
        opening.checklist,
        annotator=request.annotator,
        now=now,
        sample=opening.sample.id if opening.sample else None,
    )
    _tell(opening.notes)
    print(
        f"{counted(done.labels, 'label')} recorded, {done.known} recorded before, "
        f"{counted(done.blank, 'run')} left empty"
    )
    return 0


def _tell(notes: tuple[str, ...]) -> None:
    for note in notes:
        print(f"proctor: {clean(note)}", file=sys.stderr)
