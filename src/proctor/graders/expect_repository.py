"""expect_repository: the git repository in the workdir has commits, and nothing that is not committed."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final

from proctor.graders.assertion import Assertion, Minimum, options_for
from proctor.graders.reference import shown
from proctor.host.limited import run_limited
from proctor.host.tree import remove_tree
from proctor.ports import RunView
from proctor.records.grade import Cause, Grade, Outcome, inconclusive, passed
from proctor.records.run import Limits

GIT_S: Final = 30.0
_COPIED: Final = ("HEAD", "index", "packed-refs", "shallow")
_MOST_NAMED: Final = 10


class GitFailed(RuntimeError):
    """git could not say what it was asked."""


@dataclass(frozen=True, kw_only=True)
class Repository(Assertion):
    """The repository that the agent left, made by `expect_repository`.

    What it checks: the commits that HEAD leads to, that of the fixture included, and what `git status` lists.
    Why: an agent that is to commit its work has not done it when it did not.
    Passes: there are at least `minimum_commits`, and the worktree is clean, or not, as `clean_worktree` asks.
    Fails: there are fewer, the worktree is not so, or the workdir is no repository at all.
    Cannot tell: there is no git here, or it cannot read the repository.

    The settings and hooks of the agent's repository are not read: they could name programs.

    Attributes:
        minimum_commits: of HEAD and all before it; None for any number.
        clean_worktree: True for nothing that is not committed, False for something; None for either.
    """

    kind: ClassVar[str] = "repository"
    failure_cause: ClassVar[Cause | None] = Cause.EVAL_GRADER_FAILED

    minimum_commits: int | None = None
    clean_worktree: bool | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        number: Any = self.minimum_commits
        if number is not None and (isinstance(number, bool) or not isinstance(number, int) or number < 1):
            raise ValueError(
                f"grader {self.name!r}: minimum_commits is a whole number of 1 or more, and this is {number!r}"
            )

    def look(self, run: RunView) -> Grade:
        """Ask git.

        Raises:
            GitFailed: it cannot say.
        """
        folder = run.workdir / ".git"
        if folder.is_symlink() or not folder.is_dir():
            return Grade(outcome=Outcome.FAIL, feedback="the workdir is no git repository of its own")
        program = shutil.which("git", path=run.environment.get("PATH", os.defpath))
        if program is None:
            return inconclusive("there is no program 'git'", cause=Cause.EVAL_GRADER_FAILED)
        room = Path(tempfile.mkdtemp(prefix="proctor-git-")).resolve()
        try:
            git = _Git(program, run.workdir, folder, room, run.environment)
            wrong = [said for said in (self._commits(git), self._worktree(git)) if said]
        finally:
            remove_tree(room)
        if wrong:
            return Grade(outcome=Outcome.FAIL, feedback="\n".join(wrong))
        return passed("the repository is as expected")

    def _commits(self, git: _Git) -> str:
        if self.minimum_commits is None:
            return ""
        # A branch without a commit is no failure of git's: it has none.
        count = int(git("rev-list", "--count", "HEAD")) if git.has_head else 0
        return (
            ""
            if count >= self.minimum_commits
            else f"{count} commits, and at least {self.minimum_commits} expected"
        )

    def _worktree(self, git: _Git) -> str:
        if self.clean_worktree is None:
            return ""
        asked = ("--porcelain", "-z", "--no-renames", "--untracked-files=all", "--ignore-submodules=all")
        lines = [line for line in git("status", *asked).split("\0") if line]
        if self.clean_worktree and lines:
            more = f" and {len(lines) - _MOST_NAMED} more" if len(lines) > _MOST_NAMED else ""
            return f"not committed: {', '.join(shown(line[3:]) for line in lines[:_MOST_NAMED])}{more}"
        return (
            ""
            if self.clean_worktree or lines
            else "everything is committed, and something is expected not to be"
        )


class _Git:
    """git on the agent's objects, index and branches, with a configuration of our own."""

    def __init__(
        self, program: str, workdir: Path, folder: Path, room: Path, environment: Mapping[str, str]
    ) -> None:
        self._program, self._workdir, self._room = program, workdir, room
        self._own = room / "git"
        self._own.mkdir()
        for name in _COPIED:
            if (folder / name).is_file() and not (folder / name).is_symlink():
                shutil.copyfile(folder / name, self._own / name)
        if (folder / "refs").is_dir():
            shutil.copytree(folder / "refs", self._own / "refs", symlinks=True)
        (self._own / "refs").mkdir(exist_ok=True)
        (self._own / "config").write_text(f"[core]\n\trepositoryformatversion = {_format(folder)}")
        self._environment = {
            "PATH": environment.get("PATH", os.defpath),
            "LC_ALL": "C",
            "HOME": str(room),
            "GIT_DIR": str(self._own),
            "GIT_WORK_TREE": str(workdir),
            "GIT_OBJECT_DIRECTORY": str(folder / "objects"),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_NO_LAZY_FETCH": "1",
        }

    @property
    def has_head(self) -> bool:
        """False on a branch that has no commit yet."""
        try:
            self("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
        except GitFailed as error:
            if str(error).endswith("exit code 1"):
                return False
            raise
        return True

    def __call__(self, *words: str) -> str:
        """What git prints.

        Raises:
            GitFailed: it ends with another code than 0, or takes too long.
        """
        out, err = self._room / "out", self._room / "err"
        ended = run_limited(
            [self._program, "-c", "safe.directory=*", *words],
            cwd=self._workdir,
            env=self._environment,
            stdout=out,
            stderr=err,
            limits=Limits(timeout_s=GIT_S, grace_s=1.0),
        )
        if ended.code == 0:
            return out.read_bytes().decode("utf-8", "replace")
        how = "took too long" if ended.timed_out else f"exit code {ended.code}"
        said = err.read_bytes()[-500:].decode("utf-8", "replace").strip()
        raise GitFailed(f"git {words[0]}: {f'{said}; ' if said else ''}{how}")


def _format(folder: Path) -> str:
    """The version that the repository's own configuration names, with the one extension that reading it takes."""
    try:
        text = (
            (folder / "config").read_bytes().decode("utf-8", "replace")
            if (folder / "config").is_file()
            else ""
        )
    except OSError:
        text = ""
    is_sha256 = re.search(r"^\s*objectformat\s*=\s*sha256\s*$", text, re.IGNORECASE | re.MULTILINE)
    return "1\n[extensions]\n\tobjectFormat = sha256\n" if is_sha256 else "0\n"


def expect_repository(
    *,
    minimum_commits: int | None = None,
    clean_worktree: bool | None = None,
    minimum_evidence: Minimum = "observed",
    name: str = "",
    **options: Any,
) -> Repository:
    """The workdir is a git repository with so many commits, and with a worktree that is clean, or is not.

    The commit that a fixture with `git` starts with counts. It is a gate unless `must_pass=False` says otherwise;
    the other options are those of every grader.

    Raises:
        ValueError: an option is out of its range.

    >>> expect_repository(minimum_commits=2, clean_worktree=True).options.name
    'repository'
    """
    return Repository(
        name=name or "repository",
        minimum_commits=minimum_commits,
        clean_worktree=clean_worktree,
        minimum_evidence=minimum_evidence,
        **options_for("expect_repository", Repository, options),
    )
