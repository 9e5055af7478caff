"""From what a user asks for to a session: which runs, in which order, of which random sample."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from proctor.core.ordering import Order, draw_sample, ordered
from proctor.engine.desk import finish_imports
from proctor.engine.labelled_runs import LabelledRun, candidate_of, labelled_runs
from proctor.engine.labelling import Session
from proctor.engine.opening import open_checklist
from proctor.errors import UsageError
from proctor.records.checklist import Checklist
from proctor.records.label import Sample
from proctor.stores.checklists import ChecklistStore


class LabelRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be labelled, by whom, and in which order.

    Attributes:
        paths: run directories, groups, or folders of groups.
        file: the checklist.
        annotator: who labels.
        order: of the runs; a sample is labelled in the order of its draw unless another is asked for.
        seed: of a random order, and of a sample.
        sample: label so many runs, drawn by chance; None for all.
    """

    paths: tuple[Path, ...]
    file: Path
    annotator: str
    order: Order | None = None
    seed: int = 0
    sample: int | None = None


class Opening(msgspec.Struct, frozen=True, kw_only=True):
    """What a session starts with.

    Attributes:
        runs: in order.
        checklist: the revision in force.
        sample: the random sample that they are; None for none.
        notes: a sentence each, for the user.
    """

    runs: tuple[LabelledRun, ...]
    checklist: Checklist
    sample: Sample | None
    notes: tuple[str, ...]


def open_runs(request: LabelRequest, *, now: Callable[[], str]) -> Opening:
    """Find the runs, open the checklist, draw the sample, and put the runs in order.

    Raises:
        UsageError: there is nothing to label, or the checklist was refused.
        StoreError: something cannot be read or written.
    """
    found = labelled_runs(request.paths)
    finished = [finish_imports(group) for group in found.groups]
    if any(finished):
        found = labelled_runs(request.paths)
    opened = open_checklist(request.file, found.groups, now=now())
    notes = list(found.left_out)
    runs: Sequence[LabelledRun] = found.runs
    sample = None
    if request.sample is not None:
        sample, is_new = _sample(request, opened.revision, runs, found.groups, now())
        chosen = {run.id: run for run in runs if run.id in sample.runs}
        word = "drawn" if is_new else "drawn before, and gone on with"
        notes.append(
            f"a random sample of {len(sample.runs)} of {len(sample.population)} runs, seed {sample.seed}, was {word}"
        )
        if added := sum(run.id not in sample.population for run in runs):
            notes.append(f"{added} runs were added since, and could not be drawn; another --seed draws anew")
        runs = [chosen[run] for run in sample.runs if run in chosen]
    order = request.order or "given"
    candidates = [candidate_of(run, opened.revision.live) for run in runs]
    by_id = {run.id: run for run in runs}
    return Opening(
        runs=tuple(by_id[run] for run in ordered(candidates, order, seed=request.seed)),
        checklist=opened.revision,
        sample=sample,
        notes=tuple(notes),
    )


def start_session(request: LabelRequest, *, now: Callable[[], str], clock: Callable[[], float]) -> Session:
    """Open everything, and begin or go on.

    Raises:
        UsageError: there is nothing to label, or the checklist was refused.
        StoreError: the same person labels in another process, or something cannot be read or written.
    """
    opening = open_runs(request, now=now)
    session = Session(
        opening.runs,
        opening.checklist,
        file=request.file,
        annotator=request.annotator,
        now=now,
        clock=clock,
        sample=opening.sample.id if opening.sample else None,
    )
    session.warnings[:0] = opening.notes
    return session


def _sample(
    request: LabelRequest,
    checklist: Checklist,
    runs: Sequence[LabelledRun],
    groups: Sequence[Path],
    now: str,
) -> tuple[Sample, bool]:
    """The sample that was drawn before with this size and seed, else a new one; and whether it is new."""
    assert request.sample is not None
    here = {run.id for run in runs}
    stores = [ChecklistStore(group) for group in groups]
    for store in stores:
        for sample in store.samples(checklist.checklist):
            is_same = (sample.size, sample.seed) == (request.sample, request.seed)
            if is_same and here.issuperset(sample.runs):
                for other in stores:
                    other.keep_sample(sample)
                return sample, False
    if request.sample > len(here):
        raise UsageError(
            f"a sample of {request.sample} is asked for, and there are {len(here)} runs",
            fix="Ask for fewer, or leave --sample away and label all.",
        )
    sample = draw_sample(checklist.checklist, sorted(here), request.sample, seed=request.seed, now=now)
    for store in stores:
        store.keep_sample(sample)
    return sample, True
