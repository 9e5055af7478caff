"""The real local model, started once for all tests that ask it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.judging import local_model


@pytest.fixture(scope="session")
def local_base_url() -> Iterator[str]:
    """Where the real local model answers; the test is skipped where it cannot be had."""
    try:
        with local_model.served() as base_url:
            yield base_url
    except local_model.NotHere as reason:
        pytest.skip(f"no local model: {reason}")
