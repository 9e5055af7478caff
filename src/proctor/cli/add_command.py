"""Make run directories from what other programs recorded: a trace.jsonl, an OTLP/JSON export, or a statelog.

Each trace becomes one run, called by the first 12 digits of its trace id, or by the test that --test names; then
`proctor grade` grades it as if proctor had run it. Everything is read and checked first: when anything is wrong,
nothing is written. A trace that the group holds already is skipped.

Examples:
  proctor add runs/mine --trace export.jsonl
  proctor add runs/mine --trace export.json --workdir out --output answer.txt --test birthday --suite evals/einstein
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from proctor.cli.output import clean, typed, write_json

if TYPE_CHECKING:
    from proctor.engine.adding import TestOfSuite

ENDINGS = (
    "ok",
    "error",
    "timeout",
    "cost-cap",
    "token-cap",
    "output-cap",
    "disk-cap",
    "killed",
    "interrupted",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `proctor add` can be told."""
    parser.add_argument(
        "group", metavar="GROUP", type=Path, help="the group's folder; made when it is not there"
    )
    parser.add_argument(
        "--trace",
        metavar="FILE",
        nargs="+",
        action="extend",
        type=Path,
        required=True,
        help="files of traces",
    )
    parser.add_argument(
        "--workdir", metavar="DIR", type=Path, help="the files as the agent left them; copied"
    )
    parser.add_argument(
        "--output", metavar="FILE", type=Path, help="a file that holds what the agent answered"
    )
    parser.add_argument("--test", metavar="ID", help="the test that the runs are of; needs --suite")
    parser.add_argument("-s", "--suite", metavar="S", help="the suite that has the test and its graders")
    parser.add_argument("--agent", metavar="LABEL", help="what the agent is called")
    parser.add_argument(
        "--ending", choices=ENDINGS, help="how the runs ended (default: as the traces say, else ok)"
    )
    parser.add_argument("--json", action="store_true", help="print what was done as JSON")


def main(arguments: argparse.Namespace) -> int:
    """Look at everything, write the runs, and say which."""
    from proctor import wiring
    from proctor.engine.adding import Material, carry_out, plan
    from proctor.errors import Fault, ProctorError
    from proctor.records.run import Ending

    test, faults = None, list[Fault]()
    try:
        test = _test(arguments.test, arguments.suite)
    except ProctorError as error:
        faults += error.faults
    material = Material(
        traces=tuple(arguments.trace),
        workdir=arguments.workdir,
        output=arguments.output,
        agent=arguments.agent,
        ending=Ending(arguments.ending) if arguments.ending else None,
    )
    planned = plan(arguments.group, material, test, faults)
    carry_out(planned, wiring.platform(), wiring.environment())
    wrote = [run.run_dir for run in planned.runs]
    if arguments.json:
        from proctor.records.json_value import storable
        from proctor.records.shown import Added

        write_json(
            Added(group=storable(str(arguments.group)), wrote=tuple(wrote), skipped=tuple(planned.skipped))
        )
        return 0
    for name in wrote:
        print(f"wrote    {clean(name)}")
    for name in planned.skipped:
        print(f"skipped  {clean(name)}  is there already")
    print(f"runs: {clean(str(arguments.group))}")
    print(f"next: proctor {'grade' if test else 'list'} {typed(arguments.group)}")
    return 0


def _test(test_id: str | None, source: str | None) -> TestOfSuite | None:
    """The test that the runs are of, with its graders as a run would store them; None when none is named.

    Raises:
        UsageError: there is no such test, or one of the two options is missing.
        SuiteError: the suite, or the graders of the test, are not usable.
    """
    from proctor import evaluation
    from proctor.engine.adding import TestOfSuite
    from proctor.errors import UsageError, did_you_mean
    from proctor.records.run import SuiteRef

    if test_id is None and source is None:
        return None
    if test_id is None or source is None:
        raise UsageError("--test and --suite go together", fix="Give both, or neither.")
    import msgspec

    suite = evaluation.load_suite(source)
    entries = [entry for entry in suite.tests if entry.test.id == test_id]
    if not entries:
        near = did_you_mean(test_id, [entry.test.id for entry in suite.tests])
        raise UsageError(
            f"the suite {suite.name!r} has no test {test_id!r}",
            fix=f"Did you mean {near!r}?" if near else f"`proctor tests {source}` lists them.",
        )
    checked = evaluation.check(msgspec.structs.replace(suite, tests=tuple(entries)))
    ref = SuiteRef(name=suite.name, digest=suite.digest, commit=suite.commit)
    return TestOfSuite(entry=entries[0], suite=ref, checked=checked)
