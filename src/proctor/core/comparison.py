"""Two sides over the same tests, and what that decides."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from typing import get_args

import msgspec

from proctor.core import paired
from proctor.core.facets import FacetValues, match
from proctor.core.figures import objectives_of, passes_of, says_something
from proctor.core.spending import changes
from proctor.errors import UsageError
from proctor.records.comparison import (
    REQUIRED,
    Contrast,
    Correction,
    Difference,
    Facet,
    Row,
    RowSide,
    Verdict,
)
from proctor.records.estimate import Bounds, Interval
from proctor.records.report import RunReport


class Compared(msgspec.Struct, frozen=True, kw_only=True):
    """One run in force of one side.

    Attributes:
        report: its numbers.
        host: the kind of its agent; empty for a trial that has no run.
        facets: None for a trial that has no run, or one that cannot be read.
    """

    report: RunReport
    host: str = ""
    facets: FacetValues | None = None


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    """How a comparison decides.

    Attributes:
        alpha: how often two equal sides may be told apart by chance, from 0 to 1, both excluded.
        margin: differences of at most this much count as none; 0 or more.
        correction: for the number of graders.
        required: facets that must be equal.
    """

    alpha: float = 0.05
    margin: float = 0.02
    correction: Correction = "holm"
    required: tuple[Facet, ...] = REQUIRED


def rules(
    *,
    margin: float,
    confidence: float,
    correction: Correction,
    require: Sequence[str] = (),
    allow: Sequence[str] = (),
) -> Rules:
    """The rules in a user's words: how sure an interval must be, and the facets named.

    Raises:
        UsageError: there is no such facet or correction, a number is out of its range, or a facet is required and
            allowed.
    """
    names = [facet.value for facet in Facet]
    for name in (*require, *allow):
        if name not in names:
            raise UsageError(f"there is no facet {name!r}", fix=f"Name one of {', '.join(names)}.")
    if both := sorted({*require} & {*allow}):
        raise UsageError(
            f"{both[0]!r} must be equal and may differ", fix="Leave away `require` or `allow` for it."
        )
    if correction not in get_args(Correction):
        raise UsageError(f"there is no correction {correction!r}", fix="Name holm or bh.")
    if not 0 <= margin <= 1:
        raise UsageError(f"the margin is {margin!r}, no number from 0 to 1", fix="A common one is 0.02.")
    if not 0.5 < confidence < 1:
        raise UsageError(
            f"the confidence is {confidence!r}, no number between 0.5 and 1", fix="A common one is 0.95."
        )
    wanted = {*REQUIRED, *map(Facet, require)} - {*map(Facet, allow)}
    return Rules(
        alpha=round(1 - confidence, 12),
        margin=margin,
        correction=correction,
        required=tuple(facet for facet in Facet if facet in wanted),
    )


class _Pair(msgspec.Struct, frozen=True):
    """One row that can be compared: the runs of both sides that say something, and all that were planned."""

    row: Row
    base: list[RunReport]
    candidate: list[RunReport]


def contrast(path: str, base: Sequence[Compared], candidate: Sequence[Compared], rules: Rules) -> Contrast:
    """One candidate against the base. `p_adjusted` is that of one candidate; see `among_candidates`."""
    rows, pairs = _align(base, candidate, rules.required)
    objective = difference("objective", [_values(pair, objectives_of) for pair in pairs], rules)
    objective = msgspec.structs.replace(objective, bounds=_reach(pairs))
    pass_rate = difference("pass rate", [_values(pair, passes_of) for pair in pairs], rules)
    return Contrast(
        candidate=path,
        verdict=objective.verdict,
        compared=len(pairs),
        left_out=len(rows) - len(pairs),
        objective=objective,
        pass_rate=pass_rate,
        graders=_graders(pairs, rules),
        used=changes([(pair.base, pair.candidate) for pair in pairs], 1 - rules.alpha),
        rows=rows,
    )


def among_candidates(contrasts: Sequence[Contrast], rules: Rules) -> tuple[Contrast, ...]:
    """The same, each decision corrected by Holm for the number of candidates."""
    adjusted = paired.corrected([one.objective.p for one in contrasts])
    rates = paired.corrected([one.pass_rate.p for one in contrasts])
    found: list[Contrast] = []
    for one, p, of_rate in zip(contrasts, adjusted, rates, strict=True):
        objective = decided(msgspec.structs.replace(one.objective, p_adjusted=p), rules)
        rate = decided(msgspec.structs.replace(one.pass_rate, p_adjusted=of_rate), rules)
        found.append(
            msgspec.structs.replace(one, objective=objective, pass_rate=rate, verdict=objective.verdict)
        )
    return tuple(found)


def overall(contrasts: Sequence[Contrast]) -> Verdict:
    """The worst verdict: worse, then cannot tell, then same, then better."""
    order = (Verdict.WORSE, Verdict.CANNOT_TELL, Verdict.SAME, Verdict.BETTER)
    return next(verdict for verdict in order if verdict in {one.verdict for one in contrasts})


def decided(found: Difference, rules: Rules) -> Difference:
    """The same, with its verdict.

    `same` where the difference surely lies within the margin, else better or worse where chance is unlikely and the
    interval lies off 0, else it cannot be told.
    """
    verdict = Verdict.CANNOT_TELL
    p = found.p if found.p_adjusted is None else found.p_adjusted
    near, wide = found.equivalence, found.interval
    if near is not None and -rules.margin <= near.low and near.high <= rules.margin:
        verdict = Verdict.SAME
    elif wide is not None and p is not None and p < rules.alpha and not wide.low <= 0 <= wide.high:
        verdict = Verdict.BETTER if wide.low > 0 else Verdict.WORSE
    if verdict is not Verdict.CANNOT_TELL:
        found = msgspec.structs.replace(found, more_tests=None, trials_each=None)
    return msgspec.structs.replace(found, verdict=verdict)


def _align(
    base: Sequence[Compared], candidate: Sequence[Compared], required: Sequence[Facet]
) -> tuple[tuple[Row, ...], list[_Pair]]:
    """All rows by test, and by host where a side has several; and those that can be compared."""
    by_host = any(len({run.host for run in side if run.host}) > 1 for side in (base, candidate))

    def keyed(side: Sequence[Compared]) -> dict[tuple[str, str], list[Compared]]:
        found: dict[tuple[str, str], list[Compared]] = {}
        for run in side:
            found.setdefault((run.report.test, run.host if by_host else ""), []).append(run)
        return found

    ours, theirs = keyed(base), keyed(candidate)
    rows: list[Row] = []
    pairs: list[_Pair] = []
    for test, host in sorted(ours.keys() | theirs.keys()):
        left, right = ours.get((test, host)), theirs.get((test, host))
        row = _row(test, host, left, right, required)
        rows.append(row)
        if not row.causes and left and right:
            pairs.append(_Pair(row, _telling(left), _telling(right)))
    return tuple(rows), pairs


def _row(
    test: str,
    host: str,
    base: list[Compared] | None,
    candidate: list[Compared] | None,
    required: Sequence[Facet],
) -> Row:
    causes: list[str] = []
    facets = ()
    if base is None or candidate is None:
        causes.append("not in the base" if base is None else "not in the candidate")
    else:
        facets = match(_facets(base), _facets(candidate))
        for name, side in (("base", base), ("candidate", candidate)):
            if not objectives_of(_telling(side)):
                causes.append(f"nothing was measured in the {name}")
        causes += [
            f"{one.facet.value} {one.match}"
            for one in facets
            if one.facet in required and one.match != "equal" and not causes
        ]
    return Row(
        test=test,
        host=host,
        base=_side(base) if base else None,
        candidate=_side(candidate) if candidate else None,
        facets=facets,
        causes=tuple(causes),
    )


def _telling(side: Sequence[Compared]) -> list[RunReport]:
    return [run.report for run in side if says_something(run.report)]


def _facets(side: Sequence[Compared]) -> list[FacetValues]:
    return [run.facets for run in side if run.facets is not None and says_something(run.report)]


def _side(side: Sequence[Compared]) -> RowSide:
    telling = _telling(side)
    known, passes = objectives_of(telling), passes_of(telling)
    return RowSide(
        planned=len(side),
        measured=len(known),
        conclusive=len(passes),
        passed=round(sum(passes)),
        objective=_mean(known),
        bounds=Bounds(
            statistics.fmean(run.report.bounds.low for run in side),
            statistics.fmean(run.report.bounds.high for run in side),
        ),
        pass_rate=_mean(passes),
    )


def _values(
    pair: _Pair, values: Callable[[Sequence[RunReport]], Sequence[float]]
) -> tuple[Sequence[float], Sequence[float]]:
    return values(pair.base), values(pair.candidate)


def difference(
    what: str, pairs: Sequence[tuple[Sequence[float], Sequence[float]]], rules: Rules
) -> Difference:
    """Of the tests in which both sides have a value, decided without a correction.

    pairs: of each test the values of the base's trials and of the candidate's, each from 0 to 1.
    """
    both = [(base, candidate) for base, candidate in pairs if base and candidate]
    n = len(both)
    means = [(statistics.fmean(base), statistics.fmean(candidate)) for base, candidate in both]
    differences = [candidate - base for base, candidate in means]
    if not n:
        return Difference(what=what, n=0, base=None, candidate=None, value=None)
    value = math.fsum(differences) / n
    sd = statistics.stdev(differences) if n > 1 else 0.0
    is_plain = all(len(one) == 1 and one[0] in (0.0, 1.0) for pair in both for one in pair)
    levels = (1 - rules.alpha, 1 - 2 * rules.alpha)
    interval, equivalence = (_interval(differences, is_plain, level) for level in levels)
    gained, lost = sum(one > 0 for one in differences), sum(one < 0 for one in differences)
    more, each = _enough(value, sd, both, rules) if n > 1 else (None, None)
    return decided(
        Difference(
            what=what,
            n=n,
            base=statistics.fmean(base for base, _ in means),
            candidate=statistics.fmean(candidate for _, candidate in means),
            value=value,
            se=sd / math.sqrt(n) if n > 1 else None,
            interval=interval,
            equivalence=equivalence,
            p=None if n < 2 else paired.mcnemar(gained, lost) if is_plain else paired.sign_flips(differences),
            test="" if n < 2 else "mcnemar, exact" if is_plain else "sign flips over tests",
            detectable=paired.detectable_share((gained + lost) / n, n, rules.alpha)
            if is_plain and gained + lost
            else paired.detectable(sd, n, rules.alpha),
            more_tests=more,
            trials_each=each,
        ),
        rules,
    )


def _interval(differences: Sequence[float], is_plain: bool, level: float) -> Interval | None:
    n = len(differences)
    if is_plain and n > 1:
        gained, lost = sum(one > 0 for one in differences), sum(one < 0 for one in differences)
        return paired.tango_interval(gained, lost, n, level)
    return paired.student_interval(differences, level)


def _enough(
    value: float, sd: float, both: Sequence[tuple[Sequence[float], Sequence[float]]], rules: Rules
) -> tuple[int | None, int | None]:
    """About how many more tests would settle it, and how many trials of each test, if what was seen is true."""
    n = len(both)
    wanted = paired.wanted_variance(value, rules.margin, rules.alpha)
    if sd < 1e-9:
        return max(1, paired.agreeing_tests(value, rules.margin, rules.alpha) - n), None
    if wanted <= 0:
        return None, None
    enough = math.ceil(sd * sd / wanted)
    if abs(value) >= rules.margin:
        # However clear, too few tests that differ leave chance too likely: as many as if all of these agreed.
        differing = sum(statistics.fmean(base) != statistics.fmean(candidate) for base, candidate in both)
        fewest = paired.agreeing_tests(value, rules.margin, rules.alpha)
        enough = max(enough, math.ceil(fewest * n / differing))
    more = max(1, enough - n)
    if any(len(one) < 2 for pair in both for one in pair):
        return more, None
    within = statistics.fmean(
        statistics.variance(base) / len(base) + statistics.variance(candidate) / len(candidate)
        for base, candidate in both
    )
    between = max(0.0, sd * sd - within)
    left = wanted * n - between
    if left <= 0 or within <= 0:
        return more, None
    now = statistics.fmean(len(one) for pair in both for one in pair)
    return more, max(math.ceil(now) + 1, math.ceil(now * within / left))


def _reach(pairs: Sequence[_Pair]) -> Bounds | None:
    """The difference with everything that is missing at its worst for the candidate, and at its best."""
    sides = [(one.row.base, one.row.candidate) for one in pairs]
    spans = [
        (candidate.bounds.low - base.bounds.high, candidate.bounds.high - base.bounds.low)
        for base, candidate in sides
        if base is not None and candidate is not None
    ]
    if not spans:
        return None
    return Bounds(statistics.fmean(low for low, _ in spans), statistics.fmean(high for _, high in spans))


def _graders(pairs: Sequence[_Pair], rules: Rules) -> tuple[Difference, ...]:
    names = dict.fromkeys(
        line.grader for pair in pairs for run in (*pair.base, *pair.candidate) for line in run.grades
    )
    found = [difference(name, [_scores(pair, name) for pair in pairs], rules) for name in names]
    found = [one for one in found if one.n]
    adjusted = paired.corrected([one.p for one in found], rules.correction)
    return tuple(
        decided(msgspec.structs.replace(one, p_adjusted=p), rules)
        for one, p in zip(found, adjusted, strict=True)
    )


def _scores(pair: _Pair, name: str) -> tuple[Sequence[float], Sequence[float]]:
    def of(runs: Sequence[RunReport]) -> list[float]:
        lines = (line for run in runs for line in run.grades)
        return [line.score for line in lines if line.grader == name and line.score is not None]

    return of(pair.base), of(pair.candidate)


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None
