"""Kinds of agent by name: those that come with every suite, and those that installed packages add.

A package adds one by an entry point in the group `proctor.agents`, whose name is that of the kind and whose value
is a class or a function that makes an agent (`proctor.ports.Agent`).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from proctor.agents.hosts.kinds import CODING_AGENTS
from proctor.agents.options import AgentOptions
from proctor.errors import AgentError, UsageError, did_you_mean
from proctor.ports import Agent
from proctor.records.json_value import Json
from proctor.records.suite import Suite

GROUP = "proctor.agents"
"""The group of entry points."""

BUILT_IN = ("noop", "solution")
"""Kinds that are always there; no package can stand for one of them."""

_PARTS = ("attempt", "close", "identity", "prepare")
_GIVEN = ("launch_dir", "suite")


def known_kinds() -> tuple[str, ...]:
    """The names of all kinds, without loading any."""
    return tuple(sorted({*BUILT_IN, *CODING_AGENTS, *entry_points(group=GROUP).names}))


def agent_of_kind(name: str, options: AgentOptions, *, launch_dir: Path, suite: Suite | None) -> Agent:
    """A new agent of a kind.

    A factory is given, by the names of its parameters, what the user wrote as `--param NAME=VALUE`; and, where it
    has parameters of these names, `launch_dir`, the folder that the user stands in, and `suite`.

    Raises:
        UsageError: the factory does not take such parameters, or `solution` is named without a suite.
        AgentError: two packages add this kind, or the one that does is not usable.
        UnknownName: there is no such kind.
    """
    if name in BUILT_IN:
        options.require(f"the agent {name!r}", ())
        return _built_in(name, suite)
    options.require(f"an agent of the kind {name!r}", ("params",))
    found = list(entry_points(group=GROUP, name=name))
    if not found:
        raise _unknown(name)
    if len({point.value for point in found}) > 1:
        raise AgentError(
            f"The kind {name!r} is added by several packages: {', '.join(sorted(map(_origin, found)))}.",
            fix="Uninstall all but one.",
        )
    return _made(found[0], options.param_values(), {"launch_dir": launch_dir, "suite": suite})


def _built_in(name: str, suite: Suite | None) -> Agent:
    from proctor.agents.solution import NoopAgent, SolutionAgent

    if name == "noop":
        return NoopAgent()
    if suite is None:
        raise UsageError(
            "the agent `solution` runs what a suite holds, and no suite is given",
            fix='Give it: pick_agent("solution", suite=suite).',
        )
    return SolutionAgent.of(suite)


def _made(point: EntryPoint, params: Mapping[str, Json], given: Mapping[str, Any]) -> Agent:
    """An agent from what an entry point names; whatever goes wrong there is told of its package."""
    where = _origin(point)
    try:
        factory: Callable[..., Any] = point.load()
    except (Exception, SystemExit) as error:  # around an agent
        raise AgentError(
            f"The kind {point.name!r} cannot be loaded from {where}: {type(error).__name__}: {error}",
            where=point.value,
            fix=f"Update or uninstall {where}.",
        ) from error
    if not callable(factory):
        raise AgentError(
            f"The kind {point.name!r} of {where} is no class and no function.",
            where=point.value,
            fix=f"Its entry point has to name what makes an agent; tell the authors of {where}.",
        )
    arguments = _arguments(point, factory, params, given)
    try:
        agent: Any = factory(**arguments)
    except UsageError:
        raise
    except (Exception, SystemExit) as error:  # around an agent
        raise AgentError(
            f"An agent of the kind {point.name!r} ({where}) could not be made: {type(error).__name__}: {error}",
            where=point.value,
            fix=f"Look at its parameters (--param NAME=VALUE), or tell the authors of {where}.",
        ) from error
    # Looked up in the class: an identity may be a property that is ready only later.
    kind: Any = type(agent)  # pyright: ignore[reportUnknownVariableType]
    missing = [part for part in _PARTS if not hasattr(kind, part) and part not in _own(agent)]
    if missing:
        raise AgentError(
            f"What the kind {point.name!r} of {where} makes is no agent: it has no {', '.join(missing)}.",
            where=point.value,
            fix=f"proctor.ports.Agent says what an agent has; tell the authors of {where}.",
        )
    return agent


def _own(agent: Any) -> Mapping[str, Any]:
    return getattr(agent, "__dict__", {})


def _arguments(
    point: EntryPoint, factory: Callable[..., Any], params: Mapping[str, Json], given: Mapping[str, Any]
) -> dict[str, Any]:
    """What the factory is called with.

    Raises:
        UsageError: it takes another set of parameters.
    """
    try:
        taken = inspect.signature(factory).parameters
    except (TypeError, ValueError):
        return dict(params)
    named = {
        name
        for name, parameter in taken.items()
        if parameter.kind in (parameter.KEYWORD_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    }
    takes_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in taken.values())
    free = sorted(named - set(_GIVEN))
    for name in params:
        if name in _GIVEN or (name not in named and not takes_any):
            near = did_you_mean(name, free)
            raise UsageError(
                f"the kind {point.name!r} takes no parameter {name!r}",
                fix=f"Did you mean {near!r}?" if near else f"It takes: {', '.join(free) or 'none'}.",
            )
    lacking = [name for name in free if name not in params and taken[name].default is inspect.Parameter.empty]
    if lacking:
        raise UsageError(
            f"the kind {point.name!r} needs {', '.join(lacking)}",
            fix=f"Give it: {' '.join(f'--param {name}=VALUE' for name in lacking)}.",
        )
    return {name: value for name, value in given.items() if name in named} | dict(params)


def _origin(point: EntryPoint) -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist is not None else point.value


def _unknown(name: str) -> AgentError:
    known = known_kinds()
    near = did_you_mean(name, known)
    return AgentError(
        f"{name!r} names no agent.",
        fix=f"Did you mean {near!r}?"
        if near
        else "Write path/agent.py:function or package.module:function for a Python function, http://HOST/PATH for an "
        "endpoint, model:PROVIDER/NAME for a model, path/agent.agency:node; a command is given as "
        f"--agent-cmd 'mytool {{input}}'. Kinds with a name of their own: {', '.join(known)}.",
    )
