"""Which hosts the proxy of the sandbox lets an agent reach."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from proctor.errors import UsageError
from proctor.host.allowed_hosts import allowed_hosts, plain_name

LABELS = some.from_regex(r"[a-z][a-z0-9]{0,8}", fullmatch=True)
NAMES = some.lists(LABELS, min_size=2, max_size=4).map(".".join)


@pytest.mark.parametrize(
    ("entry", "host", "port", "is_allowed"),
    [
        ("api.example.com", "api.example.com", 443, True),
        ("api.example.com", "API.Example.COM.", 80, True),
        ("api.example.com", "api.example.com", 8443, False),
        ("api.example.com:8443", "api.example.com", 8443, True),
        ("api.example.com:8443", "api.example.com", 443, False),
        ("api.example.com", "evil-api.example.com", 443, False),
        ("api.example.com", "api.example.com.evil.org", 443, False),
        ("api.example.com", "x.api.example.com", 443, False),
        ("*.example.com", "api.example.com", 443, True),
        ("*.example.com", "a.b.example.com", 443, True),
        ("*.example.com", "example.com", 443, False),
        ("*.example.com", "evilexample.com", 443, False),
        ("10.1.2.3", "10.1.2.3", 443, True),
        ("10.1.2.3", "10.1.2.4", 443, False),
        ("[::1]:9000", "::1", 9000, True),
        ("bücher.example", "xn--bcher-kva.example", 443, True),
        ("api.example.com", "api.example.com\0.evil.org", 443, False),
        ("api.example.com", "", 443, False),
    ],
)
def test_a_host_is_allowed_by_its_name_and_port(entry, host, port, is_allowed):
    assert is_allowed is allowed_hosts([entry]).allows(host, port)


@pytest.mark.parametrize(
    "host", ["2130706433", "0x7f000001", "0x7f.1", "127.1", "0177.0.0.1", "1.2.3", "a.0x7f"]
)
def test_an_address_in_disguise_is_no_name(host):
    """Resolvers take these for addresses; a wildcard must not."""
    assert plain_name(host) is None


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.0.0.1",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "0.0.0.0",
        "100.64.0.1",
        "::1",
        "fe80::1%eth0",
        "fd00::1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "224.0.0.1",
        "255.255.255.255",
        "nonsense",
    ],
)
def test_an_allowed_name_does_not_lead_to_an_inner_address(address):
    """Whoever answers for a name in DNS could otherwise open the operator's own network."""
    assert not allowed_hosts(["api.example.com", "*.example.com"]).allows_address(
        address, "api.example.com", 443
    )


def test_an_inner_address_is_reached_when_it_is_named_itself():
    """By its number, or `localhost` by its name."""
    allowed = allowed_hosts(["llm.example.com", "10.1.2.3", "localhost:11434"])

    assert allowed.allows_address("10.1.2.3", "llm.example.com", 443)
    assert allowed.allows_address("127.0.0.1", "localhost", 11434)
    assert not allowed.allows_address("127.0.0.1", "llm.example.com", 443)
    assert not allowed.allows_address("10.1.2.3", "llm.example.com", 8080)


@pytest.mark.parametrize(
    "written",
    [
        "",
        "*",
        "*.",
        "a b",
        "http://a.example",
        "a.example/x",
        "me@a.example",
        "a.example:0",
        "a:99999",
        "a.*",
    ],
)
def test_what_is_no_host_is_refused_with_an_example(written):
    with pytest.raises(UsageError, match="is no host") as refused:
        allowed_hosts([written])

    assert "api.example.com" in refused.value.fix


@given(NAMES, NAMES, some.integers(1, 65535))
def test_an_entry_allows_itself_and_nothing_else(name, other, port):
    allowed = allowed_hosts([f"{name}:{port}"])

    assert allowed.allows(name, port)
    assert allowed.allows(other, port) is (other == name)


@given(NAMES, NAMES)
def test_a_wildcard_allows_what_is_below_it(name, other):
    allowed = allowed_hosts([f"*.{name}"])

    assert allowed.allows(f"{other}.{name}", 443)
    assert allowed.allows(other, 443) is other.endswith(f".{name}")
