"""Fixtures: what a workdir starts with."""

import os
import socket

import pytest

from proctor.errors import SuiteError
from proctor.host.seed import fixture_digest, seed


@pytest.fixture
def fixture(tmp_path):
    root = tmp_path / "fixture"
    (root / "empty").mkdir(parents=True)
    (root / "src").mkdir()
    (root / ".hidden").write_text("h")
    (root / "src" / "tool").write_text("#!/bin/sh\n")
    (root / "src" / "tool").chmod(0o755)
    (root / "src" / "ä b.txt").write_bytes(b"\x00\xff")
    (root / "link").symlink_to("src/tool")
    (root / "src" / "up").symlink_to("../.hidden")
    (root / "dangling").symlink_to("nowhere")
    return root


def listing(root):
    return {
        str(path.relative_to(root)): str(path.readlink())
        if path.is_symlink()
        else "folder"
        if path.is_dir()
        else (path.read_bytes(), os.access(path, os.X_OK))
        for path in root.rglob("*")
    }


def test_workdir_is_as_the_fixture(fixture, tmp_path):
    """Hidden files, empty folders, executable bits and links that stay inside all arrive."""
    workdir = tmp_path / "workdir"
    workdir.mkdir()
    seed(fixture, workdir)

    assert listing(fixture) == listing(workdir)
    assert 8 == len(listing(workdir))
    assert fixture_digest(fixture) == fixture_digest(workdir)


def test_digest_depends_on_nothing_of_the_machine(fixture, tmp_path):
    """Times and the folder's place do not count."""
    before = fixture_digest(fixture)
    os.utime(fixture / ".hidden", (0, 0))
    fixture.rename(tmp_path / "elsewhere")

    assert before == fixture_digest(tmp_path / "elsewhere")
    assert before.startswith("sha256:")


@pytest.mark.parametrize(
    "change",
    [
        lambda root: (root / ".hidden").write_text("other"),
        lambda root: (root / ".hidden").chmod(0o755),
        lambda root: (root / "empty").rmdir(),
        lambda root: (root / ".hidden").rename(root / ".hidden2"),
        lambda root: ((root / "link").unlink(), (root / "link").symlink_to("src")),
        lambda root: (root / "new").mkdir(),
    ],
)
def test_digest_changes_with_everything_that_is_copied(fixture, change):
    """Content, executable bit, name, folder and link target each change the digest."""
    before = fixture_digest(fixture)
    change(fixture)

    assert before != fixture_digest(fixture)


@pytest.mark.parametrize("target", ["/etc/passwd", "..", "src/../../other", "inner/../../other"])
def test_link_that_leaves_is_refused_by_name(fixture, tmp_path, target):
    """A symbolic link that leads out of the fixture, also through another link, is an error that names it."""
    (fixture / "inner").symlink_to("src")
    (fixture / "bad").symlink_to(target)
    (tmp_path / "w").mkdir()

    with pytest.raises(SuiteError, match="'bad'"):
        seed(fixture, tmp_path / "w")
    assert [] == list((tmp_path / "w").iterdir())


def test_absolute_link_into_the_fixture_is_refused(fixture):
    """It would lead from the workdir back to the fixture."""
    (fixture / "back").symlink_to(fixture / ".hidden")

    with pytest.raises(SuiteError, match="back"):
        fixture_digest(fixture)


def test_special_files_are_refused_all_at_once(fixture, tmp_path, monkeypatch):
    """A FIFO and a socket are named in one error."""
    os.mkfifo(fixture / "pipe")
    monkeypatch.chdir(fixture)
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind("sock")

        with pytest.raises(SuiteError) as caught:
            fixture_digest(fixture)
    assert ["pipe", "sock"] == sorted(fault.where.rpartition("/")[2] for fault in caught.value.faults)
    assert "FIFO" in str(caught.value)


def test_fixture_that_is_no_folder(tmp_path):
    """A path that is no folder is an error that names it."""
    with pytest.raises(SuiteError, match="nothing-here"):
        seed(tmp_path / "nothing-here", tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_unreadable_file_is_refused_by_name(fixture):
    """A file that cannot be read is an error that names it."""
    (fixture / ".hidden").chmod(0)

    with pytest.raises(SuiteError, match="hidden"):
        fixture_digest(fixture)
