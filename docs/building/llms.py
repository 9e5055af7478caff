"""Writes `llms.txt` and `llms-full.txt`, by which a language model reads the documentation (llmstxt.org)."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from docs.building.headings import lines_with_kind

_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_NAME = re.compile(r"^::: ([\w.]+)$", re.MULTILINE)
_NOT_PROSE = ("#", "<", "|", "```", "* ", "- ", "![", "[")


class Entry(NamedTuple):
    """A page of the nav: its section, its file, its title, and its first sentence."""

    section: str
    name: str
    title: str
    about: str
    text: str


def write(site: Path, root: Path) -> None:
    """Write both files for English at the root of the site and for Chinese below `zh/`, and each page's Markdown."""
    settings = _settings(root)
    for language in settings["plugins"]["i18n"]["languages"]:
        top = site if language.get("default") else site / language["locale"]
        made = list(
            entries(settings["nav"], root / "docs", language["locale"], language.get("nav_translations", {}))
        )
        summary = language.get("site_description", settings["site_description"])
        for entry in made:
            (top / entry.name).write_text(entry.text, encoding="utf-8")
        (top / "llms.txt").write_text(index(settings["site_name"], summary, made), encoding="utf-8")
        (top / "llms-full.txt").write_text(
            "\n\n".join(one.text.strip() for one in made) + "\n", encoding="utf-8"
        )


def _settings(root: Path) -> dict[str, Any]:
    """What mkdocs.yml says; Python objects in it are left out."""

    class Loader(yaml.SafeLoader):
        """Reads a Python object as nothing."""

    def nothing(*_: object) -> None:
        return None

    Loader.add_multi_constructor("tag:yaml.org,2002:python/", nothing)  # pyright: ignore[reportUnknownMemberType]
    settings: dict[str, Any] = yaml.load((root / "mkdocs.yml").read_text(encoding="utf-8"), Loader)
    plugins: dict[str, Any] = {}
    for one in settings["plugins"]:
        plugins |= one if isinstance(one, dict) else {one: {}}
    return settings | {"plugins": plugins}


def index(name: str, summary: str, made: Sequence[Entry]) -> str:
    """The text of `llms.txt`: title, summary, and a list of links for each section."""
    lines = [f"# {name}", "", f"> {summary}"]
    section = None
    for entry in made:
        if entry.section != section:
            section = entry.section
            lines += ["", f"## {section or name}", ""]
        lines.append(f"- [{entry.title}]({entry.name}): {entry.about}")
    return "\n".join(lines) + "\n"


def entries(
    nav: Sequence[Any], docs: Path, language: str, names: Mapping[str, str], section: str = ""
) -> Iterator[Entry]:
    """The pages of the nav, in its order, in one language; those that are in English alone in English."""
    for one in nav:
        if isinstance(one, str):
            file = docs / language / one
            text = described((file if file.exists() else docs / "en" / one).read_text(encoding="utf-8"))
            yield Entry(section, one, title_of(text), first_sentence(text), text)
        else:
            for title, inside in one.items():
                yield from entries(inside, docs, language, names, names.get(title, title))


def described(text: str) -> str:
    """A page in which each name of the API, `::: proctor.grade`, is what it takes and what its docstring says."""
    return _NAME.sub(lambda found: _description(found[1]), text)


def _description(name: str) -> str:
    module, _, attribute = name.rpartition(".")
    value: Any = getattr(importlib.import_module(module), attribute)
    try:
        takes = str(inspect.signature(value))
    except (TypeError, ValueError):
        takes = ""
    said = inspect.getdoc(value) or ""
    return f"### {name}\n\n```python\n{attribute}{takes}\n```\n\n{said}\n"


def title_of(text: str) -> str:
    """The first heading of a page."""
    return next((line[2:].strip() for line in text.split("\n") if line.startswith("# ")), "")


def first_sentence(text: str) -> str:
    """The first line of prose: the pages have a sentence on each."""
    lines = (line.strip() for line, is_code in lines_with_kind(text) if not is_code)
    first = next((line for line in lines if line and not line.startswith(_NOT_PROSE)), "")
    return _LINK.sub(r"\1", first)
