"""The GitHub Action: its very steps, run as a runner runs them."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.host.isolation import isolate
from proctor.records.exits import ExitCode, worse
from tests.ci.runner import Runner, action, annotations_of, outputs_of, script
from tests.docs.pages import ROOT

evaluate, summary = script("evaluate"), script("summary")

GRADERS = "from proctor import Contains\ngraders = [Contains(must_pass=True)]\n"
HOSTILE = (
    "::error file=etc/passwd::injected\n::add-mask::a\n##[error]injected\n"
    "verdict=passed\nexit-code<<X\n0\nX\n%0A::error::x <script>alert(1)</script>\n| a | b |\n```\n"
)
AGENT = """
import os
import sys

HOSTILE = {hostile!r}

def main(text):
    print(HOSTILE)
    print(sorted(name for name in os.environ if name.startswith(("GITHUB_", "INPUT_", "ACTIONS_"))))
    if text == "hostile":
        return HOSTILE
    if text == "crash":
        raise RuntimeError("on purpose")
    return text
"""


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    """A workspace with an agent, and a runner that stands there."""
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "agent.py").write_text(AGENT.format(hostile=HOSTILE))
    return Runner(workspace, tmp_path / "temp", isolate(os.environ).environment)


def write_suite(runner: Runner, **tests: str) -> None:
    """A suite of tests: what each is given is what is looked for, unless it says `wrong`."""
    for name, text in tests.items():
        folder = runner.workspace / "suite" / name
        folder.mkdir(parents=True)
        expected = "right" if text in ("wrong", "hostile") else text
        (folder / "test.json").write_text(json.dumps({"input": text, "expected": expected}))
        (folder / "graders.py").write_text(GRADERS)


def test_the_action_is_what_github_asks_of_one() -> None:
    """By GitHub's own schema."""
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-actions"]
    done = subprocess.run([*command, str(ROOT / "action.yml")], capture_output=True, text=True, check=False)

    assert 0 == done.returncode, done.stdout + done.stderr


def test_the_scripts_are_clean() -> None:
    """shellcheck finds nothing in them."""
    scripts = sorted(map(str, (ROOT / "ci").rglob("*.sh")))
    command = [str(Path(sys.executable).parent / "shellcheck"), *scripts]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert (0, "") == (done.returncode, done.stdout)
    assert len(scripts) > 1


def test_no_input_is_pasted_into_a_script() -> None:
    """Whatever an input holds, it reaches a script as a variable; each input is used, and none that is not declared."""
    made = action()
    used = set(re.findall(r"inputs\.([\w-]+)", json.dumps(made["runs"])))

    assert [] == [step["name"] for step in made["runs"]["steps"] if "${{" in step.get("run", "")]
    assert set(made["inputs"]) == used


def test_the_scripts_order_exit_codes_as_proctor_does() -> None:
    """Of a run and a grading, the worse one counts."""
    codes = [code for code in ExitCode if code is not ExitCode.OUR_FAULT]

    assert all(worse(one, other) == evaluate.worse(one, other) for one in codes for other in codes)
    assert 70 == evaluate.worse(70, 1) == evaluate.worse(0, 70)


@given(st.text(), st.text())
def test_no_text_of_an_agent_can_end_an_annotation(title: str, message: str) -> None:
    """It is one line, and comes back as it was, whatever separators it holds."""
    line = f"::error file=a,title={evaluate.escaped(title, ':,')}::.{evaluate.escaped(message)}."
    (found,) = annotations_of(line)

    assert ({"file": "a", "title": title}, f".{message}.") == found


@given(st.dictionaries(st.from_regex(r"[a-z-]+", fullmatch=True), st.text()))
def test_no_value_can_make_another_output(values: dict[str, str]) -> None:
    """What was written is what a runner reads, nothing else."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "output"
        evaluate.write_outputs(values, str(file))

        assert values == (outputs_of(file.read_bytes().decode()) if values else {})


@given(st.text(max_size=3000), st.integers(200, 3000))
def test_the_summary_fits_the_page(text: str, room: int) -> None:
    """What does not fit is left out, and that is said."""
    fitted = summary.fitting(text, room)

    assert len(fitted.encode()) <= room
    assert fitted == text or (
        fitted.endswith("in the reports of the job.*\n") and text.startswith(fitted[:1])
    )


def test_a_suite_that_passes_is_green(runner: Runner) -> None:
    """Outputs, reports, the page and the archive are there."""
    write_suite(runner, a="one", b="two")
    job = runner.uses({"suite": "suite", "agent": "agent.py:main", "trials": "2"})

    assert 0 == job.code, job.log
    assert {
        "exit-code": "0",
        "verdict": "passed",
        "mean": "1.0",
        "pass-rate": "1.0",
        "group": "runs/ci",
        "archive": "proctor-group.tar.gz",
        "report-json": "proctor-report/report.json",
        "report-junit": "proctor-report/report.xml",
        "report-markdown": "proctor-report/report.md",
        "report-html": "proctor-report/report.html",
    } == job.outputs
    assert [] == job.annotations
    assert (runner.workspace / job.outputs["report-markdown"]).read_text() + "\n" == job.summary
    assert ET.parse(runner.workspace / job.outputs["report-junit"]).getroot().tag == "testsuites"
    with tarfile.open(runner.workspace / job.outputs["archive"]) as archive:
        assert "./ci/a--1/run.json" in archive.getnames()


def test_a_gate_that_fails_is_red_and_marked_where_the_test_is(runner: Runner) -> None:
    """The step has proctor's exit code, after everything else was written."""
    write_suite(runner, a="one", b="wrong")
    job = runner.uses({"suite": "suite", "agent": "agent.py:main"})

    assert (2, "2", "failed", "0.5") == (
        job.code, job.outputs["exit-code"], job.outputs["verdict"], job.outputs["mean"],
    )  # fmt: skip
    marked, whole = job.annotations
    assert {"file": "suite/b/test.json", "title": "proctor: b, trial 1"} == marked.properties
    assert marked.message.startswith("contains: ")
    assert "A gate failed" in whole.message
    assert "failed" in job.summary


def test_a_project_in_a_folder_of_the_repository(runner: Runner) -> None:
    """Paths of outputs begin at the workspace, whatever the folder of the project is."""
    write_suite(runner, a="wrong")
    project = runner.workspace / "tools/agent"
    project.mkdir(parents=True)
    for name in ("suite", "agent.py"):
        (runner.workspace / name).rename(project / name)
    job = runner.uses({"suite": "suite", "agent": "agent.py:main", "working-directory": "tools/agent"})

    assert "tools/agent/runs/ci" == job.outputs["group"]
    assert "tools/agent/suite/a/test.json" == job.annotations[0].properties["file"]
    assert (runner.workspace / job.outputs["report-html"]).exists()
    assert job.summary


def test_what_cannot_be_told_is_not_green(runner: Runner) -> None:
    """A grader that breaks says nothing about the agent: 3."""
    write_suite(runner, a="one")
    (runner.workspace / "suite/a/graders.py").write_text(
        "from proctor import grader\n\n@grader(must_pass=True)\ndef broken(output):\n    raise ValueError('no')\n"
        "graders = [broken]\n"
    )
    job = runner.uses({"suite": "suite", "agent": "agent.py:main"})

    assert (3, "cannot tell", "") == (job.code, job.outputs["verdict"], job.outputs["mean"])
    assert "Inconclusive" in job.annotations[-1].message


def test_demands_and_a_baseline_decide(runner: Runner) -> None:
    """A baseline is a group or its archive; what misses a demand is red."""
    write_suite(runner, a="one", b="two", c="three")
    first = runner.uses({"suite": "suite", "agent": "agent.py:main", "out": "runs/base"})
    (runner.workspace / "proctor-group.tar.gz").rename(runner.workspace / "base.tar.gz")
    same = runner.uses(
        {
            "suite": "suite",
            "agent": "agent.py:main",
            "baseline": "base.tar.gz",
            "grade-args": "--margin 0.9 --fail-on worse",
        }
    )
    missed = runner.uses(
        {"suite": "suite", "agent": "agent.py:main", "out": "runs/third", "min-pass-rate": "0.99"}
    )

    assert (0, 0) == (first.code, same.code), same.log
    assert "baseline" in same.summary
    assert (3, "cannot tell") == (missed.code, missed.outputs["verdict"])


def test_hostile_output_is_text_everywhere(runner: Runner) -> None:
    """No command to the runner, no output, no element of the page; the files of the runner are not shown to the agent."""
    write_suite(runner, a="hostile", b="crash")
    job = runner.uses({"suite": "suite", "agent": "agent.py:main"})
    printed = (runner.workspace / "runs/ci/a/stdout.log").read_text()

    assert (2, "failed") == (job.code, job.outputs["verdict"])
    assert "2" == job.outputs["exit-code"]
    assert {"suite/a/test.json", "suite/b/test.json", None} == {
        one.properties.get("file") for one in job.annotations
    }
    assert "<script>" not in job.summary
    seen = printed.splitlines()[-1]
    assert not re.search(r"GITHUB_(ENV|OUTPUT|PATH|STATE|STEP_SUMMARY)|INPUT_|ACTIONS_", seen), seen


@pytest.mark.parametrize(
    "inputs",
    [
        {"suite": "suite", "agent": "$(touch pwned)"},
        {"suite": '"; touch pwned; "', "agent": "agent.py:main"},
        {"suite": "suite", "agent": "--help"},
        {"suite": "--json", "agent": "agent.py:main"},
        {"suite": "suite", "agent": "agent.py:main", "shard": "$(touch pwned)/2"},
        {"suite": "suite", "agent": "agent.py:main", "out": "../$(touch pwned)`touch pwned`\nverdict=passed"},
    ],
)
def test_an_input_is_a_value_and_no_shell(runner: Runner, inputs: Mapping[str, str]) -> None:
    """Neither a command nor an option, nor another output."""
    write_suite(runner, a="wrong")
    job = runner.uses(inputs)

    assert job.code in (1, 2), job.log
    assert job.outputs["verdict"] in ("not done", "failed")
    assert not list(runner.workspace.parent.rglob("pwned"))


def test_what_cannot_be_done_says_why(runner: Runner) -> None:
    """No suite, no reports: red, with proctor's own words in the log."""
    job = runner.uses({"suite": "nowhere", "agent": "agent.py:main"})

    assert (1, "1", "not done", "") == (
        job.code, job.outputs["exit-code"], job.outputs["verdict"], job.outputs["group"],
    )  # fmt: skip
    assert "nowhere" in job.log
    assert "" == job.summary


def test_what_an_earlier_step_found_says_nothing_about_this_one(runner: Runner) -> None:
    """Neither its report nor its group: the second step of a job finds the group taken, and the third has no suite."""
    write_suite(runner, a="one")
    inputs = {"suite": "suite", "agent": "agent.py:main"}
    first, again = runner.uses(inputs), runner.uses({**inputs, "shard": "1/1", "out": "runs/ci"})
    (runner.workspace / "suite/a/graders.py").unlink()
    demanding = runner.uses({**inputs, "out": "runs/other", "grade-args": "--baseline nowhere"})

    assert (0, "passed") == (first.code, first.outputs["verdict"])
    assert (1, "not done") == (again.code, again.outputs["verdict"])
    assert (1, "not done", "", "") == (
        demanding.code,
        demanding.outputs["verdict"],
        demanding.outputs["mean"],
        demanding.outputs["report-json"],
    )
    assert "" == demanding.summary


def test_shards_are_run_in_jobs_and_graded_in_another(runner: Runner) -> None:
    """Archives go from job to job; the one that merges has the last word. An agent that crashed is for it to judge."""
    write_suite(runner, a="one", b="two", c="crash")
    jobs = [
        runner.uses({"suite": "suite", "agent": "agent.py:main", "shard": f"{number}/2"}) for number in (1, 2)
    ]
    shards = runner.workspace / "shards"
    shards.mkdir()
    for job in jobs:
        (runner.workspace / job.outputs["archive"]).rename(shards / job.outputs["archive"])
    merged = runner.uses({"merge": "shards"})
    part = runner.uses(
        {"merge": "shards/proctor-shard-2-of-2.tar.gz", "allow-missing": "true", "out": "runs/part"}
    )
    refused = runner.uses({"merge": "shards/proctor-shard-2-of-2.tar.gz", "out": "runs/refused"})

    assert [(4, "ran"), (0, "ran")] == [(job.code, job.outputs["verdict"]) for job in jobs], jobs[0].log
    assert "runs/shard-1-of-2" == jobs[0].outputs["group"]
    assert "" == jobs[0].outputs["report-json"]
    assert (2, "failed") == (merged.code, merged.outputs["verdict"])
    assert "3 of 3 planned trials recorded" in merged.log
    assert (3, "cannot tell") == (part.code, part.outputs["verdict"])
    assert (1, "not done") == (refused.code, refused.outputs["verdict"])


def test_a_job_that_is_cancelled_keeps_what_was_finished(runner: Runner) -> None:
    """The signal reaches proctor: what was running is recorded as interrupted, and packed."""
    write_suite(runner, a="one", b="two")
    (runner.workspace / "agent.py").write_text(
        "import time\nfrom pathlib import Path\n\ndef main(text):\n    if text == 'two':\n        time.sleep(120)\n    return text\n"
    )
    output = runner.workspace / "output"
    environment = {
        **isolate(os.environ).environment,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "GITHUB_OUTPUT": str(output),
        "GITHUB_WORKSPACE": str(runner.workspace),
        "INPUT_SUITE": "suite",
        "INPUT_AGENT": "agent.py:main",
    }
    running = subprocess.Popen(
        [sys.executable, ROOT / "ci/github/evaluate.py"],
        cwd=runner.workspace,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    attempts = runner.workspace / "runs/ci/attempts.jsonl"
    deadline = time.monotonic() + 60
    while (
        not (attempts.exists() and attempts.read_text().count("started") == 2) and time.monotonic() < deadline
    ):
        time.sleep(0.05)
    running.send_signal(signal.SIGTERM)

    assert 0 == running.wait(60)
    assert "130" == outputs_of(output.read_text())["exit-code"]
    endings = {
        path.parent.name: json.loads(path.read_text())["ending"]
        for path in (runner.workspace / "runs/ci").glob("*/run.json")
    }
    assert {"a": "ok", "b": "interrupted"} == endings
    assert (runner.workspace / "proctor-group.tar.gz").exists()


@pytest.mark.parametrize(("extras", "code"), [("judge; touch pwned", 1), ("../up", 1)])
def test_extras_are_names(runner: Runner, extras: str, code: int) -> None:
    """Nothing else is handed to pip."""
    job = runner.uses({"extras": extras, "suite": "suite", "agent": "agent.py"}, install=True)

    assert code == job.code
    assert "extras: write names" in job.log


@pytest.mark.slow
def test_the_action_installs_itself(runner: Runner, tmp_path: Path) -> None:
    """Into the environment that the job has, from this repository; then it runs."""
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    write_suite(runner, a="one")
    theirs = {**isolate(os.environ).environment, "PATH": f"{venv / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    other = Runner(runner.workspace, tmp_path / "other", theirs)
    other._environment["PATH"] = theirs["PATH"]
    job = other.uses({"suite": "suite", "agent": "agent.py:main"}, install=True)

    assert 0 == job.code, job.log
    assert (venv / "bin/proctor").exists()
