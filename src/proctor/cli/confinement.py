"""What a command line says of what agents are kept apart from, and what is said back."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from proctor.cli.arguments import positive_int, positive_seconds
from proctor.cli.output import clean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from proctor.engine.planning import RunOptions
    from proctor.ports import Agent
    from proctor.records.suite import Suite

_ELSEWHERE = ("http", "model", "noop")
"""Kinds of agents that start no program on this machine."""


def size(text: str) -> int:
    """A number of bytes above 0, with or without a unit."""
    from proctor.core.sizes import size_of

    if count := size_of(text):
        return count
    raise argparse.ArgumentTypeError(f"a size such as 512M or 2G is wanted, and this is {text!r}")


def add_confinement(parser: argparse.ArgumentParser) -> None:
    """What agents are kept apart from."""
    group = parser.add_argument_group("isolation")
    group.add_argument(
        "--keep-home",
        action="store_true",
        help="give the agent your own home and settings, less credentials",
    )
    group.add_argument(
        "--pass-env",
        metavar="NAME",
        action="append",
        default=[],
        help="let a variable in that would be withheld; 'OPENAI_*' for several; may be repeated",
    )
    group.add_argument(
        "--sandbox",
        choices=("none", "bwrap"),
        help="what stands between the agent and this machine (default: none)",
    )
    group.add_argument(
        "--network",
        choices=("none", "proxy", "host"),
        help="what the agent reaches from the sandbox: nothing, the allowed hosts, or all (default: proxy)",
    )
    group.add_argument(
        "--allow-host",
        metavar="NAME[:PORT]",
        action="append",
        default=[],
        help="a host that the agent reaches through the proxy; '*.NAME' for those below it; may be repeated",
    )
    group.add_argument(
        "--bind-ro",
        metavar="PATH",
        type=Path,
        action="append",
        default=[],
        help="a file or folder that the agent can read in the sandbox; may be repeated",
    )

    limits = parser.add_argument_group("limits that the system holds")
    limits.add_argument(
        "--max-memory",
        metavar="SIZE",
        type=size,
        help="what all processes of a trial may use together, as 2G",
    )
    limits.add_argument(
        "--max-cpu-time",
        metavar="SECONDS",
        type=positive_seconds,
        help="processor time of each of its processes",
    )
    limits.add_argument(
        "--max-file-size", metavar="SIZE", type=size, help="the largest file that a trial may write, as 1G"
    )
    limits.add_argument(
        "--max-processes",
        metavar="N",
        type=positive_int,
        help="processes and threads that a trial may have at a time",
    )


def resources_of(arguments: argparse.Namespace) -> dict[str, object]:
    """The limits that were asked for, by field of `Limits`; those that were not are left out."""
    asked = {
        "memory_bytes": arguments.max_memory,
        "cpu_s": arguments.max_cpu_time,
        "file_bytes": arguments.max_file_size,
        "processes": arguments.max_processes,
    }
    return {name: value for name, value in asked.items() if value is not None}


def confinement_of(arguments: argparse.Namespace) -> dict[str, object]:
    """What was asked for, by field of `Confinement`; what was not is left out."""
    asked = {
        "keep_home": arguments.keep_home or None,
        "pass_env": tuple(arguments.pass_env),
        "sandbox": arguments.sandbox,
        "network": arguments.network,
        "allow_hosts": tuple(arguments.allow_host),
        "bind_ro": tuple(path.absolute() for path in arguments.bind_ro),
    }
    return {name: value for name, value in asked.items() if value}


def confinement_notes(options: RunOptions, suite: Suite, agent: Agent) -> Iterator[str]:
    """What whoever starts a run should know of what the agent can reach, and of what it will miss; a line each."""
    from proctor.engine.premises import isolated_for

    asked = options.confinement
    isolated = isolated_for(options, suite, getattr(agent, "credentials", ()))
    if agent.identity.kind in _ELSEWHERE:
        return
    if asked.sandbox.value == "none":
        yield "no sandbox: the agent can do what you can, files and network included"
    else:
        hosts = ", ".join(map(clean, asked.allow_hosts)) or "no host; --allow-host NAME lets it reach one"
        reaches = {
            "none": "no network",
            "proxy": f"network: {hosts}",
            "host": "the network of this machine",
        }
        yield f"sandbox: {asked.sandbox.value}, {reaches[asked.reaches.value]}"
    if keys := isolated.missed_keys:
        how = " ".join(f"--pass-env {clean(name)}" for name in keys)
        yield f"withheld: {', '.join(map(clean, keys))}; {how} lets {'it' if len(keys) == 1 else 'them'} in"
    if isolated.unset:
        yield f"proctor: warning: to be passed, and not set: {', '.join(map(clean, isolated.unset))}"
