"""Text that can be looked at."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given

from proctor.reports.plain import one_line, visible
from tests.reports.builders import texts


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain ascii", "plain ascii"),
        ("line\n\tindented", "line\n\tindented"),
        ("a\x1b[31m", "a\\x1b[31m"),
        ("a\r\nb", "a\\r\nb"),
        ("\x00", "\\x00"),
        ("\ud800", "\\ud800"),
        ("\ufffe\uffff", "\\ufffe\\uffff"),
        ("\u202eevil", "\\u202eevil"),
        ("\u2028", "\\u2028"),
        ("水的化学式是 H₂O", "水的化学式是 H₂O"),
        ("👩\u200d🔬 می\u200cخواهم", "👩\u200d🔬 می\u200cخواهم"),
        ("non\u00a0breaking", "non\u00a0breaking"),
    ],
)
def test_what_cannot_be_seen_is_an_escape_and_everything_else_stays(text: str, shown: str) -> None:
    """Scripts and emoji of all kinds stay as they are."""
    assert shown == visible(text)


@given(texts)
def test_every_visible_text_can_stand_in_xml_and_be_stored(text: str) -> None:
    """What comes back is what went in."""
    element = ET.Element("a", b=one_line(text))
    element.text = visible(text)
    back = ET.fromstring(ET.tostring(element, encoding="utf-8"))

    assert (visible(text), one_line(text)) == (back.text or "", back.get("b"))


@given(texts)
def test_one_line_is_one_line(text: str) -> None:
    """Each run of white space is one space, and there is none at either end."""
    assert not re.search(r"[\n\r\t]|  |^ | $", one_line(text).replace("\u00a0", "x"))
