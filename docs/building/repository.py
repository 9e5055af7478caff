"""The files outside of the pages, such as the README and the examples, and the links that lead to them.

A page links to them as GitHub needs it, `[README](../../README.md)`. On the site each has a page of its own:
a Markdown file as it is, a source file as code, a folder as the files in it.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

from docs.building.headings import headings, lines_with_kind

FOLDER = "repository"
LANGUAGES = ("en", "zh")
MOST_BYTES = 100_000
_CODE = {
    ".py": "python",
    ".json": "json",
    ".jsonl": "json",
    ".yaml": "yaml",
    ".yml": "yaml",
    ".toml": "toml",
    ".sh": "bash",
    ".ts": "typescript",
    ".js": "javascript",
    ".mjs": "javascript",
}
_LINK = re.compile(
    r"(?P<before>\]\(|\b(?:src|srcset|href)=\")(?P<target>[^)\s\"#:]+)(?P<anchor>#[^)\s\"]*)?(?=[)\"])"
)


def with_site_links(text: str, source: str, page: str, root: Path) -> str:
    """A page in which each link that leaves the pages of its language leads to the page that the site has for it.

    Args:
        text: the page's Markdown.
        source: the path in the repository that its links are relative to.
        page: where it stands on the site, as if that were the folder `docs`: `docs/zh/repository/readme.md`.
        root: the repository.
    """
    language = page.split("/")[1]

    def led(found: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), found["target"]))
        if path.startswith("../") or not (root / path).exists():
            return found[0]
        target, anchor = page_of(path, language), found["anchor"] or ""
        if anchor and target != path and (root / target).exists():
            anchor = "#" + _same_heading(root / path, root / target, anchor[1:])
        return f"{found['before']}{posixpath.relpath(target, posixpath.dirname(page))}{anchor}"

    return "\n".join(line if is_code else _LINK.sub(led, line) for line, is_code in lines_with_kind(text))


def page_of(path: str, language: str) -> str:
    """The page of the site for a file, for readers of one language, as if it stood in the folder `docs`."""
    if path.startswith("docs/"):
        return re.sub(r"^docs/(en|zh)/", f"docs/{language}/", path)
    return f"docs/{language}/{FOLDER}/{path.removesuffix('.md').rstrip('/').lower()}.md"


def _same_heading(one: Path, other: Path, anchor: str) -> str:
    """The anchor that a heading of a page has in the other language, where it stands at the same place."""
    pairs = zip(*(headings(file.read_text(encoding="utf-8")) for file in (one, other)), strict=False)
    return next((theirs.anchor for mine, theirs in pairs if mine.anchor == anchor), anchor)


def linked_files(root: Path) -> dict[str, str]:
    """The files and folders outside of the pages that pages link to, and the Markdown of the page to make of each."""
    made: dict[str, str] = {}
    waiting = [
        (path.relative_to(root).as_posix(), path.read_text(encoding="utf-8"))
        for language in LANGUAGES
        for path in sorted((root / "docs" / language).rglob("*.md"))
    ]
    while waiting:
        source, text = waiting.pop()
        for line, is_code in lines_with_kind(text):
            for found in () if is_code else _LINK.finditer(line):
                path = posixpath.normpath(posixpath.join(posixpath.dirname(source), found["target"]))
                if path.startswith(("../", "docs/")) or path in made or not (root / path).exists():
                    continue
                made[path] = _text_of(root, path)
                if path.endswith(".md"):
                    waiting.append((path, made[path]))
    return made


def _text_of(root: Path, path: str) -> str:
    file = root / path
    if file.suffix == ".md":
        return file.read_text(encoding="utf-8")
    if file.is_file():
        return f"# {path}\n\n{_shown(file)}"
    names = [one for one in sorted(file.rglob("*")) if one.is_file() and "__pycache__" not in one.parts]
    return f"# {path}/\n\n" + "\n".join(
        f"## {one.relative_to(file).as_posix()}\n\n{_shown(one)}" for one in names
    )


def _shown(file: Path) -> str:
    data = file.read_bytes()
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return f"{len(data):,} bytes that are no text.\n"
    if len(data) > MOST_BYTES:
        return f"{len(data):,} bytes of text.\n"
    fence = "`" * max(3, 1 + max((len(one) for one in re.findall("`+", text)), default=0))
    return f"{fence}{_CODE.get(file.suffix, 'text')}\n{text.rstrip()}\n{fence}\n"
