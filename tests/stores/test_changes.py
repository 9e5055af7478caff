"""What an agent did to its files: added, changed and removed, against what it was given."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proctor.host.seed import plan_seed, seed
from proctor.host.tree import remove_tree
from proctor.records.changes import Changes
from proctor.records.json_value import digest_of_bytes
from proctor.stores import manifest
from proctor.stores.changes import changes_of
from proctor.stores.manifest import list_workdir


class Stand:
    """A fixture, and a workdir that was seeded with it."""

    def __init__(self, root: Path, *, git: bool = False) -> None:
        self.fixture, self.workdir = root / "fixture", root / "workdir"
        (self.fixture / "src/empty").mkdir(parents=True)
        (self.fixture / "src/a.py").write_text("one")
        (self.fixture / "src/b.py").write_text("two")
        (self.fixture / "run.sh").write_text("echo")
        (self.fixture / "link").symlink_to("run.sh")
        self.plan = plan_seed(self.fixture, git=git)
        self.workdir.mkdir()
        seed(self.plan, self.workdir)

    def changes(self) -> Changes:
        return changes_of(list_workdir(self.workdir), self.plan, self.workdir)


@pytest.fixture
def stand(tmp_path: Path) -> Stand:
    return Stand(tmp_path)


def test_an_agent_that_does_nothing_changes_nothing(stand: Stand) -> None:
    """Links, empty folders and executable bits are what they were."""
    assert Changes() == stand.changes()
    assert not stand.changes()


def test_added_changed_and_removed_files_are_named_with_their_digests(stand: Stand) -> None:
    """Old and new; a folder that files lie in is not listed beside them."""
    (stand.workdir / "src/a.py").write_text("three")
    (stand.workdir / "src/b.py").unlink()
    (stand.workdir / "new").mkdir()
    (stand.workdir / "new/c.py").write_text("four")
    changes = stand.changes()

    assert [("new/c.py", None, digest_of_bytes(b"four"), 4)] == [
        (one.path, one.before, one.after, one.size) for one in changes.added
    ]
    assert [("src/a.py", digest_of_bytes(b"one"), digest_of_bytes(b"three"), 5)] == [
        (one.path, one.before, one.after, one.size) for one in changes.changed
    ]
    assert [("src/b.py", digest_of_bytes(b"two"), None)] == [
        (one.path, one.before, one.after) for one in changes.removed
    ]
    assert ("new/c.py", "src/a.py", "src/b.py") == changes.paths


def test_what_is_not_content_is_said_by_name(stand: Stand) -> None:
    """A link that leads elsewhere, a file that may be run now, a folder in place of a file."""
    (stand.workdir / "link").unlink()
    (stand.workdir / "link").symlink_to("/etc/passwd")
    (stand.workdir / "run.sh").chmod(0o755)
    (stand.workdir / "src/a.py").unlink()
    (stand.workdir / "src/a.py").mkdir()
    changes = stand.changes()

    assert [("link", ("link",)), ("run.sh", ("executable",)), ("src/a.py", ("kind",))] == [
        (one.path, one.what) for one in changes.changed
    ]
    assert (changes.added, changes.removed) == ((), ())


def test_a_folder_that_is_gone_is_named_by_what_lay_in_it(stand: Stand) -> None:
    """And an empty one by its own name; one that was emptied is still there."""
    remove_tree(stand.workdir / "src")
    assert ["src/a.py", "src/b.py", "src/empty"] == [one.path for one in stand.changes().removed]
    (stand.workdir / "src").mkdir()

    assert ["src/a.py", "src/b.py", "src/empty"] == [one.path for one in stand.changes().removed]
    assert () == stand.changes().added


def test_the_repository_of_a_git_fixture_is_no_change(tmp_path: Path) -> None:
    """Only the working files are; a repository that the agent itself makes elsewhere is its work."""
    stand = Stand(tmp_path, git=True)
    assert (stand.workdir / ".git/HEAD").is_file()
    assert not stand.changes()
    (stand.workdir / ".git/hooks").mkdir(exist_ok=True)
    (stand.workdir / ".git/hooks/post-commit").write_text("x")
    (stand.workdir / "sub/.git").mkdir(parents=True)
    (stand.workdir / "sub/.git/HEAD").write_text("x")

    assert ("sub/.git/HEAD",) == stand.changes().paths


def test_without_a_fixture_everything_was_added(tmp_path: Path) -> None:
    """As of an agent that began with an empty folder."""
    (tmp_path / "a").write_text("x")

    assert ["a"] == [one.path for one in changes_of(list_workdir(tmp_path), None, tmp_path).added]


def test_a_large_file_is_read_only_when_it_may_be_what_it_was(
    stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the same length it is; of another one it is changed, whatever it holds."""
    monkeypatch.setattr(manifest, "MOST_HASHED_BYTES", 1)
    assert not stand.changes()
    os.truncate(stand.workdir / "src/a.py", 1 << 40)
    (changed,) = stand.changes().changed

    assert ("src/a.py", None, 1 << 40) == (changed.path, changed.after, changed.size)


def test_names_that_are_no_text_are_the_same_on_both_sides(tmp_path: Path) -> None:
    """Both are shown in escapes."""
    fixture, workdir = tmp_path / "fixture", tmp_path / "workdir"
    fixture.mkdir()
    (fixture / os.fsdecode(b"\xff")).write_text("x")
    workdir.mkdir()
    plan = plan_seed(fixture)
    seed(plan, workdir)

    assert not changes_of(list_workdir(workdir), plan, workdir)


NAMES = st.sampled_from(["a", "b", "d/a", "d/b", "d/e/a"])
FILES = st.dictionaries(NAMES, st.sampled_from(["", "1", "2"]))


@settings(max_examples=60, deadline=None)
@given(before=FILES, after=FILES)
def test_changes_are_exactly_what_two_sets_of_files_differ_in(
    tmp_path_factory: pytest.TempPathFactory, before: dict[str, str], after: dict[str, str]
) -> None:
    """Worked out by comparing the sets themselves."""
    root = tmp_path_factory.mktemp("law")
    for name, files in (("fixture", before), ("workdir", after)):
        (root / name).mkdir()
        for path, text in files.items():
            (root / name / path).parent.mkdir(parents=True, exist_ok=True)
            (root / name / path).write_text(text)
    changes = changes_of(list_workdir(root / "workdir"), plan_seed(root / "fixture"), root / "workdir")

    assert sorted(after.keys() - before.keys()) == [one.path for one in changes.added]
    assert sorted(before.keys() - after.keys()) == [one.path for one in changes.removed]
    assert sorted(path for path in before.keys() & after.keys() if before[path] != after[path]) == [
        one.path for one in changes.changed
    ]
