"""Prepares what MkDocs builds: `python -m docs.building.prepare` writes the pages into `build/docs`.

In the repository the pages are as GitHub shows them. On the site the samples say which file they are, and a link to
a file outside of the pages leads to a page of its own.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from docs.building import markup, repository, schemas
from docs.building.repository import LANGUAGES

ROOT = Path(__file__).parents[2]
TARGET = ROOT / "build/docs"
_SCHEMA = re.compile(r"`proctor schema ([a-z-]+)`")
# Who searches is to find the page that explains a thing before the table that it stands in.
_AFTER_OTHERS = "---\nsearch:\n  boost: 0.5\n---\n\n"
_LANGUAGE_LINKS = re.compile(r"^\[[^\]]*\]\(\.\./(?:zh|en)/index\.md\)[^\n]*$", re.MULTILINE)


def prepare(root: Path, target: Path) -> None:
    """Write the sources of the site; what was there before is removed."""
    shutil.rmtree(target, ignore_errors=True)
    for path in sorted((root / "docs").rglob("*")):
        name = path.relative_to(root / "docs")
        if path.is_dir() or path.suffix == ".py" or "__pycache__" in name.parts:
            continue
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        if path.suffix != ".md":
            shutil.copyfile(path, target / name)
            continue
        source = f"docs/{name.as_posix()}"
        is_shared = name.parts[:2] == ("en", "reference")
        for page in (repository.page_of(source, one) for one in (LANGUAGES if is_shared else name.parts[:1])):
            _write(target, page, path.read_text(encoding="utf-8"), source, root)
    schemas.publish(target)
    for path, text in repository.linked_files(root).items():
        for language in LANGUAGES:
            _write(target, repository.page_of(path, language), text, path, root)


def _write(target: Path, page: str, text: str, source: str, root: Path) -> None:
    # The site has a switch between the languages on every page.
    text = _LANGUAGE_LINKS.sub("", text)
    file = target / page.removeprefix("docs/")
    file.parent.mkdir(parents=True, exist_ok=True)
    made = markup.with_titles(repository.with_site_links(text, source, page, root))
    if "/reference/" in page:
        made = _SCHEMA.sub(lambda found: f"[{found[0]}](../{schemas.path_of(found[1])})", made)
    if "/reference/" in page or f"/{repository.FOLDER}/" in page:
        made = _AFTER_OTHERS + made
    file.write_text(made, encoding="utf-8")


if __name__ == "__main__":
    prepare(ROOT, TARGET)
