"""Grading scripts in TypeScript, JavaScript and as programs: what they are given, what is stored, what they may touch."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from pathlib import Path
from typing import Any, Final

import pytest

from proctor.graders import script_hosts
from proctor.graders.script_hosts import NODE_FOLDER, ScriptHost
from proctor.host.readonly import read_only
from tests.conftest import Project

pytestmark = pytest.mark.skipif(
    shutil.which("node") is None and "CI" not in os.environ, reason="Node.js is not installed here"
)

SEED: Final = """\
// evals/graders/status-result.ts
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { EvalGraderFunction } from 'agent-bundle/eval';

const isHealthy = (value: unknown): boolean => (value as { state?: string } | null)?.state === 'healthy';

const grade: EvalGraderFunction = async ({ fixturePath }) => {
  const result = JSON.parse(await readFile(join(fixturePath, 'result.json'), 'utf8')) as unknown;
  return isHealthy(result)
    ? { detail: 'The compiler service is healthy.', outcome: 'pass' }
    : { detail: 'The compiler service did not report a healthy status.', outcome: 'fail' };
};

export default grade;
"""

TWIN: Final = """\
import json
from proctor.eval import EvalGraderContext, EvalScriptOutcome


async def grade(context: EvalGraderContext) -> EvalScriptOutcome:
    result = json.loads((context.fixture_path / "result.json").read_text())
    if result.get("state") == "healthy":
        return EvalScriptOutcome(outcome="pass", detail="The compiler service is healthy.")
    return EvalScriptOutcome(
        outcome="fail", detail="The compiler service did not report a healthy status."
    )
"""

PROGRAM: Final = """\
#!/bin/sh
workdir=$(sed -n 's/.*"fixturePath": *"\\([^"]*\\)".*/\\1/p')
test -f "$workdir/result.json" || { echo "no such file: result.json" >&2; exit 1; }
if grep -q '"healthy"' "$workdir/result.json"
then echo '{"outcome": "pass", "detail": "The compiler service is healthy."}'
else echo '{"outcome": "fail", "detail": "The compiler service did not report a healthy status."}'
fi
"""

AGENT: Final = """
from pathlib import Path

def healthy(text):
    Path("result.json").write_text('{"state": "healthy"}')

def down(text):
    Path("result.json").write_text('{"state": "down"}')

def silent(text):
    pass
"""


def graded(
    project: Project, scripts: dict[str, str], *, agent: str = "healthy", options: str = ""
) -> list[dict[str, Any]]:
    project.write("agent.py", AGENT)
    calls = ", ".join(f"expect_outcome({name!r}, name={name!r}{options})" for name in scripts)
    project.test("t", f"from proctor.eval import expect_outcome\ngraders = [{calls}]")
    for name, text in scripts.items():
        path = project.root / "suite" / "t" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
    said = project.run(f"agent.py:{agent}")
    assert 0 == said.code, said.err
    return project.grade().json["groups"][0]["runs"][0]["grades"]


@pytest.mark.parametrize("agent", ["healthy", "down", "silent"])
def test_a_grader_of_the_original_and_its_twins_say_the_same(project: Project, agent: str) -> None:
    """The grader as its documentation shows it, unmodified: what it imports as a type alone need not be there."""
    scripts = {
        "graders/status-result.ts": SEED,
        "graders/status_result.py": TWIN,
        "graders/status-result": PROGRAM,
    }
    grades = graded(project, scripts, agent=agent)
    said = {(grade["outcome"], grade["cause"]) for grade in grades}

    assert {
        "healthy": {("pass", None)},
        "down": {("fail", None)},
        "silent": {("inconclusive", "EVAL_GRADER_FAILED")},
    }[agent] == said
    print()
    for grade in grades:
        print(
            f"{agent:<9}{grade['grader']:<28}{grade['outcome']:<14}{' '.join(grade['feedback'].split())[:90]}"
        )
    if agent != "silent":
        assert 1 == len({grade["feedback"] for grade in grades})


SEES: Final = {
    "see.ts": """
        import { readdirSync } from 'node:fs';
        enum Outcome { pass = 'pass' }
        export default (c: Record<string, string>) => ({
          outcome: Outcome.pass, detail: JSON.stringify({ ...c, workdir: readdirSync(c.fixturePath), artifact: readdirSync(c.artifactRoot) }), extra: 1,
        });
    """,
    "see.cjs": """
        const { readdirSync } = require('node:fs');
        module.exports = async (c) => ({
          outcome: 'pass', detail: JSON.stringify({ ...c, workdir: readdirSync(c.fixturePath), artifact: readdirSync(c.artifactRoot) }),
        });
    """,
    "see": """#!/usr/bin/env python3
import json, os, sys
c = json.load(sys.stdin)
seen = {**c, "workdir": os.listdir(c["fixturePath"]), "artifact": os.listdir(c["artifactRoot"])}
print(json.dumps({"outcome": "pass", "detail": json.dumps(seen), "extra": 1}))
""",
}


@pytest.mark.parametrize("script", SEES)
def test_a_script_is_given_workdir_prompt_and_artifact(project: Project, script: str) -> None:
    """By the names that the original gives them; further keys of what it returns mean nothing."""
    (grade,) = graded(project, {script: SEES[script]})
    seen = json.loads(grade["feedback"])

    assert {"artifactRoot", "fixturePath", "prompt", "workdir", "artifact"} == set(seen)
    assert ("a question", ["result.json"], []) == (seen["prompt"], seen["workdir"], seen["artifact"])


def test_what_a_script_prints_is_not_its_answer(project: Project) -> None:
    """Standard output belongs to the author; with a failure, its end is kept."""
    grades = graded(
        project,
        {
            "loud.ts": "console.log('{\"outcome\": \"fail\"}'); export default () => ({ outcome: 'pass', detail: 'x' })",
            "sad.ts": "export default () => { console.log('nearly'); throw new Error('x') }",
            "sad": "#!/bin/sh\necho nearly >&2; exit 1",
        },
    )

    assert ["pass", "inconclusive", "inconclusive"] == [grade["outcome"] for grade in grades]
    assert ["nearly" in grade["defect"]["printed"] for grade in grades[1:]] == [True, True]


def test_one_process_serves_many_calls_and_each_call_starts_afresh(tmp_path: Path) -> None:
    """What a module keeps is gone with the call, and nothing need be started for the next one."""
    script = tmp_path / "count.ts"
    script.write_text(
        "let n: number = 0; export default () => ({ outcome: 'pass', detail: `${process.pid} ${++n}` })"
    )
    host = ScriptHost("javascript", dict(os.environ), tmp_path)
    try:
        question = {"script": str(script), "shown": "count.ts", "context": {}}
        said = {host.call(question, 30)["detail"]["text"] for _ in range(5)}
    finally:
        host.end()

    assert 1 == len(said)
    assert said.pop().endswith(" 1")


def test_what_one_script_leaves_behind_is_not_the_next_ones_failure(project: Project) -> None:
    """An error in the background ends the process after the answer; the next script gets a new one."""
    leaves = "export default () => { setTimeout(() => { throw new Error('late') }); return { outcome: 'pass', detail: 'x' } }"
    waits = (
        "export default () => new Promise((r) => setTimeout(() => r({ outcome: 'pass', detail: 'y' }), 100))"
    )
    grades = graded(project, {"a.mjs": leaves, "b.mjs": waits, "c.py": TWIN})

    assert ["pass", "pass", "pass"] == [grade["outcome"] for grade in grades]


def test_a_typescript_grader_is_stored_with_what_it_imports(project: Project) -> None:
    """Files beside it and elsewhere in the suite, JSON included, by the names that TypeScript's authors write."""
    project.write(
        "suite/shared/health.ts",
        "import wanted from './wanted.json'; export const isWanted = (s: string) => s === wanted.state;",
    )
    project.write("suite/shared/wanted.json", '{"state": "healthy"}')
    project.write(
        "suite/t/graders/read.ts",
        "import { readFileSync } from 'node:fs'; export const read = (p: string) => JSON.parse(readFileSync(p, 'utf8'));",
    )
    script = (
        "import { isWanted } from '../../shared/health.js';\nimport { read } from './read';\n"
        "export default (c) => ({ outcome: isWanted(read(c.fixturePath + '/result.json').state) ? 'pass' : 'fail', detail: 'x' })"
    )
    (grade,) = graded(project, {"graders/check.ts": script})
    assert "pass" == grade["outcome"], grade["feedback"]
    shutil.rmtree(project.root / "suite")

    assert 1.0 == project.grade().json["mean"]


def test_a_script_may_not_leave_the_suite(project: Project) -> None:
    """Nor may what it imports: the run must be gradable without anything else."""
    project.write("outside.ts", "export const x = 1")
    project.test("t", "from proctor.eval import expect_outcome\ngraders = expect_outcome('check.ts')")
    project.write("suite/t/check.ts", "import { x } from '../../outside'; export default () => x")
    answer = project.run()

    assert (1, True) == (answer.code, "outside their suite" in answer.err)


@pytest.fixture
def installed(project: Project) -> Project:
    """A project with two packages: one that has `import` alone, and one with a scope."""
    project.write(
        "node_modules/modern/package.json",
        {"name": "modern", "version": "1.2.3", "type": "module", "exports": {".": {"import": "./i.mjs"}}},
    )
    project.write("node_modules/modern/i.mjs", "export default 'modern'")
    project.write(
        "node_modules/@scope/old/package.json", {"name": "@scope/old", "version": "0.4.0", "main": "m.js"}
    )
    project.write("node_modules/@scope/old/m.js", "exports.old = 'old'")
    return project


PACKAGES: Final = (
    "import modern from 'modern'; import { old } from '@scope/old'; import type { T } from 'typed-only';\n"
    "export default () => ({ outcome: 'pass', detail: `${modern} ${old}` })"
)


def test_packages_are_recorded_by_name_and_version(installed: Project) -> None:
    """They are not stored; they are found where one grades, and a missing one says what to install."""
    (grade,) = graded(installed, {"graders/check.ts": PACKAGES})
    facts = json.loads((installed.root / "group/t/run.json").read_text())

    assert ("pass", "modern old") == (grade["outcome"], grade["feedback"])
    assert {"npm:@scope/old": "0.4.0", "npm:modern": "1.2.3"} == facts["graders"]["packages"]
    shutil.rmtree(installed.root / "node_modules/@scope")
    (grade,) = installed.grade().json["groups"][0]["runs"][0]["grades"]
    assert "EVAL_GRADER_FAILED" == grade["cause"]
    assert (
        "Cannot find module '@scope/old'; install it where you grade: npm install @scope/old"
        in grade["feedback"]
    )


def test_without_node_a_grader_in_typescript_says_what_to_install(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the run, as a warning, and in its row."""
    monkeypatch.setenv("PATH", str(project.root))
    (grade,) = graded(project, {"check.ts": SEED})

    assert ("EVAL_GRADER_FAILED", True) == (
        grade["cause"],
        "install Node.js 18 or later" in grade["feedback"],
    )


WRITES: Final = {
    "write.py": "from proctor.eval import EvalScriptOutcome as O\ndef grade(c):\n    (c.fixture_path / 'planted').write_text('x')\n    return O(outcome='pass', detail='written')",
    "write.ts": "import { writeFileSync } from 'node:fs'; export default (c) => { writeFileSync(c.fixturePath + '/planted', 'x'); return { outcome: 'pass', detail: 'written' } }",
    "write": '#!/bin/sh\nworkdir=$(sed -n \'s/.*"fixturePath": *"\\([^"]*\\)".*/\\1/p\')\necho x > $workdir/planted || exit 1\necho \'{"outcome": "pass", "detail": "written"}\'',
}


@pytest.mark.parametrize("has_sandbox", [True, False])
def test_a_script_cannot_change_what_was_recorded(
    project: Project, monkeypatch: pytest.MonkeyPatch, has_sandbox: bool
) -> None:
    """Where there is a sandbox the workdir is read-only; else it has a copy of its own."""
    if has_sandbox and read_only(["/bin/true"], os.environ, writable=[]) is None and "CI" not in os.environ:
        pytest.skip("bubblewrap cannot be used here")
    if not has_sandbox:
        folder = project.root / "bin"
        folder.mkdir()
        for name in ("node", "sh", "sed", "python3"):
            (folder / name).symlink_to(os.path.realpath(shutil.which(name) or ""))
        monkeypatch.setenv("PATH", str(folder))
    grades = graded(project, WRITES)

    assert ["inconclusive" if has_sandbox else "pass"] * 3 == [grade["outcome"] for grade in grades]
    assert ["result.json"] == [path.name for path in (project.root / "group/t/workdir").iterdir()]
    if has_sandbox:
        assert "read-only file system" in grades[0]["feedback"].lower()


def test_a_script_has_a_folder_for_what_is_temporary(project: Project) -> None:
    """It is gone afterwards."""
    scripts = {
        "tmp.py": "import tempfile\nfrom proctor.eval import EvalScriptOutcome as O\ndef grade(c):\n    return O(outcome='pass', detail=tempfile.mkdtemp())",
        "tmp.ts": "import { mkdtempSync } from 'node:fs'; import { tmpdir } from 'node:os'; export default () => ({ outcome: 'pass', detail: mkdtempSync(tmpdir() + '/x') })",
        "tmp": '#!/bin/sh\necho "{\\"outcome\\": \\"pass\\", \\"detail\\": \\"$(mktemp -d)\\"}"',
    }
    grades = graded(project, scripts)

    assert ["pass"] * 3 == [grade["outcome"] for grade in grades], grades
    assert [] == [grade["feedback"] for grade in grades if Path(grade["feedback"]).exists()]


VENDORED: Final = {
    "LICENSE": "46231df5a7733c3f52f11b71f3df61813007745b62b09031acfb45fb42d75082",
    "package.json": "aab8aafc42d9aeec14a6e2fe0e15ea1514c0c205a624055a7e776f2ec456283c",
    "lib/jiti.mjs": "48a7909df16a2a93e814d2c7a6f105eea7b291ae6bcb968fb2ca21a37cb61b1e",
    "dist/babel.cjs": "b3bc89a8dc40860fb6a7a78512bdfe5976c6253e6ded74b7d96ece803cac8701",
    "dist/jiti.cjs": "a0b3b8d5e06a0519c66b62179e29200533057920f6f11370546e979dacd24c49",
}
"""Files of jiti 2.7.0 as they are published, with their licence."""


def test_jiti_is_the_one_that_was_published() -> None:
    """Nothing was changed in it, and nothing else lies beside it."""
    folder = NODE_FOLDER / "jiti"
    found = {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }

    assert VENDORED == found
    assert "2.7.0" == json.loads((folder / "package.json").read_text())["version"]
    assert script_hosts.NODE_FOLDER.is_relative_to(Path(script_hosts.__file__).parent)
