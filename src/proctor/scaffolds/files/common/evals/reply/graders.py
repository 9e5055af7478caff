"""Grades a text by rules.

Each is worth something, and none is a gate: a reply that is half good scores half.
"""

from proctor import Grade, Test, grader, scalar


@grader(threshold=0.5)
def short(output: str, test: Test) -> Grade:
    """1 as long as it is short enough, then less with every word."""
    most, count = int(test.metadata["most_words"]), len(output.split())
    share = min(1.0, most / count) if count else 0.0
    return scalar(share, f"{count} words")


@grader
def greets_by_name(output: str) -> bool:
    """It is a letter to somebody."""
    return "Ada" in output


@grader
def says_what_was_asked(output: str) -> bool:
    """It is about Sundays, whatever it says of them."""
    return "Sunday" in output


graders = [short, greets_by_name, says_what_was_asked]
