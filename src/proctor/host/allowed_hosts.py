"""Which hosts an agent may reach through the proxy: their names, ports and addresses."""

from __future__ import annotations

import re
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Final

import msgspec

from proctor.errors import UsageError

_PORTS: Final = frozenset({80, 443})
"""Those of an entry that names no port."""
_WRITTEN: Final = re.compile(
    r"(?P<host>\[[0-9A-Fa-f:.]+\]|(?:\*\.)?[^\s\[\]:/*@]+)(?::(?P<port>[0-9]{1,5}))?"
)
_LABEL: Final = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)")


class AllowedHost(msgspec.Struct, frozen=True, kw_only=True):
    """One entry.

    Attributes:
        name: in lower case, as DNS has it, or an address.
        is_wildcard: the hosts below it are meant, and not it.
        port: the one that is allowed; 80 and 443 when None.
    """

    name: str
    is_wildcard: bool = False
    port: int | None = None

    def allows(self, name: str, port: int) -> bool:
        """True when it names this host and this port."""
        if not (port == self.port if self.port is not None else port in _PORTS):
            return False
        return name.endswith(f".{self.name}") if self.is_wildcard else name == self.name


class AllowedHosts(msgspec.Struct, frozen=True, kw_only=True):
    """All entries; none of them allow nothing."""

    entries: tuple[AllowedHost, ...] = ()

    def allows(self, host: str, port: int) -> bool:
        """True when an entry names this host and this port.

        >>> allowed = allowed_hosts(["api.example.com", "*.models.example:8443"])
        >>> [allowed.allows(host, 443) for host in ("API.example.com.", "example.com", "x.api.example.com")]
        [True, False, False]
        >>> allowed.allows("eu.models.example", 8443), allowed.allows("models.example", 8443)
        (True, False)
        """
        name = plain_name(host)
        return name is not None and any(entry.allows(name, port) for entry in self.entries)

    def allows_address(self, address: str, host: str, port: int) -> bool:
        """True for an address to which a host may resolve: a public one, or one that is named itself.

        `localhost` names the loopback addresses.
        """
        found = _address(address.partition("%")[0])
        if found is None:
            return False
        mapped = found.ipv4_mapped if isinstance(found, IPv6Address) else None
        found = mapped or found
        if any(entry.allows(str(found), port) for entry in self.entries if not entry.is_wildcard):
            return True
        if found.is_loopback:
            return plain_name(host) == "localhost"
        return found.is_global and not found.is_multicast


def allowed_hosts(written: Iterable[str]) -> AllowedHosts:
    """The hosts that a user has written: `NAME`, `NAME:PORT`, `*.NAME`, an address.

    Raises:
        UsageError: one of them is none of these.
    """
    return AllowedHosts(entries=tuple(map(_entry, written)))


def plain_name(host: str) -> str | None:
    """A host's name in lower case and as DNS has it, or its address in its usual form; None for anything else.

    Numbers that some resolvers take for an address, as `2130706433` for 127.0.0.1, are no names.

    >>> plain_name("Bücher.example"), plain_name("[::1]"), plain_name("0x7f.1"), plain_name("a b")
    ('xn--bcher-kva.example', '::1', None, None)
    """
    host = host.removesuffix(".")
    if (address := _address(host.removeprefix("[").removesuffix("]"))) is not None:
        return str(address)
    try:
        name = host.lower() if host.isascii() else host.encode("idna").decode().lower()
    except UnicodeError:
        return None
    labels = name.split(".")
    if len(name) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        return None
    # The last part of a name is never a number; of an address, however it is written, it always is.
    if re.fullmatch(r"[0-9]+|0x[0-9a-f]*", labels[-1]):
        return None
    return name


def _entry(written: str) -> AllowedHost:
    found = _WRITTEN.fullmatch(written.strip())
    host = found["host"].removeprefix("*.") if found else ""
    name = plain_name(host) if host else None
    port = int(found["port"]) if found and found["port"] else None
    if found is None or name is None or (port is not None and not 0 < port < 65536):
        raise UsageError(
            f"{written!r} is no host",
            where="--allow-host",
            fix="Write a name such as api.example.com, with :PORT for another port than 80 and 443, or "
            "*.example.com for all names below one.",
        )
    return AllowedHost(name=name, is_wildcard=found["host"].startswith("*."), port=port)


def _address(text: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(text)
    except ValueError:
        return None
