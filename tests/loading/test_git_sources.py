"""Suites and files from git: what a source names, and the checkout that nobody changes afterwards."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from proctor.errors import SuiteError
from proctor.loading import load_suite
from proctor.sources import checkout, git_source_of

TEST: dict[str, Any] = {
    "evals/a/test.json": {"input": "one"},
    "evals/a/graders.py": "",
    "evals/a/files/x.txt": "1",
}
BASE = Path("/evals")


@pytest.mark.parametrize(
    ("text", "url", "subfolder", "ref"),
    [
        ("github.com/a/b", "https://github.com/a/b.git", "", None),
        ("github.com/a/b//evals/x?ref=v1", "https://github.com/a/b.git", "evals/x", "v1"),
        ("https://github.com/a/b.git//evals", "https://github.com/a/b.git", "evals", None),
        ("https://example.org/a/b?ref=feature/x", "https://example.org/a/b", "", "feature/x"),
        ("git@github.com:a/b.git//evals", "git@github.com:a/b.git", "evals", None),
        ("ssh://git@example.org/a.git", "ssh://git@example.org/a.git", "", None),
        ("file:///srv/a//evals/", "file:///srv/a", "evals", None),
        ("suites/repo?ref=main", "/evals/suites/repo", "", "main"),
        ("../mirror.git//evals", "/mirror.git", "evals", None),
    ],
)
def test_a_git_source_names_repository_folder_and_ref(
    text: str, url: str, subfolder: str, ref: str | None
) -> None:
    """`base[//subfolder][?ref=revision]`, the scheme's own slashes apart; GitHub needs no scheme and no ending."""
    source = git_source_of(text, base=BASE)

    assert source is not None
    assert (source.url, source.subfolder, source.ref) == (url, subfolder, ref)


@pytest.mark.parametrize(
    "text", ["evals", "./evals/suite.json", "evals//a", "C:\\evals", "a.github.com/x", "git/x"]
)
def test_everything_else_is_a_path(text: str) -> None:
    """Without a ref, a scheme, a host or `.git` there is no git."""
    assert git_source_of(text, base=BASE) is None


def test_a_suite_from_git_records_its_commit(repository: Any, tmp_path: Path) -> None:
    """A branch, an annotated tag, a short and a full commit all lead to the same commit in full."""
    commit = repository.commit(TEST)
    repository.git("tag", "-a", "v1", "-m", "v1")
    loaded = [
        load_suite(f"repo//evals?ref={ref}", base=tmp_path, git_cache=tmp_path / "cache")
        for ref in ("main", "v1", commit[:8], commit, "HEAD", "refs/heads/main")
    ]

    assert {commit} == {suite.commit for suite in loaded}
    assert loaded[0].tests[0].where == f"{repository.folder}@{commit[:12]}/evals/a/test.json:1"
    assert loaded[0].tests[0].fixture == loaded[0].root / "a" / "files"


def test_a_later_load_leaves_an_earlier_checkout_alone(repository: Any, tmp_path: Path) -> None:
    """When a branch moves on, the next load sees it, and the suite that was loaded before keeps its files."""
    repository.commit(TEST)
    old = load_suite("repo//evals?ref=main", base=tmp_path, git_cache=tmp_path / "cache")
    repository.commit({"evals/a/test.json": {"input": "two"}, "evals/a/files/x.txt": "2"})
    new = load_suite("repo//evals?ref=main", base=tmp_path, git_cache=tmp_path / "cache")

    assert (old.tests[0].test.input, new.tests[0].test.input) == ("one", "two")
    assert old.tests[0].fixture is not None
    assert (old.tests[0].fixture / "x.txt").read_text() == "1"


def test_a_branch_with_a_name_like_a_commit_is_a_branch(repository: Any, tmp_path: Path) -> None:
    """A ref of hexadecimal digits is a branch when the remote has one, and follows it."""
    repository.commit(TEST)
    repository.git("checkout", "--quiet", "-b", "deadbeef")
    cache = tmp_path / "cache"
    first = load_suite("repo//evals?ref=deadbeef", base=tmp_path, git_cache=cache).commit
    moved = repository.commit({"evals/a/test.json": {"input": "two"}})

    assert moved != first
    assert moved == load_suite("repo//evals?ref=deadbeef", base=tmp_path, git_cache=cache).commit


def test_a_full_commit_needs_no_remote_once_it_is_there(repository: Any, tmp_path: Path) -> None:
    """A suite that is pinned to a commit loads from the cache when the repository is gone."""
    commit = repository.commit(TEST)
    source = f"repo//evals?ref={commit}"
    load_suite(source, base=tmp_path, git_cache=tmp_path / "cache")
    repository.folder.rename(tmp_path / "gone")

    assert commit == load_suite(source, base=tmp_path, git_cache=tmp_path / "cache").commit


def test_a_checkout_keeps_modes_and_links_and_has_no_repository(repository: Any, tmp_path: Path) -> None:
    """Executable bits and links arrive as they were committed; `.git` does not."""
    (repository.folder / "run.sh").write_text("#!/bin/sh\n")
    (repository.folder / "run.sh").chmod(0o755)
    (repository.folder / "link").symlink_to("run.sh")
    repository.commit({"a.txt": "a"})
    source = git_source_of("repo?ref=main", base=tmp_path)
    assert source is not None
    whole = checkout(source, cache=tmp_path / "cache").whole

    assert sorted(path.name for path in whole.iterdir()) == ["a.txt", "link", "run.sh"]
    assert (whole / "run.sh").stat().st_mode & 0o111
    assert (whole / "link").is_symlink()


def test_loads_at_the_same_time_share_one_checkout(repository: Any, tmp_path: Path) -> None:
    """Several loads that race for one commit all end with its files, and leave nothing else behind."""
    commit = repository.commit(TEST)
    source = git_source_of("repo?ref=main", base=tmp_path)
    assert source is not None
    with ThreadPoolExecutor(4) as pool:
        made = set(pool.map(lambda _: checkout(source, cache=tmp_path / "cache"), range(4)))
    place = next((tmp_path / "cache").iterdir())

    assert len(made) == 1
    assert sorted([commit, "lock", "mirror.git"]) == sorted(path.name for path in place.iterdir())


def test_no_hook_of_anybody_runs(repository: Any, tmp_path: Path) -> None:
    """Hooks of the repository do not run when it is cloned or checked out."""
    repository.commit(TEST)
    for hook in ("post-checkout", "post-merge", "reference-transaction", "pre-auto-gc"):
        script = repository.folder / ".git" / "hooks" / hook
        script.parent.mkdir(exist_ok=True)
        script.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran-{hook}\n")
        script.chmod(0o755)
    load_suite("repo//evals?ref=main", base=tmp_path, git_cache=tmp_path / "cache")

    assert list(tmp_path.glob("ran-*")) == []


def test_files_of_a_test_may_come_from_git(repository: Any, tmp_path: Path) -> None:
    """A local suite names files from git; their commit is recorded, and each source is asked for once."""
    commit = repository.commit(TEST)
    files = f"{repository.folder}//evals/a/files?ref=main"
    (tmp_path / "s.jsonl").write_text(
        f'{{"id": "a", "files": "{files}"}}\n{{"id": "b", "files": {{"path": "{files}"}}}}\n'
    )
    suite = load_suite("s.jsonl", base=tmp_path, git_cache=tmp_path / "cache")

    assert [commit, commit] == [entry.fixture_commit for entry in suite.tests]
    assert [(entry.fixture / "x.txt").read_text() for entry in suite.tests if entry.fixture] == ["1", "1"]


@pytest.mark.parametrize(
    ("files", "fault"),
    [
        (
            {"evals/a/test.json": {"input": "x", "files": "github.com/a/b"}},
            "a suite from git names files from git",
        ),
        ({"evals/a/test.json": {"input": "x", "graders": "../../../../x.py"}}, "and there is no such file"),
        ({"evals/a/test.json": {"input": "x", "files": "../b"}}, "can leave the suite's folder"),
    ],
)
def test_a_suite_from_git_stays_in_its_repository(
    files: dict[str, Any], fault: str, repository: Any, tmp_path: Path
) -> None:
    """What a suite from git names lies in its own repository, at most one level of git deep."""
    repository.commit(files)

    with pytest.raises(SuiteError, match=fault):
        load_suite("repo//evals?ref=main", base=tmp_path, git_cache=tmp_path / "cache")


def test_links_of_a_suite_from_git_do_not_leave_it(repository: Any, tmp_path: Path) -> None:
    """A test, its files and its graders that are links out of the repository are refused, and never read."""
    (tmp_path / "secret.json").write_text('{"secret": "do not show"}')
    (tmp_path / "g.py").write_text("")
    for name, target in (("a/test.json", "secret.json"), ("b/graders.py", "g.py"), ("b/files", ".")):
        path = repository.folder / "evals" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(tmp_path / target)
    repository.commit({"evals/b/test.json": {"input": "x"}})

    with pytest.raises(SuiteError) as caught:
        load_suite("repo//evals?ref=main", base=tmp_path, git_cache=tmp_path / "cache")
    assert len(caught.value.faults) == 3
    assert "do not show" not in str(caught.value)


def test_a_folder_that_is_not_in_the_commit_names_the_commit(repository: Any, tmp_path: Path) -> None:
    """The message has the first twelve digits of the commit and what there is instead."""
    commit = repository.commit(TEST)

    with pytest.raises(SuiteError) as caught:
        load_suite("repo//eval?ref=main", base=tmp_path, git_cache=tmp_path / "cache")
    assert str(caught.value) == (
        f"repo//eval?ref=main  The repository has no folder 'eval' at commit {commit[:12]}.\n"
        "    At its top it has: evals."
    )


def test_a_ref_that_is_not_there_is_told_its_neighbour(repository: Any, tmp_path: Path) -> None:
    """A misspelt branch gives the nearest one; digits that are no commit give git no chance to guess."""
    repository.commit(TEST)
    for ref, said in (("mian", "Did you mean 'main'?"), ("abcdef12", "no branch, tag or commit 'abcdef12'")):
        with pytest.raises(SuiteError, match=said.replace("?", r"\?")):
            load_suite(f"repo//evals?ref={ref}", base=tmp_path, git_cache=tmp_path / "cache")


def test_a_ref_is_never_taken_for_a_folder_of_the_cache(repository: Any, tmp_path: Path) -> None:
    """Forty characters that are no commit are looked up as a ref, whatever stands there on disk."""
    repository.commit(TEST)
    load_suite("repo//evals?ref=main", base=tmp_path, git_cache=tmp_path / "cache")
    ref = "mirror.git/../mirror.git/../mirror.git/."

    assert len(ref) == 40
    with pytest.raises(SuiteError, match="no branch or tag"):
        load_suite(f"repo//evals?ref={ref}", base=tmp_path, git_cache=tmp_path / "cache")


def test_what_git_says_is_passed_on(tmp_path: Path) -> None:
    """A repository that is not there gives one fault with source, address, ref and git's own words."""
    with pytest.raises(SuiteError) as caught:
        load_suite("nowhere//evals?ref=v1", base=tmp_path, git_cache=tmp_path / "cache")

    (fault,) = caught.value.faults
    assert fault.where == "nowhere//evals?ref=v1"
    assert f"git cannot provide {tmp_path}/nowhere at v1: fatal: " in fault.what
