"""`proctor init`: what it writes runs and grades as it stands, and nothing of anybody's is touched."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from proctor.scaffolds import KINDS, SERVICES, scaffold
from proctor.schemas import schema
from tests.conftest import Project

ROOT = Path(__file__).parents[2]
PROGRAMS = Path(sys.executable).parent


def typed(line: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """A line as somebody types it into a shell."""
    path = f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-c", line],
        cwd=folder,
        env={**os.environ, "PATH": path, **variables},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def next_lines(said: str) -> list[str]:
    """The commands that `init` printed."""
    return [line.strip() for line in said.partition("next:\n")[2].splitlines()]


def tree(folder: Path) -> dict[str, bytes | None]:
    """Everything in a folder, files with what they hold."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
        if "__pycache__" not in path.parts
    }


@pytest.mark.parametrize("kind", ["function", "command"])
def test_what_is_printed_can_be_typed_and_everything_passes(project: Project, kind: str) -> None:
    """Line by line, in a new folder: the graders are proven, the agent runs, and every test passes."""
    said = project("init", "new place", "--agent", kind)
    lines = next_lines(said.out)
    done = [typed("; ".join([lines[0], line]), project.root) for line in lines[1:]]
    report = typed("proctor list runs --json", project.root / "new place")

    assert (0, "cd 'new place'") == (said.code, lines[0])
    assert [0, 0, 0] == [one.returncode for one in done], "\n".join(one.stdout + one.stderr for one in done)
    assert "3 tests: 3 ok, 0 broken, 0 unclear" in done[0].stdout
    assert {"pass"} == {run["outcome"] for run in json.loads(report.stdout)["groups"][0]["runs"]}


def test_an_agent_that_is_wrong_is_found(project: Project) -> None:
    """The suite is no decoration: with an agent that does nothing, its gates fail."""
    project("init", "there")

    assert 2 == typed("proctor run noop --grade", project.root / "there").returncode


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_to_be_edited_is_marked(project: Project, kind: str) -> None:
    """In the agent or the artifact, and in the tests; the README names the command that was printed."""
    said = project("init", "there", "--agent", kind)
    marked = {name for name, content in tree(project.root / "there").items() if b"EDIT" in (content or b"")}
    own = {"function": "agent.py", "command": "agent.sh"}.get(kind, "artifact/skills/totals/SKILL.md")

    assert {own, "evals/capital/test.yaml", "evals/reply/test.yaml"} == marked
    assert next_lines(said.out)[2] in (project.root / "there/evals/README.md").read_text()
    assert not [name for name, content in tree(project.root / "there").items() if b"{{" in (content or b"")]


def test_its_python_is_strictly_typed_and_clean(project: Project) -> None:
    """pyright in strict mode and ruff have nothing to say."""
    project("init", "there")
    folder = project.root / "there"
    settings = {
        "typeCheckingMode": "strict",
        "venvPath": str(Path(sys.prefix).parent),
        "venv": Path(sys.prefix).name,
        "extraPaths": [str(ROOT / "src")],
    }
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    checked = typed("pyright --outputjson", folder)
    linted = typed("ruff check --isolated --select A,ANN,B,C4,E,F,I,N,PTH,RET,RUF,S,SIM,UP,W .", folder)
    formatted = typed("ruff format --isolated --check .", folder)

    assert [] == json.loads(checked.stdout)["generalDiagnostics"]
    assert 4 == json.loads(checked.stdout)["summary"]["filesAnalyzed"]
    assert (0, 0) == (linted.returncode, formatted.returncode), linted.stdout + formatted.stdout


def test_an_editor_finds_the_schema_of_every_file_offline(project: Project) -> None:
    """Each names one by a path that is there; it is the published one, and the file matches it."""
    project("init", "there")
    named: dict[str, Any] = {}
    for path in [*(project.root / "there/evals").rglob("*.yaml"), project.root / "there/proctor.toml"]:
        first = path.read_text().splitlines()[0]
        found = re.fullmatch(r"#(?: yaml-language-server: \$schema=|:schema )(\S+)", first)
        assert found, path
        target = path.parent / found[1]
        value: Any = (
            tomllib.loads(path.read_text()) if path.suffix == ".toml" else yaml.safe_load(path.read_text())
        )
        named[target.name] = json.loads(target.read_text())
        jsonschema.Draft202012Validator(named[target.name]).validate(value)

    assert {f"{name}.schema.json": schema(name) for name in ("suite", "test", "settings")} == named


@pytest.mark.parametrize("taken", ["agent.py", "evals/total/files/numbers.txt", "runs/.gitignore"])
def test_nothing_is_written_where_one_of_its_files_is_there(project: Project, taken: str) -> None:
    """A file, or a link that leads nowhere; both are named, and the folder stays as it was."""
    folder = project.root / "mine"
    (folder / taken).parent.mkdir(parents=True)
    (folder / taken).write_text("mine")
    (folder / "proctor.toml").symlink_to("nowhere")
    before = tree(folder)
    said = project("init", "mine")

    assert 1 == said.code
    both = ", ".join(sorted([f"mine/{taken}", "mine/proctor.toml"]))
    assert f"proctor: 2 of the files are there already: {both}\n    Nothing was written." in said.err
    assert before == tree(folder)
    assert (folder / "proctor.toml").is_symlink()


def test_what_is_there_is_said_in_one_line(project: Project) -> None:
    """Also of a whole scaffold, whose files are too many to be named; one file alone is said to be it."""
    project("init", "twice")
    project.write("one/agent.py", "mine")
    said, alone = project("init", "twice"), project("init", "one")
    number = len(scaffold("function").files)

    assert (1, 2) == (said.code, len(said.err.splitlines()))
    assert said.err.startswith(f"proctor: {number} of the files are there already: twice/.proctor/")
    assert f" and {number - 5} more\n" in said.err
    assert alone.err.startswith("proctor: one/agent.py  it is there already\n    Nothing was written.")


def test_the_readme_of_a_scaffold_aligns_what_its_commands_are_for() -> None:
    """However long the line is that runs the agent."""
    for kind in KINDS:
        [block] = re.findall(r"```sh\n(.*?)```", scaffold(kind).files["evals/README.md"].decode(), re.DOTALL)
        lines = block.splitlines()

        assert (3, 1) == (len(lines), len({line.index("# ") for line in lines}))


def test_nothing_is_left_where_writing_fails_halfway(project: Project) -> None:
    """Some files are written before the one that cannot be; all of them are taken back, and only they."""
    project.write("mine/evals", "a file, where a folder has to be")
    project.write("mine/notes.txt", "mine")
    before = tree(project.root / "mine")
    said = project("init", "mine")

    assert 1 == said.code
    assert "cannot be written" in said.err
    assert "nothing was written" in said.err
    assert before == tree(project.root / "mine")
    assert 1 == project("init", "agent.py").code
    assert not (project.root / "elsewhere").exists()


def test_settings_are_not_hidden(project: Project) -> None:
    """A proctor.toml would come before those of pyproject.toml; a pyproject.toml without any is no matter."""
    project.write("mine/pyproject.toml", "[tool.proctor]\ntrials = 3\n")
    project.write("free/pyproject.toml", "[tool.other]\ntrials = 3\n")
    refused = project("init", "mine")

    assert (1, ["mine/pyproject.toml"]) == (refused.code, re.findall(r"mine/\S+", refused.err))
    assert 0 == project("init", "free").code


def test_git_passes_over_the_runs_and_over_nothing_else(project: Project) -> None:
    """Also in a clone: what says so is committed."""
    project("init", "there")
    folder = project.root / "there"
    typed("git init --quiet; proctor run agent.py --out runs/first", folder)
    listed = typed("git add --all; git ls-files -- ':!*.pyc'", folder).stdout.split()

    assert sorted(scaffold("function").files) == sorted(listed)


def test_what_was_written_is_told_to_programs(project: Project) -> None:
    """Under a schema of its own."""
    said = project("init", "there", "--agent", "command", "--json").json

    jsonschema.Draft202012Validator(schema("init")).validate(said)
    assert ("there", "command") == (said["folder"], said["agent"])
    assert set(said["files"]) == {path for path, content in tree(project.root / "there").items() if content}
    assert "proctor check" == said["next"][0]


@pytest.mark.parametrize("kind", ["function", "command"])
@pytest.mark.parametrize("service", SERVICES)
def test_what_a_ci_service_is_told_works(project: Project, kind: str, service: str) -> None:
    """Its lines are typed as the service types them, less the installation; the summary and the report are there."""
    project("init", "there", "--agent", kind, "--ci", service)
    folder = project.root / "there"
    name = {"github": ".github/workflows/evals.yml", "gitlab": ".gitlab-ci.yml"}[service]
    written: Any = yaml.safe_load((folder / name).read_text())
    project.write("bin/pip", "#!/bin/sh\n").chmod(0o755)
    summary = project.root / "summary.md"
    variables = {"GITHUB_STEP_SUMMARY": str(summary)}
    job = written["jobs"]["evals"] if service == "github" else written["evals"]
    steps: list[str] = (
        [step["run"] for step in job["steps"] if "run" in step] if service == "github" else job["script"]
    )
    for step in steps:
        done = typed(f'set -eo pipefail; PATH="{project.root}/bin:$PATH"; {step}', folder, **variables)
        assert 0 == done.returncode, f"{step}\n{done.stdout}{done.stderr}"

    assert "pip install proctor" == steps[0]
    assert (folder / "report.xml").read_text().startswith("<?xml")
    assert service == "gitlab" or (folder / "report.md").read_text() == summary.read_text()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("service", SERVICES)
def test_a_ci_file_is_what_its_service_reads(project: Project, kind: str, service: str) -> None:
    """By the schemas that the services publish."""
    checker = shutil.which("check-jsonschema", path=str(PROGRAMS))
    if checker is None:
        pytest.skip("check-jsonschema is not installed")
    project("init", "there", "--agent", kind, "--ci", service)
    name = {"github": ".github/workflows/evals.yml", "gitlab": ".gitlab-ci.yml"}[service]
    builtin = {"github": "vendor.github-workflows", "gitlab": "vendor.gitlab-ci"}[service]
    words = [checker, "--builtin-schema", builtin, str(project.root / "there" / name)]
    if service == "gitlab":
        words += ["--data-transform", "gitlab-ci"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)

    assert 0 == done.returncode, done.stdout
