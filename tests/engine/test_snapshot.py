"""What is stored with a run as its grading code, and that it is enough."""

from __future__ import annotations

import json
import shutil
import zipfile
from pathlib import Path

import pytest

from proctor.engine.snapshot import Snapshot, take, unpack
from proctor.errors import SuiteError
from proctor.records.suite import GradersSource
from tests.conftest import Project


def source(project: Project, module: str, folder: str | None = None) -> GradersSource:
    root = project.root / "suite"
    return GradersSource(root=root, module=root / module, folder=root / folder if folder else None)


def names(taken: Snapshot, into: Path) -> list[str]:
    unpack(taken.archive, into)
    return sorted(path.relative_to(into).as_posix() for path in into.rglob("*") if path.is_file())


def test_it_holds_the_local_modules_that_can_be_imported(project: Project) -> None:
    """However indirectly: siblings, modules at the suite's root, packages, relative imports; nothing else."""
    project.write("suite/t/graders.py", "import near\nfrom pack.inner import thing\nimport json, msgspec\n")
    project.write("suite/t/near.py", "def late():\n    import far\n")
    project.write("suite/far.py", "")
    project.write("suite/pack/__init__.py", "")
    project.write("suite/pack/inner.py", "from . import beside\nfrom .sub import deep as thing\n")
    project.write("suite/pack/beside.py", "")
    project.write("suite/pack/sub.py", "deep = 1")
    project.write("suite/unused.py", "")

    assert [
        "far.py",
        "pack/__init__.py",
        "pack/beside.py",
        "pack/inner.py",
        "pack/sub.py",
        "t/graders.py",
        "t/near.py",
    ] == names(take(source(project, "t/graders.py")), project.root / "out")


def test_it_holds_the_other_files_of_the_tests_folder(project: Project) -> None:
    """But not the fixture, nor the reference solutions' wrong siblings, nor compiled code."""
    project.test("t", "graders = []")
    for name in ("gold.csv", "deep/rubric.md", "files/in.txt", "wrong/lazy.py", "__pycache__/x.pyc"):
        project.write(f"suite/t/{name}", "x")

    assert ["t/deep/rubric.md", "t/gold.csv", "t/graders.py", "t/test.json"] == names(
        take(source(project, "t/graders.py", "t")), project.root / "out"
    )


def test_the_same_files_give_the_same_bytes(project: Project) -> None:
    """Neither time, nor owner, nor folder, nor the order on disk is part of it."""
    project.test("t", "graders = []")
    project.write("suite/t/b.txt", "b")
    first = take(source(project, "t/graders.py", "t"))
    shutil.copytree(project.root / "suite", project.root / "copy" / "suite", copy_function=shutil.copyfile)
    copy = project.root / "copy" / "suite"
    second = take(GradersSource(root=copy, module=copy / "t/graders.py", folder=copy / "t"))

    assert first.archive == second.archive
    assert first.ref == second.ref


def test_a_file_outside_the_suite_is_refused(project: Project) -> None:
    """Also through a link: a run must be gradable without anything else."""
    project.test("t", "graders = []")
    outside = project.write("outside.txt", "x")
    (project.root / "suite/t/link.txt").symlink_to(outside)

    with pytest.raises(SuiteError, match="outside their suite"):
        take(source(project, "t/graders.py", "t"))


def test_graders_that_are_too_large_are_refused(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the file at which the limit was passed."""
    monkeypatch.setattr("proctor.engine.snapshot.LIMIT_BYTES", 2000)
    project.test("t", "graders = []")
    project.write("suite/t/large.bin", "x" * 3000)

    with pytest.raises(SuiteError, match=r"t/large\.bin"):
        take(source(project, "t/graders.py", "t"))


def test_an_archive_cannot_write_outside_its_folder(project: Project) -> None:
    """A run directory may come from anybody."""
    evil = project.root / "evil.zip"
    with zipfile.ZipFile(evil, "w") as archive:
        archive.writestr("../escaped.py", "x")

    with pytest.raises(SuiteError, match="outside their folder"):
        unpack(evil.read_bytes(), project.root / "out")
    assert not (project.root / "escaped.py").exists()


def test_modules_that_only_loading_can_find_are_taken_too(project: Project) -> None:
    """An import by a computed name is in the snapshot, and the run grades without the suite."""
    project.test(
        "t",
        """
        import importlib
        from proctor import grader
        hidden = importlib.import_module("hid" + "den")
        graders = grader(lambda output: hidden.check(output), name="hidden")
        """,
        input="x",
    )
    project.write("suite/t/unused.txt", "")
    project.write("suite/hidden.py", "import deeper\ndef check(output): return deeper.RIGHT == output")
    project.write("suite/deeper.py", "RIGHT = 'x'")
    project.run()
    shutil.rmtree(project.root / "suite")

    assert 1.0 == project.grade().json["mean"]


def test_files_that_a_shared_module_names_are_taken(project: Project) -> None:
    """`data_files` are globs relative to the module, and are there as soon as it is loaded."""
    project.write(
        "suite/graders.py",
        """
        from pathlib import Path
        from proctor import grader
        data_files = ["gold/*.txt"]
        GOLD = (Path(__file__).parent / "gold/a.txt").read_text()
        graders = [grader(lambda output: output == GOLD, name="gold")]
        """,
    )
    project.write("suite/gold/a.txt", "right")
    project.write("suite/suite.json", {"inputs": [{"id": "a", "input": "right", "graders": "graders.py"}]})
    project("run", "agent.py", "--suite", "suite/suite.json", "--out", "group")
    shutil.rmtree(project.root / "suite")

    assert 1.0 == project.grade().json["mean"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('data_files = ["nowhere/*"]', "`data_files` names 'nowhere/*', and there is no such file"),
        ("data_files = [str(1)]", "`data_files` is not a plain list of texts"),
    ],
)
def test_data_files_that_cannot_be_told_are_a_fault(project: Project, line: str, said: str) -> None:
    """With file, line and fix."""
    project.test("t", f"from proctor import *\n{line}\ngraders = [Contains(any_of=['x'])]")
    answer = project.run()

    assert 1 == answer.code
    assert said in answer.err
    assert "graders.py:2" in answer.err


def test_same_named_modules_of_two_tests_never_meet(project: Project) -> None:
    """Each test gets its own sibling, in whichever order they are graded."""
    for name in ("one", "two"):
        project.test(
            name,
            "import shared\nfrom proctor import grader\n"
            "graders = [grader(lambda output: output == shared.NAME, name='mine')]",
            input=name,
        )
        project.write(f"suite/{name}/shared.py", f"NAME = {name!r}")
    project.run()

    assert 1.0 == project.grade().json["mean"]
    assert 1.0 == project.grade("-n", 1).json["mean"]


def test_graders_that_were_changed_after_the_run_are_not_used(project: Project) -> None:
    """The row says so; the number is inconclusive."""
    project.test("t", "from proctor import *\ngraders = [Contains(any_of=['a question'])]")
    project.run()
    (archive,) = (project.root / "group/t/graders").iterdir()
    archive.unlink()
    archive.write_bytes(b"other code")
    said = project.grade()
    (grade,) = said.json["groups"][0]["runs"][0]["grades"]

    assert (3, "graders_unloadable") == (said.code, grade["cause"])
    assert "the archive was changed" in grade["feedback"]


def test_grading_writes_nothing_into_the_run_but_its_rows(project: Project) -> None:
    """No compiled code, no temporary file."""
    project.test("t", "from proctor import *\ngraders = [Contains(any_of=['a question'])]")
    project.run()
    before = {path for path in project.root.rglob("*") if "group" in path.parts}
    project.grade()
    after = {path for path in project.root.rglob("*") if "group" in path.parts}

    assert {project.root / "group/t/annotations.jsonl"} == after - before
    assert not list((project.root / "suite").rglob("__pycache__"))


def test_packages_and_relative_imports_work(project: Project) -> None:
    """A test folder that is a package imports as one."""
    project.write("suite/__init__.py", "")
    project.test(
        "t",
        "from . import near\nfrom proctor import grader\ngraders = grader(lambda output: near.OK, name='g')",
    )
    project.write("suite/t/__init__.py", "")
    project.write("suite/t/near.py", "OK = True")
    project.run()

    assert 1.0 == project.grade().json["mean"]


def test_installed_packages_are_recorded_by_name_and_version(project: Project) -> None:
    """Those that the grading code imports, however late; their code is not copied."""
    from importlib.metadata import version

    project.test("t", "from proctor import *\nimport yaml\ngraders = [Contains(any_of=['a question'])]")
    project.write("suite/t/unused.py", "import pytest")
    project.run()
    facts = json.loads((project.root / "group/t/run.json").read_text())

    assert {"PyYAML": version("pyyaml")} == facts["graders"]["packages"]
