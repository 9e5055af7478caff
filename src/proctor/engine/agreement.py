"""From recorded runs to what `proctor agree` reports: who said what of which run, held against each other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from pathlib import Path

from proctor.core.agreement import krippendorff_alpha
from proctor.core.labels import answer_text
from proctor.engine.correcting import corrected_numbers
from proctor.engine.labelled_runs import LabelledRun, labelled_runs
from proctor.engine.raters import (
    PEOPLE,
    Asked,
    Said,
    asked_questions,
    compare,
    graders_said,
    people_said,
    standing_of,
)
from proctor.records.agreement import AgreementReport, AlphaLine, By, Disagreement, PairAgreement, Standing
from proctor.records.checklist import Checklist
from proctor.stores.checklists import ChecklistStore


def agreement(paths: Iterable[Path], *, by: By = "question") -> AgreementReport:
    """Hold people against people and graders against people, over everything that the paths name.

    Raises:
        StoreError: a path does not exist, or holds no run.
        UsageError: there is no run that can be labelled, or two are copies of one.
        ModuleNotFoundError: the library krippendorff is not installed.
    """
    found = labelled_runs(paths)
    runs = found.runs
    checklists = _checklists(found.groups)
    asked = asked_questions(runs, checklists)
    pairs: list[PairAgreement] = []
    differing: list[Disagreement] = []
    alphas: list[AlphaLine] = []
    standings: list[Standing] = []
    notes = [*found.left_out]
    measured: set[str] = set()
    for one in asked:
        people = people_said(one, runs)
        raters = [said for said in people if said.rater != PEOPLE]
        alphas += _alpha(one, raters)
        matched = [(left, right) for left, right in combinations(raters, 2)]
        graders = graders_said(one, runs)
        matched += [(left, right) for left in graders for right in _held_to(people)]
        for left, right in matched:
            pair = compare(one, left, right)
            if pair is None:
                continue
            pairs.append(pair)
            if right.rater == PEOPLE or not left.is_grader:
                differing += _differing(one, left, right)
        together = next((said for said in people if said.rater == PEOPLE), None)
        for grader in graders:
            measured.add(grader.rater)
            standings += standing_of(one, grader.rater, runs, together)
    standings += [
        standing
        for name in _names(runs)
        if name not in measured
        for standing in standing_of(None, name, runs, None)
    ]
    corrected, why_not = corrected_numbers(asked, runs, found.groups)
    return AgreementReport(
        by=by,
        runs=len(runs),
        labelled=sum(bool(run.labels) for run in runs),
        annotators=_annotators(runs),
        seen_grades=sum(label.saw_grades for run in runs for label in run.labels),
        pairs=tuple(sorted(pairs, key=lambda pair: _key(pair, by))),
        alphas=tuple(alphas),
        corrected=corrected,
        standings=tuple(standings),
        disagreements=tuple(differing),
        notes=(*notes, *why_not),
    )


def _held_to(people: Sequence[Said]) -> list[Said]:
    """Whom graders are held to: all people together and, where there are several, each."""
    return list(people) if len(people) > 2 else [said for said in people if said.rater == PEOPLE]


def _checklists(groups: Iterable[Path]) -> dict[str, Checklist]:
    """The revision in force of each lineage; of several groups the highest."""
    found: dict[str, Checklist] = {}
    for group in groups:
        for lineage, revision in ChecklistStore(group).current().items():
            if lineage not in found or found[lineage].version < revision.version:
                found[lineage] = revision
    return found


def _annotators(runs: Iterable[LabelledRun]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for run in runs:
        for name in {label.annotator for label in run.labels}:
            counts[name] = counts.get(name, 0) + 1
    return dict(sorted(counts.items()))


def _names(runs: Iterable[LabelledRun]) -> list[str]:
    """The names of all graders, in the order in which they appear."""
    return list(dict.fromkeys(row.name for run in runs for row in run.annotations.scores))


def _alpha(asked: Asked, raters: Sequence[Said]) -> list[AlphaLine]:
    if len(raters) < 2:
        return []
    ratings: dict[str, dict[str, int]] = {}
    for said in raters:
        for run, category in said.categories.items():
            ratings.setdefault(run, {})[said.rater] = category
    clusters = {run: asked.clusters[run] for run in ratings}
    is_ordinal = asked.question.kind == "scale"
    return [
        AlphaLine(
            question=asked.id,
            text=asked.question.text,
            raters=tuple(said.rater for said in raters),
            level="ordinal" if is_ordinal else "nominal",
            alpha=krippendorff_alpha(ratings, clusters, len(asked.categories), is_ordinal=is_ordinal),
        )
    ]


def _differing(asked: Asked, left: Said, right: Said) -> Iterable[Disagreement]:
    for run, category in left.categories.items():
        other = right.categories.get(run)
        if other is None or other == category:
            continue
        notes = [note for note in (left.notes.get(run), *asked.notes_of(run)) if note]
        yield Disagreement(
            run=asked.paths[run],
            question=asked.id,
            left=left.rater,
            left_said=answer_text(asked.categories[category]),
            right=right.rater,
            right_said=answer_text(asked.categories[other]),
            notes=tuple(dict.fromkeys(notes)),
        )


def _key(pair: PairAgreement, by: By) -> tuple[str, ...]:
    if by == "grader":
        return ((not pair.is_grader and "1") or "0", pair.left)
    if by == "annotator":
        return (pair.right, pair.left)
    return ()
