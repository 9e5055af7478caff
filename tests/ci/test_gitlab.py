"""The GitLab template: its very scripts, run job by job as GitLab runs them."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import jsonschema
import pytest
import yaml

from proctor.host.isolation import isolate
from tests.docs.pages import ROOT

TEMPLATE = ROOT / "ci/gitlab/proctor.gitlab-ci.yml"
_INPUT = re.compile(r"\$\[\[ inputs\.(\w+) \]\]")


class Pipeline(NamedTuple):
    """The jobs of the template with some inputs."""

    jobs: Mapping[str, Any]

    def job(self, name: str) -> Mapping[str, Any]:
        """A job with what it extends."""
        own = self.jobs[name]
        return {**self.jobs[own["extends"]], **own}


class JobResult(NamedTuple):
    """What became of a job."""

    code: int
    log: str
    folder: Path


def documents() -> tuple[Any, str]:
    """The inputs that the template declares, and the text below them."""
    header, _, body = TEMPLATE.read_text(encoding="utf-8").partition("\n---\n")
    return yaml.safe_load(header), body


def pipeline(**inputs: object) -> Pipeline:
    """The template with these inputs: GitLab puts them into the values of the parsed file."""
    header, body = documents()
    declared = header["spec"]["inputs"]
    assert set(inputs) <= set(declared)
    known = {name: one["default"] for name, one in declared.items()} | {"install": ""} | inputs

    def filled(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {key: filled(one) for key, one in value.items()}
        if isinstance(value, list):
            return [filled(one) for one in value]
        if not isinstance(value, str):
            return value
        whole = _INPUT.fullmatch(value)
        return known[whole[1]] if whole else _INPUT.sub(lambda found: str(known[found[1]]), value)

    return Pipeline(filled(yaml.safe_load(body)))


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """What every job finds: an agent and a suite of three tests."""
    folder = tmp_path / "checkout"
    (folder / "suite").mkdir(parents=True)
    (folder / "agent.py").write_text(
        "def main(text):\n    if text == 'crash':\n        raise RuntimeError('on purpose')\n    return text\n"
    )
    (folder / "suite/graders.py").write_text(
        "from proctor import Contains\ngraders = [Contains(must_pass=True)]\n"
    )
    write_suite(folder)
    return folder


def write_suite(checkout: Path, **inputs: str) -> None:
    """The suite, with other inputs where they are given."""
    tests = [
        {"id": name, "input": inputs.get(name, name), "expected": name, "graders": "graders.py"}
        for name in "abc"
    ]
    (checkout / "suite/suite.json").write_text(json.dumps({"inputs": tests}))


def play(checkout: Path, job: Mapping[str, Any], name: str, given: list[Path], **more: str) -> JobResult:
    """Run one job in a folder of its own, with the artifacts of those that it needs."""
    folder = checkout.parent / name
    shutil.copytree(checkout, folder)
    for artifact in given:
        shutil.copy(artifact, folder)
    variables = {key: one["value"] for key, one in job["variables"].items()}
    environment = {
        **isolate(os.environ).environment,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        **{key: str(value) for key, value in variables.items()},
        **more,
    }
    script = "\n".join(["set -e", *job["before_script"], *job["script"]])
    done = subprocess.run(
        ["sh", "-c", script],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return JobResult(done.returncode, done.stdout, folder)


def shards_of(checkout: Path, made: Pipeline) -> list[JobResult]:
    """The jobs that run, one a shard."""
    job = made.job("proctor-run")
    return [
        play(
            checkout, job, f"run-{number}", [], CI_NODE_INDEX=str(number), CI_NODE_TOTAL=str(job["parallel"])
        )
        for number in range(1, job["parallel"] + 1)
    ]


def artifacts(result: JobResult, job: Mapping[str, Any]) -> list[Path]:
    """What a job hands on."""
    return [path for pattern in job["artifacts"]["paths"] for path in sorted(result.folder.glob(pattern))]


def test_the_template_is_what_gitlab_asks_of_one() -> None:
    """By GitLab's own schema: the inputs that it declares, and its jobs with some of them."""
    text = files("check_jsonschema").joinpath("builtin_schemas/vendor/gitlab-ci.json").read_text()
    validator: Any = jsonschema.Draft7Validator(json.loads(text))
    header, _ = documents()
    jobs = dict(pipeline(agent="agent.py", shards=3).jobs)

    assert [] == [error.message for error in validator.iter_errors(header)]
    assert [] == [error.message for error in validator.iter_errors(jobs)]


def test_no_input_is_pasted_into_a_script() -> None:
    """It reaches a script as a variable, in which GitLab replaces nothing; each input is used."""
    _, body = documents()
    jobs = yaml.safe_load(body)
    scripts = [
        line for job in jobs.values() for key in ("before_script", "script") for line in job.get(key, [])
    ]

    assert not any("$[[" in line for line in scripts)
    assert all(one["expand"] is False for one in jobs[".proctor"]["variables"].values())
    assert set(documents()[0]["spec"]["inputs"]) == set(_INPUT.findall(body))


def test_shards_are_run_and_graded_together(checkout: Path) -> None:
    """Three jobs and one; the last has the reports."""
    made = pipeline(suite="suite", agent="agent.py:main", shards=2)
    runs = shards_of(checkout, made)
    given = [path for run in runs for path in artifacts(run, made.job("proctor-run"))]
    graded = play(checkout, made.job("proctor-grade"), "grade", given)
    report = json.loads((graded.folder / "report.json").read_text())

    assert [0, 0] == [run.code for run in runs], runs
    assert ["proctor-shard-1-of-2.tar.gz", "proctor-shard-2-of-2.tar.gz"] == [path.name for path in given]
    assert 0 == graded.code, graded.log
    assert (1.0, 3, "passed") == (report["mean"], report["n"], report["decision"]["verdict"])
    assert "testsuites" == ET.parse(graded.folder / "report.xml").getroot().tag
    assert 5 == len(artifacts(graded, made.job("proctor-grade")))


def test_an_agent_that_crashes_is_for_the_last_job_to_judge(checkout: Path) -> None:
    """Its job ends with 4, which the pipeline allows; the grade is red."""
    write_suite(checkout, b="crash")
    made = pipeline(suite="suite", agent="agent.py:main")
    (run,) = shards_of(checkout, made)
    job = made.job("proctor-run")
    graded = play(checkout, made.job("proctor-grade"), "grade", artifacts(run, job))

    assert 4 == run.code
    assert run.code in job["allow_failure"]["exit_codes"]
    assert 2 == graded.code, graded.log
    assert (graded.folder / "report.html").exists()


def test_a_shard_that_is_missing_is_red(checkout: Path) -> None:
    """Its job could not be done, and handed nothing on."""
    made = pipeline(suite="suite", agent="agent.py:main", shards=3)
    runs = shards_of(checkout, made)
    given = [path for run in runs[:2] for path in artifacts(run, made.job("proctor-run"))]
    graded = play(checkout, made.job("proctor-grade"), "grade", given)

    assert 1 == graded.code
    assert "1 of 3 shards is missing: 3/3" in graded.log


def test_demands_and_a_baseline_decide(checkout: Path) -> None:
    """The baseline is the archive that an earlier pipeline kept."""
    made = pipeline(suite="suite", agent="agent.py:main")
    (run,) = shards_of(checkout, made)
    given = artifacts(run, made.job("proctor-run"))
    first = play(checkout, made.job("proctor-grade"), "first", given)
    shutil.copy(first.folder / "proctor-group.tar.gz", checkout / "base.tar.gz")
    demanding = pipeline(suite="suite", agent="agent.py:main", baseline="base.tar.gz", min_pass_rate="0.99")
    second = play(checkout, demanding.job("proctor-grade"), "second", given)
    report = json.loads((second.folder / "report.json").read_text())

    assert 3 == second.code, second.log
    assert {"pass rate", "baseline"} == {one["what"] for one in report["decision"]["demands"]}


@pytest.mark.parametrize("field", ["suite", "agent", "agent_cmd", "trials", "max_cost"])
def test_an_input_is_a_value_and_no_shell(checkout: Path, field: str) -> None:
    """Whatever it holds; nor is it an option."""
    inputs = {"suite": "suite", "agent": "agent.py:main", field: "$(touch pwned); `touch pwned`"}
    (run,) = shards_of(checkout, pipeline(**inputs))

    assert 1 == run.code, run.log
    assert not list(checkout.parent.rglob("pwned"))


def test_an_archive_holds_what_an_upload_would_lose(checkout: Path) -> None:
    """Hidden files, links, and what may be run."""
    (checkout / "agent.py").write_text(
        "import os\n\ndef main(text):\n    os.symlink('nowhere', 'link')\n    open('.hidden', 'w').close()\n"
        "    open('run.sh', 'w').close()\n    os.chmod('run.sh', 0o755)\n    return text\n"
    )
    made = pipeline(suite="suite", agent="agent.py:main")
    (run,) = shards_of(checkout, made)
    (archive,) = artifacts(run, made.job("proctor-run"))
    with tarfile.open(archive) as opened:
        members = {member.name: member for member in opened.getmembers()}

    workdir = "shard-1-of-1/a/workdir"
    assert members[f"{workdir}/link"].issym()
    assert f"{workdir}/.hidden" in members
    assert members[f"{workdir}/run.sh"].mode & 0o100
