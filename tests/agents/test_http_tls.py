"""HTTP endpoints behind TLS, with a certificate of our own."""

from __future__ import annotations

import shutil
import ssl
import subprocess

import pytest

from proctor.agents.http_agent import HttpAgent, PlainDialect
from proctor.errors import AgentError
from proctor.host.cancel import Cancel
from proctor.ports import Surroundings
from proctor.records.run import Ending, Limits
from proctor.records.suite import Test
from tests.agents.endpoints import saying, serving, socket_that

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificate")


LONG = Limits(timeout_s=20)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tls")
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"),
            *("-keyout", "key.pem", "-out", "cert.pem", "-days", "2", "-subj", "/CN=localhost"),
            *("-addext", "subjectAltName=DNS:localhost"),
        ],
        cwd=folder,
        check=True,
        capture_output=True,
    )
    return folder


@pytest.fixture
def secure(certificate):
    """A server that answers over TLS; its URL."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate / "cert.pem", certificate / "key.pem")
    with serving(saying({"a": "x" * 200_000})) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        yield f"https://localhost:{server.server_port}/"


def once(url, place_for, limits=LONG):
    test = Test(id="t", input="y" * 200_000)
    return HttpAgent(url, dialect=PlainDialect()).attempt(test, place_for(test), limits, Cancel())


def test_trusted_certificate_is_spoken_to(secure, certificate, place_for, monkeypatch):
    """Large requests and answers pass, also where the encryption holds back what has come."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate / "cert.pem"))
    ended = once(secure, place_for)

    assert (Ending.OK, {"a": "x" * 200_000}) == (ended.ending, ended.output)


def test_certificate_that_nobody_vouches_for_is_nobodys_evidence(secure, place_for):
    """It is found before the run, and says why."""
    with pytest.raises(AgentError, match=r"(?i)self.signed"):
        HttpAgent(secure, dialect=PlainDialect()).prepare([Test(id="t")], Surroundings(environment={}))
    ended = once(secure, place_for)

    assert (Ending.HARNESS_FAILURE, "unavailable") == (ended.ending, ended.defect.type)


def test_host_that_never_greets_is_not_waited_for(place_for):
    """A connection that is taken and never encrypted ends with the limit: the agent has not had the request."""
    with socket_that(lambda connection, over: over.wait()) as url:
        ended = once(url.replace("http:", "https:"), place_for, Limits(timeout_s=0.5))

    assert (Ending.HARNESS_FAILURE, "unavailable") == (ended.ending, ended.defect.type)


def test_plain_server_behind_https_is_nobodys_evidence(place_for):
    """`https` where the server speaks `http` is an address that is wrong."""
    with serving(saying("x")) as server:
        ended = once(server.url.replace("http:", "https:"), place_for)

    assert (Ending.HARNESS_FAILURE, "unavailable") == (ended.ending, ended.defect.type)
