"""The corrected numbers: which random sample there is, what people said of it, and what graders said of all runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from proctor.core.agreement import Rated, sensitivity, specificity
from proctor.core.corrected import Scored, prediction_powered, rogan_gladen
from proctor.engine.labelled_runs import LabelledRun
from proctor.engine.raters import PEOPLE, Asked, Said, graders_said, people_said
from proctor.records.agreement import Corrected, Measured
from proctor.records.label import Sample
from proctor.stores.checklists import ChecklistStore


def corrected_numbers(
    asked: Iterable[Asked], runs: Sequence[LabelledRun], groups: Iterable[Path]
) -> tuple[tuple[Corrected, ...], tuple[str, ...]]:
    """Each grader's mean over all runs, corrected by people's labels on a random sample; and why some are not.

    Labels that somebody chose to give say nothing of the runs that they did not choose: without a recorded sample, and
    with some runs unlabelled, there is no corrected number.

    Raises:
        StoreError: a sample cannot be read.
    """
    found: list[Corrected] = []
    why_not: dict[str, None] = {}
    stores = [ChecklistStore(group) for group in groups]
    for one in asked:
        people = next((said for said in people_said(one, runs) if said.rater == PEOPLE), None)
        if people is None or not people.values:
            continue
        samples = [sample for store in stores for sample in store.samples(one.checklist)]
        for grader in graders_said(one, runs):
            population = set(grader.values)
            sample = _best(samples, people)
            if sample is None:
                if not population <= set(people.values):
                    why_not[
                        "no corrected numbers: labels that were chosen do not stand for the other runs; draw a random "
                        "sample with `proctor label --sample N`, and label it"
                    ] = None
                    continue
                drawn = population
            else:
                population &= set(sample.population)
                drawn = set(sample.runs) & population
                outside = len(set(grader.values) - set(sample.population))
                if outside:
                    why_not[
                        f"{outside} runs were added after the sample was drawn; corrected numbers leave them out"
                    ] = None
            found.append(_corrected(one, grader, people, sample, population, drawn))
    return tuple(found), tuple(why_not)


def _best(samples: Sequence[Sample], people: Said) -> Sample | None:
    """Of several samples the one of which the most runs are labelled, the larger of two equal ones."""
    known = set(people.values)
    return max(
        (sample for sample in samples if known & set(sample.runs)),
        key=lambda sample: (len(known & set(sample.runs)), sample.size),
        default=None,
    )


def _corrected(
    asked: Asked, grader: Said, people: Said, sample: Sample | None, population: set[str], drawn: set[str]
) -> Corrected:
    """The numbers of one grader.

    Args:
        population: runs that it scored and that could be drawn.
        drawn: those that were.
    """
    labelled = sorted(run for run in drawn if run in people.values)
    # A run that was drawn and not labelled is no more known than one that was not drawn.
    others = sorted(population - set(labelled))
    scored = [
        *(Scored(asked.clusters[run], grader.values[run], people.values[run]) for run in labelled),
        *(Scored(asked.clusters[run], grader.values[run]) for run in others),
    ]
    everything = [Scored(one.cluster, 0.0, one.grader) for one in scored]
    raw = prediction_powered(everything, reliance=0.0).mean
    powered = prediction_powered(scored)
    alone = prediction_powered(
        [Scored(asked.clusters[run], 0.0, people.values[run]) for run in labelled], reliance=0.0
    ).mean
    is_binary = asked.question.kind == "yes-no"
    return Corrected(
        grader=grader.rater,
        question=asked.id,
        text=asked.question.text,
        sample=sample.id if sample else "",
        labelled=len(labelled),
        missing=len(drawn) - len(labelled),
        population=len(population),
        raw=_plain(raw, "wilson"),
        people=_plain(alone, "wilson"),
        corrected=powered.mean,
        reliance=powered.reliance,
        rogan_gladen=_gladen(asked, grader, people, labelled, population) if is_binary else None,
    )


def _gladen(
    asked: Asked, grader: Said, people: Said, labelled: Sequence[str], population: set[str]
) -> Measured:
    rated = [
        Rated(asked.clusters[run], grader.categories[run], people.categories[run])
        for run in labelled
        if run in people.categories
    ]
    hits, rejections = sensitivity(rated, 0), specificity(rated, 0)
    passed = sum(grader.categories[run] == 0 for run in population)
    return rogan_gladen(
        passed,
        len(population),
        hits=(round((hits.value or 0.0) * hits.n), hits.n),
        rejections=(round((rejections.value or 0.0) * rejections.n), rejections.n),
    )


def _plain(measured: Measured, method: str) -> Measured:
    """A mean of people or graders alone is not prediction-powered, though the same formula gives it."""
    if measured.interval is None:
        return measured
    clustered = ", clustered" if "clustered" in measured.interval.method else ""
    return msgspec.structs.replace(
        measured, interval=msgspec.structs.replace(measured.interval, method=method + clustered)
    )
