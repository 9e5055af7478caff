"""In which order runs are labelled, and which of them are drawn by chance."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Final, Literal, TypeAlias

import msgspec

from proctor.records.json_value import digest_of
from proctor.records.label import SAMPLE_SCHEMA, Sample

Order: TypeAlias = Literal["given", "random", "uncertain", "disagreement"]
ORDERS: Final[tuple[Order, ...]] = ("given", "random", "uncertain", "disagreement")


class Opinion(msgspec.Struct, frozen=True, kw_only=True):
    """What one rater said of one question of a run, as a number from 0 to 1.

    Attributes:
        question: id of the question, or `*` for the run as a whole.
        value: 0 is the worst.
        is_person: False for graders.
    """

    question: str
    value: float
    is_person: bool


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What one grader said of a run.

    Attributes:
        value: 0 to 1; None when it could not tell.
        bar: where passing begins.
        samples: the value of each sample, where there were several.
        is_judge: it asked a language model.
    """

    value: float | None
    bar: float
    samples: tuple[float | None, ...] = ()
    is_judge: bool = False


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """A run that may be labelled, and what is known of it.

    Attributes:
        run: its id.
        verdicts: of its graders.
        opinions: of people, and of the graders whose question people answer.
    """

    run: str
    verdicts: tuple[Verdict, ...] = ()
    opinions: tuple[Opinion, ...] = ()


def ordered(candidates: Sequence[Candidate], order: Order, *, seed: int) -> tuple[str, ...]:
    """The ids of the runs, in the order in which they are labelled. What is equal stays in the order given.

    `uncertain`: first the runs of whose graders the least certain is the least certain; judges count before code.
    `disagreement`: first the runs about which people, or people and graders, differ the most.
    """
    runs = [candidate.run for candidate in candidates]
    if order == "random":
        return drawn(runs, len(runs), seed=seed)
    if order == "given":
        return tuple(runs)
    measure = uncertainty if order == "uncertain" else disagreement
    ranked = sorted(candidates, key=lambda candidate: -measure(candidate))
    return tuple(candidate.run for candidate in ranked)


def uncertainty(candidate: Candidate) -> float:
    """How unsure the graders are of a run, 0 to 1: that of the one that is the least sure.

    One that could not tell is 1. With several samples it is 4p(1 - p), p being their mean. Else a score is the less
    sure the nearer it is to its bar; pass and fail alone say nothing, 0.
    """
    judges = [verdict for verdict in candidate.verdicts if verdict.is_judge]
    return max(map(_unsure, judges or candidate.verdicts), default=0.0)


def disagreement(candidate: Candidate) -> float:
    """How far opinions about one question of a run lie apart, 0 to 1: the most over its questions.

    Two graders differing is no disagreement here: one of the two opinions is a person's.
    """
    most = 0.0
    for person in candidate.opinions:
        if person.is_person:
            same = (other.value for other in candidate.opinions if other.question == person.question)
            most = max(most, *(abs(person.value - value) for value in same))
    return most


def drawn(runs: Sequence[str], size: int, *, seed: int) -> tuple[str, ...]:
    """A simple random sample of `size` runs without replacement, in the order of the draw.

    It depends on the set of runs and the seed alone, and a smaller sample is the beginning of a larger one.
    """
    shuffled = sorted(runs)
    random.Random(seed).shuffle(shuffled)
    return tuple(shuffled[:size])


def draw_sample(checklist: str, runs: Sequence[str], size: int, *, seed: int, now: str) -> Sample:
    """A random sample for a checklist, as a record."""
    population = tuple(sorted(runs))
    chosen = drawn(population, size, seed=seed)
    identity = digest_of({"checklist": checklist, "seed": seed, "size": size, "population": population})
    return Sample(
        schema=SAMPLE_SCHEMA,
        id="sample_" + identity.removeprefix("sha256:")[:20],
        checklist=checklist,
        seed=seed,
        size=size,
        population=population,
        runs=chosen,
        at=now,
    )


def _unsure(verdict: Verdict) -> float:
    if verdict.value is None:
        return 1.0
    known = [value for value in verdict.samples if value is not None]
    if len(known) > 1:
        mean = sum(known) / len(known)
        return max(4 * mean * (1 - mean), 1 - len(known) / len(verdict.samples))
    if verdict.value in (0.0, 1.0):
        return 0.0
    bar = verdict.bar or 0.5
    return 1 - abs(verdict.value - bar) / max(bar, 1 - bar)
