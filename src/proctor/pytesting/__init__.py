"""Suites as pytest tests: `pytest --proctor SUITE`, and `@pytest.mark.proctor(...)` on a test of your own.

`Evaluated` is what such a test is given. Nothing else here is public.
"""

from __future__ import annotations

# As in `proctor` itself: pytest imports this package whenever it starts, and mostly for nothing.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

    from proctor.pytesting.evaluated import Evaluated

__all__ = ["Evaluated"]


def __getattr__(name: str) -> Any:
    """Import the public name when it is first asked for."""
    if name not in __all__:
        raise AttributeError(f"module 'proctor.pytesting' has no attribute {name!r}")
    from proctor.pytesting import evaluated

    return getattr(evaluated, name)
