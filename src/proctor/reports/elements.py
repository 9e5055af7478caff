"""HTML as a tree of elements: what others wrote is text or the value of an attribute, and never markup."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias, cast
from xml.etree import ElementTree as ET

from proctor.records.details import Excerpt
from proctor.reports.plain import one_line, visible

Content: TypeAlias = "ET.Element | str | Iterable[Content] | None"
"""What stands in an element: another one, a text, several of both; None is nothing."""


def element(tag: str, *content: Content, **attributes: str | float | bool | None) -> ET.Element:
    """An element with its content.

    attributes: `class_` is class, an underscore is a hyphen; True is an attribute without a value, and what is None
        or False is left out.
    """
    made = ET.Element(tag)
    for name, value in attributes.items():
        if value is None or value is False:
            continue
        shown = "" if value is True else f"{value:g}" if isinstance(value, float) else str(value)
        made.set(name.rstrip("_").replace("_", "-"), one_line(shown))
    add(made, *content)
    return made


def add(parent: ET.Element, *content: Content) -> None:
    """Put more at the end of an element."""
    for part in content:
        if part is None:
            continue
        if isinstance(part, ET.Element):
            parent.append(cast("ET.Element", part))
        elif isinstance(part, str):
            _add_text(parent, visible(part))
        else:
            add(parent, *part)


def table(heads: Iterable[Content], rows: Iterable[Iterable[Content]], **attributes: str) -> ET.Element:
    """A table; the first cell of a row is its head."""
    head = element("tr", (element("th", cell, scope="col") for cell in heads))
    body = element("tbody")
    for cells in rows:
        first, *others = cells
        body.append(
            element("tr", element("th", first, scope="row"), (element("td", cell) for cell in others))
        )
    return element("table", element("thead", head), body, **attributes)


def excerpt(title: str, part: Excerpt | None) -> list[ET.Element]:
    """A text of somebody's, in its lines, with what is left out of it; nothing where there is none."""
    if part is None:
        return []
    found = [element("h3", title), element("pre", part.text or "(empty)", tabindex="0")]
    if part.left_out:
        found.append(element("p", f"and {part.left_out:,} more characters", class_="more"))
    if part.is_end:
        found[0].text = f"{title}, its end"
    return found


def html(root: ET.Element) -> bytes:
    """The document, as UTF-8."""
    return b"<!doctype html>\n" + ET.tostring(root, encoding="utf-8", method="html") + b"\n"


def _add_text(parent: ET.Element, text: str) -> None:
    if len(parent):
        parent[-1].tail = (parent[-1].tail or "") + text
    else:
        parent.text = (parent.text or "") + text
