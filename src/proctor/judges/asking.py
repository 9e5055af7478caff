"""A judge that is a prompt: asks the model, reads the verdict, asks once more where there is none, and then says so."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Final

import msgspec

from proctor.core.judge_file import JudgePrompt
from proctor.core.judge_grades import CAUSES, grade_of, no_verdict
from proctor.core.verdict_scale import Scale
from proctor.core.verdicts import Unreadable, Verdict, read_verdict
from proctor.errors import ModelError
from proctor.judges.answers import AnswerCache, key_of
from proctor.judges.budget import Budget, OverBudget
from proctor.judges.case import Case
from proctor.judges.rendering import again, messages_for, schema_of
from proctor.models.question import Message, Model, Question, Reply
from proctor.records.grade import Cause, Grade, inconclusive
from proctor.records.json_value import Json
from proctor.records.judging import Judged, Judging

TRIES: Final = 2
"""The first time, and once more."""


HOPELESS: Final = frozenset({"no_key", "auth", "out_of_credit", "not_found", "missing_extra"})
"""Kinds of error that the next question would meet as well, so that it is not asked."""


class Means(msgspec.Struct, frozen=True, kw_only=True):
    """What judges share in one command.

    Attributes:
        budget: what judging may cost.
        answers: the cache; None to ask everything anew.
    """

    budget: Budget
    answers: AnswerCache | None = None


class PromptJudge:
    """A prompt, a scale and a model.

    Args:
        revision: names the prompt; with the model it names the judge.
        prompt: what is asked.
        scale: what may be answered.
        model: who is asked.
        base_url: where; another address may be another model of the same name.
        means: budget and cache.
    """

    def __init__(
        self, revision: str, prompt: JudgePrompt, scale: Scale, model: Model, *, base_url: str, means: Means
    ) -> None:
        self._prompt, self._scale, self._model = prompt, scale, model
        self._base_url, self._means = base_url, means
        self._hopeless: ModelError | None = None
        self.identity = f"{revision}:{model.identity}"

    def ask(self, case: Case, *, sample: int = 0) -> Judged:
        """The verdict on a case, or an inconclusive grade with its cause and the replies that could not be used.

        Missing input is not judged, and costs nothing.

        sample: the same number gives the same answer where that can be had.
        """
        judging = Judging(judge=self.identity, goal=case.goal)
        if case.lacks is not None:
            return Judged(grade=inconclusive(case.lacks, cause=Cause.NOTHING_TO_JUDGE), judging=judging)
        judged = self.put(messages_for(self._prompt, self._scale, case), judging, sample=sample)
        return msgspec.structs.replace(judged, grade=_with_evidence(judged.grade, case))

    def put(self, messages: tuple[Message, ...], judging: Judging, *, sample: int) -> Judged:
        """The verdict on what the messages show, from the cache where it is there."""
        first = Question(
            messages=messages,
            schema=schema_of(self._scale),
            temperature=self._prompt.temperature,
            max_tokens=self._prompt.max_tokens,
            seed=sample,
            settings=self._prompt.settings,
            timeout_s=self._prompt.timeout_s,
        )
        answers = self._means.answers
        key = key_of(first, model=self._model.identity, base_url=self._base_url, sample=sample)
        with answers.one_at_a_time(key) if answers else nullcontext():
            kept = answers.find(key) if answers else None
            verdict = self.read(kept) if kept is not None else None
            if kept is not None and isinstance(verdict, Verdict):
                hit = msgspec.structs.replace(judging, model=kept.model, hits=1)
                return Judged(grade=grade_of(verdict, self._scale), judging=hit)
            talk = _Talk(self, first, judging)
            found = talk.verdict()
            if answers is not None and isinstance(found, Verdict) and talk.reply is not None:
                answers.keep(key, talk.reply)
        if isinstance(found, Verdict):
            return Judged(grade=grade_of(found, self._scale), judging=talk.judging)
        return Judged(grade=found, judging=talk.judging)

    def send(self, question: Question) -> Reply:
        """One question within the budget.

        Raises:
            ModelError: there is no answer.
            OverBudget: nothing is left for it.
        """
        if self._hopeless is not None:
            raise self._hopeless
        with self._means.budget.one_question():
            try:
                reply = self._model.ask(question)
            except ModelError as error:
                if error.kind in HOPELESS:
                    self._hopeless = error
                raise
            self._means.budget.paid(reply.cost_usd)
            return reply

    def read(self, reply: Reply) -> Verdict | Unreadable:
        """The verdict of a reply, or what is wrong with it."""
        if reply.is_refusal:
            said = " ".join(reply.text.split())[:200] or "the provider held its answer back"
            return Unreadable(kind="refused", reason=f"the model refused: {said}")
        return read_verdict(reply.text, self._scale, is_cut=reply.is_cut)

    @property
    def scale(self) -> Scale:
        """What may be answered."""
        return self._scale


def _with_evidence(grade: Grade, case: Case) -> Grade:
    """A verdict with what it was found on; what is inconclusive stays as it is."""
    if grade.outcome == "inconclusive":
        return grade
    noted: dict[str, Json] = dict(grade.evidence or {})
    if case.files:
        noted["files"] = [file.name for file in case.files]
    if case.left_out:
        noted["left_out"] = case.left_out
    return msgspec.structs.replace(grade, evidence=noted or None)


class _Talk:
    """The tries of one question, and what they took.

    Attributes:
        judging: what all of them took.
        reply: the last one.
    """

    def __init__(self, judge: PromptJudge, first: Question, judging: Judging) -> None:
        self._judge, self._first = judge, first
        self.judging = judging
        self.reply: Reply | None = None

    def verdict(self) -> Verdict | Grade:
        """The verdict, or the inconclusive grade that says why there is none."""
        question, unused = self._first, list[str]()
        cause, reason = Cause.JUDGE_UNREADABLE, ""
        for _ in range(TRIES):
            try:
                reply = self.reply = self._judge.send(question)
            except OverBudget:
                return inconclusive(
                    "the judge was not asked: it could cost more than --max-cost leaves",
                    cause=Cause.JUDGE_OVER_BUDGET,
                )
            except ModelError as error:
                cause, reason = cause_of(error), error.what
                if error.kind == "timeout":
                    self._note_lost()
                    continue
                return inconclusive(f"{error.what}. {error.fix}", cause=cause)
            self._note(reply)
            found = self._judge.read(reply)
            if isinstance(found, Verdict):
                return found
            cause, reason = CAUSES[found.kind], found.reason
            unused.append(reply.text)
            question = self._once_more(reply, found)
        return no_verdict(cause, reason, unused)

    def _once_more(self, reply: Reply, found: Unreadable) -> Question:
        messages = again(self._first.messages, reply.text, found.reason, self._judge.scale)
        most = self._first.max_tokens
        if found.kind == "cut" and most is not None:
            most *= 4  # what was cut gets room; thinking counts too
        return msgspec.structs.replace(self._first, messages=messages, max_tokens=most)

    def _note_lost(self) -> None:
        """A question that was sent and not answered may be charged for all the same, and nobody says how much."""
        self.judging = msgspec.structs.replace(
            self.judging, calls=self.judging.calls + 1, tokens_in=None, tokens_out=None, cost_usd=None
        )

    def _note(self, reply: Reply) -> None:
        before = self.judging
        self.judging = msgspec.structs.replace(
            before,
            model=reply.model,
            calls=before.calls + 1,
            tokens_in=_sum(before.tokens_in, reply.tokens_in),
            tokens_out=_sum(before.tokens_out, reply.tokens_out),
            cost_usd=None
            if before.cost_usd is None or reply.cost_usd is None
            else before.cost_usd + reply.cost_usd,
            latency_s=round(before.latency_s + reply.latency_s, 6),
        )


def cause_of(error: ModelError) -> Cause:
    """Why a grade is inconclusive when its model could not be asked."""
    if error.kind in ("no_key", "missing_extra"):
        return Cause.NO_JUDGE
    return Cause.JUDGE_TIMEOUT if error.kind == "timeout" else Cause.JUDGE_UNAVAILABLE


def _sum(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other
