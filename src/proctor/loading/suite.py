"""Loading a suite: from a file, a folder, a git repository, or one line of text."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from proctor.errors import SuiteError, UsageError
from proctor.loading.build import encodable, tests_of
from proctor.loading.disk import real
from proctor.loading.entries import Context
from proctor.loading.faults import Faults
from proctor.loading.shapes import gather
from proctor.loading.typed import discover, typed_files, typed_suite
from proctor.records.suite import Suite, SuiteTest, Test
from proctor.sources import checkout, git_source_of, source_label

INLINE_ID = "input"


def load_suite(
    source: str, *, base: Path, git_cache: Path | None = None, allow_credentials: Sequence[str] = ()
) -> Suite:
    """The suite that a source names.

    source: a path, relative to `base`, or a git source: `repository//subfolder?ref=revision`.
    base: the folder that the user stands in.
    git_cache: where clones and checkouts are kept; `~/.cache/proctor/git` when None.
    allow_credentials: fields that may look like credentials, as the messages name them: `einstein.input`. All
        that is below such a field is allowed as well.

    Raises:
        SuiteError: something is wrong with it; holds every fault that was found, each with file and line.
    """
    base = real(base.absolute())
    cache = git_cache or Path.home() / ".cache" / "proctor" / "git"
    context = Context(base, cache, frozenset(allow_credentials))
    git = git_source_of(source, base=base)
    commit = None
    if git is None:
        if not source or "\0" in source:
            raise SuiteError(
                "A suite has no name.", fix="Name a file, a folder or a git source.", where=repr(source)
            )
        path = real(base / source)
    else:
        path, commit, whole = checkout(git, cache=cache)
        context = context._replace(checkout=whole, label=source_label(git, commit))
    if files := typed_files(path, context):
        suite = typed_suite(files, path if len(files) > 1 else files[0].parent, source, context)
        return msgspec.structs.replace(suite, commit=commit)
    faults = Faults()
    gathered = gather(path, context, faults)
    tests = tests_of(gathered, context, faults)
    faults.raise_any()
    common = {} if gathered.common is None else gathered.common.fields
    return Suite(
        name=common.get("name", encodable(gathered.name)),
        source=source,
        root=gathered.root,
        tests=tuple(tests),
        commit=commit,
        description=common.get("description"),
        pass_env=tuple(common.get("pass_env", ())),
    )


def conventional_suite(
    patterns: Sequence[str], *, folder: Path, base: Path, allow_credentials: Sequence[str] = ()
) -> Suite | None:
    """The typed suites that are found by convention below a folder, as one; None when there is none.

    patterns: globs relative to `folder`.
    base: the folder that the user stands in.

    Raises:
        SuiteError: something is wrong with one of them; holds every fault of all.
        UsageError: a pattern leaves the folder.
    """
    context = Context(real(base.absolute()), Path(), frozenset(allow_credentials))
    folder = real(folder.absolute())
    files = discover(folder, patterns)
    if not files:
        return None
    return typed_suite(files, files[0].parent if len(files) == 1 else folder, ", ".join(patterns), context)


def inline_suite(text: str) -> Suite:
    """A suite of one test without graders, whose id and name are `input`.

    text: what the agent is given.

    Raises:
        UsageError: the text is empty.
    """
    if not text:
        raise UsageError(
            "The input is empty.", fix="Write the text that the agent is to be given.", where="--input"
        )
    test = SuiteTest(test=Test(id=INLINE_ID, input=text), where="--input")
    return Suite(name=INLINE_ID, source="inline:--input", root=Path(), tests=(test,))
