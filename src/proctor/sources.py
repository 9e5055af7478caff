"""Suites and files from git: what a source names, and an immutable checkout of it.

    base[//subfolder][?ref=revision]

A source is one of git when it has `?ref=`, or its base starts with `git@` or `github.com/`, contains `://`,
or ends in `.git`; everything else is a path. Below the cache each repository has a folder of its own:

    <cache>/<digest of the URL>/mirror.git    its branches and tags, fetched into
    <cache>/<digest of the URL>/<commit>/     a checkout, renamed into place whole, never changed afterwards

so that a suite which is running keeps its files whatever is loaded meanwhile.
"""

from __future__ import annotations

import fcntl
import hashlib
import re
import subprocess
import tempfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, NoReturn

from proctor.errors import SuiteError, did_you_mean

GIT_TIMEOUT_S = 600.0
_SHOWN_COMMIT = 12
_SCHEMES = ("https", "http", "ssh", "git", "file")
_COMMIT = re.compile(r"[0-9a-fA-F]{7,40}")
_FULL_COMMIT = re.compile(r"[0-9a-fA-F]{40}")
_HOST_AND_PATH = re.compile(r"[\w.-]+@[\w.-]+:")


class GitSource(NamedTuple):
    """What a git source names.

    Attributes:
        text: as it was written.
        url: what git is asked for.
        subfolder: the folder in the repository; empty for the whole of it.
        ref: a branch, a tag or a commit; None for the default branch.
    """

    text: str
    url: str
    subfolder: str = ""
    ref: str | None = None


class Checkout(NamedTuple):
    """Files of a repository at one commit.

    Attributes:
        folder: the subfolder that the source names.
        commit: the commit in full.
        whole: the checkout that it is part of.
    """

    folder: Path
    commit: str
    whole: Path


def git_source_of(text: str, *, base: Path) -> GitSource | None:
    """The git source that a text names; None when it is a path.

    base: what the path of a repository on this machine is relative to.

    Raises:
        SuiteError: it is a git source, and one that is not to be used.

    >>> git_source_of("github.com/a/b//evals?ref=v1", base=Path("/"))[1:]
    ('https://github.com/a/b.git', 'evals', 'v1')
    """
    rest, has_ref, ref = text.partition("?ref=")
    scheme_end = rest.find("://")
    cut = rest.find("//", scheme_end + 3 if scheme_end >= 0 else 0)
    repository, subfolder = (rest, "") if cut < 0 else (rest[:cut], rest[cut:].strip("/"))
    is_remote = (
        scheme_end >= 0 or bool(_HOST_AND_PATH.match(repository)) or repository.startswith("github.com/")
    )
    if not (has_ref or is_remote or repository.endswith(".git")):
        return None
    _refuse_unsafe(text, repository, subfolder, ref if has_ref else None)
    if repository.startswith("github.com/"):
        repository = f"https://{repository}"
    if repository.startswith("https://github.com/") and not repository.endswith(".git"):
        repository = f"{repository.rstrip('/')}.git"
    url = repository if is_remote else (base / repository).resolve().as_posix()
    return GitSource(text, url, subfolder, ref if has_ref else None)


def source_label(source: GitSource, commit: str) -> str:
    """How a checkout is called in messages: its URL and the first twelve digits of its commit."""
    return f"{source.url}@{commit[:_SHOWN_COMMIT]}"


def checkout(source: GitSource, *, cache: Path, timeout_s: float = GIT_TIMEOUT_S) -> Checkout:
    """A folder with the files that a source names, as they are at one commit; submodules stay empty.

    cache: where mirrors and checkouts are kept; made when it is not there.
    timeout_s: how long one git command may take.

    Raises:
        SuiteError: git cannot provide it, with what git says; or there is no such folder in it.
    """
    place = cache / hashlib.sha256(source.url.encode()).hexdigest()[:24]
    repository = _Repository(source, place, timeout_s)
    try:
        place.mkdir(parents=True, exist_ok=True)
        commit = repository.commit()
        whole = repository.files_at(commit)
    except OSError as error:
        raise SuiteError(
            f"The cache for git cannot be written: {error}.",
            fix="Choose another folder for it.",
            where=source.text,
        ) from error
    folder = (whole / source.subfolder) if source.subfolder else whole
    if not folder.exists() or not folder.resolve().is_relative_to(whole.resolve()):
        names = sorted(entry.name for entry in whole.iterdir())
        raise SuiteError(
            f"The repository has no folder {source.subfolder!r} at commit {commit[:_SHOWN_COMMIT]}.",
            fix=f"At its top it has: {', '.join(names[:20]) or 'nothing'}.",
            where=source.text,
        )
    return Checkout(folder, commit, whole)


class _Repository:
    """A remote repository and its place in the cache."""

    def __init__(self, source: GitSource, place: Path, timeout_s: float) -> None:
        self.source = source
        self.place = place
        self.mirror = place / "mirror.git"
        self.timeout_s = timeout_s

    def commit(self) -> str:
        """The commit that the source's ref names now."""
        ref = self.source.ref
        if ref is not None and _FULL_COMMIT.fullmatch(ref) and (self.place / ref.lower()).is_dir():
            return ref.lower()
        refs = self._remote_refs()
        if ref is None:
            if "HEAD" not in refs:
                raise self._error("The repository has no commits.", "Name a branch: add ?ref=main.")
            return refs["HEAD"]
        for name in (ref, f"refs/heads/{ref}", f"refs/tags/{ref}^{{}}", f"refs/tags/{ref}"):
            if name in refs and (name == "HEAD" or name.startswith("refs/")):
                return refs[name]
        if _COMMIT.fullmatch(ref):
            return self._commit_of_digits(ref.lower())
        names = sorted({name.split("/", 2)[2].removesuffix("^{}") for name in refs if name.count("/") >= 2})
        near = did_you_mean(ref, names)
        raise self._error(
            f"The repository has no branch or tag {ref!r}.",
            f"Did you mean {near!r}?" if near else f"It has: {', '.join(names[:20]) or 'none'}.",
        )

    def files_at(self, commit: str) -> Path:
        """The checkout of a commit, made when it is not there yet."""
        target = self.place / commit
        if target.is_dir():
            return target
        self._fetch(commit)
        with tempfile.TemporaryDirectory(prefix=".new-", dir=self.place) as scratch:
            files, index = Path(scratch) / "files", Path(scratch) / "index"
            files.mkdir()
            with_index = {"GIT_INDEX_FILE": index.as_posix()}
            in_files = ("-c", "core.bare=false", f"--work-tree={files}")
            self._git_in_mirror(*in_files, "read-tree", commit, environment=with_index)
            self._git_in_mirror(*in_files, "checkout-index", "--all", "--force", environment=with_index)
            try:
                files.rename(target)
            except OSError:
                # Another process was first; what it made is the same.
                if not target.is_dir():
                    raise
        return target

    def _remote_refs(self) -> Mapping[str, str]:
        lines = self._git("ls-remote", "--quiet", "--", self.source.url).splitlines()
        pairs = (line.split("\t", 1) for line in lines if "\t" in line)
        return {name: commit for commit, name in pairs}

    def _commit_of_digits(self, digits: str) -> str:
        if not self._has(digits):
            self._fetch(digits)
        return self._git_in_mirror(
            "rev-parse", "--verify", "--quiet", "--end-of-options", f"{digits}^{{commit}}"
        ).strip()

    def _fetch(self, commit: str) -> None:
        """Bring a commit into the mirror, with all branches and tags."""
        with self._locked():
            if self._has(commit):
                return
            if not self.mirror.is_dir():
                with tempfile.TemporaryDirectory(prefix=".new-", dir=self.place) as scratch:
                    empty = Path(scratch) / "mirror.git"
                    self._git("init", "--quiet", "--bare", "--template=", "--", empty.as_posix())
                    empty.rename(self.mirror)
            both = ("+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")
            fetch = (
                "fetch",
                "--quiet",
                "--force",
                "--no-write-fetch-head",
                "--no-auto-gc",
                "--no-recurse-submodules",
            )
            self._git_in_mirror(*fetch, "--", self.source.url, *both)
            if not self._has(commit) and _FULL_COMMIT.fullmatch(commit):
                self._git_in_mirror(*fetch, "--", self.source.url, commit)
            if not self._has(commit):
                raise self._error(
                    f"The repository has no branch, tag or commit {commit!r}.",
                    "Check the commit; more of its digits may be needed.",
                )

    def _has(self, commit: str) -> bool:
        if not self.mirror.is_dir():
            return False
        try:
            self._git_in_mirror(
                "rev-parse", "--verify", "--quiet", "--end-of-options", f"{commit}^{{commit}}"
            )
        except SuiteError:
            return False
        return True

    def _git_in_mirror(self, *arguments: str, environment: Mapping[str, str] | None = None) -> str:
        return self._git(f"--git-dir={self.mirror}", *arguments, environment=environment)

    def _git(self, *arguments: str, environment: Mapping[str, str] | None = None) -> str:
        """What git prints. It asks nothing, runs no hooks, and knows nothing of a repository around it."""
        settings = {
            "GIT_TERMINAL_PROMPT": "0",
            "GCM_INTERACTIVE": "never",
            "LC_ALL": "C",
            **(environment or {}),
        }
        # `env` rather than a copy of our environment: only the room that wires things reads it.
        command = [
            "env",
            *_FORGOTTEN,
            *(f"{name}={value}" for name, value in settings.items()),
            "git",
            *_GUARDS,
        ]
        try:
            done = subprocess.run(
                [*command, *arguments],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=self.timeout_s,
                cwd=self.place,
                check=False,
                start_new_session=True,  # ssh cannot ask on a terminal that it does not have
            )
        except subprocess.TimeoutExpired as error:
            raise self._error(
                f"git did not finish in {self.timeout_s:g} seconds.", "Check the network and the address."
            ) from error
        except FileNotFoundError as error:
            raise self._error("git is not installed.", "Install git, or name a folder.") from error
        if done.returncode == 127:
            raise self._error("git is not installed.", "Install git, or name a folder.")
        if done.returncode != 0:
            said = " ".join(done.stderr.decode(errors="replace").split())[:500]
            raise self._error(
                f"git cannot provide {self._name}: {said.rstrip('.') or f'exit {done.returncode}'}.",
                "Check the address, the ref and your access; git asks for no password here.",
            )
        return done.stdout.decode(errors="replace")

    @property
    def _name(self) -> str:
        return self.source.url if self.source.ref is None else f"{self.source.url} at {self.source.ref}"

    def _error(self, what: str, fix: str) -> SuiteError:
        return SuiteError(what, fix=fix, where=self.source.text)

    @contextmanager
    def _locked(self) -> Generator[None]:
        with (self.place / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


_FORGOTTEN = tuple(
    part
    for name in (
        "GIT_DIR",
        "GIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_OBJECT_DIRECTORY",
        "GIT_NAMESPACE",
        "GIT_PREFIX",
    )
    for part in ("-u", name)
)
_GUARDS = (
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "protocol.ext.allow=never",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "advice.detachedHead=false",
)


def _refuse_unsafe(text: str, repository: str, subfolder: str, ref: str | None) -> None:
    def refuse(what: str, fix: str, where: str = repr(text)) -> NoReturn:
        raise SuiteError(what, fix=fix, where=where)

    if ref == "":
        refuse("The ref is empty.", "Name a branch, a tag or a commit: ?ref=main.")
    if repository.startswith("-") or (ref or "").startswith("-"):
        refuse(
            "A repository or ref starts with a hyphen.", "Write it without: git would read it as an option."
        )
    if not text.isprintable():
        refuse("A git source holds control characters.", "Write it without them.")
    if not repository:
        refuse("There is no repository before the folder.", "Write repository//folder.")
    if ".." in subfolder.split("/"):
        refuse("The folder leaves the repository.", "Write it without `..`.")
    scheme, separator, rest = repository.partition("://")
    if separator and scheme.lower() not in _SCHEMES:
        refuse(f"git sources do not use {scheme}://.", f"Use one of: {', '.join(_SCHEMES)}.")
    host = rest.split("/", 1)[0] if separator else ""
    user, at, _ = host.rpartition("@")
    if at and (":" in user or scheme.lower().startswith("http")):
        refuse(
            "The address holds a password or a token, which would be kept with each run.",
            "Take it out; git finds credentials through its own helpers.",
            f"{scheme}://...@{rest.rpartition('@')[2]}",
        )
