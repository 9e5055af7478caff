"""Where an HTTP endpoint is: its URL taken apart, and shown without the secrets in it."""

from __future__ import annotations

import base64
import ipaddress
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit, urlunsplit

import msgspec

from proctor.core.secret_shapes import names_a_credential, secret_in
from proctor.errors import AgentError

_KEPT_IN_PATH = "/%:=&?~+!$,;'@()*[]"
_SECRET_KEYS = frozenset({"key", "code", "sig", "signature", "auth"})
_PORTS = {"http": 80, "https": 443}


class Address(msgspec.Struct, frozen=True):
    """An HTTP endpoint.

    Attributes:
        host: a name in ASCII, or an address without brackets.
        port: 1 to 65535.
        is_tls: https.
        target: path and query, as a request line has them.
        authorization: what the user name and password in the URL stand for; None without.
        shown: the URL without user name, password and secrets of its query.
    """

    host: str
    port: int
    is_tls: bool
    target: str
    authorization: str | None
    shown: str

    @property
    def origin(self) -> tuple[bool, str, int]:
        """Whom a request goes to."""
        return self.is_tls, self.host, self.port

    @property
    def path(self) -> str:
        """The target without its query."""
        return self.target.partition("?")[0]

    @property
    def lasting(self) -> str:
        """The URL as it is shown, without the port where it is on this machine: that is another at every start."""
        if not _is_here(self.host):
            return self.shown
        return urlunsplit(urlsplit(self.shown)._replace(netloc=self.host))


def address_of(url: str) -> Address:
    """A URL as an address.

    Raises:
        AgentError: it is no http or https URL, or names no host.
    """
    wanted = "Write http://HOST:PORT/PATH or https://HOST/PATH."
    shown = _shown(url)
    try:
        parts = urlsplit(url)
        scheme, port = parts.scheme.lower(), parts.port
        host = (
            (parts.hostname or "").encode("idna").decode() if not _is_v6(parts.hostname) else parts.hostname
        )
    except (ValueError, UnicodeError) as error:
        raise AgentError(f"{shown!r} is no URL: {error}.", fix=wanted) from error
    if scheme not in _PORTS:
        raise AgentError(f"{shown!r} is no HTTP endpoint: its scheme is {scheme or 'missing'!r}.", fix=wanted)
    if not host:
        raise AgentError(f"{shown!r} names no host.", fix=wanted)
    path = quote(parts.path or "/", safe=_KEPT_IN_PATH)
    query = quote(parts.query, safe=_KEPT_IN_PATH)
    return Address(
        host=host,
        port=_PORTS[scheme] if port is None else port,
        is_tls=scheme == "https",
        target=f"{path}?{query}" if query else path,
        authorization=_basic(parts.username, parts.password),
        shown=shown,
    )


def _is_here(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _is_v6(host: str | None) -> bool:
    return host is not None and ":" in host


def _basic(user: str | None, password: str | None) -> str | None:
    if user is None:
        return None
    pair = f"{unquote(user)}:{unquote(password or '')}"
    return "Basic " + base64.b64encode(pair.encode()).decode()


def _shown(url: str) -> str:
    """The URL without what could be a secret; it need not be a right one."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return url.rpartition("@")[2]
    pairs = [
        (name, "..." if _is_secret(name, value) else value)
        for name, value in parse_qsl(parts.query, keep_blank_values=True)
    ]
    hidden = any(value == "..." for _, value in pairs)
    query = urlencode(pairs, safe="./:,") if hidden else parts.query
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, query, ""))


def _is_secret(name: str, value: str) -> bool:
    return name.lower() in _SECRET_KEYS or names_a_credential(name) or secret_in(value) is not None
