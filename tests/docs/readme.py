"""The samples of the README, which has no markers: each is known by how it begins."""

from __future__ import annotations

from tests.docs.pages import Block, blocks, page

KNOWN = {
    '{\n  "description": "A fact with one right answer."': "file: suite/birthday/test.json",
    "from proctor import Contains, ExactMatch": "file: suite/birthday/graders.py",
    "make demo": "illustration",
    "run  ->  [run directory]": "illustration",
    "proctor run agents.py:good": "commands",
    "runs/good\n  birthday": "printed by the last command",
    "runs/good/  ": "tree",
}
"""How a block begins, and the marker that it would have."""


def readme_blocks() -> list[Block]:
    """The blocks of the README, with their markers; one that nobody knows has none."""
    return [
        block if block.marker else block._replace(marker=_marker(block.text))
        for block in blocks(page("README.md").text)
    ]


def _marker(text: str) -> str:
    return next((marker for beginning, marker in KNOWN.items() if text.startswith(beginning)), "")
