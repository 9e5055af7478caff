"""A judge that is a Python module: `main(goal, output, expected)` says the verdict."""

from __future__ import annotations

import importlib.util
import inspect
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import msgspec

from proctor.core.judge_grades import CAUSES, answer_text, grade_of, no_verdict, read_answer
from proctor.core.verdict_scale import BINARY, UNIT
from proctor.core.verdicts import Verdict
from proctor.errors import JudgeError
from proctor.records.grade import Cause, Grade, inconclusive
from proctor.records.json_value import digest_of_bytes, text_of
from proctor.records.judging import Judged, JudgeQuestion, Judging
from proctor.records.suite import Test

TRIES: Final = 2


async def ask_program(base: Path, question: JudgeQuestion, test: Test, output: Any) -> Judged:
    """Call the module's `main` with three texts; `""` stands for nothing expected.

    Structured values are canonical JSON. A verdict that cannot be read is asked for once more.

    Raises:
        JudgeError: the file is no such module.
        BaseException: what the module itself raises.
    """
    assert question.judge_file is not None
    goal = question.goal if question.goal is not None else test.goal or ""
    revision = revision_of(base / question.judge_file, question.judge_file, binary=question.binary)
    judging = Judging(judge=revision, goal=goal)
    if not goal.strip() or output is None or output == "":
        said = "there is no goal to judge by" if not goal.strip() else "the agent gave no output"
        return Judged(grade=inconclusive(said, cause=Cause.NOTHING_TO_JUDGE), judging=judging)
    expected = test.expected if question.expected is msgspec.UNSET else question.expected
    texts = goal, text_of(output), "" if expected is None or expected is msgspec.UNSET else text_of(expected)
    main = load_main(base / question.judge_file, question.judge_file)
    started = time.perf_counter()
    grade: Grade | None = None
    replies: list[str] = []
    scale = BINARY if question.binary else UNIT
    while len(replies) < TRIES:
        answer = main(*texts)
        if inspect.isawaitable(answer):
            answer = await answer
        found = read_answer(answer, scale)
        if isinstance(found, Verdict):
            replies.append("")
            grade = grade_of(found, scale)
            break
        replies.append(answer_text(answer))
        grade = no_verdict(CAUSES[found.kind], found.reason, replies)
    assert grade is not None
    took = Judging(
        judge=revision,
        goal=goal,
        calls=len(replies),
        tokens_in=None,
        tokens_out=None,
        cost_usd=None,
        latency_s=round(time.perf_counter() - started, 6),
    )
    return Judged(grade=grade, judging=took)


def revision_of(path: Path, name: str, *, binary: bool) -> str:
    """The judge by its content: path and digest, and whether it is asked for pass and fail.

    Raises:
        JudgeError: the file cannot be read.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise JudgeError(
            f"the judge file cannot be read: {error.strerror}", where=name, fix="Write it beside the module."
        ) from error
    return f"{name}@{digest_of_bytes(content)}" + ("+binary" if binary else "")


def load_main(path: Path, name: str) -> Callable[..., Any]:
    """The `main` of a judge module; loaded once in a process.

    Raises:
        JudgeError: it has none.
        BaseException: what the module raises when it is loaded.
    """
    known = f"judge {path}"
    module = sys.modules.get(known)
    if module is None:
        spec = importlib.util.spec_from_file_location(known, path)
        if spec is None or spec.loader is None:
            raise JudgeError("it is no Python module", where=name, fix="A judge of code is a .py file.")
        module = importlib.util.module_from_spec(spec)
        if str(path.parent) not in sys.path:
            sys.path.append(str(path.parent))
        spec.loader.exec_module(module)
        sys.modules[known] = module
    main = getattr(module, "main", None)
    if not callable(main):
        raise JudgeError(
            "the judge defines no function `main`",
            where=name,
            fix="Write def main(goal, output, expected): return {'score': ..., 'reasoning': ...}",
        )
    return main
