"""Reports made of few words, for the forms that they are written in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from hypothesis import strategies as st

from proctor.core.decision import Demands, decide
from proctor.core.report import report, report_group
from proctor.records.comparison import (
    Comparison,
    Contrast,
    Difference,
    Facet,
    FacetMatch,
    Row,
    RowSide,
    Verdict,
)
from proctor.records.details import Excerpt, RunDetails
from proctor.records.estimate import Bounds, Interval
from proctor.records.fault import Fault, Owner
from proctor.records.grade import Cause, Outcome
from proctor.records.report import AnswerLine, GradeLine, LabelLine, Report, RunReport
from proctor.records.run import Ending

GROUP = "runs/one"


def grade(name: str = "g", outcome: Outcome = Outcome.PASS, feedback: str = "", **other: Any) -> GradeLine:
    """A binary grade."""
    score = {Outcome.PASS: 1.0, Outcome.FAIL: 0.0}.get(outcome)
    known: dict[str, Any] = {
        "grader": name,
        "score": score,
        "outcome": outcome,
        "scale": "binary",
        "weight": 1.0,
        "must_pass": True,
        "threshold": 0.0,
        "feedback": feedback,
        "cause": Cause.UNDECIDED if outcome is Outcome.INCONCLUSIVE else None,
    }
    return GradeLine(**(known | other))


def run(
    test: str = "t", outcome: Outcome = Outcome.PASS, *, trial: int = 1, feedback: str = "", **other: Any
) -> RunReport:
    """A run with one gate."""
    score = {Outcome.PASS: 1.0, Outcome.FAIL: 0.0}.get(outcome)
    known: dict[str, Any] = {
        "run": test if trial == 1 else f"{test}--{trial}",
        "test": test,
        "trial": trial,
        "attempt": 1,
        "ending": Ending.OK,
        "outcome": outcome,
        "objective": score,
        "bounds": Bounds(0.0, 1.0) if score is None else Bounds(score, score),
        "gates_passed": None if score is None else bool(score),
        "has_gate": True,
        "grades": (grade(outcome=outcome, feedback=feedback),),
        "duration_s": 0.25,
        "rounds": 1,
    }
    return RunReport(**(known | other))


def passes(test: str = "t", **other: Any) -> RunReport:
    """A run that passed its gate."""
    return run(test, **other)


def fails(test: str = "t", **other: Any) -> RunReport:
    """A run that failed its gate."""
    return run(test, Outcome.FAIL, **other)


def unclear(test: str = "t", **other: Any) -> RunReport:
    """A run whose gate cannot tell."""
    return run(test, Outcome.INCONCLUSIVE, **other)


def crashed(test: str = "t", **other: Any) -> RunReport:
    """A run whose agent did not end well."""
    return run(test, Outcome.FAIL, ending=Ending.ERROR, grades=(), reason="on purpose", **other)


def broken(test: str = "t") -> RunReport:
    """A run of which proctor could not do its part."""
    fault = Fault(owner=Owner.HARNESS, kind="OSError")
    return unclear(
        test,
        ending=Ending.HARNESS_FAILURE,
        grades=(),
        reason="no room",
        cause=Cause.HARNESS_FAILURE,
        fault=fault,
    )


def stopped(test: str = "t") -> RunReport:
    """A run that somebody stopped."""
    return unclear(
        test, ending=Ending.INTERRUPTED, grades=(), reason="stopped", cause=Cause.INTERRUPTED, duration_s=None
    )


ALL_KINDS = {
    "passes": passes,
    "fails": fails,
    "unclear": unclear,
    "crashed": crashed,
    "broken": broken,
    "stopped": stopped,
}


def of(*runs: RunReport, path: str = GROUP, comparison: Comparison | None = None, **demands: float) -> Report:
    """The report of one group, with its decision."""
    return decide(report([report_group(path, runs)]), Demands(**demands), comparison)


def every_kind() -> Report:
    """One run of each kind."""
    return of(*(make(name) for name, make in ALL_KINDS.items()))


def compared(verdict: Verdict, exit_code: int, said: str = "runs/base") -> Comparison:
    """A comparison that came to this."""
    interval = Interval(low=-0.4, high=0.1, level=0.95, method="student")
    line = Difference(
        what="objective", n=3, base=0.5, candidate=0.25, value=-0.25, interval=interval, verdict=verdict
    )
    sides = [
        RowSide(planned=1, measured=1, conclusive=1, passed=0, objective=x, bounds=Bounds(x, x), pass_rate=x)
        for x in (1.0, 0.0)
    ]
    facet = FacetMatch(facet=Facet.MODEL, match="different", base=(said,), candidate=(said,))
    rows = (
        Row(test=said, host="", base=sides[0], candidate=sides[1], facets=(facet,)),
        Row(test="gone", host=said, base=sides[0], candidate=None, causes=(f"not in {said}",)),
    )
    one = Contrast(
        candidate=said,
        verdict=verdict,
        compared=1,
        left_out=1,
        objective=line,
        pass_rate=msgspec.structs.replace(line, what="pass rate"),
        graders=(msgspec.structs.replace(line, what=said, p=0.0004),),
        used=(),
        rows=rows,
    )
    return Comparison(
        base=said,
        alpha=0.05,
        margin=0.02,
        correction="holm",
        required=(),
        contrasts=(one,),
        verdict=verdict,
        exit_code=exit_code,
        warnings=(said,),
    )


def saying(text: str) -> tuple[Report, dict[tuple[str, str], RunDetails]]:
    """A report in which everything that others wrote is `text`: names, feedback, reasons, outputs, labels, paths."""
    said = text
    label = LabelLine(
        checklist="c",
        name=said,
        annotator=said,
        version=1,
        score=1.0,
        bounds=Bounds(1.0, 1.0),
        is_stale=False,
        answers=(AnswerLine(question="q", text=said, answer="yes", is_answered=True),),
        note=said,
        at="2026-01-01T00:00:00Z",
        saw_grades=False,
        row="r",
    )
    kept: Sequence[RunReport] = (
        fails(
            said,
            grades=(grade(said, Outcome.FAIL, said),),
            description=said,
            labels=(label,),
            label_score=1.0,
        ),
        passes(f"{said}2", grades=(grade(said, feedback=said),)),
        unclear(f"{said}3", grades=(grade(said, Outcome.INCONCLUSIVE, said),)),
        msgspec.structs.replace(crashed(f"{said}4"), reason=said),
        passes(f"{said}5"),
        fails(f"{said}5", trial=2, grades=(grade(said, Outcome.FAIL, said),)),
    )
    part = Excerpt(text=said, left_out=7)
    made = of(*kept, path=said, comparison=compared(Verdict.WORSE, 2, said))
    made = msgspec.structs.replace(made, warnings=(said,))
    details = {
        (said, one.run): RunDetails(
            path=said,
            suite=said,
            agent=said,
            tags=(said,),
            goal=said,
            input=part,
            expected=part,
            output=part,
            stderr=part,
            notes=(said,),
        )
        for one in kept
    }
    return made, details


HOSTILE = (
    "</script><script>alert(1)</script>",
    "</style></title><img src=x onerror=alert(1)>",
    "]]> <!-- --> <![CDATA[",
    "[link](javascript:alert(1)) ![image](http://example.com/x.png) <http://example.com>",
    "https://example.com www.example.com mail@example.com @everyone #1 user/repo#2",
    "a | b || c \\| d \\\\| e",
    "``` `x` `` ````",
    "\n\n# head\n\n- list\n\n| a |\n| - |\n\n<details>\n\n```\n",
    "\x00\x07\x1b[31m\x7f\u202eevil\u2066\ud800\ufffe\uffff\u2028",
    '" onmouseover="alert(1)" \' &quot; &#64; &lt;b&gt;',
    "*bold* _em_ ~~gone~~ :smile: $x$ <kbd>",
    "\\` \\",
    "问题：水的化学式？🧪 👩‍🔬",
)

texts = st.one_of(
    st.sampled_from(HOSTILE),
    st.text(alphabet=st.characters(), min_size=1, max_size=40),
    st.text(alphabet="`|\\<>&\"'[]()!#*_~@:/. \n\t\r\x00\x1b", min_size=1, max_size=30),
    st.lists(st.sampled_from(HOSTILE), min_size=2, max_size=3).map("".join),
)
"""What an agent may have written, lone surrogates included."""
