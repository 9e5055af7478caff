"""Outcome graders: a script of its own says pass, fail, or inconclusive; anything wrong is EVAL_GRADER_FAILED."""

from __future__ import annotations

import shutil
from typing import Any

import pytest

from tests.conftest import Project

SUITE = """
from proctor.eval import expect_outcome

graders = [expect_outcome(script="./graders/status_result.py", timeout=1)]
"""

HEAD = """
import json, os, sys, time
from proctor.eval import EvalGraderContext, EvalScriptOutcome
"""

SAMPLE = """
import json
from proctor.eval import EvalGraderContext, EvalScriptOutcome

async def grade(context: EvalGraderContext) -> EvalScriptOutcome:
    status = json.loads((context.fixture_path / "result.json").read_text())
    if status.get("state") == "healthy":
        return EvalScriptOutcome(outcome="pass", detail="The service reports healthy.")
    return EvalScriptOutcome(outcome="fail", detail="The service does not report healthy.")
"""


def graded(project: Project, script: str, state: str = "healthy") -> dict[str, Any]:
    project.write(
        "agent.py",
        f"""
        from pathlib import Path

        def main(text):
            Path("result.json").write_text('{{"state": "{state}"}}')
        """,
    )
    project.test("t", SUITE, input="check the service")
    project.write("suite/t/graders/status_result.py", script)
    said = project.run()
    assert 0 == said.code, said.err
    (grade,) = project.grade().json["groups"][0]["runs"][0]["grades"]
    return grade


@pytest.mark.parametrize(
    ("state", "outcome", "detail"),
    [
        ("healthy", "pass", "The service reports healthy."),
        ("down", "fail", "The service does not report healthy."),
    ],
)
def test_the_scripts_outcome_is_the_grade_and_its_detail_the_feedback(
    project: Project, state: str, outcome: str, detail: str
) -> None:
    """It is a gate, and is named after the script."""
    grade = graded(project, SAMPLE, state)

    assert (outcome, detail, "status_result", True) == (
        grade["outcome"],
        grade["feedback"],
        grade["grader"],
        grade["must_pass"],
    )


def test_a_script_sees_the_workdir_the_prompt_and_an_empty_artifact(project: Project) -> None:
    """Without an artifact, `artifact_root` is an empty folder."""
    grade = graded(
        project,
        HEAD
        + """
def grade(context):
    assert "check the service" == context.prompt
    assert ["result.json"] == os.listdir(context.fixture_path)
    assert [] == os.listdir(context.artifact_root)
    return EvalScriptOutcome(outcome="inconclusive", detail="seen")
""",
    )

    assert ("inconclusive", "undecided", "seen") == (grade["outcome"], grade["cause"], grade["feedback"])


TABLE: dict[str, tuple[str, str]] = {
    "no grade": ("x = 1", "does not define a function named grade"),
    "grade is no function": ("grade = 1", "does not define a function named grade"),
    "syntax": ("def grade(:", "SyntaxError"),
    "import": ("import nowhere_at_all", "No module named 'nowhere_at_all'"),
    "import time exit": ("sys.exit(2)", "SystemExit: 2"),
    "wrong signature": ("def grade(): pass", "takes 0 positional arguments but 1 was given"),
    "nothing": ("def grade(context): pass", "returned NoneType, not an EvalScriptOutcome"),
    "a mapping": (
        "def grade(context): return {'outcome': 'pass', 'detail': 'x'}",
        "returned dict, not an EvalScriptOutcome",
    ),
    "misspelt outcome": (
        "def grade(context): return EvalScriptOutcome(outcome='passed', detail='x')",
        "and grade() in ./graders/status_result.py gave 'passed'",
    ),
    "misspelt field": (
        "def grade(context): return EvalScriptOutcome(outcome='pass', details='x')",
        "unexpected keyword argument 'details'",
    ),
    "empty detail": (
        "def grade(context): return EvalScriptOutcome(outcome='pass', detail=' ')",
        "detail is a sentence",
    ),
    "detail no text": (
        "def grade(context): return EvalScriptOutcome(outcome='pass', detail=7)",
        "detail is a sentence",
    ),
    "exception": ("def grade(context): raise RuntimeError('on purpose')", "RuntimeError: on purpose"),
    "async exception": (
        "async def grade(context): raise RuntimeError('on purpose')",
        "RuntimeError: on purpose",
    ),
    "missing file": (
        "def grade(context): (context.fixture_path / 'none.json').read_text()",
        "No such file or directory",
    ),
    "endless": ("def grade(context):\n    while True: pass", "took longer than its timeout of 1 s"),
    "sleeps": ("async def grade(context):\n    time.sleep(60)", "took longer than its timeout of 1 s"),
    "ends the process": ("def grade(context): os._exit(0)", "ended its own process"),
}


@pytest.mark.parametrize("kind", TABLE)
def test_anything_wrong_with_a_script_is_eval_grader_failed(project: Project, kind: str) -> None:
    """Inconclusive, never a fail, with message and stack kept for the author."""
    body, said = TABLE[kind]
    grade = graded(project, HEAD + body)

    assert ("inconclusive", "EVAL_GRADER_FAILED", None) == (grade["outcome"], grade["cause"], grade["score"])
    assert said in grade["feedback"]
    assert grade["defect"]["message"]


def test_the_author_sees_the_stack_of_the_script(project: Project) -> None:
    """From the script's own line on, without folders of this machine."""
    grade = graded(project, "\ndef grade(context):\n    raise RuntimeError('on purpose')\n")

    assert 'File "t/graders/status_result.py", line 3, in grade' in grade["defect"]["stack"]


def test_a_script_is_stored_with_what_it_imports(project: Project) -> None:
    """Siblings of the script included; the run grades when the suite is gone."""
    project.test("t", SUITE)
    project.write("suite/t/graders/status_result.py", "import near\ngrade = near.grade")
    project.write(
        "suite/t/graders/near.py", HEAD + "def grade(c): return EvalScriptOutcome(outcome='pass', detail='x')"
    )
    project.run()
    shutil.rmtree(project.root / "suite")

    assert 1.0 == project.grade().json["mean"]


def test_a_shared_module_stores_its_scripts_too(project: Project) -> None:
    """Where the module does not lie in the test's own folder, the script and its imports are still there."""
    project.write("evals/graders.py", SUITE)
    project.write("evals/graders/status_result.py", "import near\ngrade = near.grade")
    project.write(
        "evals/graders/near.py", HEAD + "def grade(c): return EvalScriptOutcome(outcome='pass', detail='x')"
    )
    project.write("evals/suite.json", {"inputs": [{"id": "t", "input": "x", "graders": "graders.py"}]})
    said = project("run", "agent.py", "--suite", "evals/suite.json", "--out", "group")
    assert 0 == said.code, said.err
    shutil.rmtree(project.root / "evals")

    assert 1.0 == project.grade().json["mean"]


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("./graders/none.py", "a grader names the file 't/graders/none.py', and there is no such file"),
        ("../../outside.py", "outside their suite"),
        ("./link.py", "outside their suite"),
        ("/absolute.py", "script is a path relative to the module that names it"),
    ],
)
def test_a_script_that_cannot_be_stored_is_found_before_the_run(
    project: Project, script: str, said: str
) -> None:
    """It may not leave the suite, nor through a link."""
    outside = project.write("outside.py", "x = 1")
    project.test("t", f"from proctor.eval import expect_outcome\ngraders = expect_outcome(script={script!r})")
    if "link" in script:
        (project.root / "suite/t/link.py").symlink_to(outside)
    answer = project.run()

    assert (1, "") == (answer.code, answer.out)
    assert said in answer.err
    assert not (project.root / "group").exists()


def test_a_script_stands_in_a_list_with_other_graders(project: Project) -> None:
    """One kind of grader: names, weights and gates combine as ever."""
    module = """
        from proctor import FileExists
        from proctor.eval import expect_outcome

        graders = [
            expect_outcome(script="status.py", name="healthy", must_pass=False),
            expect_outcome(script="./status.py", name="twice", weight=3, must_pass=False),
            FileExists(path="result.json", must_pass=True),
        ]
    """
    project.write("agent.py", "from pathlib import Path\ndef main(t): Path('result.json').write_text('{}')")
    project.test("t", module)
    project.write("suite/t/status.py", SAMPLE)
    project.run()
    said = project.grade()

    assert (0, pytest.approx(0.2)) == (said.code, said.json["mean"])  # (0*1 + 0*3 + 1) / 5


@pytest.mark.parametrize("kind", ["no grade", "syntax", "import"])
def test_a_script_that_cannot_grade_is_warned_about_before_the_run(project: Project, kind: str) -> None:
    """The run goes on, and its grade will say the same."""
    body, said = TABLE[kind]
    project.test("t", SUITE)
    project.write("suite/t/graders/status_result.py", HEAD + body)
    answer = project.run()

    assert 0 == answer.code
    assert "proctor: warning: t/graders.py: grader 'status_result': " in answer.err
    assert said in answer.err
