"""Similarity: how near the output's text is to the expected text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from proctor.graders.reference import ReferenceGrader, read_beside
from proctor.ports import RunView
from proctor.records.grade import Grade, scalar


@dataclass(frozen=True, kw_only=True)
class Similarity(ReferenceGrader):
    """One minus the edit distance, divided by the length of the longer text.

    What it checks: how many insertions, deletions and substitutions of single characters (code points) turn
    one text into the other: score = 1 - distance / max(length). Two empty texts score 1.
    Why: a near miss is worth more than a wild one, without asking a model.
    Passes: the score is at least `threshold`.
    Fails: the score is below it. No output scores 0.
    Cannot tell: the test lacks the value; that is found before the run.
    Source: Levenshtein (1966), with unit costs, as computed by RapidFuzz.
    """

    scale: ClassVar[Literal["binary", "scalar"] | None] = "scalar"
    default_name: ClassVar[str] = "similarity"

    def grade(self, run: RunView) -> Grade:
        """Compare the two texts."""
        from rapidfuzz.distance import Levenshtein

        reference = self.reference(run)
        if run.output is None:
            return scalar(0.0, "the agent gave no output")
        ours, theirs = self.folded_text(read_beside(run.output, reference)), self.folded_text(reference)
        # The hint makes near texts several times faster and leaves the value exact.
        return scalar(Levenshtein.normalized_similarity(ours, theirs, score_hint=0.9))
