"""What an agent was kept apart from, and what it used at its peak."""

from __future__ import annotations

import msgspec


class Isolation(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the agent was kept apart from, and what was let in, by name.

    Attributes:
        home: `private`, or `kept`: the operator's own.
        passed: variables that look like credentials or settings of the operator and were let in because somebody
            asked for it, by name.
        withheld: variables that were kept from it, by name.
        sandbox: `none`, or the program that confined it.
        network: `host`, `proxy` or `none`.
        hosts: with `proxy`, the hosts that it could reach.
        user: the numeric user that it ran as, where that was not proctor's own.
    """

    home: str = "private"
    passed: tuple[str, ...] = ()
    withheld: tuple[str, ...] = ()
    sandbox: str = "none"
    network: str = "host"
    hosts: tuple[str, ...] = ()
    user: int | None = None


class Usage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a trial used at its peak, where that could be seen. None is what could not.

    Attributes:
        memory_bytes: of all of its processes together.
        cpu_s: processor time of all of them, in seconds.
        processes: how many processes and threads there were at a time.
        output_bytes: what it printed and answered.
        workdir_bytes: what its workdir held on the disk, as it was when the trial ended.
    """

    memory_bytes: int | None = None
    cpu_s: float | None = None
    processes: int | None = None
    output_bytes: int | None = None
    workdir_bytes: int | None = None
