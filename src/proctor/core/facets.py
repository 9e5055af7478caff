"""What can differ between two sides of a comparison beside the thing that is compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from proctor.core.rounds import round_in_force
from proctor.records.annotation import Annotations, ScoreRow
from proctor.records.comparison import Facet, FacetMatch, Match
from proctor.records.json_value import digest_of
from proctor.records.run import RunFacts
from proctor.records.trace import Metrics

SHORT = 12
"""Digits of a digest that are shown: enough to tell two apart."""

FacetValues = Mapping[Facet, str | None]
"""None is what nobody recorded; an empty text is what did not matter: the graders of a run that has no grades."""


def facets_of(facts: RunFacts, annotations: Annotations, metrics: Metrics | None) -> FacetValues:
    """The facets of one run.

    The test is what the agent is given and what graders look for. Its description, tags, number of trials and limits
    are not: a comma in a description makes no other test. The agent's name, its code and the artifact that it carries
    are no facets either: they are what is compared.
    """
    test = facts.test
    asked = msgspec.to_builtins(
        msgspec.structs.replace(
            test, id="", files=None, graders=None, timeout=None, trials=None, tags=(), description=None,
            suite=None, case=None, hosts={},
        )
    )  # fmt: skip
    files = [digest for digest in (facts.fixture_digest, facts.holdout_digest) if digest is not None]
    in_force = round_in_force(annotations)
    rows = in_force.rows if in_force is not None else ()
    models = metrics.models if metrics is not None else ()
    return {
        Facet.TEST: _short(digest_of(asked)),
        Facet.FIXTURE: " ".join(map(_short, files)) or "no files",
        Facet.GRADERS: _graders(rows),
        Facet.JUDGE: _judges(rows),
        Facet.PROCTOR: facts.platform.proctor or None,
        Facet.HOST: facts.agent.kind,
        Facet.HOST_VERSION: facts.agent.version,
        Facet.INVOCATION: msgspec.json.encode(test.invocation).decode() if test.invocation else "automatic",
        Facet.MODEL: ", ".join(models) or facts.agent.model,
        Facet.LIMITS: msgspec.json.encode(facts.limits).decode(),
        Facet.ISOLATION: msgspec.json.encode(facts.isolation).decode() if facts.isolation else None,
    }


def match(
    base: Sequence[FacetValues], candidate: Sequence[FacetValues], facets: Iterable[Facet] = tuple(Facet)
) -> tuple[FacetMatch, ...]:
    """Each facet of one row: whether all runs of both sides have the one value."""
    return tuple(
        _match(facet, [run.get(facet) for run in base], [run.get(facet) for run in candidate])
        for facet in facets
    )


def _match(facet: Facet, base: Sequence[str | None], candidate: Sequence[str | None]) -> FacetMatch:
    ours, theirs = set(base) - {""}, set(candidate) - {""}
    found: Match
    if not ours or not theirs:
        found = "equal"
    elif None in ours | theirs:
        found = "unrecorded"
    elif len(ours) > 1 or len(theirs) > 1:
        found = "mixed"
    else:
        found = "equal" if ours == theirs else "different"
    return FacetMatch(facet=facet, match=found, base=_known(ours), candidate=_known(theirs))


def _known(values: set[str | None]) -> tuple[str, ...]:
    return tuple(sorted(value for value in values if value is not None))


def _graders(rows: Sequence[ScoreRow]) -> str:
    """Code and options of the rows in force. What did not end well scores 0 whatever the graders are."""
    if not rows:
        return ""
    said = [
        (row.name, row.module or row.annotator.id, row.weight, row.must_pass, row.threshold, row.aggregate)
        for row in rows
    ]
    return _short(digest_of(sorted(said)))


def _judges(rows: Sequence[ScoreRow]) -> str:
    if not rows:
        return ""
    asked = {row.annotator.id for row in rows if row.annotator.kind == "judge"}
    asked |= {f"{one.judge} {one.model}" if one.model else one.judge for row in rows for one in row.judging}
    return ", ".join(sorted(asked)) or "no judge"


def _short(digest: str) -> str:
    return digest.removeprefix("sha256:")[:SHORT]
