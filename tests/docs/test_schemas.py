"""Every sample of JSON, YAML and TOML, and every front matter of a judge, matches the published schema of its kind."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from proctor.errors import ProctorError
from proctor.loading import load_suite
from proctor.schemas import SCHEMAS
from tests.docs.pages import Block, blocks, page, pages
from tests.docs.sample_schemas import (
    NOT_OURS,
    documents,
    is_structured,
    reason_against,
    schema_problems,
)

SAMPLES = [
    (f"{one.name}:{block.line}", block)
    for one in (*pages("en"), *pages("zh"), page("README.md"))
    for block in blocks(one.text)
]


def test_every_sample_matches_the_schema_of_its_kind() -> None:
    """In both languages; one that is marked as refused does not, or is refused by loading below."""
    wrong = {
        where: problems
        for where, block in SAMPLES
        if not block.is_wrong and (problems := schema_problems(block))
    }

    assert {} == wrong


def test_every_sample_has_a_schema_or_a_reason() -> None:
    """And every reason has a sample."""
    reasons = {where: reason_against(block) for where, block in SAMPLES if is_structured(block)}
    nobodys = [
        where
        for where, block in SAMPLES
        if is_structured(block) and not documents(block) and reasons[where] is None
    ]
    covered = {name for _, block in SAMPLES for name, _ in documents(block)}

    assert [] == nobodys
    assert set(NOT_OURS) == set(filter(None, reasons.values()))
    assert {"suite", "test", "checklist", "judge", "settings", "trace", "run-event"} <= covered


@pytest.mark.parametrize(
    ("where", "block"),
    [(where, block) for where, block in SAMPLES if block.is_wrong and not block.path.endswith(".py")],
)
def test_a_sample_that_is_to_be_refused_is_refused(where: str, block: Block, tmp_path: Path) -> None:
    """By its schema, and by loading it."""
    path = tmp_path / Path(block.path).name
    path.write_text(block.text)

    assert schema_problems(block), where
    with pytest.raises(ProctorError):
        load_suite(path.name, base=tmp_path)


@pytest.mark.parametrize(
    ("block", "is_refused"),
    [
        (Block(1, "json", "file: a/test.json", '{"input": "x"}\n'), False),
        (Block(1, "json", "file: a/test.json", '{"inpt": "x"}\n'), True),
        (Block(1, "yaml", "file: a/suite.yaml", "inputs:\n  - {id: a, timeout: soon}\n"), True),
        (Block(1, "json", "file: a.jsonl", '{"id": "a"}\n{"input": "x"}\n'), True),
        (Block(1, "toml", "file: proctor.toml", "trails = 3\n"), True),
        (Block(1, "markdown", "file: tone.md", "---\nscael: 0-10\n---\n{{output}}\n"), True),
        (Block(1, "json", "illustration", '{"schema":"proctor.run-event/1","event":"begun"}\n'), True),
        (Block(1, "console", "run", '$ proctor verify x --json\n{"schema": "proctor.verify/1"}\n'), True),
    ],
)
def test_the_check_finds_a_planted_mistake(block: Block, is_refused: bool) -> None:
    """In each kind of sample."""
    assert is_refused is bool(schema_problems(block))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_pages_name_schemas_that_exist(language: str) -> None:
    """`proctor schema NAME` in a sentence or a sample; and the pages say how to list all."""
    text = "\n".join(one.text for one in pages(language))
    named = set(re.findall(r"proctor schema ([a-z][a-z-]*)", text))

    assert {"test", "checklist", "judge"} <= named
    assert set() == named - {one.name for one in SCHEMAS}
    assert "proctor schema --list" in text
