"""Text, JSON, JUnit, Markdown, the page and the exit code come from one decision."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import NamedTuple
from xml.etree import ElementTree as ET

import pytest

from tests.cli.test_exit_codes import GATE, PASSES, UNCLEAR
from tests.conftest import Project

ENDINGS = ("json", "xml", "md", "html")
VERDICTS = {0: "passed", 2: "failed", 3: "cannot tell", 4: "failed"}


class Situation(NamedTuple):
    """A suite of one grading module, an agent, and what is demanded."""

    graders: str
    expected: str
    code: int
    words: Sequence[str] = ()
    agent: str = "main"
    tests: int = 1
    base: str = ""


SITUATIONS = {
    "every gate passed": Situation(GATE, "q", 0),
    "a bar without a gate was missed": Situation(PASSES, "x", 0),
    "a gate failed": Situation(GATE, "x", 2),
    "an agent crashed before a gate": Situation(GATE, "q", 2, agent="crash"),
    "an agent crashed without a gate": Situation(PASSES, "q", 4, agent="crash"),
    "nothing was measured": Situation(UNCLEAR, "q", 3),
    "a demand was reached": Situation(PASSES, "q", 0, ("--min-pass-rate", "0.2")),
    "a demand was missed": Situation(PASSES, "x", 2, ("--min-pass-rate", "0.9")),
    "a demand cannot be told": Situation(PASSES, "q", 3, ("--min-objective", "0.9")),
    "worse than the baseline": Situation(PASSES, "q", 2, agent="crash", tests=7, base="main"),
    "better than the baseline": Situation(PASSES, "q", 0, tests=7, base="crash"),
    "the baseline cannot be told": Situation(PASSES, "q", 3, base="main"),
    "what cannot be told is let pass": Situation(PASSES, "q", 0, ("--fail-on", "worse"), base="main"),
}


@pytest.mark.parametrize("name", SITUATIONS)
def test_every_form_says_what_the_exit_code_says(project: Project, name: str) -> None:
    """And none of them is green where the exit code is not 0."""
    graders, expected, code, words, agent, tests, base = SITUATIONS[name]
    for n in range(tests):
        project.test(f"t{n}", graders, input="q", expected=expected)
    project.run(f"agent.py:{agent}")
    if base:
        project.run(f"agent.py:{base}", out="base")
        project("grade", "base")
        words = (*words, "--baseline", "base")
    files = [word for ending in ENDINGS for word in ("-o", f"r.{ending}")]
    said = project("grade", "group", *words, *files)
    verdict = VERDICTS[code]

    assert code == said.code
    if words:
        assert f"verdict: {verdict}, exit code {code}" == said.out.splitlines()[-1]
    read = {ending: (project.root / f"r.{ending}").read_text() for ending in ENDINGS}
    decision = json.loads(read["json"])["decision"]
    assert (verdict, code) == (decision["verdict"], decision["exit_code"])
    assert re.match(rf"## \S+ {verdict}, exit code {code}\n", read["md"])
    assert f"<h1>{verdict} <small>exit code {code}</small></h1>" in read["html"]
    root = ET.fromstring(read["xml"])
    told = {one.get("name"): one.get("value") for one in root.findall("testsuite")[-1].iter("property")}
    assert (verdict, str(code)) == (told["verdict"], told["exit-code"])
    (case,) = root.findall("testsuite/testcase[@name='verdict']")
    assert (code == 0) is (case.find("failure") is None and case.find("error") is None)


def test_a_list_of_runs_has_the_verdict_of_their_gates_and_grades_nothing(project: Project) -> None:
    """In every form the same; listing itself is done, whatever they say."""
    project.test("t", GATE, input="q", expected="x")
    project.run()
    graded = project("grade", "group", "-o", "graded.md", "-o", "graded.xml").code
    rows = (project.root / "group" / "t" / "annotations.jsonl").read_bytes()
    said = project(
        "list", "group", "-o", "listed.md", "-o", "listed.xml", "-o", "listed.json", "-o", "l.html"
    )

    assert (2, 0) == (graded, said.code)
    for ending in ("md", "xml"):
        assert (project.root / f"graded.{ending}").read_text() == (
            project.root / f"listed.{ending}"
        ).read_text()
    assert project("list", "group", "--json").out == (project.root / "listed.json").read_text()
    assert rows == (project.root / "group" / "t" / "annotations.jsonl").read_bytes()
