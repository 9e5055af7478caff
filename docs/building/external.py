"""Finds what a browser would fetch from elsewhere when it shows a page of the site."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

_AWAY = re.compile(r"^\s*(https?:)?//", re.IGNORECASE)
_CSS = re.compile(r"(?:url\(|@import)\s*['\"]?\s*((?:https?:)?//[^'\")\s]+)", re.IGNORECASE)
_LOADED = {"src", "srcset", "poster", "data", "xlink:href"}
_LINKED = {
    "stylesheet",
    "icon",
    "preconnect",
    "dns-prefetch",
    "preload",
    "prefetch",
    "modulepreload",
    "manifest",
}


class _Loads(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what this element makes a browser fetch."""
        values = {name: value or "" for name, value in attrs}
        kinds = set(values.get("rel", "").lower().split())
        for name, value in values.items():
            is_loaded = name in _LOADED or (name == "href" and (tag in ("image", "use") or kinds & _LINKED))
            if is_loaded and _AWAY.match(value):
                self.found.append(value)
        self.found += _CSS.findall(values.get("style", ""))
        if tag == "div" and "mermaid" in values.get("class", "").split():
            self.found.append("a mermaid diagram, which is drawn by a script from elsewhere")

    def handle_data(self, data: str) -> None:
        """Note what a style sheet inside of the page imports."""
        if self.get_starttag_text() is not None and self.cdata_elem == "style":
            self.found += _CSS.findall(data)


def loads(site: Path) -> list[str]:
    """What pages, style sheets and pictures load from elsewhere, each as `FILE: ADDRESS`."""
    found: list[str] = []
    for file in sorted(site.rglob("*")):
        if file.suffix in (".html", ".svg"):
            reader = _Loads()
            reader.feed(file.read_text(encoding="utf-8"))
            away = reader.found
        elif file.suffix == ".css":
            away = _CSS.findall(file.read_text(encoding="utf-8"))
        else:
            continue
        found += [f"{file.relative_to(site).as_posix()}: {one}" for one in away]
    return found
