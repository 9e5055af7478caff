from dataclasses import dataclass

from intact import intact

from proctor import Grade, IsJson, grader, scalar


@dataclass
class Answer:
    failed: int
    slowest: str
    clients: list[str]


@grader(must_pass=True, threshold=1.0)
def fields(output: Answer, expected: Answer) -> Grade:
    wrong = [
        name for name in ("failed", "slowest", "clients") if getattr(output, name) != getattr(expected, name)
    ]
    return scalar(1 - len(wrong) / 3, f"wrong: {', '.join(wrong)}" if wrong else "")


graders = [IsJson(), fields, intact()]
