"""Every sample of the documentation is tried: files are written, commands are run, Python is type-checked."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.docs.conftest import Checked, Diagnostic
from tests.docs.illustrations import ILLUSTRATIONS
from tests.docs.pages import Block, Page, blocks, page, pages
from tests.docs.sample_schemas import schema_problems
from tests.docs.terminal import Terminal

PAGES = [*pages("en"), page("README.md")]
LAMBDA_RULES = {"reportUnknownLambdaType", "reportUnknownArgumentType"}


@pytest.mark.parametrize("read", PAGES, ids=lambda read: read.name)
def test_a_reader_who_follows_the_page_sees_what_it_shows(terminal: Terminal, read: Page) -> None:
    """Each file can be written as it stands, and each command prints what stands below it."""
    for block in blocks(read.text):
        try:
            if block.kind == "file":
                terminal.write(block)
            elif block.kind == "run":
                terminal.run(block)
        except AssertionError as wrong:
            raise AssertionError(f"{read.file}:{block.line}: {wrong}") from wrong


@pytest.mark.parametrize("read", PAGES, ids=lambda read: read.name)
def test_every_sample_says_what_it_is(read: Page) -> None:
    """A block without a marker is nobody's: it is tried by no test."""
    strangers = [
        f"{read.file}:{block.line}: {block.marker!r}"
        for block in blocks(read.text)
        if block.kind not in ("file", "run", "illustration") or not is_whole(block)
    ]

    assert [] == strangers


def test_what_is_tried_by_no_test_has_a_reason() -> None:
    """Every illustration of a page stands in the list of those that cannot be tried, and all of the list is there."""
    listed = {(name, beginning) for name, each in ILLUSTRATIONS.items() for beginning in each}
    found = [
        (read.path.name, block.text)
        for read in PAGES
        for block in blocks(read.text)
        if block.kind == "illustration"
    ]
    strangers = [
        f"{name}: {text.splitlines()[0]}"
        for name, text in found
        if not any(text.startswith(beginning) for page, beginning in listed if page == name)
    ]
    gone = {
        (name, beginning)
        for name, beginning in listed
        if not any(page == name and text.startswith(beginning) for page, text in found)
    }

    assert [] == strangers
    assert set() == gone
    assert len(found) == len(listed)


def is_whole(block: Block) -> bool:
    """True when the block's language is that of its marker, and a file has a name."""
    if block.kind == "run":
        return block.language == "console"
    return block.kind != "file" or bool(block.path)


def test_python_samples_are_typed(type_checked: Mapping[str, Checked]) -> None:
    """pyright in strict mode accepts each, and refuses those that say so.

    The parameters of a lambda cannot be annotated, and a lambda is what a short grader is.
    """
    wrong = {
        where: complaints
        for where, one in type_checked.items()
        if ":" in where and bool(complaints := serious(one.found)) is not one.is_wrong
    }

    assert {} == wrong
    assert len(type_checked) > len(PAGES)


def serious(found: tuple[Diagnostic, ...]) -> list[Diagnostic]:
    """The complaints that are about more than the parameters of a lambda."""
    return [one for one in found if "lambda" not in one.line or one.rule not in LAMBDA_RULES]


def test_a_wrong_sample_is_found(terminal: Terminal) -> None:
    """What the page prints, the exit code, and the schema are all looked at."""
    good = Block(1, "console", "run", "$ proctor --version\nproctor ...\n")
    wrong = [
        Block(1, "console", "run", "$ proctor --version\nproctor 99\n"),
        Block(1, "console", "run", "$ proctor list nowhere\n...\n"),
        Block(1, "console", "run", "$ proctor list nowhere\n...\n$ echo $?\n0\n"),
        Block(1, "json", "file: test.json", '{"inpt": "x"}\n'),
    ]
    for block in wrong:
        with pytest.raises(AssertionError):
            terminal.write(block) if block.kind == "file" else terminal.run(block)
    with pytest.raises(AssertionError):
        terminal.run(good)  # `...` stands for lines, not for a part of one
    terminal.run(Block(1, "console", "run", "$ proctor list nowhere\n...\n$ echo $?\n1\n"))
    assert schema_problems(Block(1, "toml", "file: proctor.toml", "trails = 2\n"))
