"""Every sample of the documentation is tried: files are written, commands are run, Python is type-checked."""

from __future__ import annotations

import shutil
from collections.abc import Mapping

import pytest

from tests.docs.conftest import Checked, Diagnostic
from tests.docs.illustrations import ILLUSTRATIONS
from tests.docs.pages import ROOT, Block, blocks, is_printed, pages
from tests.docs.readme import readme_blocks
from tests.docs.sample_schemas import schema_problems
from tests.docs.terminal import Terminal

PAGES = pages("en")
LAMBDA_RULES = {"reportUnknownLambdaType", "reportUnknownArgumentType"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_reader_who_follows_the_page_sees_what_it_shows(terminal: Terminal, page: object) -> None:
    """Each file can be written as it stands, and each command prints what stands below it."""
    for block in blocks(page.text):  # pyright: ignore
        try:
            if block.kind == "file":
                terminal.write(block)
            elif block.kind == "run":
                terminal.run(block)
        except AssertionError as wrong:
            raise AssertionError(f"docs/{page.name}:{block.line}: {wrong}") from wrong  # pyright: ignore


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_sample_says_what_it_is(page: object) -> None:
    """A block without a marker is nobody's: it is tried by no test."""
    strangers = [
        f"docs/{page.name}:{block.line}: {block.marker!r}"  # pyright: ignore
        for block in blocks(page.text)  # pyright: ignore
        if block.kind not in ("file", "run", "illustration") or not is_whole(block)
    ]

    assert [] == strangers


def test_what_is_tried_by_no_test_has_a_reason() -> None:
    """Every illustration of a page stands in the list of those that cannot be tried, and all of the list is there."""
    listed = {(name, beginning) for name, each in ILLUSTRATIONS.items() for beginning in each}
    found = [
        (page.path.name, block.text)
        for page in PAGES
        for block in blocks(page.text)
        if block.kind == "illustration"
    ]
    strangers = [
        f"docs/en/{name}: {text.splitlines()[0]}"
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


def test_the_readme_shows_what_happens(terminal: Terminal) -> None:
    """Its suite, its commands with what the last one prints, and each file that a run leaves behind."""
    shutil.copyfile(ROOT / "examples/einstein/agents.py", terminal.root / "agents.py")
    tool = terminal.root / "mytool"
    tool.write_text("#!/bin/sh\necho 'March 14, 1879'\n")
    tool.chmod(0o755)
    last: list[str] = []
    for block in readme_blocks():
        assert block.marker, f"README.md:{block.line}: give it a marker, or an entry in tests/docs/readme.py"
        if block.kind == "file":
            terminal.write(block)
        elif block.kind == "run":
            terminal.run(block)
        elif block.kind == "commands":
            for command in block.text.splitlines():
                last = terminal.type(command.replace("'mytool", "'./mytool"))
        elif block.kind == "printed by the last command":
            assert is_printed(block.text.splitlines(), last), "\n".join(last)
        elif block.kind == "tree":
            assert [] == [name for name in names_in_tree(block.text) if not exists(terminal, name)]


def names_in_tree(text: str) -> list[str]:
    """The paths that a drawn tree names, each with the folders above it."""
    names: list[str] = []
    above: list[tuple[int, str]] = []
    for line in text.splitlines():
        indent = len(line) - len(line.lstrip())
        above = [one for one in above if one[0] < indent]
        names += ["".join(one for _, one in above) + name for name in line.split("  ")[indent // 2].split()]
        if line.split()[0].endswith("/"):
            above.append((indent, line.split()[0]))
    return names


def exists(terminal: Terminal, name: str) -> bool:
    """True when there is such a file; one that appears only when something was printed need not be there."""
    if name.endswith((".log",)):
        return True
    return any(terminal.root.glob(name.replace("<sha256>", "*").rstrip("/")))


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
