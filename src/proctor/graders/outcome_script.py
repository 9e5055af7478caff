"""expect_outcome: a grading script of its own says pass, fail, or inconclusive."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final

import msgspec
from msgspec import UNSET

from proctor.graders.assertion import Assertion, Minimum, options_for
from proctor.graders.script_hosts import HOSTS, Language, ScriptFailure, ScriptTimeout
from proctor.graders.script_program import run_program, why_no_program
from proctor.host.tree import copy_tree, remove_tree
from proctor.ports import GraderOptions, RunView
from proctor.records.grade import Cause, Defect, Grade, Outcome
from proctor.records.json_value import text_of

AROUND_S: Final = 90.0
"""What a grader may take on top of its script's limit: starting its process, copying, cleaning up."""

LANGUAGES: Final[Mapping[str, Language]] = {
    ".py": "python",
    **dict.fromkeys((".ts", ".mts", ".cts", ".tsx", ".js", ".mjs", ".cjs", ".jsx"), "javascript"),
}
"""By ending; a script with another one is a program."""


@dataclass(frozen=True, kw_only=True)
class OutcomeScript(Assertion):
    """A grading script, made by `expect_outcome`.

    What it checks: whatever its function looks at, in the workdir that the agent left.
    Why: a program of its own, typed end to end, is the plainest way to say when work is done.
    Passes: it returns the outcome `pass`.
    Fails: it returns `fail`.
    Cannot tell: it returns `inconclusive`. A script without such a function, an exception, another shape, an
    empty detail or a time-out is `EVAL_GRADER_FAILED`, with message and stack kept for its author.

    Attributes:
        script: path of the script, relative to the module that names it.
        timeout: seconds that one call may take.
    """

    kind: ClassVar[str] = "outcome"
    failure_cause: ClassVar[Cause | None] = Cause.EVAL_GRADER_FAILED

    script: str

    def __post_init__(self) -> None:
        given: Any = self.script
        if not isinstance(given, str) or not given or "\0" in given:
            raise ValueError(f"script is the path of a grading script, and this is {given!r}")
        if not self.name:
            object.__setattr__(self, "name", Path(self.script).stem)
        super().__post_init__()
        if Path(self.script).is_absolute():
            raise ValueError(
                f"grader {self.name!r}: script is a path relative to the module that names it, "
                f"and this is {self.script!r}"
            )

    @property
    def options(self) -> GraderOptions:
        """As every grader's; the time is that of the script, and what lies around it."""
        own = super().options
        return msgspec.structs.replace(own, timeout=own.timeout + AROUND_S)

    @property
    def language(self) -> Language | None:
        """What it is written in; None for a program of whatever kind."""
        return LANGUAGES.get(Path(self.script).suffix.lower())

    def files(self) -> Sequence[str]:
        """The script."""
        return (self.script,)

    def doubts(self, base: Path, environment: Mapping[str, str]) -> Sequence[str]:
        """Loads the script, once, before anybody pays for a run that it could not grade.

        Raises:
            ScriptFailure: it cannot be loaded; the check of the suite says it.
        """
        path = base / self.script
        if not path.is_file():  # then the snapshot says so
            return ()
        if self.language is None:
            problem = why_no_program(path, self.script)
            return (f"grader {self.name!r}: {problem}",) if problem else ()
        try:
            self._ask(self.language, path, base, environment, None)
        except ScriptTimeout:
            raise ScriptFailure(self._late()) from None
        return ()

    def look(self, run: RunView) -> Grade:
        """Call the script.

        Raises:
            ScriptFailure: it gave no outcome.
        """
        path = run.base / self.script
        try:
            if self.language is None:
                with tempfile.TemporaryDirectory(prefix="proctor-artifact-") as artifact:
                    _copy_artifact(run, Path(artifact))
                    context = self._context(run, run.workdir, Path(artifact))
                    return as_grade(
                        run_program(path, context, run, shown=self.script, timeout_s=self.timeout),
                        self.script,
                    )
            return self._called(self.language, path, run)
        except ScriptTimeout:
            raise ScriptFailure(self._late()) from None

    def _called(self, language: Language, path: Path, run: RunView) -> Grade:
        host = HOSTS.host(language, run.environment, run.base)
        room = Path(tempfile.mkdtemp(prefix="proctor-artifact-")).resolve()
        workdir = run.workdir
        try:
            (room / "artifact").mkdir()
            _copy_artifact(run, room / "artifact")
            if not host.sees_read_only:
                workdir = room / "workdir"
                copy_tree(run.workdir, workdir)
            context = self._context(run, workdir, room / "artifact")
            answer = self._ask(language, path, run.base, run.environment, context)
        except ScriptFailure as error:
            raise ScriptFailure(
                _told(error.defect, {workdir: "workdir", room / "artifact": "artifact"})
            ) from None
        finally:
            remove_tree(room)
        return as_grade(answer, self.script)

    def _ask(
        self,
        language: Language,
        path: Path,
        base: Path,
        environment: Mapping[str, str],
        context: Mapping[str, str] | None,
    ) -> Mapping[str, Any]:
        question: dict[str, Any] = {
            "script": str(path),
            "shown": self.script,
            # Drawn from what the worker was seeded with, so that the same run gives the same grade.
            "seed": random.getrandbits(64),
        }
        if context is not None:
            question["context"] = context
        host = HOSTS.host(language, environment, base)
        try:
            return host.call(question, self.timeout)
        except ScriptFailure:
            # What an earlier script left behind may have ended it: that is not to be this one's failure.
            if host.is_alive or host.calls == 1:
                raise
            return HOSTS.host(language, environment, base).call(question, self.timeout)

    def _context(self, run: RunView, workdir: Path, artifact: Path) -> Mapping[str, str]:
        return {
            "artifactRoot": str(artifact),
            "fixturePath": str(workdir),
            "prompt": "" if run.test.input is UNSET else text_of(run.test.input),
        }

    def _late(self) -> Defect:
        message = f"grader {self.name!r} took longer than its timeout of {self.timeout:g} s and was ended"
        return Defect(type=Cause.GRADER_TIMEOUT.value, message=message)


def _copy_artifact(run: RunView, folder: Path) -> None:
    """Put what the agent carried into an empty folder, which scripts may write to."""
    if run.artifact is not None and run.artifact.is_dir():
        folder.rmdir()
        copy_tree(run.artifact, folder)


def expect_outcome(
    script: str, *, must_pass: bool = True, minimum_evidence: Minimum = "observed", **options: Any
) -> OutcomeScript:
    """A grader that runs the grading script at `script`, relative to the module that names it.

    `.py` is a Python module that defines `grade`; `.ts`, `.js` and their kin are modules whose default export is a
    function; anything else is a program that reads JSON and prints JSON.

    It is a gate unless `must_pass=False` says otherwise; the other options are those of every grader, and its
    name is the script's stem.

    Raises:
        ValueError: an option is out of its range, or the path is absolute.

    >>> expect_outcome("./graders/status-result.ts").options.name
    'status-result'
    """
    return OutcomeScript(
        script=script,
        must_pass=must_pass,
        minimum_evidence=minimum_evidence,
        **options_for("expect_outcome", OutcomeScript, options),
    )


def as_grade(answer: Mapping[str, Any], shown: str) -> Grade:
    """The grade that a script's answer stands for.

    Args:
        answer: `outcome` and `detail`, each `{"text": ...}`, or `{"other": ...}` for what is no text.
        shown: the script, for messages.

    Raises:
        ScriptFailure: it stands for none.
    """
    outcome, detail = answer["outcome"], answer["detail"]
    if outcome.get("text") not in ("pass", "fail", "inconclusive"):
        raise _broken(
            f"outcome is 'pass', 'fail' or 'inconclusive', and {_function(shown)} gave {_shown(outcome)}"
        )
    if not detail.get("text", "").strip():
        raise _broken(f"detail is a sentence, and {_function(shown)} gave {_shown(detail)}")
    found = Outcome(outcome["text"])
    cause = Cause.UNDECIDED if found is Outcome.INCONCLUSIVE else None
    return Grade(outcome=found, feedback=detail["text"], cause=cause)


def _function(shown: str) -> str:
    language = LANGUAGES.get(Path(shown).suffix.lower())
    if language is None:
        return f"the program {shown}"
    return f"grade() in {shown}" if language == "python" else f"the function in {shown}"


def _shown(value: Mapping[str, str]) -> str:
    return repr(value["text"]) if "text" in value else value["other"]


def _told(defect: Defect, folders: Mapping[Path, str]) -> Defect:
    """What went wrong, with the folders of this machine by what they are."""
    message, stack = defect.message, defect.stack
    for folder, name in folders.items():
        message, stack = (text.replace(str(folder), name) for text in (message, stack))
    return msgspec.structs.replace(defect, message=message, stack=stack)


def _broken(message: str) -> ScriptFailure:
    return ScriptFailure(Defect(type="BrokenScript", message=message))
