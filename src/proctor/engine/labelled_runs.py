"""The runs that people label, and what is recorded of each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from proctor.core.attempts import tell_apart
from proctor.core.labels import fold_labels, value_of
from proctor.core.ordering import Candidate, Opinion, Verdict
from proctor.core.report import RecordedRun, report_run
from proctor.core.rounds import round_in_force
from proctor.errors import StoreError, UsageError
from proctor.records.annotation import Annotations, ScoreRow
from proctor.records.checklist import Question
from proctor.records.label import Label
from proctor.records.report import RunReport
from proctor.records.run import Ending, RunFacts
from proctor.stores.discover import FoundGroup, discover
from proctor.stores.rundir import RunDir


class LabelledRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run that can be labelled.

    Attributes:
        id: its own, which a copy keeps.
        run: where it is.
        group: the folder whose checklists are its checklists.
        name: of its folder, below the group.
        facts: what ran.
        annotations: all its rows.
        report: what its grades come to.
        labels: what people said of it.
    """

    id: str
    run: RunDir
    group: Path
    name: str
    facts: RunFacts
    annotations: Annotations
    report: RunReport
    labels: tuple[Label, ...]

    def label_of(self, checklist: str, annotator: str) -> Label | None:
        """What one person said by one checklist."""
        return next(
            (label for label in self.labels if (label.checklist, label.annotator) == (checklist, annotator)),
            None,
        )

    @property
    def scores(self) -> tuple[ScoreRow, ...]:
        """The grades in force."""
        found = round_in_force(self.annotations)
        return found.rows if found else ()


class LabelledRuns(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that some paths name.

    Attributes:
        runs: those that can be labelled, in the order of naming.
        left_out: a sentence for each kind of run that cannot, with how many.
    """

    runs: tuple[LabelledRun, ...]
    left_out: tuple[str, ...] = ()

    @property
    def groups(self) -> tuple[Path, ...]:
        """The groups that the runs lie in, each once."""
        return tuple(dict.fromkeys(run.group for run in self.runs))


def labelled_runs(paths: Iterable[Path]) -> LabelledRuns:
    """The runs that can be labelled: those whose ending says something about the agent, and that count.

    Raises:
        StoreError: a path does not exist, or holds no run.
        UsageError: two of them are one run, copied; or none can be labelled.
    """
    runs: list[LabelledRun] = []
    seen: dict[str, LabelledRun] = {}
    unreadable = unfinished = set_aside = 0
    for found in discover(paths):
        read = [one for run in found.runs if (one := _read(run, found)) is not None]
        unreadable += len(found.runs) - len(read)
        counting = [one for one in read if _says_something(one.report)]
        unfinished += len(read) - len(counting)
        _refuse_copies(counting, seen)
        in_force = {report.run for report in tell_apart([one.report for one in counting]).in_force}
        set_aside += len(counting) - len(in_force)
        runs += [one for one in counting if one.report.run in in_force]
    told = (
        (unfinished, "did not run to an end that says something about the agent"),
        (set_aside, "are attempts that another one counts instead of"),
        (unreadable, "cannot be read"),
    )
    left_out = tuple(f"{count} of the runs {what}" for count, what in told if count)
    if not runs:
        raise UsageError(
            "there is no run to label", where="; ".join(left_out), fix="Run the agent first: proctor run."
        )
    return LabelledRuns(runs=tuple(runs), left_out=left_out)


def candidate_of(run: LabelledRun, questions: Sequence[Question]) -> Candidate:
    """What is known of a run before it is labelled."""
    rows = run.scores
    opinions = [
        Opinion(question=question.id, value=value, is_person=True)
        for label in run.labels
        for question in questions
        if question.id in label.answers
        and (value := value_of(question, label.answers[question.id])) is not None
    ]
    opinions += [
        Opinion(question=question.id, value=row.score, is_person=False)
        for question in questions
        for row in rows
        if question.grader == row.name and row.score is not None
    ]
    return Candidate(
        run=run.id,
        verdicts=tuple(
            Verdict(
                value=row.score,
                bar=row.threshold,
                samples=row.samples,
                is_judge=row.annotator.kind == "judge",
            )
            for row in rows
        ),
        opinions=tuple(opinions),
    )


def group_of(found: FoundGroup) -> Path:
    """The folder whose checklists are those of a group; of a loose run, the folder that it lies in."""
    return found.path if found.is_group else found.path.absolute().parent


def _read(run: RunDir, found: FoundGroup) -> LabelledRun | None:
    try:
        facts = run.facts()
        annotations = run.annotations()
    except StoreError:
        return None
    return LabelledRun(
        id=facts.run,
        run=run,
        group=group_of(found),
        name=run.name,
        facts=facts,
        annotations=annotations,
        report=report_run(RecordedRun(run=run.name, facts=facts, annotations=annotations)),
        labels=fold_labels(annotations),
    )


def _says_something(report: RunReport) -> bool:
    """The agent did what it could: nobody stopped it, and neither proctor nor a provider failed."""
    return report.ending is not Ending.INTERRUPTED and report.fault is None


def _refuse_copies(runs: Iterable[LabelledRun], seen: dict[str, LabelledRun]) -> None:
    for one in runs:
        other = seen.setdefault(one.id, one)
        if other is not one:
            raise UsageError(
                f"{str(other.run.path)!r} and {str(one.run.path)!r} are one run, copied",
                fix="Name one of them: a label belongs to a run, and would be written to one of the two.",
            )
