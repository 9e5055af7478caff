"""Opening a checklist with groups: lineages, revisions on disk, and files kept in step."""

from __future__ import annotations

import json
import multiprocessing
import subprocess
import sys
from pathlib import Path

import pytest

from proctor.engine.opening import open_checklist
from proctor.errors import StoreError, UsageError
from tests.labelling.builders import AT, checklist_file, make_run


def opened(file: Path, *groups: Path):
    return open_checklist(file, groups, now=AT)


def lineage(file: Path) -> str:
    return json.loads(file.read_text())["checklistId"]


def edit(file: Path, **changes: object) -> None:
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))


def test_the_first_opening_publishes_and_the_second_finds_it(group: Path, checklist: Path) -> None:
    first = opened(checklist, group)
    second = opened(checklist, group)

    assert (("publish",), ("current",)) == (first.openings, second.openings)
    assert first.revision == second.revision
    assert (group / "checklists" / first.revision.checklist / "1.json").is_file()
    assert first.revision.checklist == lineage(checklist)


def test_an_edit_is_published_and_the_file_kept_in_step(group: Path, checklist: Path) -> None:
    one = opened(checklist, group).revision
    questions = json.loads(checklist.read_text())["questions"]
    edit(checklist, questions=[*questions, {"text": "Is it short?"}])
    two = opened(checklist, group).revision

    assert (2, 1, 3) == (two.version, two.parent, len(two.questions))
    assert json.loads(checklist.read_text())["questions"][2]["id"] == two.questions[2].id
    assert one.questions == two.questions[:2]


def test_a_refused_file_changes_nothing(group: Path, checklist: Path) -> None:
    opened(checklist, group)
    questions = json.loads(checklist.read_text())["questions"]
    questions[0]["text"] = "Is it wrong?"
    edit(checklist, questions=questions)
    before = {path: path.read_bytes() for path in [checklist, *group.rglob("*.json")]}
    with pytest.raises(UsageError, match=r"questions\[0\] has another `text`"):
        opened(checklist, group)

    assert before == {path: path.read_bytes() for path in [checklist, *group.rglob("*.json")]}


def test_one_checklist_serves_many_groups(tmp_path: Path, group: Path, checklist: Path) -> None:
    """What is edited with the one is taken over by the other, whichever is named first."""
    other = tmp_path / "other"
    make_run(other, "x")
    opened(checklist, group)
    edit(checklist, questions=[*json.loads(checklist.read_text())["questions"], {"text": "Is it short?"}])
    found = opened(checklist, other, group)

    assert 2 == found.revision.version
    for path in (group, other):
        assert (path / "checklists" / found.revision.checklist / "2.json").is_file()
    assert ("current",) == opened(checklist, other).openings


def test_a_copy_of_a_file_that_is_behind_is_refreshed(tmp_path: Path, group: Path, checklist: Path) -> None:
    opened(checklist, group)
    copy = tmp_path / "copy.json"
    copy.write_bytes(checklist.read_bytes())
    edit(checklist, questions=[*json.loads(checklist.read_text())["questions"], {"text": "Is it short?"}])
    opened(checklist, group)
    found = opened(copy, group)

    assert ("refresh-definition",) == found.openings
    assert json.loads(checklist.read_text()) == json.loads(copy.read_text())


@pytest.mark.parametrize("what", ["changed", "missing"])
def test_a_revision_that_was_tampered_with_is_found(group: Path, checklist: Path, what: str) -> None:
    opened(checklist, group)
    for text in ("Is it short?", "Is it kind?"):
        edit(checklist, questions=[*json.loads(checklist.read_text())["questions"], {"text": text}])
        opened(checklist, group)
    second = group / "checklists" / lineage(checklist) / "2.json"
    if what == "changed":
        second.write_text(second.read_text().replace("short", "long"))
    else:
        second.unlink()
    with pytest.raises(StoreError, match=r"not as it was published|is missing"):
        opened(checklist, group)


def test_what_cannot_be_written_back_is_not_published(tmp_path: Path, group: Path) -> None:
    """Without the library that writes YAML a checklist in YAML is refused before there is a lineage of it."""
    (tmp_path / "c.yaml").write_text("name: good\nquestions:\n- text: Is it right?\n")
    code = (
        "import sys; sys.modules['ruamel.yaml'] = None\n"
        "from proctor.cli.main import main\n"
        "sys.exit(main(['label', 'group', '--checklist', 'c.yaml', '--export', '-']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )

    assert 1 == done.returncode
    assert "pip install 'proctor[label]'" in done.stderr
    assert not list((group / "checklists").glob("cl_*"))


def _open(file: str, group: str) -> str:
    return opened(Path(file), Path(group)).revision.checklist


def test_two_who_open_a_new_file_at_once_share_one_lineage(tmp_path: Path) -> None:
    """Six processes, two groups: the file is read again under its lock."""
    groups = [tmp_path / name for name in ("one", "two")]
    for group in groups:
        make_run(group, "a")
    file = checklist_file(tmp_path)
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        ids = pool.starmap(_open, [(str(file), str(groups[n % 2])) for n in range(6)])

    assert {lineage(file)} == set(ids)
    assert all(len(list((group / "checklists").glob("cl_*"))) == 1 for group in groups)
