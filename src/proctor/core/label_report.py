"""Labels as the Report has them: of a run what each person says, of a group how far labelling is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from proctor.core.labels import fold_labels, score_label
from proctor.records.annotation import Annotations
from proctor.records.checklist import Checklist
from proctor.records.label import Label
from proctor.records.report import AnswerLine, LabelLine, LabelSum, RunReport


def label_lines(annotations: Annotations, checklists: Mapping[str, Checklist]) -> tuple[LabelLine, ...]:
    """What each person says of a run, by each checklist.

    Args:
        annotations: all rows of the run.
        checklists: the revision in force of each lineage in the group; without one, a label is held against the
            revision that it answers.
    """
    if not annotations.labels:
        return ()
    return tuple(_line(label, checklists.get(label.checklist)) for label in fold_labels(annotations))


def mean_label(lines: Iterable[LabelLine]) -> float | None:
    """The mean label score of a run over those who labelled it; None when no label has a score."""
    scores = [line.score for line in lines if line.score is not None]
    return sum(scores) / len(scores) if scores else None


def sum_labels(runs: Iterable[RunReport]) -> LabelSum | None:
    """How far labelling is in a group; None where nobody labels."""
    labelled = [run for run in runs if run.labels]
    if not labelled:
        return None
    scores = [run.label_score for run in labelled if run.label_score is not None]
    return LabelSum(
        runs=len(labelled),
        annotators=len({line.annotator for run in labelled for line in run.labels}),
        n=len(scores),
        mean=sum(scores) / len(scores) if scores else None,
        stale=sum(line.is_stale for run in labelled for line in run.labels),
    )


def _line(label: Label, checklist: Checklist | None) -> LabelLine:
    questions = checklist.questions if checklist is not None else label.questions
    score = score_label(questions, label.answers)
    return LabelLine(
        checklist=label.checklist,
        name=checklist.name if checklist is not None else label.checklist,
        annotator=label.annotator,
        version=label.version,
        score=score.score,
        bounds=score.bounds,
        is_stale=bool(score.unanswered),
        answers=tuple(
            AnswerLine(
                question=question.id,
                text=question.text,
                answer=label.answers.get(question.id),
                is_answered=question.id in label.answers,
            )
            for question in questions
            if not question.deleted
        ),
        note=label.note,
        at=label.at,
        saw_grades=label.saw_grades,
        row=label.row_id,
    )
