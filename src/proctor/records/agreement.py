"""How far raters agree: what `proctor agree` reports. What is undefined is None, with the reason beside it."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from proctor.records.estimate import Interval

AGREEMENT_SCHEMA = "proctor.agreement/1"

By: TypeAlias = Literal["question", "grader", "annotator"]
BYS: tuple[By, ...] = ("question", "grader", "annotator")

Weighting: TypeAlias = Literal["none", "quadratic"]


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """A number with its interval.

    Attributes:
        value: None when it is undefined.
        n: what it is over.
        interval: None when nothing can be said.
        undefined: why there is no number, or no interval; empty when there are both.
    """

    value: float | None
    n: int
    interval: Interval | None = None
    undefined: str = ""


class PairAgreement(msgspec.Struct, frozen=True, kw_only=True):
    """Two raters on one question.

    Attributes:
        question: its id; `*` for the run as a whole.
        text: what it asks.
        left: a person, or a grader with its revision left away.
        right: a person; `people` for what most of them say.
        is_grader: the left one is a grader.
        left_out: runs that one of the two could not tell, or left unanswered.
        categories: the answers, in order.
        matrix: a row for each answer of the left one, a column for each of the right one.
        agreement: the share of runs on which both say the same.
        kappa: Cohen's, weighted where the answers have an order.
        weighting: of kappa: `quadratic` for a scale, where answers that are nearer count as agreeing more; else `none`.
        sensitivity: of a grader, how many of those that the person passes it passes.
        specificity: of a grader, how many of those that the person fails it fails.
    """

    question: str
    text: str
    left: str
    right: str
    is_grader: bool
    left_out: int
    categories: tuple[str, ...]
    matrix: tuple[tuple[int, ...], ...]
    agreement: Measured
    kappa: Measured
    weighting: Weighting = "none"
    sensitivity: Measured | None = None
    specificity: Measured | None = None


class AlphaLine(msgspec.Struct, frozen=True, kw_only=True):
    """All people on one question.

    Attributes:
        question: its id; `*` for the run as a whole.
        text: what it asks.
        raters: who answered it, by name.
        level: `nominal`, or `ordinal` for a scale.
        alpha: Krippendorff's, over the runs that two or more answered.
    """

    question: str
    text: str
    raters: tuple[str, ...]
    level: str
    alpha: Measured


class Disagreement(msgspec.Struct, frozen=True, kw_only=True):
    """One run about which two raters differ.

    Attributes:
        run: path of the run directory.
        question: its id; `*` for the run as a whole.
        left: a person, or a grader with its revision left away.
        left_said: the answer of the left one.
        right: a person; `people` for what most of them say.
        right_said: the answer of the right one.
        notes: what people noted about the run, and what the grader said.
    """

    run: str
    question: str
    left: str
    left_said: str
    right: str
    right_said: str
    notes: tuple[str, ...] = ()


class Corrected(msgspec.Struct, frozen=True, kw_only=True):
    """A grader's number over all runs, corrected by what people said of a random sample of them.

    Attributes:
        grader: its name.
        question: id of the question that both answer; `*` for the run as a whole.
        text: what it asks.
        sample: id of the random sample; empty when people labelled every run.
        labelled: runs of the sample that people answered.
        missing: runs of the sample that nobody answered, or nobody could tell.
        population: runs with a score of the grader, those of the sample included.
        raw: the grader's mean over all of them.
        people: what people say on the sample, by itself.
        corrected: prediction-powered.
        reliance: how much the grader was relied on, 0 to 1.
        rogan_gladen: the pass rate by the grader's sensitivity and specificity; None where answers are not yes or no.
    """

    grader: str
    question: str
    text: str
    sample: str
    labelled: int
    missing: int
    population: int
    raw: Measured
    people: Measured
    corrected: Measured
    reliance: float
    rogan_gladen: Measured | None = None


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """One revision of a grader, held against people: drift shows as a difference between revisions.

    Attributes:
        grader: its name.
        revision: who it is by revision.
        is_judge: it asks a language model.
        question: the question that it is held to; empty for none.
        runs: runs that it graded, in its latest round of each.
        agreement: the share of runs on which it says what people say.
        kappa: the same, less chance.
        is_in_force: it gave some of the grades that are in force.
        unmeasured: why it was not held against anybody; empty when it was.
    """

    grader: str
    revision: str
    is_judge: bool
    question: str
    runs: int
    agreement: Measured
    kappa: Measured
    is_in_force: bool
    unmeasured: str = ""


class AgreementReport(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that `proctor agree` found.

    Attributes:
        by: how the pairs are sorted: `question`, `grader` or `annotator`.
        runs: number of runs that were looked at.
        labelled: those with a label.
        annotators: who labelled, with how many runs each.
        seen_grades: labels that were signed off after their grades had been looked at.
        pairs: two people, or a grader and people, on each question.
        alphas: all people together, on each question that two or more answered.
        corrected: numbers of graders, corrected by what people said.
        standings: each revision of each grader, held against people.
        disagreements: runs about which two raters differ.
        notes: what was left out, a sentence each.
    """

    schema: str = AGREEMENT_SCHEMA
    by: str
    runs: int
    labelled: int
    annotators: dict[str, int]
    seen_grades: int
    pairs: tuple[PairAgreement, ...]
    alphas: tuple[AlphaLine, ...]
    corrected: tuple[Corrected, ...]
    standings: tuple[Standing, ...]
    disagreements: tuple[Disagreement, ...]
    notes: tuple[str, ...] = ()
