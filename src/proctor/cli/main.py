"""The door: finds the command, and is the one place where every error ends.

Only the command that was asked for is imported; `--help` and `--version` import none.
"""

from __future__ import annotations

import argparse
import errno
import importlib
import os
import sys

# Type checkers take this name for true; importing `typing` would be a tenth of what `--help` takes.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import NoReturn

    from proctor.errors import ProctorError

COMMANDS = {
    "init": "write a suite to begin with, which runs and grades as it stands",
    "run": "run an agent over a suite, and keep each run",
    "grade": "grade recorded runs with the graders that they hold",
    "compare": "say whether one group is better than another, worse, the same, or cannot be told",
    "judge": "ask a judge which of two groups is better, pair by pair",
    "list": "list recorded runs with their numbers",
    "show": "show one run: what went in, what came out, its grades",
    "merge": "put groups together that are parts of one run, such as its shards",
    "add": "make runs from traces that other programs recorded",
    "export": "write recorded runs as a table: Parquet, CSV or JSONL",
    "label": "answer a checklist about recorded runs by hand",
    "agree": "say how far people and graders agree, and correct the graders' numbers",
    "check": "try out a suite's graders on its own right and wrong solutions",
    "verify": "check recorded runs against their own digests",
    "retract": "withdraw a round of grades or a label, with a reason",
    "tests": "list the tests of a suite",
    "config": "show every setting, its value, and where it comes from",
    "doctor": "say what is installed, and find what killed runs left behind",
    "schema": "print the JSON Schema of what you write, and of what is recorded or printed",
    "completion": "print what makes a shell complete commands, test ids and tags",
}
"""The command NAME is the module `NAME_command` of this package."""

MOST_FAULTS = 50

REFUSALS = {
    **dict.fromkeys(
        (errno.ENOSPC, errno.EDQUOT, errno.EFBIG), "Make room on the disk, or name a place that has some."
    ),
    **dict.fromkeys(
        (errno.EACCES, errno.EPERM), "Change who may read and write it, or do this as a user who may."
    ),
    **dict.fromkeys(
        (errno.EMFILE, errno.ENFILE), "Raise the limit of open files (`ulimit -n`), or do less at once."
    ),
    errno.EROFS: "Name a place that can be written.",
    errno.ENAMETOOLONG: "Name it with fewer characters.",
}
"""What the system says where the machine has no room or does not let this user, and what to do then."""

DESCRIPTION = """\
proctor runs any agent over a suite of tests, keeps what happened in a run directory
that anyone can copy, and grades it as often as you like.
"""

EPILOG = """\
a first evaluation:
  proctor run agent.py:main --suite evals/einstein --out runs/einstein
  proctor grade runs/einstein

exit codes: 0 all gates passed, 1 the job could not be done, 2 a gate failed or it is
worse, 3 inconclusive, 4 an agent did not end well, 5 a budget ran out, 130 interrupted
"""


class Parser(argparse.ArgumentParser):
    """A parser whose complaints are our errors, with a proposal where a name is nearly right."""

    def error(self, message: str) -> NoReturn:
        """Raise instead of printing and leaving."""
        from proctor.errors import UsageError, did_you_mean

        fix = f"`{self.prog} --help` shows what can be said."
        if message.startswith("unrecognized arguments: "):
            word = message.removeprefix("unrecognized arguments: ").split(" ")[0]
            options = [option for action in self._actions for option in action.option_strings]
            near = did_you_mean(word.split("=")[0], options)
            fix = f"Did you mean {near}? {fix}" if near else fix
        raise UsageError(message, fix=fix)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code; nothing that a user can cause leaves a traceback."""
    words = list(sys.argv[1:] if argv is None else argv)
    if reconfigure := getattr(sys.stdout, "reconfigure", None):
        # What a terminal cannot show, such as a name that is no text, is shown in escapes.
        reconfigure(errors="backslashreplace")
    try:
        return _dispatch(words)
    except KeyboardInterrupt:
        return _say("interrupted", 130)
    except BrokenPipeError:
        # Whoever read our output has left; there is nobody to tell.
        sys.stdout = None  # pyright: ignore[reportAttributeAccessIssue]
        return 0
    except Exception as error:  # noqa: BLE001  # the error boundary
        return _end(error)


def build_parser(name: str, *, add_help: bool = True) -> Parser:
    """The parser of one command, with its arguments."""
    from pathlib import Path

    parser = Parser(
        prog=f"proctor {name}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
        add_help=add_help,
    )
    parser.register("type", Path, _path)
    module = importlib.import_module(f"proctor.cli.{name}_command")
    parser.description = module.__doc__
    module.add_arguments(parser)
    return parser


def _path(text: str) -> Path:
    """A path; nothing is none: `--out "$GROUP"` with an unset GROUP would write into the folder that one stands in."""
    from pathlib import Path

    if not text:
        raise argparse.ArgumentTypeError(
            "a path is wanted, and this is empty; a dot is the folder you are in"
        )
    return Path(text)


def _dispatch(words: list[str]) -> int:
    from proctor.cli import completion

    if completion.is_asked():
        return completion.answer()
    if not words or words[0] in ("-h", "--help", "help"):
        sys.stdout.write(_help())
        return 0 if words else 1
    if words[0] in ("-V", "--version"):
        from proctor.version import __version__

        sys.stdout.write(f"proctor {__version__}\n")
        return 0
    name, rest = words[0], words[1:]
    if name not in COMMANDS:
        from proctor.errors import UnknownName, did_you_mean

        near = did_you_mean(name, list(COMMANDS))
        raise UnknownName(
            f"there is no command {name!r}",
            fix=(f"Did you mean {near!r}? " if near else "") + "`proctor --help` lists the commands.",
        )
    arguments = build_parser(name).parse_args(rest)
    code = importlib.import_module(f"proctor.cli.{name}_command").main(arguments)
    sys.stdout.flush()
    return int(code)


def _help() -> str:
    width = max(map(len, COMMANDS))
    lines = [f"  {name:<{width}}  {text}" for name, text in COMMANDS.items()]
    return (
        "usage: proctor COMMAND ...\n\n"
        f"{DESCRIPTION}\ncommands:\n"
        + "\n".join(lines)
        + f"\n\n{EPILOG}\n`proctor COMMAND --help` says more of one; `proctor --version`.\n"
    )


def _end(error: Exception) -> int:
    from proctor.cli.output import clean, clean_lines
    from proctor.errors import ProctorError

    if isinstance(error, ProctorError):
        return _say(clean_lines(_shown(error)), 1)
    if isinstance(error, OSError) and error.errno in REFUSALS:
        _forget_output()
        where = f"{clean(os.fsdecode(error.filename))}: " if isinstance(error.filename, str | bytes) else ""
        return _say(f"{where}{error.strerror}\n    {REFUSALS[error.errno]}", 1)
    import traceback

    traceback.print_exc()
    return _say("this is a defect of proctor; please report it with the lines above", 70)


def _forget_output() -> None:
    """Where what was printed cannot be written, nobody shall try again when the interpreter ends."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _shown(error: ProctorError) -> str:
    """The error's faults; of very many, the first."""
    told = "\n".join(str(fault) for fault in error.faults[:MOST_FAULTS])
    left = len(error.faults) - MOST_FAULTS
    return f"{told}\n... and {left} more" if left > 0 else told


def _say(text: str, code: int) -> int:
    sys.stderr.write(f"proctor: {text}\n")
    return code
