"""A judge that is an Agency program: compiled by its own command line, its `main` called with three texts."""

from __future__ import annotations

import shlex
import shutil
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from proctor.core.judge_grades import CAUSES, grade_of, no_verdict, read_answer
from proctor.core.verdict_scale import BINARY, UNIT, Scale
from proctor.core.verdicts import Unreadable, Verdict
from proctor.errors import JudgeError
from proctor.host.limited import run_limited
from proctor.judges.answers import AnswerCache, key_of
from proctor.judges.case import Case
from proctor.models.question import Message, Question, Reply
from proctor.records.grade import Cause, Grade, inconclusive
from proctor.records.json_value import digest_of_bytes
from proctor.records.judging import Judged, Judging
from proctor.records.run import Limits

COMPILE_S: Final = 120.0
CALL_S: Final = 120.0
TRIES: Final = 2
_TAIL: Final = 2000

# JSON from a file, one JSON line out: what the program itself prints goes to standard error.
_CALL: Final = """\
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
const out = process.stdout.write.bind(process.stdout);
console.log = console.info = console.error;
process.stdout.write = process.stderr.write.bind(process.stderr);
const module = await import(pathToFileURL(resolve(process.argv[2])).href);
const given = JSON.parse(readFileSync(process.argv[3], "utf8"));
const result = await module.main(given.goal, given.output, given.expected);
out(JSON.stringify(result && typeof result === "object" && "data" in result ? result.data : result) + "\\n", () =>
  process.exit(0));
"""


class AgencyJudge:
    """An `.agency` file of an unpacked snapshot. Compiled once, then called for each question.

    Args:
        source: the file; the compiled program is written beside it.
        name: the file as its author names it.
        binary: it says pass or fail.
        command: how the Agency command line is started.
        environment: what it is given; it holds the keys that the program needs for its own models.
        snapshot: digest of the grading code, on which what the file imports depends.
        answers: the cache; None to ask everything anew.

    Raises:
        JudgeError: the file, the command line or Node is not there.
    """

    def __init__(
        self,
        source: Path,
        name: str,
        *,
        binary: bool,
        command: str,
        environment: Mapping[str, str],
        snapshot: str,
        answers: AnswerCache | None,
    ) -> None:
        self._source, self._name = source, name
        self._scale: Scale = BINARY if binary else UNIT
        self._environment, self._answers, self._snapshot = environment, answers, snapshot
        try:
            digest = digest_of_bytes(self._source.read_bytes())
        except OSError as error:
            raise JudgeError(
                f"the judge file cannot be read: {error.strerror}",
                where=name,
                fix="Write it beside the module.",
            ) from error
        self.identity = f"{name}@{digest}" + ("+binary" if binary else "")
        words = shlex.split(command)
        self._agency = [
            self._found(words[0], "Install the Agency language, or set `agency_cmd`."),
            *words[1:],
        ]
        self._node = self._found("node", "Install Node.js: Agency programs run in it.")
        self._lock = threading.Lock()
        self._compiled: Path | None = None

    def ask(self, case: Case, *, sample: int = 0) -> Judged:
        """The verdict; `main` is called once more where there is none that can be read.

        Raises:
            JudgeError: the program cannot be compiled or does not run.
        """
        judging = Judging(judge=self.identity, goal=case.goal)
        if case.lacks is not None:
            return Judged(grade=inconclusive(case.lacks, cause=Cause.NOTHING_TO_JUDGE), judging=judging)
        given = {"goal": case.goal, "output": case.output or "", "expected": case.expected or ""}
        asked = Question(
            messages=(Message("user", msgspec.json.encode(given).decode()),),
            settings={"snapshot": self._snapshot},
        )
        key = key_of(asked, model=self.identity, base_url="", sample=sample)
        if self._answers is not None and (kept := self._answers.find(key)) is not None:
            found = self._read(kept.text)
            if isinstance(found, Verdict):
                hit = msgspec.structs.replace(judging, hits=1)
                return Judged(grade=grade_of(found, self._scale), judging=hit)
        replies: list[str] = []
        latency_s = 0.0
        grade: Grade | None = None
        while grade is None or (grade.outcome == "inconclusive" and len(replies) < TRIES):
            text, took_s = self._call(given)
            latency_s += took_s
            replies.append(text)
            found = self._read(text)
            if isinstance(found, Verdict):
                grade = grade_of(found, self._scale)
                if self._answers is not None:
                    self._answers.keep(key, _reply(text, took_s))
            else:
                grade = no_verdict(CAUSES[found.kind], found.reason, replies)
        took = msgspec.structs.replace(
            judging,
            calls=len(replies),
            tokens_in=None,
            tokens_out=None,
            cost_usd=None,
            latency_s=round(latency_s, 6),
        )
        return Judged(grade=grade, judging=took)

    def _read(self, text: str) -> Verdict | Unreadable:
        try:
            answer = msgspec.json.decode(text)
        except msgspec.DecodeError:
            return Unreadable(kind="no_verdict", reason="it returned nothing that is JSON")
        return read_answer(answer, self._scale)

    def _call(self, given: Mapping[str, str]) -> tuple[str, float]:
        compiled = self._program()
        with tempfile.TemporaryDirectory(prefix="proctor-judge-") as folder:
            given_file, caller = Path(folder) / "given.json", Path(folder) / "call.mjs"
            given_file.write_bytes(msgspec.json.encode(given))
            caller.write_text(_CALL, encoding="utf-8")
            argv = [self._node, str(caller), str(compiled), str(given_file)]
            return self._run(argv, Path(folder), CALL_S, "did not answer")

    def _program(self) -> Path:
        """The compiled program; compiled by the first who asks."""
        with self._lock:
            if self._compiled is None:
                target = self._source.with_suffix(".js")
                self._lend_modules(self._source.parent)
                with tempfile.TemporaryDirectory(prefix="proctor-judge-") as folder:
                    argv = [*self._agency, "compile", str(self._source)]
                    self._run(argv, Path(folder), COMPILE_S, "cannot be compiled")
                if not target.is_file():
                    raise JudgeError(
                        f"compiling wrote no {target.name}",
                        where=self._name,
                        fix=f"Look what `{' '.join(self._agency)} compile {self._name}` writes.",
                    )
                self._compiled = target
            return self._compiled

    def _lend_modules(self, folder: Path) -> None:
        """Let the compiled program find the runtime of the language, which lies with its command line."""
        installed = Path(self._agency[0]).resolve()
        modules = next((above for above in installed.parents if above.name == "node_modules"), None)
        link = folder / "node_modules"
        if modules is not None and not link.exists():
            link.symlink_to(modules)

    def _run(self, argv: Sequence[str], folder: Path, limit_s: float, what: str) -> tuple[str, float]:
        """Standard output of a program that ended well, and the seconds that it took.

        Raises:
            JudgeError: it did not.
        """
        stdout, stderr = folder / "stdout", folder / "stderr"
        ended = run_limited(
            argv,
            cwd=self._source.parent,
            env=self._environment,
            stdout=stdout,
            stderr=stderr,
            limits=Limits(timeout_s=limit_s, grace_s=1.0),
        )
        if ended.code != 0 or ended.timed_out:
            said = stderr.read_text(encoding="utf-8", errors="replace")[-_TAIL:].strip()
            how = f"after {limit_s:g} s" if ended.timed_out else f"exit code {ended.code or ended.signal}"
            raise JudgeError(
                f"the judge {what} ({how}): {said}",
                where=self._name,
                fix="Try it by hand with the Agency command line.",
            )
        return stdout.read_text(encoding="utf-8", errors="replace").strip(), ended.duration_s

    def _found(self, program: str, fix: str) -> str:
        path = shutil.which(program, path=self._environment.get("PATH"))
        if path is None:
            raise JudgeError(f"the program {program!r} is not there", where=self._name, fix=fix)
        return path


def _reply(text: str, latency_s: float) -> Reply:
    return Reply(
        text=text,
        model="",
        provider="",
        tokens_in=None,
        tokens_out=None,
        cost_usd=None,
        latency_s=latency_s,
    )
