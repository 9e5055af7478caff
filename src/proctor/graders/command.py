"""expect_command: a program says whether the work is done, in a copy of the workdir that the agent cannot steer."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

import msgspec

from proctor.core.words import split_words
from proctor.graders.base import GraderBase
from proctor.graders.scratch import PROTECTED, Changes, make_scratch
from proctor.host.child import Exit
from proctor.host.limited import run_limited
from proctor.host.readonly import read_only
from proctor.host.tree import remove_tree
from proctor.ports import GraderOptions, RunView
from proctor.records.grade import Cause, Grade, Outcome, failed, inconclusive, passed
from proctor.records.run import Limits

GRACE_S: Final = 2.0
AROUND_S: Final = 30.0
"""What a grader may take on top of its command's limit: copying, ending, cleaning up."""

LARGEST_RESULT: Final = 64 * 1024
_TAIL: Final = 2_000
_PYTHONS: Final = ("python", "python3")
_PASSED_ON: Final = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "LD_LIBRARY_PATH", "SYSTEMROOT")


@dataclass(frozen=True, kw_only=True)
class CommandCheck(GraderBase):
    """A command that checks the work; made by `expect_command`.

    What it checks: whatever the command checks, in a scratch copy of the workdir.
    Why: a project's own tests are often the best grader there is.
    Passes: the command ends with exit code 0; or the result that it wrote says so.
    Fails: another exit code, or the result says so.
    Cannot tell: the command is not there, takes too long, is killed, or writes a result that is none.

    Attributes:
        command: split without a shell; `python` is this Python.
        holdout: the test's held-out files are laid over the copy.
        protect: globs of files that come from the fixture, whatever the agent did to them.
        env: names of variables that the command is given besides PATH, HOME, TMPDIR and the language.
        prints: text that must be in what the command printed, for it to pass by its exit code.
        timeout: seconds that the command may take.
    """

    command: str
    holdout: bool = False
    protect: Sequence[str] = PROTECTED
    env: Sequence[str] = ()
    prints: str = ""

    def __post_init__(self) -> None:
        label = self.name or " ".join(self.command.split())[:60]
        try:
            words = split_words(self.command)
        except ValueError:
            raise ValueError(f"grader {label!r}: a quotation mark in the command is never closed") from None
        if not words or not words[0]:
            raise ValueError("expect_command() needs a command, and this names no program")
        object.__setattr__(self, "name", label)
        super().__post_init__()
        if isinstance(self.protect, str) or isinstance(self.env, str):
            raise ValueError(f"grader {self.name!r}: protect and env are lists")

    @property
    def options(self) -> GraderOptions:
        """As every grader's; the time is that of the command, and what lies around it."""
        own = super().options
        return msgspec.structs.replace(own, timeout=own.timeout + GRACE_S + AROUND_S)

    @property
    def reads(self) -> tuple[Literal["fixture", "holdout"], ...]:
        """The fixture, for what is protected, and the held-out files where they are asked for."""
        return ("fixture", "holdout") if self.holdout else ("fixture",)

    def grade(self, run: RunView) -> Grade:
        """Make the copy, run the command in it, and read what it says."""
        if self.holdout and run.holdout is None:
            return inconclusive("the run has no held-out files", cause=Cause.INPUTS_UNUSABLE)
        root = Path(tempfile.mkdtemp(prefix="proctor-check-")).resolve()
        # Apart from the copy, and made when the agent is long gone: nothing can have been planted in it.
        results = Path(tempfile.mkdtemp(prefix="proctor-result-")).resolve()
        try:
            room = _Room(root / "workdir", root / "home", root / "tmp", results / "result.json")
            changes = make_scratch(
                run.workdir,
                room.workdir,
                fixture=run.fixture,
                holdout=run.holdout if self.holdout else None,
                protect=self.protect,
            )
            found = self._run(room, run.environment)
            evidence = msgspec.to_builtins(changes) if changes != Changes() else None
            return msgspec.structs.replace(
                found, feedback=_plain(found.feedback, root, changes), evidence=evidence
            )
        finally:
            remove_tree(root)
            remove_tree(results)

    def _run(self, room: _Room, given: Mapping[str, str]) -> Grade:
        room.home.mkdir()
        room.tmp.mkdir()
        env = room.environment(given, self.env)
        words = split_words(self.command)
        program = _program(words[0], env, room.workdir)
        if program is None:
            return inconclusive(f"there is no program {words[0]!r}", cause=Cause.HARNESS_FAILURE)
        streams = room.workdir.parent / "stdout", room.workdir.parent / "stderr"
        argv = [program, *words[1:]]
        # What the agent wrote runs in here, and must reach neither the run nor anything else.
        writable = [room.workdir.parent, room.result.parent]
        try:
            confined = read_only(argv, env, writable=writable, tmp=room.tmp)
            ended = run_limited(
                confined or argv,
                cwd=room.workdir,
                env=env,
                stdout=streams[0],
                stderr=streams[1],
                limits=Limits(timeout_s=self.timeout, grace_s=GRACE_S),
            )
        except (OSError, ValueError) as error:
            return inconclusive(f"{words[0]!r} could not be started: {error}", cause=Cause.HARNESS_FAILURE)
        printed = "\n".join(part for stream in streams if (part := _tail(stream)))
        if ended.timed_out:
            said = f"the command took longer than {self.timeout:g} s and was ended"
            return inconclusive(_with(said, printed), cause=Cause.GRADER_TIMEOUT)
        if os.path.lexists(room.result):
            return _written(room.result)
        return self._by_exit(_unwrapped(ended) if confined else ended, printed, streams)

    def _by_exit(self, ended: Exit, printed: str, streams: Sequence[Path]) -> Grade:
        if ended.signal == "SIGKILL":
            said = "the command was killed, as the system does when memory runs out"
            return inconclusive(_with(said, printed), cause=Cause.GRADER_DIED)
        if ended.signal is not None:
            return failed(_with(f"the command was ended by {ended.signal}", printed))
        if ended.code != 0:
            return failed(_with(f"exit code {ended.code}", printed))
        if self.prints and not any(self.prints.encode() in _content(stream) for stream in streams):
            return failed(_with(f"exit code 0, and {self.prints!r} was not printed", printed))
        return passed()


def expect_command(
    command: str, *, must_pass: bool = True, threshold: float = 1.0, **options: Any
) -> CommandCheck:
    """A grader that runs `command` in a scratch copy of the workdir, and passes when it ends with exit code 0.

    It is a gate unless `must_pass=False` says otherwise. Options of its own: `holdout=True` lays the test's
    `holdout/` over the copy; `protect`, globs of what comes from the fixture whatever the agent did to it;
    `env`, names of variables to pass on; `prints`, text that must have been printed; `timeout` of the command.

    Instead of an exit code, the command may write JSON to the path in `$PROCTOR_RESULT`: `{"score": 0.8}`, which
    passes from `threshold` on, or `{"outcome": "pass" | "fail" | "inconclusive", "detail": "..."}`.

    What an agent cannot do: change, remove or add tests and held-out files, conftest.py, sitecustomize.py, pytest.ini,
    pyproject.toml and the like (`protect` lists them); leave compiled files or a module that hides one of
    Python's, of pytest's, or of the tests; put a link where one of these is to be written; plant a result; leave
    a process, a HOME or variables that the check would meet. The run's own workdir is not touched; where the system
    has bubblewrap, nothing but the copy and a /tmp of its own can be written at all.

    What it can do: its code runs inside the check when the tests import it, and may then do what the tests can do,
    end the process with exit code 0 included. `prints` catches the careless; a held-out test that starts the
    program as a process of its own and looks at what it prints is proof against it. What a Makefile, a
    package.json or a script of the workdir says is the agent's unless `protect` names the file.

    Raises:
        ValueError: an option is out of its range, or the command cannot be split.

    >>> expect_command("python -m unittest -q", holdout=True, name="hidden-tests").options.must_pass
    True
    """
    known = set(CommandCheck.__dataclass_fields__)
    unknown = sorted(set(options) - known)
    if unknown:
        raise ValueError(
            f"expect_command() has no option {unknown[0]!r}; it knows {', '.join(sorted(known))}"
        )
    return CommandCheck(command=command, must_pass=must_pass, threshold=threshold, **options)


class _Room(NamedTuple):
    """Where the command stands, and what it finds around it."""

    workdir: Path
    home: Path
    tmp: Path
    result: Path

    def environment(self, given: Mapping[str, str], more: Sequence[str]) -> dict[str, str]:
        passed_on = {name: given[name] for name in (*_PASSED_ON, *more) if name in given}
        return passed_on | {
            "HOME": str(self.home),
            "PWD": str(self.workdir),
            "TMPDIR": str(self.tmp),
            "PROCTOR_RESULT": str(self.result),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONHASHSEED": "0",
            "PYTHONNOUSERSITE": "1",
            "GIT_CEILING_DIRECTORIES": str(self.workdir.parent),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
        }


def _unwrapped(ended: Exit) -> Exit:
    """An exit as the command itself had it: from inside, a signal comes out as 128 and its number."""
    number = (ended.code or 0) - 128
    if number not in {one.value for one in signal.Signals}:
        return ended
    return msgspec.structs.replace(ended, code=None, signal=signal.Signals(number).name)


def _program(name: str, env: Mapping[str, str], workdir: Path) -> str | None:
    if name in _PYTHONS:
        return sys.executable
    if "/" in name:
        return str(workdir / name) if (workdir / name).is_file() else None
    folders = [folder for folder in env.get("PATH", os.defpath).split(os.pathsep) if folder.startswith("/")]
    return shutil.which(name, path=os.pathsep.join(folders))


def _written(path: Path) -> Grade:
    """The grade that the command wrote."""

    def refuse(what: str) -> Grade:
        said = f"the command wrote a result that is none: {what}"
        return inconclusive(said, cause=Cause.GRADER_RETURNED_NONSENSE)

    found = path.lstat()
    if not stat.S_ISREG(found.st_mode):
        return refuse("it is no regular file")
    if found.st_size > LARGEST_RESULT:
        return refuse(f"it has {found.st_size} bytes, and at most {LARGEST_RESULT} are read")
    try:
        result: Any = msgspec.json.decode(path.read_bytes())
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return refuse(str(error))
    if not isinstance(result, dict) or ("score" in result) == ("outcome" in result):
        return refuse('it is an object with either "score" or "outcome"')
    detail: Any = result.get("detail", "")  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    if not isinstance(detail, str):
        return refuse(f'"detail" is text, and this is {detail!r}')
    try:
        if "score" in result:
            return Grade(score=result["score"], feedback=detail)  # pyright: ignore[reportUnknownArgumentType]
        return Grade(outcome=Outcome(result["outcome"]), feedback=detail)  # pyright: ignore[reportUnknownArgumentType]
    except (ValueError, TypeError) as error:
        return refuse(str(error))


def _plain(feedback: str, root: Path, changes: Changes) -> str:
    """The feedback without the folders of this grading, and with what was not the agent's to change."""
    told = feedback.replace(f"{root / 'workdir'}/", "").replace(str(root / "workdir"), ".")
    for what, paths in (("put back", changes.restored), ("taken out", changes.removed)):
        shown = [path for path in paths if path.rpartition("/")[2] not in ("__pycache__", ".pytest_cache")]
        if shown and feedback:
            more = f" and {len(shown) - 10} more" if len(shown) > 10 else ""
            told += f"\n{what} for this check: {', '.join(shown[:10])}{more}"
    return told


def _with(said: str, printed: str) -> str:
    return f"{said}:\n{printed}" if printed else said


def _tail(path: Path) -> str:
    content = _content(path)
    return content[-4 * _TAIL :].decode("utf-8", "replace")[-_TAIL:].strip()


def _content(path: Path) -> bytes:
    """The last part of what was printed, 1 MiB at most."""
    with path.open("rb") as stream:
        stream.seek(max(0, os.fstat(stream.fileno()).st_size - (1 << 20)))
        return stream.read(1 << 20)
