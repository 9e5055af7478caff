"""`-o FILE`: the ending says the form, and the file is there whole or not at all."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import proctor
from proctor.cli.main import main
from proctor.engine.details import details_of
from proctor.errors import UsageError
from proctor.reports import ENDINGS, write_report
from tests.cli.test_exit_codes import GATE, recorded
from tests.conftest import Project
from tests.reports.builders import of, passes


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("grade", "group", "-o", "report.txt"), "'report.txt' ends in no form of a report"),
        (("grade", "group", "-o", "report"), "ends in .json, .xml, .md or .html"),
        (("grade", "group", "-o", "fine.md", "-o", "nowhere/report.md"), "cannot be written"),
        (("grade", "group", "-o", f"{'x' * 300}.md"), "cannot be written: File name too long"),
        (("list", "group", "-o", "report.pdf"), "ends in .json, .xml, .md or .html"),
        (("compare", "group", "group", "-o", "report.xml"), "ends in .json, .md or .html"),
    ],
)
def test_a_file_that_cannot_be_is_refused_before_anything_is_done(
    project: Project, words: tuple[str, ...], what: str
) -> None:
    """No round is written, and no file."""
    recorded(project, GATE)
    said = project(*words)

    assert 1 == said.code
    assert what in said.err
    assert "nothing was done" in said.err
    assert not (project.root / "group" / "t0" / "annotations.jsonl").exists()
    assert not (project.root / "fine.md").exists()


def test_a_folder_is_no_file(project: Project) -> None:
    """Whatever its name ends in."""
    recorded(project, GATE)
    (project.root / "report.html").mkdir()

    assert "is a folder" in project("grade", "group", "-o", "report.html").err


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_report_that_cannot_be_written_leaves_what_was_there(tmp_path: Path, ending: str) -> None:
    """The file is replaced in one step, or not at all."""
    target = tmp_path / f"report{ending}"
    target.write_text("what was there")
    (tmp_path / f".report{ending}.{os.getpid()}.part").mkdir()  # in the way of the new one

    with pytest.raises(UsageError, match="cannot be written"):
        write_report(of(passes()), target)
    assert "what was there" == target.read_text()


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_report_replaces_the_one_before(tmp_path: Path, ending: str) -> None:
    """And leaves nothing beside it."""
    target = tmp_path / f"report{ending.upper()}"
    write_report(of(), target)
    before = target.read_bytes()
    write_report(of(passes()), target)

    assert before != target.read_bytes()
    assert [target] == list(tmp_path.iterdir())


def test_a_report_from_python_is_the_one_of_the_command_line(project: Project) -> None:
    """With a verdict, although nobody asked for a decision."""
    recorded(project, GATE)
    project("grade", "group", "-o", "graded.html", "-o", "graded.xml")
    report = proctor.report("group")
    for ending in ("html", "xml"):
        write_report(report, f"python.{ending}")

        assert Path(f"graded.{ending}").read_bytes() == Path(f"python.{ending}").read_bytes()


def test_details_are_read_from_the_runs_and_cut(project: Project) -> None:
    """Input, output, what was printed to standard error by a run that did not pass, and what is left out."""
    project.write(
        "loud.py",
        """
        import sys

        def main(text):
            print("about to answer", file=sys.stderr)
            return "x" * 5_000
        """,
    )
    project.test("t", GATE, input="a question", expected="y", tags=["tag"])
    project.run("loud.py")
    project("grade", "group")
    (found,) = details_of(proctor.report("group")).values()

    assert found.output is not None
    assert found.input is not None
    assert found.stderr is not None
    assert (4_000, 1_000) == (len(found.output.text), found.output.left_out)
    assert ("a question", "about to answer\n") == (found.input.text, found.stderr.text)
    assert ("suite", ("tag",), "group/t") == (found.suite, found.tags, found.path)


def test_a_run_directory_alone_has_its_details(project: Project) -> None:
    """It is a group of one."""
    recorded(project, GATE)
    (found,) = details_of(proctor.report("group/t0")).values()

    assert "group/t0" == found.path


def test_the_help_of_a_command_that_reports_loads_no_form(capsys: pytest.CaptureFixture[str]) -> None:
    """They are loaded when they are written."""
    import subprocess
    import sys

    code = "import sys, proctor.reports; print([m for m in sys.modules if m.startswith('xml') or m == 'msgspec'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "[]\n" == done.stdout
    with pytest.raises(SystemExit):
        main(["grade", "--help"])
    assert "repeat for more" in capsys.readouterr().out


def test_a_comparison_is_written_in_three_forms(project: Project) -> None:
    """With its own verdict and exit code."""
    recorded(project, GATE, tests=7)
    project("grade", "group")
    project.run("agent.py:crash", out="crashed")
    project("grade", "crashed")
    said = project("compare", "group", "crashed", "-o", "c.md", "-o", "c.html", "-o", "c.json")

    assert 2 == said.code
    assert Path("c.md").read_text().startswith("## ❌ worse, exit code 2\n")
    assert "<h1>worse <small>exit code 2</small></h1>" in Path("c.html").read_text()
    assert "worse" == json.loads(Path("c.json").read_text())["verdict"]


def test_a_name_that_just_fits_is_written(tmp_path: Path) -> None:
    """The hidden name under which it is made is no longer than its own."""
    target = tmp_path / f"{'报' * 83}.json"
    write_report(of(passes()), target)

    assert "proctor.report/1" == json.loads(target.read_text())["schema"]
