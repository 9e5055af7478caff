"""Whether a test's graders can be trusted, from how they graded its solutions, right and wrong."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Literal, NamedTuple

from proctor.records.grade import Outcome
from proctor.records.proof import Finding, ProofVerdict, TestProof, Tried
from proctor.records.report import GradeLine, RunReport
from proctor.records.run import Ending

FULL: Final = 1 - 1e-9
"""A score of 1, as far as sums of weights can say."""


class TriedRun(NamedTuple):
    """A run that was made to try out graders, and what they said of it, twice."""

    role: Literal["reference", "no-op", "wrong"]
    name: str
    first: RunReport
    second: RunReport

    @property
    def label(self) -> str:
        """How sentences call it."""
        return {"reference": "the reference", "no-op": "the no-op"}.get(self.role, f"wrong/{self.name}")

    @property
    def is_graded(self) -> bool:
        """True when graders were shown it."""
        return self.first.ending is Ending.OK


def prove(test: str, runs: Sequence[TriedRun]) -> TestProof:
    """The verdict on one test.

    It is broken when the reference does not score 1 (or pass, where all grades are outcomes), when the no-op or a
    wrong solution passes, when a grader says different things of one run, or when a gate cannot fail whatever it
    finds. It is unclear when there is no reference, when a run or a grade could not be had, and when a grader
    never failed: it may be right to, and nothing shows that it can.
    """
    findings = [*_of_reference(runs), *_of_others(runs), *_of_graders(runs)]
    verdicts = {finding.weight for finding in findings}
    order = (ProofVerdict.BROKEN, ProofVerdict.UNCLEAR, ProofVerdict.OK)
    wrong = [run.first.objective for run in runs if run.role != "reference"]
    return TestProof(
        test=test,
        verdict=next((verdict for verdict in order if verdict in verdicts), ProofVerdict.OK),
        ceiling=next((run.first.objective for run in runs if run.role == "reference"), None),
        floor=max((score for score in wrong if score is not None), default=None),
        tried=tuple(
            Tried(
                role=run.role,
                name=run.name,
                ending=run.first.ending,
                outcome=run.first.outcome,
                objective=run.first.objective,
            )
            for run in runs
        ),
        findings=tuple(findings),
    )


def passes(run: RunReport) -> bool:
    """True when a run counts as done.

    Where no grade has a bar (scores alone, without gate or threshold), that is a score of 1.
    """
    if any(line.must_pass or line.scale == "binary" or line.threshold > 0 for line in run.grades):
        return run.outcome is Outcome.PASS
    return run.objective is not None and run.objective >= FULL


def _of_reference(runs: Sequence[TriedRun]) -> Iterator[Finding]:
    reference = next((run for run in runs if run.role == "reference"), None)
    if reference is None:
        yield _unclear("there is no reference: put a solution.py or solution.sh beside test.json")
        return
    run = reference.first
    if not reference.is_graded:
        said = f"the reference ended with {run.ending.value}: {_first_line(run.reason)}"
        yield _broken(said) if run.ending.is_evidence else _unclear(said)
    elif run.outcome is Outcome.FAIL or (run.objective is not None and not _is_full(run)):
        short = [line.grader for line in run.grades if _is_wanting(line)]
        score = "" if run.objective is None else f" {run.objective:.3f}"
        yield _broken(f"the reference scores{score} and not 1: {', '.join(short)}")
    elif run.outcome is Outcome.INCONCLUSIVE and not run.grades:
        yield _unclear(f"the reference was not graded: {_first_line(run.reason)}")


def _is_full(run: RunReport) -> bool:
    if all(line.scale == "binary" for line in run.grades):
        return run.outcome is not Outcome.FAIL
    return run.objective is None or run.objective >= FULL


def _of_others(runs: Sequence[TriedRun]) -> Iterator[Finding]:
    others = [run for run in runs if run.role != "reference"]
    for run in others:
        if not run.is_graded:
            said = f"{run.label} ended with {run.first.ending.value}, so no grader saw it"
            yield _unclear(f"{said}: {_first_line(run.first.reason)}")
        elif passes(run.first):
            score = "" if run.first.objective is None else f", with {run.first.objective:.3f}"
            yield _broken(f"{run.label} passes{score}")
        elif run.first.outcome is Outcome.INCONCLUSIVE and not run.first.grades:
            yield _unclear(f"{run.label} was not graded: {_first_line(run.first.reason)}")
    if not any(run.role == "wrong" for run in others):
        yield Finding(weight=ProofVerdict.OK, said="there are no wrong solutions; only the no-op was tried")


def _of_graders(runs: Sequence[TriedRun]) -> Iterator[Finding]:
    graded = [run for run in runs if run.is_graded]
    names = dict.fromkeys(line.grader for run in graded for line in run.first.grades)
    for name in names:
        lines = {run.label: line for run in graded if (line := _line(run.first, name)) is not None}
        disagreeing = [
            run.label for run in graded if _said(_line(run.first, name)) != _said(_line(run.second, name))
        ]
        if disagreeing:
            yield _broken(f"{name} says different things of the same run: {', '.join(disagreeing)}")
        untold = {label: line for label, line in lines.items() if line.outcome is Outcome.INCONCLUSIVE}
        if untold:
            line = next(iter(untold.values()))
            cause = f"[{line.cause.value}] " if line.cause else ""
            yield _unclear(
                f"{name} cannot tell about {', '.join(untold)}: {cause}{_first_line(line.feedback)}"
            )
        yield from _of_failing(name, [line for label, line in lines.items() if label != "the reference"])


def _of_failing(name: str, lines: Sequence[GradeLine]) -> Iterator[Finding]:
    """Whether a grader can fail, from what it said of runs that should fail."""
    if any(line.must_pass and line.scale == "scalar" and line.threshold == 0 for line in lines):
        yield _broken(f"{name} cannot fail: it is a gate that gives scores, and its threshold is 0")
    elif lines and all(line.outcome is Outcome.PASS and not _is_wanting(line) for line in lines):
        yield _unclear(
            f"{name} never failed: nothing shows that it can; add a wrong solution that it should catch"
        )


def _is_wanting(line: GradeLine) -> bool:
    return line.outcome is Outcome.FAIL or (
        line.scale == "scalar" and line.score is not None and line.score < FULL
    )


def _line(run: RunReport, grader: str) -> GradeLine | None:
    return next((line for line in run.grades if line.grader == grader), None)


def _said(line: GradeLine | None) -> Iterable[object]:
    return () if line is None else (line.outcome, line.score, line.cause)


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.split("\n") if line.strip()), "nothing was said")


def _broken(said: str) -> Finding:
    return Finding(weight=ProofVerdict.BROKEN, said=said)


def _unclear(said: str) -> Finding:
    return Finding(weight=ProofVerdict.UNCLEAR, said=said)
