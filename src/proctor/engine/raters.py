"""Who said what of which run: people by their labels, graders by their rows, each as categories of one question."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean, median_low
from typing import Final

from proctor.core.agreement import (
    Rated,
    cohen_kappa,
    confusion,
    raw_agreement,
    sensitivity,
    specificity,
)
from proctor.core.labels import answer_text, passes, value_of
from proctor.core.rounds import complete_rounds
from proctor.engine.labelled_runs import LabelledRun
from proctor.records.agreement import Measured, PairAgreement, Standing, Weighting
from proctor.records.annotation import ScoreRow
from proctor.records.checklist import Answer, Checklist, Question
from proctor.records.grade import Outcome

PEOPLE: Final = "people"
"""All people together: what most of them say; on a scale, the median of them."""

WHOLE: Final = "*"
"""The id of the question whether a run passes as a whole: every question of the checklist is answered yes."""


class Asked:
    """One question that people answered, and what is the same for all who did.

    Attributes:
        id: of the question, or `*`.
        question: what is asked.
        checklist: id of the lineage.
        live: all questions of the checklist, for the run as a whole.
        categories: what can be answered, in order; of yes and no, yes is the first.
        clusters: of each run the test that it is of.
        paths: of each run where it lies.
        graders: names of the graders that answer the same; None for all that no question names.
    """

    def __init__(
        self,
        question: Question,
        checklist: Checklist,
        runs: Sequence[LabelledRun],
        graders: frozenset[str],
    ) -> None:
        self.question = question
        self.id = question.id
        self.checklist = checklist.checklist
        self.live = checklist.live
        self.categories: tuple[Answer, ...]
        if question.kind == "scale":
            self.categories = tuple(range(1, (question.points or 2) + 1))
        elif question.kind == "choice":
            self.categories = question.choices
        else:
            self.categories = (True, False)
        self.clusters = {run.id: f"{run.facts.suite.name}/{run.facts.test.id}" for run in runs}
        self.paths = {run.id: str(run.run.path) for run in runs}
        self.graders = graders
        self._notes = {
            run.id: tuple(f"{label.annotator}: {label.note}" for label in run.labels if label.note)
            for run in runs
        }

    @property
    def labels(self) -> tuple[str, ...]:
        """The categories as people read them."""
        return tuple(map(answer_text, self.categories))

    def notes_of(self, run: str) -> tuple[str, ...]:
        """What people noted about a run."""
        return self._notes.get(run, ())

    def value(self, category: int) -> float | None:
        """What a category counts, 0 to 1."""
        return value_of(self.question, self.categories[category])


class Said:
    """What one rater said.

    Attributes:
        rater: their name.
        is_grader: False for people.
        categories: by run.
        values: what they count, 0 to 1, by run; graders' scores as they are.
        unclear: runs that they could not tell.
        notes: what they said in words, by run.
    """

    def __init__(self, rater: str, *, is_grader: bool) -> None:
        self.rater, self.is_grader = rater, is_grader
        self.categories: dict[str, int] = {}
        self.values: dict[str, float] = {}
        self.unclear: set[str] = set()
        self.notes: dict[str, str] = {}


def asked_questions(runs: Sequence[LabelledRun], checklists: Mapping[str, Checklist]) -> list[Asked]:
    """The live questions of every checklist that somebody used, and each checklist as a whole.

    A whole has an answer where all of its questions are yes or no; the whole of one such question is that question.
    The graders that no question names are held to the wholes.

    Args:
        runs: all of them.
        checklists: the revision in force of each lineage.
    """
    used = dict.fromkeys(label.checklist for run in runs for label in run.labels)
    known = [checklists.get(lineage) or _as_labelled(lineage, runs) for lineage in used]
    linked = {question.grader for checklist in known for question in checklist.live if question.grader}
    every = {row.name for run in runs for row in run.annotations.scores}
    asked: list[Asked] = []
    for checklist in known:
        has_whole = bool(checklist.live) and all(question.kind == "yes-no" for question in checklist.live)
        is_one = has_whole and len(checklist.live) == 1
        for question in checklist.live:
            # Choices that count nothing cannot be held against a score.
            named = {question.grader} if question.grader and question.counts else set[str]()
            graders = frozenset(named | (every - linked if is_one else set()))
            asked.append(Asked(question, checklist, runs, graders))
        if has_whole and not is_one:
            whole = Question(id=WHOLE, text=f"all of {checklist.name}")
            asked.append(Asked(whole, checklist, runs, frozenset(every - linked)))
    return asked


def people_said(asked: Asked, runs: Iterable[LabelledRun]) -> list[Said]:
    """What each person said, by name, and last what all of them said together."""
    by_person: dict[str, Said] = {}
    for run in runs:
        for label in run.labels:
            if label.checklist != asked.checklist:
                continue
            said = by_person.setdefault(label.annotator, Said(label.annotator, is_grader=False))
            if asked.id == WHOLE:
                _take(asked, said, run.id, passes(asked.live, label.answers))
            elif asked.id in label.answers:
                _take(asked, said, run.id, label.answers[asked.id])
    people = [by_person[name] for name in sorted(by_person)]
    return [*people, _together(asked, people)] if people else []


def graders_said(asked: Asked, runs: Sequence[LabelledRun]) -> list[Said]:
    """What each grader that answers the question said, in the round in force."""
    found: list[Said] = []
    for name in sorted(asked.graders):
        said = Said(name, is_grader=True)
        for run in runs:
            for row in run.scores:
                if row.name == name:
                    take_row(asked, said, run.id, row)
        if said.categories or said.unclear:
            found.append(said)
    return found


def take_row(asked: Asked, said: Said, run: str, row: ScoreRow) -> None:
    """Take a grader's row as an answer to the question.

    Of a scalar without a bar, 0.5 is the bar; on a scale its score is the nearest point.
    """
    if row.feedback:
        said.notes[run] = f"{row.name}: {row.feedback}"
    if row.score is None or row.outcome is Outcome.INCONCLUSIVE:
        said.unclear.add(run)
        return
    said.values[run] = row.score
    if asked.question.kind == "yes-no":
        has_bar = row.scale == "binary" or row.threshold > 0
        is_pass = row.outcome is Outcome.PASS if has_bar else row.score >= 0.5
        said.categories[run] = 0 if is_pass else 1
    else:
        worth = [asked.value(category) or 0.0 for category in range(len(asked.categories))]
        said.categories[run] = min(range(len(worth)), key=lambda one: abs(worth[one] - (row.score or 0.0)))


def compare(asked: Asked, left: Said, right: Said) -> PairAgreement | None:
    """Two raters on one question; None when there is no run about which both said something."""
    both = sorted((left.categories.keys() | left.unclear) & (right.categories.keys() | right.unclear))
    if not both:
        return None
    rated = [
        Rated(asked.clusters[run], left.categories[run], right.categories[run])
        for run in both
        if run in left.categories and run in right.categories
    ]
    count = len(asked.categories)
    weighting: Weighting = "quadratic" if asked.question.kind == "scale" else "none"
    has_errors = left.is_grader and asked.question.kind == "yes-no"
    return PairAgreement(
        question=asked.id,
        text=asked.question.text,
        left=left.rater,
        right=right.rater,
        is_grader=left.is_grader,
        left_out=len(both) - len(rated),
        categories=asked.labels,
        matrix=confusion(rated, count),
        agreement=raw_agreement(rated),
        kappa=cohen_kappa(rated, count, weighting),
        weighting=weighting,
        sensitivity=sensitivity(rated, 0) if has_errors else None,
        specificity=specificity(rated, 0) if has_errors else None,
    )


def standing_of(
    asked: Asked | None, grader: str, runs: Sequence[LabelledRun], people: Said | None
) -> list[Standing]:
    """Every revision of a grader held against people, oldest first: each by its latest round on each run."""
    by_revision: dict[str, dict[str, ScoreRow]] = {}
    in_force: set[str] = set()
    for run in runs:
        for one in complete_rounds(run.annotations.scores, run.annotations.retractions):
            for row in one.rows:
                if row.name == grader:
                    by_revision.setdefault(row.annotator.id, {})[run.id] = row
        in_force |= {row.annotator.id for row in run.scores if row.name == grader}
    found: list[Standing] = []
    for revision, rows in by_revision.items():
        pair = None
        if asked is not None and people is not None:
            said = Said(grader, is_grader=True)
            for run, row in rows.items():
                take_row(asked, said, run, row)
            pair = compare(asked, said, people)
        nothing = Measured(value=None, n=0, undefined="no run was rated by both")
        why = "no person has answered about a run that it graded" if pair is None else ""
        if asked is None:
            why = "no question names it, and no checklist of yes and no was answered as a whole"
        found.append(
            Standing(
                grader=grader,
                revision=revision,
                is_judge=any(row.annotator.kind == "judge" for row in rows.values()),
                question="" if asked is None else asked.id,
                runs=len(rows),
                agreement=pair.agreement if pair else nothing,
                kappa=pair.kappa if pair else nothing,
                is_in_force=revision in in_force,
                unmeasured=why,
            )
        )
    return found


def _take(asked: Asked, said: Said, run: str, answer: Answer) -> None:
    if answer is None:
        said.unclear.add(run)
        return
    said.categories[run] = asked.categories.index(answer)
    value = asked.value(said.categories[run])
    if value is not None:
        said.values[run] = value


def _together(asked: Asked, people: Sequence[Said]) -> Said:
    """What most people say; a tie is unclear. On a scale it is the median, of two middle ones the lower."""
    together = Said(PEOPLE, is_grader=False)
    for run in asked.clusters:
        given = [said.categories[run] for said in people if run in said.categories]
        if not given:
            if any(run in said.unclear for said in people):
                together.unclear.add(run)
            continue
        values = [said.values[run] for said in people if run in said.values]
        if values:
            together.values[run] = fmean(values)
        if asked.question.kind == "scale":
            together.categories[run] = median_low(given)
            continue
        counts = sorted(((given.count(one), one) for one in set(given)), reverse=True)
        if len(counts) > 1 and counts[0][0] == counts[1][0]:
            together.unclear.add(run)
        else:
            together.categories[run] = counts[0][1]
    return together


def _as_labelled(lineage: str, runs: Iterable[LabelledRun]) -> Checklist:
    """The checklist as the latest label knew it, for runs whose group has none."""
    labels = [label for run in runs for label in run.labels if label.checklist == lineage]
    latest = max(labels, key=lambda label: label.version)
    return Checklist(
        schema="",
        checklist=lineage,
        name=lineage,
        version=latest.version,
        created_at="",
        hash="",
        questions=latest.questions,
    )
