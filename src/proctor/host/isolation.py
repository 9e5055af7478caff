"""What of the operator's own surroundings an agent gets."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import msgspec

from proctor.errors import UsageError
from proctor.host.home import HomePlan, private_home, tools_of
from proctor.host.withheld import (
    IS_REPLACED,
    IS_SETTING,
    IS_TRACING,
    any_of,
    is_credential,
    opens_a_model,
)
from proctor.records.isolation import Isolation

_NAME = re.compile(r"[^=\0\s]+")
_GLOB = re.compile(r"[*?\[]")


class Isolated(msgspec.Struct, frozen=True, kw_only=True):
    """The environment that agents get, and what was done to it.

    Attributes:
        environment: what is let in, less the home that each trial gets.
        told: what that was, by name, for the record.
        home: what is made for each trial.
        unset: variables that were asked for by name, and are not there.
    """

    environment: Mapping[str, str]
    told: Isolation
    home: HomePlan = HomePlan()
    unset: tuple[str, ...] = ()

    @property
    def missed_keys(self) -> tuple[str, ...]:
        """The keys of model providers that were withheld."""
        return tuple(filter(opens_a_model, self.told.withheld))


def isolate(
    environment: Mapping[str, str], *, keep_home: bool = False, pass_env: Sequence[str] = ()
) -> Isolated:
    """The part of the operator's environment that an agent may have.

    Credentials are taken out, and so is what tells of the operator's desktop and programs; with `keep_home` the
    latter stays. What tells where the operator's own programs send their traces never gets in unasked.

    Args:
        environment: the operator's.
        keep_home: the operator's home and settings are the agent's, too.
        pass_env: names of variables that get in all the same; `*` in a name stands for anything. A folder of the
            operator's, such as `XDG_CACHE_HOME`, gets in by its exact name alone.

    Raises:
        UsageError: one of these can be no name of a variable.
    """
    for asked in pass_env:
        if not _NAME.fullmatch(asked):
            raise UsageError(
                f"{asked!r} is no name of a variable",
                where="--pass-env",
                fix="Write the name alone; its value is taken from the environment.",
            )
    is_asked = any_of(tuple(pass_env))
    exact = frozenset(asked for asked in pass_env if not _GLOB.search(asked))
    let_in: dict[str, str] = {}
    passed: list[str] = []
    withheld: list[str] = []
    for name, value in environment.items():
        if IS_REPLACED.match(name):
            if keep_home or name in exact:
                let_in[name] = value
                passed += [name] if name in exact else []
        elif not _is_withheld(name, value, keep_home=keep_home):
            let_in[name] = value
        elif is_asked.match(name):
            let_in[name] = value
            passed.append(name)
        else:
            withheld.append(name)
    kept = frozenset(exact & let_in.keys())
    return Isolated(
        environment=let_in if keep_home else let_in | tools_of(environment),
        told=Isolation(
            home="kept" if keep_home else "private",
            passed=tuple(sorted(passed)),
            withheld=tuple(sorted(withheld)),
        ),
        home=HomePlan(is_private=False, kept=kept) if keep_home else private_home(environment, kept),
        unset=tuple(sorted(exact - environment.keys())),
    )


def _is_withheld(name: str, value: str, *, keep_home: bool) -> bool:
    if IS_TRACING.match(name) or is_credential(name, value):
        return True
    return not keep_home and IS_SETTING.match(name) is not None
