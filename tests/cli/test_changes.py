"""What an agent did to its files is part of the record: for people, for graders, for machines."""

from __future__ import annotations

import json

from proctor.records.json_value import digest_of_bytes
from tests.conftest import Project

EDITS = """
from pathlib import Path

def main(text):
    Path("kept.txt").write_text("kept")
    Path("edited.txt").write_text("new")
    Path("removed.txt").unlink()
    Path("added.txt").write_text("more")
    return "fine"
"""
GRADER = """
from proctor import grader

@grader
def tidy(record):
    changes = record.changes
    return ("added.txt", "edited.txt", "removed.txt") == changes.paths and changes.changed[0].before is not None

graders = [tidy]
"""


def edited(project: Project, *, git: bool = False) -> None:
    project.write("agent.py", EDITS)
    files = {"path": "files", "git": True} if git else "files"
    project.test("t", GRADER, files=files)
    for name in ("kept", "edited", "removed"):
        project.write(f"suite/t/files/{name}.txt", name.removesuffix("ed") if name != "kept" else "kept")
    assert 0 == project.run().code


def test_changes_are_recorded_against_the_fixture(project: Project) -> None:
    """With the digests before and after; the file that was written as it was is none of them."""
    edited(project)
    changes = json.loads((project.root / "group/t/changes.json").read_bytes())
    facts = json.loads((project.root / "group/t/run.json").read_bytes())

    assert ["added.txt"] == [one["path"] for one in changes["added"]]
    assert [("edited.txt", digest_of_bytes(b"edit"), digest_of_bytes(b"new"))] == [
        (one["path"], one["before"], one["after"]) for one in changes["changed"]
    ]
    assert ["removed.txt"] == [one["path"] for one in changes["removed"]]
    assert (True, True) == (facts["has_changes"], "changes.json" in facts["files"])


def test_show_lists_them(project: Project) -> None:
    """The counts, and each with a mark; `--json` has them whole."""
    edited(project)
    said = project("show", "group/t")

    assert (
        "changes  1 added, 1 changed, 1 removed\n  + added.txt\n  ~ edited.txt\n  - removed.txt\n" in said.out
    )
    assert ["edited.txt"] == [
        one["path"] for one in project("show", "group/t", "--json").json["changes"]["changed"]
    ]


def test_graders_read_them(project: Project) -> None:
    """Also of a fixture that is a git repository, whose own files are no change."""
    edited(project, git=True)

    assert 1.0 == project.grade().json["mean"]


def test_a_change_after_the_fact_is_found(project: Project) -> None:
    """`verify` knows the file by its digest."""
    edited(project)
    assert 0 == project("verify", "group").code
    (project.root / "group/t/changes.json").write_text("{}")

    assert "group/t  changes.json  changed\n" in project("verify", "group").out


def test_a_run_without_changes_has_no_such_file(project: Project) -> None:
    """That it was looked at stands in the facts: no changes are not the same as none recorded."""
    project.test(
        "t", "from proctor import grader\ngraders = [grader(lambda record: not record.changes, name='c')]"
    )
    project.run()
    facts = json.loads((project.root / "group/t/run.json").read_bytes())

    assert (True, False) == (facts["has_changes"], (project.root / "group/t/changes.json").exists())
    assert 1.0 == project.grade().json["mean"]
