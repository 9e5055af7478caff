from proctor import Contains, ExactMatch, Similarity, grader

graders = [
    # a function over the run: it returns True or False, a number from 0 to 1, or a full Grade
    grader(lambda output: "1879" in str(output), name="mentions-year"),
    # compare the output with the test's `expected` field; a gate: when it fails, the run scores 0
    ExactMatch(must_pass=True),
    Contains(name="has-date"),
    Similarity(weight=0.5),
]
