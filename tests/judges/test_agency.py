"""A judge that is an `.agency` file, with a stand-in for the language's command line and the real Node."""

from __future__ import annotations

import json
import os
import shutil
import textwrap
from typing import Any

import pytest

from proctor.records.json_value import digest_of_bytes
from tests.conftest import Project

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="no Node.js on this machine")

SOURCE = """\
import { lengthOf } from "./lengths.agency"
export node main(goal: string, output: string, expected: string) {
  return { score: 1, reasoning: goal }
}
"""

# What the language's own tool would write: a module whose nodes give { data }.
COMPILED = """\
import { marker } from "agency-lang/runtime";
import { appendFileSync } from "node:fs";
export async function main(goal, output, expected) {
  console.log("the program prints what it likes");
  appendFileSync(process.env.CALLS, JSON.stringify([goal, output, expected]) + "\\n");
  return { data: ANSWER };
}
"""

STAND_IN = """\
#!/bin/sh
[ "$1" = compile ] || exit 64
grep -q 'node main' "$2" || { echo "no node named main" >&2; exit 1; }
echo compiled >> "$COMPILATIONS"
cp "$COMPILED" "${2%.agency}.js"
"""


class Language:
    """An installation of the language as npm makes it: a command that is a link into node_modules."""

    def __init__(self, project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
        root = project.root / "installed"
        package = root / "lib/node_modules/agency-lang"
        package.mkdir(parents=True)
        (package / "package.json").write_text(
            '{"name": "agency-lang", "type": "module", "exports": {"./runtime": "./runtime.js"}}'
        )
        (package / "runtime.js").write_text("export const marker = 1;\n")
        tool = package / "agency.sh"
        tool.write_text(STAND_IN)
        tool.chmod(0o755)
        (root / "bin").mkdir()
        (root / "bin/agency").symlink_to(tool)
        self.calls, self.compilations = root / "calls", root / "compilations"
        self.compiled = root / "compiled.js"
        for name, path in (
            ("CALLS", self.calls),
            ("COMPILATIONS", self.compilations),
            ("COMPILED", self.compiled),
        ):
            monkeypatch.setenv(name, str(path))
        monkeypatch.setenv("PATH", f"{root / 'bin'}:{os.environ['PATH']}")
        monkeypatch.setenv("XDG_CACHE_HOME", str(root / "cache"))
        self.answers("{ score: 0.75, reasoning: `${goal}: ${output}` }")

    def answers(self, expression: str) -> None:
        self.compiled.write_text(COMPILED.replace("ANSWER", expression))

    def asked(self) -> list[Any]:
        return [json.loads(line) for line in self.calls.read_text().splitlines()]


@pytest.fixture
def language(project: Project, monkeypatch: pytest.MonkeyPatch) -> Language:
    return Language(project, monkeypatch)


def judged(project: Project, *words: str, options: str = "", number: int = 1) -> Any:
    module = (
        f'from proctor import LlmJudge\ngraders = LlmJudge(judge_file="tone.agency", goal="kind"{options})'
    )
    for at in range(number):
        project.test(f"t{at}", module, input={"b": at, "a": "x"}, expected="nothing")
        project.write(f"suite/t{at}/tone.agency", SOURCE)
        project.write(f"suite/t{at}/lengths.agency", "export def lengthOf() {}\n")
    if not (project.root / "group").exists():
        assert 0 == project.run().code
    return project.grade(*words)


def test_an_agency_judge_is_compiled_once_and_called_for_each_run(
    project: Project, language: Language
) -> None:
    """It gets three texts; the row names it by its content, and nobody knows what it cost."""
    said = judged(project)

    assert 0 == said.code, said.err
    grade = said.json["groups"][0]["runs"][0]["grades"][0]
    assert (0.75, 'kind: {"a":"x","b":0}') == (grade["score"], grade["feedback"])
    assert [["kind", '{"a":"x","b":0}', "nothing"]] == language.asked()
    row = json.loads((project.root / "group/t0/annotations.jsonl").read_text())
    assert {"kind": "judge", "id": f"tone.agency@{digest_of_bytes(SOURCE.encode())}"} == row["annotator"]
    assert (1, None, None) == (
        row["judging"][0]["calls"],
        row["judging"][0]["cost_usd"],
        row["judging"][0]["model"],
    )


def test_an_answer_is_kept_like_that_of_a_model(project: Project, language: Language) -> None:
    judged(project)
    again = judged(project)

    assert (1, 1) == (len(language.asked()), again.json["groups"][0]["judging"][0]["hits"])
    judged(project, "--no-cache")
    assert 2 == len(language.asked())


@pytest.mark.parametrize(
    ("expression", "options", "cause", "score"),
    [
        ("{ pass: false, reasoning: 'no' }", ", binary=True", None, 0.0),
        ("{ score: 12 }", "", "judge_out_of_range", None),
        ("'fine'", "", "judge_unreadable", None),
        ("undefined", "", "judge_unreadable", None),
        ("(() => { throw new Error('on purpose') })()", "", "judge_broken", None),
    ],
)
def test_what_an_agency_judge_may_say(
    project: Project,
    language: Language,
    expression: str,
    options: str,
    cause: str | None,
    score: float | None,
) -> None:
    """What cannot be read is asked for once more; a program that breaks is not the agent's fault."""
    language.answers(expression)
    grade = judged(project, options=options).json["groups"][0]["runs"][0]["grades"][0]

    assert (cause, score) == (grade["cause"], grade["score"])
    if cause == "judge_broken":
        assert "on purpose" in grade["feedback"]
    elif cause:
        assert 2 == len(language.asked())


def test_a_program_that_does_not_compile_says_so(project: Project, language: Language) -> None:
    module = 'from proctor import LlmJudge\ngraders = LlmJudge(judge_file="tone.agency", goal="kind")'
    project.test("t", module, input="x")
    project.write("suite/t/tone.agency", "nothing here")
    project.run()
    grade = project.grade().json["groups"][0]["runs"][0]["grades"][0]

    assert "judge_broken" == grade["cause"]
    assert "no node named main" in grade["feedback"]


def test_the_command_is_a_setting(
    project: Project, language: Language, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without it, and without an installed one, the grade says what to do."""
    tool = shutil.which("agency")
    assert tool is not None
    monkeypatch.setenv("PATH", os.environ["PATH"].partition(":")[2])
    grade = judged(project).json["groups"][0]["runs"][0]["grades"][0]
    assert ("judge_broken", True) == (grade["cause"], "`agency_cmd`" in grade["feedback"])
    (project.root / "proctor.toml").write_text(f'agency_cmd = "{tool}"\n')

    assert 0.75 == judged(project).json["groups"][0]["runs"][0]["grades"][0]["score"]


@pytest.mark.skipif(shutil.which("agency") is None, reason="the Agency language is not installed")
def test_the_real_language_judges_without_a_model(project: Project) -> None:
    module = 'from proctor import LlmJudge\ngraders = LlmJudge(judge_file="same.agency", goal="the same")'
    project.test("t", module, input="x", expected="x")
    source = """
        export node main(goal: string, output: string, expected: string) {
          const score = if output == expected then 1 else 0
          return { score: score, reasoning: "compared" }
        }
        """
    project.write("suite/t/same.agency", textwrap.dedent(source))
    project.run()

    assert 1.0 == project.grade().json["groups"][0]["mean"]
