"""What agents are kept apart from, as the operator asked for it."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

import msgspec

from proctor.errors import UsageError
from proctor.host.allowed_hosts import AllowedHosts, allowed_hosts


class SandboxKind(StrEnum):
    """What stands between an agent and the machine."""

    NONE = "none"
    BWRAP = "bwrap"


class Network(StrEnum):
    """What an agent reaches: nothing but the endpoint for its trace, the hosts that are allowed, or all."""

    NONE = "none"
    PROXY = "proxy"
    HOST = "host"


class Confinement(msgspec.Struct, frozen=True, kw_only=True):
    """How trials are kept apart from the operator and from each other.

    Attributes:
        keep_home: agents have the operator's own home and settings.
        pass_env: variables of the operator's that agents get although they look like credentials or settings.
        sandbox: what stands between their programs and the machine.
        network: what they reach; in a sandbox the proxy when None, else the host's network.
        allow_hosts: hosts that they reach through the proxy.
        bind_ro: files and folders that they can read in the sandbox, beside what programs need.
    """

    keep_home: bool = False
    pass_env: tuple[str, ...] = ()
    sandbox: SandboxKind = SandboxKind.NONE
    network: Network | None = None
    allow_hosts: tuple[str, ...] = ()
    bind_ro: tuple[Path, ...] = ()

    @property
    def reaches(self) -> Network:
        """What is reached, where nobody has said it, too."""
        if self.network is not None:
            return self.network
        return Network.HOST if self.sandbox is SandboxKind.NONE else Network.PROXY

    def hosts(self) -> AllowedHosts:
        """The hosts that may be reached, once it is clear that all of this goes together.

        Raises:
            UsageError: it does not.
        """
        if self.sandbox is SandboxKind.NONE:
            for option, is_given in (
                (f"--network {self.reaches.value}", self.reaches is not Network.HOST),
                ("--allow-host", bool(self.allow_hosts)),
                ("--bind-ro", bool(self.bind_ro)),
            ):
                if is_given:
                    raise UsageError(f"{option} needs a sandbox", where=option, fix="Add --sandbox bwrap.")
        elif self.keep_home:
            raise UsageError(
                "the sandbox never shows your home",
                where="--keep-home",
                fix="Leave --keep-home away; --bind-ro PATH shows a part of it, --pass-env NAME lets a variable in.",
            )
        if self.allow_hosts and self.reaches is not Network.PROXY:
            raise UsageError(
                f"--allow-host belongs to --network proxy, and not to {self.reaches.value}",
                where="--allow-host",
                fix="Leave one of the two away.",
            )
        for path in self.bind_ro:
            if not path.exists():
                raise UsageError(
                    "there is nothing to be shown in the sandbox",
                    where=f"--bind-ro {path}",
                    fix="Give the path of a file or folder that is there.",
                )
        return allowed_hosts(self.allow_hosts)
