"""The hook that a conftest.py can answer."""

from __future__ import annotations

import pytest

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from proctor.ports import Agent


@pytest.hookspec(firstresult=True)
def pytest_proctor_agent(config: pytest.Config) -> Agent | Callable[..., Any] | str | None:
    """The agent for `--proctor`, where no option names one.

    A function of a module, an agent such as `proctor.pick_agent()` makes, or a text as `proctor run` takes it; None
    leaves the answer to somebody else.
    """
