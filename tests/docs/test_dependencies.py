"""Every dependency has a line that says what it is for."""

from __future__ import annotations

import re
import tomllib

import pytest

from tests.docs.pages import ROOT, page

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]


def names(requirements: list[str]) -> list[str]:
    """Names of distributions, without their versions."""
    return [found[0].lower() for one in requirements if (found := re.match(r"[\w.-]+", one))]


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("extra", [None, *EXTRAS])
def test_every_dependency_has_a_line(extra: str | None, language: str) -> None:
    """In a table of the page; an extra by its name, too."""
    rows = " ".join(
        line
        for line in page(f"docs/{language}/dependencies.md").text.lower().splitlines()
        if line.startswith("|")
    )
    wanted = names(PROJECT["dependencies"] if extra is None else EXTRAS[extra])

    assert wanted
    assert [] == [name for name in wanted if not re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", rows)]
    assert extra is None or f"`proctor[{extra}]`" in rows
