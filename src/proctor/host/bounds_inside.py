"""What a forked process does to put limits on itself. Small, because every fork would pay for more."""

from __future__ import annotations

from typing import Any


def put_on(told: dict[str, Any]) -> None:
    """Put limits on this process, before anything else; `told` is what `Bounds.told` gave.

    Raises:
        OSError: a control group cannot be entered.
        ValueError: a limit is above one that holds already.
    """
    for door in told["doors"]:
        with open(door, "w") as target:  # noqa: PTH123
            target.write("0")
    if told["rlimits"]:
        import resource

        for kind, soft, hard in told["rlimits"]:
            resource.setrlimit(kind, (soft, hard))
