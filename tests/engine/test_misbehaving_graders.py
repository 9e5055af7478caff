"""A grader that misbehaves costs itself one inconclusive grade, and nobody else anything.

Each entry stands between two honest graders, in one module, over a real run. What the row says is compared, and
that the honest ones were not touched.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import Project, is_running

MODULE = """
import asyncio, os, re, signal, subprocess, sys, threading, time
from pathlib import Path
from proctor import Grade, grader, inconclusive, scalar

@grader
def before(output):
    return True

{body}

@grader
def after(output, workdir):
    # Everything that a neighbour could have changed is as it was.
    assert "LEFT_BEHIND" not in os.environ
    assert Path.cwd() == Path(__file__).parent
    return True

graders = [before, bad, after]
"""

RAISED, NONSENSE = "grader_raised", "grader_returned_nonsense"
TIMEOUT, DIED = "grader_timeout", "grader_died"

TABLE: dict[str, tuple[str, str, str]] = {
    "raises": ("raise ValueError('on purpose')", RAISED, "ValueError: on purpose"),
    "assertion": ("assert output == 'x', 'not x'", RAISED, "AssertionError: not x"),
    "key error": ("return {}['missing']", RAISED, "KeyError: 'missing'"),
    "sys.exit": ("sys.exit(0)", RAISED, "SystemExit: 0"),
    "keyboard interrupt": ("raise KeyboardInterrupt", RAISED, "KeyboardInterrupt"),
    "recursion": (
        "return bad.function(output, judge)",
        RAISED,
        "RecursionError: maximum recursion depth exceeded",
    ),
    "exception that cannot say itself": (
        "class E(Exception):\n        def __str__(self): raise RuntimeError\n    raise E",
        RAISED,
        "E: (its message raised RuntimeError)",
    ),
    "surrogates in the message": ("raise ValueError('a\\ud800b')", RAISED, "ValueError: a?b"),
    "group": (
        "raise ExceptionGroup('two', [ValueError(1), TypeError(2)])",
        RAISED,
        "ExceptionGroup: two (2 sub-",
    ),
    "memory above its limit": ("x = bytearray(5 << 30)", RAISED, "MemoryError"),
    "nothing": ("pass", NONSENSE, "it returned nothing (None)"),
    "text": ("return 'pass'", NONSENSE, "it returned str 'pass'"),
    "object": ("return {'score': 0.5}", NONSENSE, "it returned dict {'score': 0.5}"),
    "too much": ("return 7", NONSENSE, "a score is a number from 0 to 1, and this is 7.0"),
    "too little": ("return -0.1", NONSENSE, "a score is a number from 0 to 1, and this is -0.1"),
    "nan": ("return float('nan')", NONSENSE, "a score is a number from 0 to 1, and this is nan"),
    "infinity": ("return float('inf')", NONSENSE, "a score is a number from 0 to 1, and this is inf"),
    "feedback no text": ("return Grade(score=0.5, feedback=7)", NONSENSE, "the feedback of a Grade is text"),
    "evidence no json": (
        "return Grade(score=0.5, evidence=object())",
        NONSENSE,
        "the evidence of a Grade is JSON",
    ),
    "endless loop": ("while True: pass", TIMEOUT, "took longer than its timeout of 0.5 s"),
    "sleep": ("time.sleep(60)", TIMEOUT, "took longer than its timeout of 0.5 s"),
    "regular expression": (
        "return bool(re.match(r'(a+)+$', 'a' * 60 + 'b'))",
        TIMEOUT,
        "took longer than its timeout",
    ),
    "catches everything": (
        "while True:\n        try: time.sleep(60)\n        except BaseException: pass",
        TIMEOUT,
        "took longer than its timeout of 0.5 s",
    ),
    "endless coroutine": ("return asyncio.sleep(60)", TIMEOUT, "took longer than its timeout of 0.5 s"),
    "stops itself": (
        "os.kill(os.getpid(), signal.SIGSTOP)",
        TIMEOUT,
        "took longer than its timeout of 0.5 s",
    ),
    "os._exit": ("os._exit(0)", DIED, "ended its own process"),
    "segmentation fault": ("os.kill(os.getpid(), signal.SIGSEGV)", DIED, "ended its own process"),
    "kills its group": ("os.killpg(0, signal.SIGKILL)", DIED, "ended its own process"),
    "says that it cannot tell": ("return inconclusive('no log')", "undecided", "no log"),
    "asks for a judge": ("return judge(goal='x')", "no_judge", "no judge model is configured"),
}

HARMLESS: dict[str, str] = {
    "prints": "print('{\"objective\": 1}'); print('noise', file=sys.stderr); os.write(1, b'raw'); return True",
    "closes stdout": "sys.stdout = None; return True",
    "changes folder": "os.chdir('/'); return True",
    "changes environment": "os.environ['LEFT_BEHIND'] = '1'; return True",
    "forks and comes back twice": "os.fork(); return True",
    "leaves a process": "subprocess.Popen(['sleep', '60']); return True",
    "leaves a thread": "threading.Thread(target=time.sleep, args=(60,), daemon=True).start(); return True",
    "is async": "async def later(): return True\n    return later()",
}


def graded(project: Project, body: str) -> dict[str, Any]:
    source = f"@grader(timeout=0.5)\ndef bad(output, judge):\n    {body}"
    project.test("t", MODULE.format(body=source))
    assert 0 == project.run().code
    said = project.grade()
    (run,) = said.json["groups"][0]["runs"]
    return {grade["grader"]: grade for grade in run["grades"]}


@pytest.mark.parametrize("kind", TABLE)
def test_it_costs_itself_one_inconclusive_grade(project: Project, kind: str) -> None:
    """The row says cause and message; the graders before and after it pass."""
    body, cause, message = TABLE[kind]
    grades = graded(project, body)

    assert ("inconclusive", None, cause) == (
        grades["bad"]["outcome"],
        grades["bad"]["score"],
        grades["bad"]["cause"],
    )
    assert message in grades["bad"]["feedback"]
    assert ("pass", "pass") == (grades["before"]["outcome"], grades["after"]["outcome"])


@pytest.mark.parametrize("kind", HARMLESS)
def test_it_disturbs_nobody(project: Project, kind: str) -> None:
    """Its grade counts, its neighbours' do too, and nothing that it printed is in the report."""
    grades = graded(project, HARMLESS[kind])

    assert {"before": "pass", "bad": "pass", "after": "pass"} == {
        name: grade["outcome"] for name, grade in grades.items()
    }


def test_the_author_sees_the_stack_and_what_was_printed(project: Project) -> None:
    """The stack begins in the author's own file and names no folder of this machine."""
    grades = graded(project, "print('got here'); raise ValueError('on purpose')")
    defect = grades["bad"]["defect"]

    assert ("ValueError", "on purpose", "got here\n") == (
        defect["type"],
        defect["message"],
        defect["printed"],
    )
    assert 'File "t/graders.py", line 12, in bad' in defect["stack"]
    assert "/" + "tmp" not in defect["stack"]
    assert "worker.py" not in defect["stack"]


def test_a_run_with_an_inconclusive_grade_has_bounds_and_exit_code_3(project: Project) -> None:
    """Two of three graders passed: from 2/3 with the third as 0, to 1."""
    source = "@grader\ndef bad(output):\n    raise ValueError"
    project.test("t", MODULE.format(body=source))
    project.run()
    said = project.grade()
    (run,) = said.json["groups"][0]["runs"]

    assert (3, None, {"low": pytest.approx(2 / 3), "high": 1.0}) == (
        said.code,
        run["objective"],
        run["bounds"],
    )


def test_nothing_that_graders_started_is_alive_afterwards(project: Project) -> None:
    """A grader's own children end with its worker."""
    project.test(
        "t",
        """
        import os, subprocess, sys
        from proctor import grader

        @grader
        def leaves(workdir):
            child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
            (workdir / "pid").write_text(str(child.pid))
            return True

        graders = [leaves]
        """,
    )
    project.run()
    project.grade()
    pid = int((project.root / "group/t/workdir/pid").read_text())

    assert not is_running(pid)


def test_state_that_a_grader_keeps_is_not_seen_by_the_next_test(project: Project) -> None:
    """Each run gets its own copy of a grader that holds something."""
    module = """
        from proctor import GraderBase
        from dataclasses import dataclass, field

        @dataclass(frozen=True, kw_only=True)
        class Remembers(GraderBase):
            seen: list = field(default_factory=list)

            def grade(self, run):
                self.seen.append(run.output)
                return len(self.seen) == 1

        graders = [Remembers(name="first-of-its-kind")]
    """
    project.write("suite/graders.py", module)
    tests = [{"id": name, "input": name, "graders": "graders.py"} for name in "abcd"]
    project.write("suite/suite.json", {"inputs": tests})
    project("run", "agent.py", "--suite", "suite/suite.json", "--out", "group")

    assert 1.0 == project.grade().json["mean"]


def test_grading_twice_gives_the_same_result_even_when_a_grader_draws_at_random(project: Project) -> None:
    """Random numbers and the order of sets are the same in every grading of a run."""
    project.test(
        "t",
        """
        import random
        from proctor import grader

        graders = [
            grader(lambda output: random.random(), name="draws", samples=3),
            grader(lambda output: list({"a", "b", "c", "d", "e"}).index("a") / 5, name="order"),
        ]
        """,
    )
    project.run()
    first, second = project.grade().json, project.grade().json

    assert first["groups"][0]["runs"][0]["grades"] == second["groups"][0]["runs"][0]["grades"]
    assert 0 < first["mean"] < 1
