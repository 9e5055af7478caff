"""Whatever goes wrong with a grading script, in whatever language, the record says the same kind of thing."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import pytest

from tests.conftest import Project

pytestmark = pytest.mark.skipif(
    shutil.which("node") is None and "CI" not in os.environ, reason="Node.js is not installed here"
)

PYTHON: Final = "from proctor.eval import EvalScriptOutcome as Outcome\n"
SHELL: Final = "#!/bin/sh\n"


class Kind(NamedTuple):
    """One thing that goes wrong: the script of each language, and what its row says; None where it cannot happen."""

    python: tuple[str, str] | None
    typescript: tuple[str, str] | None
    javascript: tuple[str, str] | None
    program: tuple[str, str] | None


def same(script: str, said: str) -> tuple[tuple[str, str], tuple[str, str]]:
    """A script that TypeScript and JavaScript share."""
    return (script, said), (script, said)


TABLE: Final[Mapping[str, Kind]] = {
    "no function": Kind(
        ("x = 1", "does not define a function named grade"),
        *same("export const grade = 1", "has no default export that is a function"),
        ("", "printed nothing"),
    ),
    "not a function": Kind(
        ("grade = 1", "does not define a function named grade"),
        *same("export default 1", "has no default export that is a function"),
        None,
    ),
    "syntax": Kind(
        ("def grade(:", "SyntaxError"),
        *same("export default (", "ParseError"),
        ("if then", "ended with exit code 2"),
    ),
    "missing package": Kind(
        ("import nowhere_at_all", "No module named 'nowhere_at_all'"),
        *same(
            "import x from 'nowhere-at-all'; export default () => x",
            "Cannot find module 'nowhere-at-all'; install it where you grade: npm install nowhere-at-all",
        ),
        ("nowhere-at-all", "ended with exit code 127"),
    ),
    "ends at once": Kind(
        ("import sys; sys.exit(2)", "SystemExit: 2"),
        *same("process.exit(2)", "ended its own process"),
        ("exit 2", "ended with exit code 2"),
    ),
    "returns nothing": Kind(
        ("def grade(context): pass", "returned NoneType, not an EvalScriptOutcome"),
        *same("export default () => {}", "returned undefined, not { outcome, detail }"),
        ("true", "printed nothing"),
    ),
    "another shape": Kind(
        (
            "def grade(context): return {'outcome': 'pass', 'detail': 'x'}",
            "returned dict, not an EvalScriptOutcome",
        ),
        *same("export default () => ['pass']", "returned [ 'pass' ], not { outcome, detail }"),
        ("echo '[\"pass\"]'", 'printed ["pass"], and no {outcome, detail}'),
    ),
    "no such outcome": Kind(
        ("def grade(context): return Outcome(outcome='passed', detail='x')", "gave 'passed'"),
        *same("export default () => ({ outcome: 'passed', detail: 'x' })", "gave 'passed'"),
        ('echo \'{"outcome": "passed", "detail": "x"}\'', "gave 'passed'"),
    ),
    "no outcome": Kind(
        (
            "def grade(context): return Outcome(detail='x')",
            "missing 1 required keyword-only argument: 'outcome'",
        ),
        *same("export default () => ({ detail: 'x' })", "gave undefined"),
        ('echo \'{"detail": "x"}\'', "gave null"),
    ),
    "no detail": Kind(
        (
            "def grade(context): return Outcome(outcome='pass')",
            "missing 1 required keyword-only argument: 'detail'",
        ),
        *same("export default () => ({ outcome: 'pass' })", "detail is a sentence"),
        ('echo \'{"outcome": "pass"}\'', "detail is a sentence"),
    ),
    "empty detail": Kind(
        ("def grade(context): return Outcome(outcome='pass', detail=' ')", "detail is a sentence"),
        *same("export default () => ({ outcome: 'pass', detail: ' ' })", "detail is a sentence"),
        ('echo \'{"outcome": "pass", "detail": " "}\'', "detail is a sentence"),
    ),
    "detail no text": Kind(
        ("def grade(context): return Outcome(outcome='pass', detail=7)", "gave 7"),
        *same("export default () => ({ outcome: 'pass', detail: 7 })", "gave 7"),
        ('echo \'{"outcome": "pass", "detail": 7}\'', "gave 7"),
    ),
    "no json": Kind(None, None, None, ("echo pass", "printed something else than one JSON object")),
    "two objects": Kind(None, None, None, ("echo '{} {}'", "printed something else than one JSON object")),
    "duplicate keys": Kind(
        None, None, None, ('echo \'{"outcome": "fail", "outcome": "pass", "detail": "x"}\'', "stands twice")
    ),
    "raises": Kind(
        ("def grade(context): raise RuntimeError('on purpose')", "RuntimeError: on purpose"),
        *same("export default () => { throw new RangeError('on purpose') }", "RangeError: on purpose"),
        ("echo on purpose >&2; exit 1", "ended with exit code 1"),
    ),
    "raises later": Kind(
        ("async def grade(context): raise RuntimeError('on purpose')", "RuntimeError: on purpose"),
        *same("export default async () => { throw new RangeError('on purpose') }", "RangeError: on purpose"),
        None,
    ),
    "raises in the background": Kind(
        None,
        *same(
            "export default () => new Promise(() => setTimeout(() => { throw new Error('behind') }, 10))",
            "Error: behind",
        ),
        None,
    ),
    "throws no error": Kind(None, *same("export default () => { throw 'on purpose' }", "on purpose"), None),
    "missing file": Kind(
        ("def grade(context): (context.fixture_path / 'none.json').read_text()", "No such file or directory"),
        *same(
            "import { readFileSync } from 'node:fs'; export default (c) => readFileSync(c.fixturePath + '/none.json')",
            "no such file or directory",
        ),
        ("cat none.json", "ended with exit code 1"),
    ),
    "endless": Kind(
        ("def grade(context):\n    while True: pass", "took longer than its timeout of 2 s"),
        *same("export default () => { for (;;); }", "took longer than its timeout of 2 s"),
        ("while :; do :; done", "took longer than its timeout of 2 s"),
    ),
    "waits": Kind(
        (
            "async def grade(context):\n    import asyncio; await asyncio.sleep(60)",
            "took longer than its timeout of 2 s",
        ),
        *same("export default () => new Promise(() => {})", "took longer than its timeout of 2 s"),
        ("sleep 60", "took longer than its timeout of 2 s"),
    ),
    "ends its process": Kind(
        ("def grade(context): import_ = __import__('os'); import_._exit(0)", "ended its own process"),
        *same("export default () => process.exit(0)", "ended its own process"),
        ("kill -9 $$", "was ended by signal 9"),
    ),
    "takes all memory": Kind(
        ("def grade(context): b'x' * 10**12", "MemoryError"),
        None,
        None,
        None,
    ),
}

ENDINGS: Final = {"python": ".py", "typescript": ".ts", "javascript": ".mjs", "program": ""}


@pytest.mark.parametrize("language", ENDINGS)
def test_every_failure_of_a_script_is_eval_grader_failed(project: Project, language: str) -> None:
    """Inconclusive, never a fail, with what happened kept for the author; and the next script is asked all the same."""
    cases = {kind: case for kind, row in TABLE.items() if (case := getattr(row, language)) is not None}
    scripts = {kind: f"graders/{kind.replace(' ', '_')}{ENDINGS[language]}" for kind in cases}
    project.test(
        "t",
        "from proctor.eval import expect_outcome\n"
        f"graders = [expect_outcome(script=path, name=name, timeout=2) for name, path in {scripts!r}.items()]",
    )
    for kind, (body, _) in cases.items():
        head = {"python": PYTHON, "program": SHELL}.get(language, "")
        project.write(f"suite/t/{scripts[kind]}", head + body + "\n").chmod(0o755)
    said = project.run()
    assert 0 == said.code, said.err
    grades = {grade["grader"]: grade for grade in project.grade().json["groups"][0]["runs"][0]["grades"]}

    assert list(cases) == list(grades)
    _draw(language, grades)
    for kind, (_, expected) in cases.items():
        grade = grades[kind]
        assert ("inconclusive", "EVAL_GRADER_FAILED", None) == (
            grade["outcome"],
            grade["cause"],
            grade["score"],
        ), kind
        assert expected in grade["feedback"], kind
        assert grade["defect"]["type"], kind
        assert str(project.root) not in grade["feedback"], kind


def _draw(language: str, grades: Mapping[str, Any]) -> None:
    """What the record says; `pytest -rP` shows it."""
    print(f"\n{language}")
    for kind, grade in grades.items():
        print(f"  {kind:<26}{grade['cause']:<20}{' '.join(grade['feedback'].split())[:110]}")


def test_a_program_that_may_not_be_executed_is_said_to_be_so(project: Project) -> None:
    """Before the run, as a warning, and in its row."""
    project.test("t", "from proctor.eval import expect_outcome\ngraders = expect_outcome('check')")
    project.write("suite/t/check", "#!/bin/sh\n").chmod(0o644)
    said = project.run()
    (grade,) = project.grade().json["groups"][0]["runs"][0]["grades"]

    assert "check may not be executed" in said.err
    assert ("EVAL_GRADER_FAILED", True) == (grade["cause"], "chmod +x check" in grade["feedback"])


def test_the_author_sees_the_stack_of_a_typescript_grader(project: Project) -> None:
    """At the line of the source, without the folders of this machine and without our own frames."""
    project.test("t", "from proctor.eval import expect_outcome\ngraders = expect_outcome('graders/late.ts')")
    project.write(
        "suite/t/graders/late.ts",
        "interface Context { prompt: string }\n\nexport default function grade(context: Context) {\n"
        "  throw new RangeError(context.prompt as string);\n}\n",
    )
    project.run()
    (grade,) = project.grade().json["groups"][0]["runs"][0]["grades"]

    assert "RangeError: a question\n    at grade (t/graders/late.ts:4:9)" == grade["defect"]["stack"].strip()
