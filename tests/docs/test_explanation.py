"""The pages that explain leave nothing out: every cause of not knowing, and every file of a run directory."""

from __future__ import annotations

import re

import pytest

from proctor import Cause
from proctor.stores import group, manifest, rundir, tracefile
from tests.docs.pages import page

FILES = (
    rundir.FACTS,
    rundir.ANNOTATIONS,
    rundir.OUTPUT,
    rundir.STDOUT,
    rundir.STDERR,
    rundir.WORKDIR,
    rundir.GRADERS,
    rundir.INPUTS,
    rundir.CHANGES,
    rundir.NOTES,
    manifest.MANIFEST,
    tracefile.TRACE,
    group.PLAN,
    group.ATTEMPTS,
    group.STAGING,
    group.STORE,
)


def first_cells(name: str, language: str) -> set[str]:
    """The names in the first cells of a page's tables, a folder without its slash."""
    rows = [line for line in page(f"docs/{language}/{name}.md").text.splitlines() if line.startswith("|")]
    return {word.strip("/") for row in rows for word in re.findall(r"`([\w./-]+)", row.split("|")[1])}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_cause_of_not_knowing_has_what_settles_it(language: str) -> None:
    """In a row of its own, or together with others like it."""
    named = first_cells("three-answers", language)

    assert [] == [cause.value for cause in Cause if cause.value not in named]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_file_of_a_run_directory_is_explained(language: str) -> None:
    """And those of a group."""
    named = first_cells("run-directory", language)

    assert [] == [name for name in FILES if name not in named and f"{name}/<sha256>.zip" not in named]
