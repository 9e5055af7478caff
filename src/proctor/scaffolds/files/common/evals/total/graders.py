"""Grades the files that the agent left.

A grader asks for what it needs by the names of its parameters.
"""

from pathlib import Path

from proctor import Grade, failed, grader, passed


@grader(must_pass=True)
def right_total(workdir: Path, holdout: Path) -> Grade:
    """The total is in its file; a sentence says what is wrong where it is not."""
    written = workdir / "total.txt"
    if not written.is_file():
        return failed("There is no total.txt.")
    right = (holdout / "total.txt").read_text().strip()
    found = written.read_text().strip()
    if found == right:
        return passed()
    return failed(f"total.txt says {found!r}, and the total is {right}.")


@grader(weight=0.5)
def numbers_as_they_were(workdir: Path) -> bool:
    """The agent was asked to read the numbers, and not to change them."""
    numbers = workdir / "numbers.txt"
    if not numbers.is_file():
        return False
    return numbers.read_text().split() == ["12", "30", "58"]


graders = [right_total, numbers_as_they_were]
