"""Suites hold no secrets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from proctor.core.secret_shapes import names_a_credential, secret_in
from proctor.errors import SuiteError
from proctor.loading import load_suite

Write = Callable[[Mapping[str, Any]], Path]

# Put together here, so that nobody's scanner takes this file for a leak.
SECRETS = [
    "sk-" + "a1B2c3D4" * 4,
    "sk-ant-" + "x" * 24,
    "sk-proj-" + "Ab1_" * 8,
    "ghp_" + "a1B2" * 9,
    "github_pat_" + "a1B2" * 8,
    "AKIA" + "B2C3" * 4,
    "xoxb-" + "1234567890-abc",
    "xoxp-" + "1234567890-abc",
    "AIza" + "a1B2-" * 7,
    "-----BEGIN " + "PRIVATE KEY-----",
    "-----BEGIN RSA " + "PRIVATE KEY-----",
]
NO_SECRETS = [
    "sk-learn-classification-of-texts",
    "task-0123456789abcdef0123",
    "https://example.org/risk-assessment-2024-report-final",
    "ghp_ is how they begin",
    "AKIA",
    "-----BEGIN CERTIFICATE-----",
    "-----BEGIN PUBLIC KEY-----",
]


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("field", ["input", "expected", "goal", "metadata", "description"])
def test_a_secret_is_refused_in_every_field(secret: str, field: str, written: Write) -> None:
    """The shape of a provider's key is refused wherever it stands, and only four characters of it are shown."""
    text = f"use {secret} here"
    value = {"deep": [{"k": text}]} if field in ("expected", "metadata") else text
    base = written({"s.json": {"inputs": [{"id": "a", "input": "x", field: value}]}})

    with pytest.raises(SuiteError) as caught:
        load_suite("s.json", base=base)
    assert f"looks like a secret: {secret[:4]!r} and more." in str(caught.value)
    assert secret[:9] not in str(caught.value)


@pytest.mark.parametrize("text", NO_SECRETS)
def test_text_that_only_begins_like_a_secret_is_none(text: str) -> None:
    """Ordinary words with the beginning of a key are let through."""
    assert secret_in(text) is None


@pytest.mark.parametrize("allowed", ["a.metadata.keys[0]", "a.metadata.keys", "a.metadata", "a"])
def test_a_field_can_be_allowed_by_the_name_in_the_message(allowed: str, written: Write) -> None:
    """`--allow-credentials` takes the field that the message names, or one above it."""
    base = written({"s.json": {"inputs": [{"id": "a", "metadata": {"keys": [SECRETS[5]]}}]}})

    with pytest.raises(SuiteError, match=r"--allow-credentials 'a\.metadata\.keys\[0\]'"):
        load_suite("s.json", base=base)
    assert load_suite("s.json", base=base, allow_credentials=[allowed]).tests


def test_allowing_one_field_allows_no_other(written: Write) -> None:
    """A field with a longer name, or of another test, stays refused."""
    secret = SECRETS[5]
    base = written(
        {
            "s.json": {
                "inputs": [{"id": "a", "metadata": {"k": secret, "k2": secret}}, {"id": "b", "goal": secret}]
            }
        }
    )

    with pytest.raises(SuiteError) as caught:
        load_suite("s.json", base=base, allow_credentials=["a.metadata.k", "a.goal"])
    assert len(caught.value.faults) == 2


def test_names_of_credentials_are_known_by_their_words() -> None:
    """Snake case, camel case and hyphens make no difference; words that only contain one do not count."""
    names = [
        "api_key",
        "apiKey",
        "X-Auth-Token",
        "password",
        "AUTHORIZATION",
        "clientSecret",
        "aws_secret_access_key",
    ]

    assert [True] * len(names) == [names_a_credential(name) for name in names]
    assert [names_a_credential(name) for name in ("max_tokens", "keyboard", "secretary", "author")] == [
        False
    ] * 4


def test_names_of_credentials_are_free_where_fields_are_ones_own(written: Write) -> None:
    """What a test is about may be called a token: in `input`, `expected` and `metadata`."""
    free = {"token": "abc", "password": "x"}
    base = written({"s.json": {"inputs": [{"id": "a", "input": free, "expected": free, "metadata": free}]}})

    assert free == load_suite("s.json", base=base).tests[0].test.input
