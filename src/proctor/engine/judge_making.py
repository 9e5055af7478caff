"""From a question about a run to the judge that it is for, made once, and to its answer."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Protocol

from proctor.core.judge_file import JudgePrompt, check_scale, read_judge_file, scale_of
from proctor.core.verdict_scale import Scale
from proctor.errors import JudgeError, ModelError
from proctor.judges import goal_judge
from proctor.judges.agency import AgencyJudge
from proctor.judges.answers import AnswerCache
from proctor.judges.asking import Means, PromptJudge, cause_of
from proctor.judges.budget import Budget
from proctor.judges.case import Case, case_of
from proctor.judges.setup import NO_MODEL, NO_MODEL_FIX, JudgedRun, JudgeSetup
from proctor.models.open import open_model
from proctor.models.providers import address_of
from proctor.records.grade import Cause, Defect, inconclusive
from proctor.records.json_value import digest_of_bytes
from proctor.records.judging import Judged, JudgeQuestion


class _Judge(Protocol):
    def ask(self, case: Case, *, sample: int = 0) -> Judged: ...


class JudgeMaker:
    """Makes judges, and asks them. Safe to use from several threads.

    Attributes:
        fixes: what to do about a model that cannot be had, by what is the case.
    """

    def __init__(self, setup: JudgeSetup, budget: Budget) -> None:
        self._setup = setup
        answers = AnswerCache(setup.answers) if setup.answers is not None else None
        self._means = Means(budget=budget, answers=answers)
        self._lock = threading.Lock()
        self._judges: dict[tuple[object, ...], _Judge | Judged] = {}
        self.fixes: dict[str, str] = {}

    def judged(self, question: JudgeQuestion, run: JudgedRun, sample: int) -> Judged:
        """The answer to a question; a judge that cannot be used is an inconclusive grade."""
        try:
            judge = self._judge(question, run)
            if not isinstance(judge, Judged):
                with_calls = question.judge_file is not None
                judge = judge.ask(case_of(question, run, with_tool_calls=with_calls), sample=sample)
            return judge
        except (JudgeError, ValueError) as error:
            said = str(error).replace("\n    ", " ")
            return Judged(grade=inconclusive(said, cause=Cause.JUDGE_BROKEN))
        except Exception as error:  # noqa: BLE001  # around a grader
            defect = Defect(type=type(error).__name__, message=str(error))
            said = f"{defect.type}: {defect.message}"
            return Judged(grade=inconclusive(said, cause=Cause.JUDGE_BROKEN, defect=defect))

    def _judge(self, question: JudgeQuestion, run: JudgedRun) -> _Judge | Judged:
        """The judge that a question is for; or, where its model cannot be had, what every such question is told."""
        name = question.judge_file
        key = (name, run.snapshot if name else "", question.binary, question.model)
        with self._lock:
            if key not in self._judges:
                try:
                    self._judges[key] = self._made(question, run)
                except ModelError as error:
                    self.fixes[error.what] = error.fix
                    self._judges[key] = Judged(grade=inconclusive(error.what, cause=cause_of(error)))
            return self._judges[key]

    def _made(self, question: JudgeQuestion, run: JudgedRun) -> _Judge:
        name, binary = question.judge_file, question.binary
        if name is None:
            prompt = goal_judge.BINARY_PROMPT if binary else goal_judge.SCORE_PROMPT
            return self._prompt_judge(
                goal_judge.revision(binary=binary), prompt, scale_of(prompt, binary=binary), question.model
            )
        path = run.base / name if run.base is not None else None
        if path is None or run.root is None or not _is_in(path, run.root):
            raise JudgeError(
                "the judge file is not among the stored graders",
                where=name,
                fix="LlmJudge(judge_file=...) stores it with the run, and `data_files` of the module does.",
            )
        if name.endswith(".agency"):
            return AgencyJudge(
                path,
                name,
                binary=binary,
                command=self._setup.agency,
                environment=self._setup.environment,
                snapshot=run.snapshot,
                answers=self._means.answers,
            )
        content = path.read_bytes()
        prompt = read_judge_file(content.decode("utf-8"), name)
        check_scale(prompt, name, binary=binary)
        chosen = "+binary" if prompt.scale is None and binary else ""
        revision = f"{name}@{digest_of_bytes(content)}{chosen}"
        return self._prompt_judge(
            revision, prompt, scale_of(prompt, binary=binary), question.model or prompt.model
        )

    def _prompt_judge(
        self, revision: str, prompt: JudgePrompt, scale: Scale, named: str | None
    ) -> PromptJudge:
        name = named or self._setup.model
        if name is None:
            raise ModelError(NO_MODEL, fix=NO_MODEL_FIX, kind="no_key")
        environment = self._setup.environment
        return PromptJudge(
            revision,
            prompt,
            scale,
            open_model(name, environment),
            base_url=address_of(name, environment).base_url,
            means=self._means,
        )


def _is_in(path: Path, root: Path) -> bool:
    return path.is_file() and path.resolve().is_relative_to(root.resolve())
