"""Whose fault it is that a trial did not end well."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class Owner(StrEnum):
    """Who has to look at it."""

    AGENT = "agent"
    """The agent: what it did is what is measured."""
    HARNESS = "harness"
    """proctor, the machine, or how it is set up."""
    TEST = "test"
    """The suite: its files, its graders."""
    PROVIDER = "provider"
    """Whoever runs the model or the endpoint that the agent needs."""
    OPERATOR = "operator"
    """Who stopped it."""


class Fault(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Why a trial says nothing about the agent, as it was decided when it ended.

    Attributes:
        owner: whose fault it is.
        kind: a short word for it, such as `out_of_credit`.
        rule: the rule of the project's settings that decided it; None where that was the built-in table.
        retry: the same trial may end otherwise a little later.
        ended: how it had ended by itself, where it had.
    """

    owner: Owner
    kind: str
    rule: str | None = None
    retry: bool = False
    ended: str | None = None
