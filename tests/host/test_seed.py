"""Fixtures: what a workdir starts with."""

import os
import socket
import subprocess

import pytest

from proctor.errors import SuiteError
from proctor.host.seed import plan_seed, seed


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
    seed(plan_seed(fixture), workdir)

    assert listing(fixture) == listing(workdir)
    assert 8 == len(listing(workdir))
    assert plan_seed(fixture).digest == plan_seed(workdir).digest


def test_digest_depends_on_nothing_of_the_machine(fixture, tmp_path):
    """Times and the folder's place do not count."""
    before = plan_seed(fixture).digest
    os.utime(fixture / ".hidden", (0, 0))
    fixture.rename(tmp_path / "elsewhere")

    assert before == plan_seed(tmp_path / "elsewhere").digest
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
    before = plan_seed(fixture).digest
    change(fixture)

    assert before != plan_seed(fixture).digest


@pytest.mark.parametrize("target", ["/etc/passwd", "..", "src/../../other", "inner/../../other"])
def test_link_that_leaves_is_refused_by_name(fixture, target):
    """A symbolic link that leads out of the fixture, also through another link, is an error that names it."""
    (fixture / "inner").symlink_to("src")
    (fixture / "bad").symlink_to(target)

    with pytest.raises(SuiteError, match="'bad'"):
        plan_seed(fixture)


def test_absolute_link_into_the_fixture_is_refused(fixture):
    """It would lead from the workdir back to the fixture."""
    (fixture / "back").symlink_to(fixture / ".hidden")

    with pytest.raises(SuiteError, match="back"):
        plan_seed(fixture)


def test_special_files_are_refused_all_at_once(fixture, tmp_path, monkeypatch):
    """A FIFO and a socket are named in one error."""
    os.mkfifo(fixture / "pipe")
    monkeypatch.chdir(fixture)
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind("sock")

        with pytest.raises(SuiteError) as caught:
            plan_seed(fixture)
    assert ["pipe", "sock"] == sorted(fault.where.rpartition("/")[2] for fault in caught.value.faults)
    assert "FIFO" in str(caught.value)


def test_fixture_that_is_no_folder(tmp_path):
    """A path that is no folder is an error that names it."""
    with pytest.raises(SuiteError, match="nothing-here"):
        plan_seed(tmp_path / "nothing-here")


def test_bytes_that_change_after_planning_are_not_given_to_an_agent(fixture, tmp_path):
    """Every trial gets what was planned, or none."""
    plan = plan_seed(fixture)
    (fixture / ".hidden").write_text("other")
    (tmp_path / "w").mkdir()

    with pytest.raises(SuiteError, match=r"'\.hidden' of the fixture has changed since the run was planned"):
        seed(plan, tmp_path / "w")


@pytest.mark.parametrize(
    ("include", "taken"),
    [
        (["src/tool"], {"src", "src/tool"}),
        (["src"], {"src", "src/tool", "src/ä b.txt", "src/up"}),
        (["**/*.txt"], {"src", "src/ä b.txt"}),
        ([".h*", "empty"], {".hidden", "empty"}),
        (["**"], {".hidden", "empty", "link", "dangling", "src", "src/tool", "src/ä b.txt", "src/up"}),
    ],
)
def test_include_takes_what_its_globs_match(fixture, tmp_path, include, taken):
    """A folder is taken with all that it holds; the folders on the way to a match are made."""
    workdir = tmp_path / "workdir"
    workdir.mkdir()
    seed(plan_seed(fixture, include), workdir)

    assert taken == set(listing(workdir))


def test_a_glob_that_matches_nothing_is_an_error(fixture):
    """It is a typing mistake."""
    with pytest.raises(SuiteError, match=r"'\*\.cvs' of `include` matches nothing"):
        plan_seed(fixture, ["*.cvs"])


def test_a_git_fixture_is_one_commit_that_is_the_same_everywhere(fixture, tmp_path):
    """Branch main, a fixed identity, a clean work tree, no remote, no hook; the suite's own .git is left out."""
    (fixture / ".gitignore").write_text("*.txt\n")
    (fixture / ".git").mkdir()
    (fixture / ".git" / "config").write_text("not this one")
    heads = []
    for name in ("one", "two"):
        workdir = tmp_path / name
        workdir.mkdir()
        seed(plan_seed(fixture, git=True), workdir)

        def git(*words, here=workdir):
            return subprocess.run(
                ["git", *words], cwd=here, capture_output=True, text=True, check=True
            ).stdout

        heads.append(git("rev-parse", "HEAD"))
        assert ["main", "", ""] == [
            git("branch", "--show-current").strip(),
            git("status", "-s"),
            git("remote"),
        ]
        assert "1\n" == git("rev-list", "--count", "--all")
        assert "src/ä b.txt" in git("-c", "core.quotepath=off", "ls-files")
        assert not (workdir / ".git" / "hooks").exists()
    assert heads[0] == heads[1]
    assert plan_seed(fixture).digest != plan_seed(fixture, git=True).digest


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_unreadable_file_is_refused_by_name(fixture):
    """A file that cannot be read is an error that names it."""
    (fixture / ".hidden").chmod(0)

    with pytest.raises(SuiteError, match="hidden"):
        plan_seed(fixture)
