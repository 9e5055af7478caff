"""The page about pytest names everything that the plugin has, in both languages."""

from __future__ import annotations

import re

import pytest

import proctor.pytesting
from proctor.pytesting import Evaluated, plugin
from proctor.pytesting.marked import Marked
from proctor.pytesting.tags import RESERVED
from tests.docs.pages import page, prose


def public(kind: type) -> set[str]:
    return {name for name in dir(kind) if not name.startswith("_")}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_options_keys_fields_and_arguments_stand_on_the_page(language: str) -> None:
    """As code, each of them."""
    lines = "\n".join(prose(page(f"docs/{language}/pytest.md").text))
    said = set(re.findall(r"`([^`]+)`", lines))
    parser = pytest.Parser(_ispytest=True)
    plugin.pytest_addoption(parser)
    options = {name for group in parser._groups for option in group.options for name in option.names()}
    keys = {name for name in parser._inidict if name.startswith("proctor_")}
    fields = {f"{name}()" if callable(getattr(Evaluated, name)) else name for name in public(Evaluated)}

    assert len(options) == 9
    assert len(keys) == 4
    assert set() == (options | keys | fields | set(Marked.__struct_fields__) | RESERVED) - said


def test_what_is_public_is_there_and_says_what_it_is() -> None:
    """`from proctor.pytesting import Evaluated` is all that a typed test function needs."""
    assert ["Evaluated"] == proctor.pytesting.__all__
    assert proctor.pytesting.Evaluated.__doc__
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = proctor.pytesting.nothing
