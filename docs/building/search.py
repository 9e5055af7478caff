"""Gives each language a search index of its own: who reads Chinese pages finds Chinese pages."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

_BASE = re.compile(r'(<script id="__config"[^>]*>.*?"base": ")([^"]*)(")', re.DOTALL)
_IN_BOTH = ("reference/", "repository/")


def split(site: Path) -> None:
    """Leave the English entries in the index of the site, and give the folder `zh` one of its own.

    The script of a page looks for the index below the base that the page names, so that Chinese pages name `zh`.
    """
    whole: dict[str, Any] = json.loads((site / "search/search_index.json").read_text(encoding="utf-8"))
    english, chinese = by_language(whole["docs"])
    _write(site, whole["config"] | {"lang": ["en"]}, english)
    _write(site / "zh", whole["config"] | {"lang": ["en", "zh"]}, chinese)
    for page in (site / "zh").rglob("*.html"):
        base = "/".join([".."] * (len(page.relative_to(site / "zh").parts) - 1)) or "."
        html = page.read_text(encoding="utf-8")
        page.write_text(_BASE.sub(rf"\g<1>{base}\g<3>", html), encoding="utf-8")


def by_language(entries: Sequence[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The entries that readers of English and of Chinese pages find, each relative to the folder of its language.

    What is there in English alone, such as the reference, is found from both.
    """
    english = [one for one in entries if not one["location"].startswith("zh/")]
    chinese = [
        one | {"location": one["location"].removeprefix("zh/")}
        for one in entries
        if one["location"].startswith("zh/")
    ]
    there = {one["location"] for one in chinese}
    shared = [one for one in english if one["location"].startswith(_IN_BOTH)]
    return english, [*chinese, *(one for one in shared if one["location"] not in there)]


def _write(folder: Path, settings: dict[str, Any], entries: list[dict[str, Any]]) -> None:
    target = folder / "search"
    target.mkdir(exist_ok=True)
    text = json.dumps({"config": settings, "docs": entries}, ensure_ascii=False, separators=(",", ":"))
    (target / "search_index.json").write_text(text, encoding="utf-8")
    # A page that is opened from disk can load a script, and nothing else.
    (target / "search_index.js").write_text(f"var __index = {text}", encoding="utf-8")
