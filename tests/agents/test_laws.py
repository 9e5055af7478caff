"""Laws that hold for any value: paths into answers, URLs as they are shown, headers as they are sent."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as some

from proctor.agents.answers import json_of
from proctor.agents.http_address import address_of
from proctor.agents.http_agent import header_of
from proctor.agents.output_path import OutputPath
from proctor.errors import UsageError

NAMES = some.text(
    some.characters(exclude_categories=("Cs",), exclude_characters='"\\\n'), min_size=1, max_size=8
)
SECRETS = some.text("abcdefghijklmnopqrstuvwxyzABCDEFGH0123456789-_", min_size=12, max_size=30)


@given(some.lists(some.one_of(NAMES, some.integers(0, 3)), max_size=6), some.integers())
def test_path_to_a_value_leads_to_it(steps: list[str | int], leaf: int) -> None:
    """However it is nested, and whatever its fields are called."""
    value: Any = leaf
    text = "$"
    for step in reversed(steps):
        value = {step: value, f"{step} not": None} if isinstance(step, str) else [None] * step + [value]
    for step in steps:
        text += f'["{step}"]' if isinstance(step, str) else f"[{step}]"

    assert leaf == OutputPath(text).of(value)


@given(SECRETS, SECRETS, some.sampled_from(["token", "api_key", "key", "access_token", "sig", "Password"]))
def test_url_is_shown_without_its_secrets(password: str, value: str, name: str) -> None:
    """Neither password nor query secret is in what is shown; host, port and path are."""
    assume(password not in value and value not in password and password not in "user-of-mine")
    shown = address_of(f"https://user-of-mine:{password}@host.example:81/path?{name}={value}&page=2").shown

    assert password not in shown
    assert value not in shown
    assert "https://host.example:81/path?" in shown
    assert "page=2" in shown


@given(some.text(max_size=30), some.text(max_size=30))
def test_header_that_is_taken_is_one_line(name: str, value: str) -> None:
    """Nothing that a user writes can end a header and begin another, or the body."""
    try:
        header = header_of(f"{name}:{value}")
    except UsageError:
        return
    line = f"{header.name}: {header.value}".encode("latin-1")

    assert 1 == len(line.splitlines())
    assert b"\0" not in line


@given(
    some.recursive(
        some.none() | some.booleans() | some.integers(-(2**53), 2**53) | some.text(max_size=8),
        lambda inner: (
            some.lists(inner, max_size=3) | some.dictionaries(some.text(max_size=4), inner, max_size=3)
        ),
        max_leaves=8,
    )
)
def test_answer_is_read_as_it_was_written(value: Any) -> None:
    """Any JSON comes back as it is, half surrogate pairs apart, whichever way it was escaped."""
    text = json.dumps(value)
    assume("\\ud" not in text.lower())

    assert value == json_of(text.encode())
    assert value == json_of(json.dumps(value, ensure_ascii=False).encode())
