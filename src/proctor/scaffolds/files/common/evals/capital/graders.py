"""Grades the answer.

Every grader gives a score from 0 to 1; their weighted mean is the objective of a run.
"""

from proctor import Contains, ExactMatch

graders = [
    # A gate: where it fails, the run scores 0, whatever the others say.
    ExactMatch(must_pass=True),
    # Partial credit for what is less than exact.
    Contains(name="names-the-city", weight=0.5),
]
