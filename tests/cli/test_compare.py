"""`proctor compare`, `proctor grade --baseline` and thresholds: what they print, and what they tell the shell."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import subprocess
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

import msgspec
import pytest

import proctor
from tests.conftest import Project

AGENTS = """
def base(text):
    return text if int(text) % 2 else "no"

def good(text):
    return text

def bad(text):
    return "no"
"""
GRADERS = "from proctor import ExactMatch\n\ngraders = [ExactMatch(must_pass=GATE)]\n"


pytestmark = pytest.mark.xdist_group("compare")  # the groups are made once


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight tests, and the groups `base` (odd numbers right), `good` (all right) and `bad` (all wrong)."""
    root = tmp_path_factory.mktemp("made")
    for n in range(8):
        write_test(root, n, is_gate=False)
    (root / "agent.py").write_text(AGENTS)
    for name in ("base", "good", "bad"):
        subprocess.run(
            [
                sys.executable,
                "-m",
                "proctor",
                "run",
                f"agent.py:{name}",
                "--suite",
                "suite",
                "--out",
                name,
                "--grade",
            ],
            cwd=root,
            check=True,
            capture_output=True,
        )
    return root


@pytest.fixture
def groups(project: Project, made: Path) -> Project:
    """A copy of them, to do with as one likes."""
    shutil.copytree(made, project.root, dirs_exist_ok=True)
    return project


def write_test(root: Path, n: int, *, is_gate: bool) -> None:
    folder = root / "suite" / f"t{n}"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "test.json").write_text(json.dumps({"input": str(n), "expected": str(n)}))
    (folder / "graders.py").write_text(GRADERS.replace("GATE", str(is_gate)))


def test_compare_says_the_verdict_then_the_numbers_then_what_would_settle_it(groups: Project) -> None:
    """The whole output but for the times; it cannot be told, exit code 3."""
    said = groups("compare", "base", "good")
    lines = [line for line in said.out.splitlines() if not line.startswith("time, s")]

    assert (3, "") == (said.code, said.err)
    assert [
        "cannot tell: good against base; objective +0.500, 95% +0.013 to +0.785",
        "",
        "  BASE  CANDIDATE  DIFFERENCE  95%  P  TESTS  VERDICT",
        "objective  0.500  1.000  +0.500  +0.013 to +0.785  0.125  8  cannot tell",
        "pass rate  0.500  1.000  +0.500  +0.013 to +0.785  0.125  8  cannot tell",
        "grader exact-match  0.500  1.000  +0.500  +0.013 to +0.785  0.125  8  cannot tell",
        "",
        "8 tests compared, 0 left out",
        "  unrecorded: host-version in 8 of 8 tests",
        "  unrecorded: model in 8 of 8 tests",
        "a true difference of 0.801 would be found four times of five",
        "about 4 more tests would settle it, if what was seen is true (margin 0.02)",
    ] == [re.sub(" {2,}", "  ", line) for line in lines]


@pytest.mark.parametrize(
    ("words", "code", "verdict"),
    [
        (("bad", "good"), 0, "better"),
        (("good", "bad"), 2, "worse"),
        (("good", "good", "--margin", "0.5"), 0, "same"),
        (("base", "good"), 3, "cannot tell"),
        (("base", "good", "--fail-on", "worse"), 0, "cannot tell"),
        (("good", "bad", "--fail-on", "worse"), 2, "worse"),
        (("good", "good", "bad", "--margin", "0.5"), 2, "worse"),
        (("bad", "good", "--confidence", "0.999"), 3, "cannot tell"),
    ],
)
def test_the_verdict_is_the_same_in_text_json_and_exit_code(
    groups: Project, words: tuple[str, ...], code: int, verdict: str
) -> None:
    """Better and same are 0, worse is 2, and what cannot be told is 3 unless only worse counts."""
    text, as_json = groups("compare", *words), groups("compare", *words, "--json")
    document = json.loads(as_json.out)

    assert (code, code, code) == (text.code, as_json.code, document["exit_code"])
    assert ("proctor.comparison/1", verdict) == (document["schema"], document["verdict"])
    assert f"{verdict}: " in text.out or f"all candidates: {verdict}" in text.out


def test_other_graders_are_refused_and_the_way_out_is_said(groups: Project) -> None:
    """Grade both with one set, and compare again."""
    for n in range(8):
        write_test(groups.root, n, is_gate=True)
    groups("grade", "good", "--suite", "suite")
    said = groups("compare", "bad", "good")

    assert 3 == said.code
    assert "cannot tell: good against bad; nothing could be compared" in said.out
    assert "  left out: t0: graders different" in said.out
    assert "`proctor grade BASE CANDIDATE --suite S`" in said.out
    assert 0 == groups("compare", "bad", "good", "--allow", "graders").code
    groups("grade", "bad", "--suite", "suite")
    assert 0 == groups("compare", "bad", "good").code


def test_a_required_facet_that_nobody_recorded_leaves_out(groups: Project) -> None:
    """A function does not say its model."""
    said = groups("compare", "bad", "good", "--require", "model")

    assert 3 == said.code
    assert "model unrecorded" in said.out


def test_a_comparison_from_python_is_the_record_that_the_command_prints(groups: Project) -> None:
    """Each option under its own name."""
    words = (
        "--margin",
        "0.05",
        "--confidence",
        "0.9",
        "--correction",
        "bh",
        "--require",
        "host",
        "--allow",
        "test",
    )
    said = groups("compare", "base", "good", "bad", *words, "--fail-on", "worse", "--json")
    found = proctor.compare(
        "base",
        "good",
        Path("bad"),
        margin=0.05,
        confidence=0.9,
        correction="bh",
        require=["host"],
        allow=["test"],
        fail_on="worse",
    )

    assert said.json == json.loads(msgspec.json.encode(found))
    assert (0, "cannot tell") == (said.code, found.verdict) == (found.exit_code, said.json["verdict"])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"margin": -0.1}, "the margin is -0.1"),
        ({"confidence": 95}, "the confidence is 95"),
        ({"correction": "none"}, "there is no correction 'none'"),
        ({"fail_on": "cannot tell"}, "fail_on is 'cannot tell'"),
        ({"require": ["weather"]}, "there is no facet 'weather'"),
        ({"require": ["model"], "allow": ["model"]}, "'model' must be equal and may differ"),
    ],
)
def test_what_python_asks_of_a_comparison_is_checked_as_the_command_line_is(
    groups: Project, given: dict[str, Any], said: str
) -> None:
    """By a sentence that says what could be given instead."""
    with pytest.raises(proctor.ProctorError, match=said):
        proctor.compare("base", "good", **given)


def test_a_comparison_with_nothing_is_refused(groups: Project) -> None:
    """A base alone compares with nobody."""
    with pytest.raises(proctor.ProctorError, match="nothing is compared"):
        proctor.compare("base")


def test_a_facet_cannot_be_required_and_allowed(groups: Project) -> None:
    """That is a mistake of the one who types."""
    said = groups("compare", "bad", "good", "--require", "model", "--allow", "model")

    assert (1, "proctor: 'model' must be equal and may differ\n") == (
        said.code,
        said.err.splitlines(keepends=True)[0],
    )


def test_without_scipy_it_says_how_to_install_it(groups: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything is graded."""
    find = importlib.util.find_spec

    def found(name: str, package: str | None = None) -> ModuleSpec | None:
        return None if name == "scipy" else find(name, package)

    monkeypatch.setattr(importlib.util, "find_spec", found)
    for words in (("compare", "bad", "good"), ("grade", "good", "--baseline", "bad")):
        said = groups(*words)
        assert 1 == said.code
        assert "pip install 'proctor[stats]'" in said.err
        assert "" == said.out


@pytest.mark.parametrize(
    ("words", "code", "verdict", "outcome"),
    [
        (("good", "--min-pass-rate", "0.6"), 0, "passed", "reached"),  # 8 of 8: 0.676 to 1
        (("good", "--min-pass-rate", "0.7"), 3, "cannot tell", "cannot tell"),
        (("good", "--min-pass-rate", "0.7", "--confidence", "0.8"), 0, "passed", "reached"),  # 0.830 to 1
        (("bad", "--min-pass-rate", "0.4"), 2, "failed", "missed"),  # 0 to 0.324
        (("bad", "--min-objective", "0.4"), 2, "failed", "missed"),
        (("good", "--min-objective", "0.6"), 0, "passed", "reached"),
        (("good", "--baseline", "bad"), 0, "passed", "reached"),
        (("bad", "--baseline", "good"), 2, "failed", "missed"),
        (("good", "--baseline", "base"), 3, "cannot tell", "cannot tell"),
        (("good", "--baseline", "base", "--fail-on", "worse"), 0, "passed", "reached"),
    ],
)
def test_a_demand_is_decided_on_the_interval(
    groups: Project, words: tuple[str, ...], code: int, verdict: str, outcome: str
) -> None:
    """Reached above, missed below, and else it cannot be told; text, JSON and exit code agree."""
    text, as_json = groups("grade", *words), groups("grade", *words, "--json")
    decision = json.loads(as_json.out)["decision"]

    assert (code, code, code) == (text.code, as_json.code, decision["exit_code"])
    assert (verdict, [outcome]) == (decision["verdict"], [one["outcome"] for one in decision["demands"]])
    assert text.out.endswith(f"verdict: {verdict}, exit code {code}\n")


def test_a_grading_without_demands_prints_no_verdict_and_still_decides(groups: Project) -> None:
    """Gates alone: the JSON says what they come to."""
    assert "verdict" not in groups("grade", "good").out
    assert {"verdict": "passed", "exit_code": 0, "demands": []} == json.loads(groups.grade(path="good").out)[
        "decision"
    ]


def test_groups_that_share_tests_have_no_interval_to_decide_on(groups: Project) -> None:
    """Their means depend on each other, and so it cannot be told."""
    said = groups("grade", "good", "bad", "--min-pass-rate", "0.1")

    assert 3 == said.code
    assert "pass rate at least 0.1: cannot tell; 0.500 over 16 tests, no interval" in said.out


@pytest.mark.parametrize("words", [("--min-pass-rate", "1.5"), ("--confidence", "1"), ("--margin", "x")])
def test_numbers_that_make_no_sense_are_refused(groups: Project, words: tuple[str, str]) -> None:
    """With what would."""
    said = groups("grade", "good", *words)

    assert 1 == said.code
    assert "is no number" in said.err
