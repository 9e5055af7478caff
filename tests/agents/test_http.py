"""HTTP endpoints, with real servers."""

from __future__ import annotations

import json
import select
import socket
import threading
import time
from dataclasses import replace

import pytest

from proctor.agents.http_address import address_of
from proctor.agents.http_agent import HttpAgent, PlainDialect, header_of
from proctor.agents.output_path import OutputPath
from proctor.errors import AgentError, UsageError
from proctor.host.cancel import Cancel
from proctor.ports import Surroundings
from proctor.records.run import Ending, Limits
from proctor.records.suite import Test
from tests.agents.endpoints import saying, serving, socket_that

TEST = Test(id="the-id", input="hello")
SHORT, LONG = Limits(timeout_s=0.6), Limits(timeout_s=20)


def agent_at(url, path=None, headers=()):
    dialect = PlainDialect(OutputPath(path) if path else None)
    return HttpAgent(url, dialect=dialect, headers=[header_of(text) for text in headers])


@pytest.fixture
def once(place_for):
    """One trial of an agent without its `prepare`, which connects: many hostile servers count connections."""

    def run(agent, test=TEST, limits=LONG, cancel=None, place=None):
        return agent.attempt(test, place or place_for(test), limits, cancel or Cancel())

    return run


# What is sent


def test_what_is_sent_is_the_input_and_nothing_else_of_the_test(once):
    """The body is `{"input": ...}`; neither the id nor what is expected goes anywhere."""
    test = Test(id="secret-id", input={"b": 1, "a": "ü"}, expected="gold", goal="shine", tags=("hidden",))
    with serving(saying("ok")) as server:
        once(agent_at(f"{server.url}/ask?x=1"), test)
        once(agent_at(server.url), Test(id="none"))
    (path, headers, body), (_, _, empty) = server.asked

    assert ("/ask?x=1", {"input": {"b": 1, "a": "ü"}}, {}) == (path, body, empty)
    assert "application/json" == headers["content-type"]
    assert not {"secret-id", "gold", "shine", "hidden"} & set(json.dumps([headers, path]).split('"'))


def test_headers_are_sent_and_the_trace_is_told(once, place_for):
    """A user's header stands for ours of the same name; `traceparent` is that of the trial."""
    test = Test(id="t", input="x")
    place = place_for(test)
    place = replace(
        place, environment={**place.environment, "TRACEPARENT": "00-" + "a" * 32 + "-" + "b" * 16 + "-01"}
    )
    with serving(saying("ok")) as server:
        url = server.url.replace("//", "//me:s3cret%21@")
        once(agent_at(url, headers=["X-Tenant: 7", "user-agent: mine"]), test, place=place)
        once(agent_at(server.url), test)
    first, second = (headers for _, headers, _ in server.asked)

    assert ("7", "mine", "Basic bWU6czNjcmV0IQ==") == (
        first["x-tenant"],
        first["user-agent"],
        first["authorization"],
    )
    assert place.environment["TRACEPARENT"] == first["traceparent"]
    assert {"traceparent", "authorization"}.isdisjoint(second)


def test_half_of_a_surrogate_pair_is_replaced(once):
    """What no UTF-8 can hold becomes U+FFFD, as in the input of every other kind."""
    with serving(saying("ok")) as server:
        once(agent_at(server.url), Test(id="t", input="a\ud800b"))

    assert {"input": "a\ufffdb"} == server.asked[0][2]


# What comes back


@pytest.mark.parametrize(
    ("answer", "output"),
    [
        (saying({"answer": 1}), {"answer": 1}),
        (saying("text"), "text"),
        (saying(None), None),
        (saying(b"[1, 2]", type="application/problem+json; charset=utf-8"), [1, 2]),
        (saying("plain\n\n", type="text/plain"), "plain\n"),
        (saying(b"{1}", type="text/plain"), "{1}"),
        (saying("ü".encode("latin-1"), type="text/plain; charset=latin-1"), "ü"),
        (saying(b"", type="application/json"), None),
        (saying(b"", status=204), None),
        (saying(b'"a\\ud800"', type="application/json"), "a\ufffd"),
    ],
)
def test_output_is_the_answer(once, answer, output):
    """JSON by its content type, else text less one final line end; nothing is None."""
    if answer is not None and output == "text":
        answer = saying(b'"text"')
    with serving(answer) as server:
        ended = once(agent_at(server.url))

    assert (Ending.OK, output) == (ended.ending, ended.output)


@pytest.mark.parametrize(
    ("path", "output"),
    [
        ("$", {"answers": [{"text": "a"}, {"text": "b"}], "odd name": 0}),
        ("$.answers[1].text", "b"),
        ("$.answers[-2]['text']", "a"),
        ('$["odd name"]', 0),
    ],
)
def test_output_path_picks_a_part(once, path, output):
    """A path names one value of the JSON answer, also where its content type says text."""
    body = json.dumps({"answers": [{"text": "a"}, {"text": "b"}], "odd name": 0}).encode()
    for kind in ("application/json", "text/plain"):
        with serving(saying(body, type=kind)) as server:
            assert output == once(agent_at(server.url, path)).output


def test_output_path_that_leads_nowhere_is_an_error_with_what_came(once):
    """The answer stays; the message says how far the path led."""
    with serving(saying({"answers": []})) as server:
        ended = once(agent_at(server.url, "$.answers[0].text"))

    assert (Ending.ERROR, "no-output", {"answers": []}) == (ended.ending, ended.defect.type, ended.output)
    assert "$.answers has no [0]" in ended.defect.message


@pytest.mark.parametrize("path", ["", "answer", "$.", "$.a b", "$[x]", "$..a", "$.a[", "$[1:2]"])
def test_what_is_no_path_is_refused(path):
    """Only paths that name one value."""
    with pytest.raises(UsageError, match="Begin with"):
        OutputPath(path)


@pytest.mark.parametrize("body", [b"{", b"NaN", b"\xff", b"[" * 5000])
def test_what_says_that_it_is_json_and_is_not(once, body):
    """An error that keeps what came, as text."""
    with serving(saying(body)) as server:
        ended = once(agent_at(server.url))

    assert (Ending.ERROR, "not-json") == (ended.ending, ended.defect.type)
    assert body.decode("utf-8", "replace") == ended.output


def test_what_was_received_is_kept_as_printed(once, place_for):
    """The raw body is in the run's stdout, for whoever wants to see more than the output."""
    test = Test(id="t", input="x")
    place = place_for(test)
    with serving(saying(b'{ "answer": "a", "cost": 1 }')) as server:
        once(agent_at(server.url, "$.answer"), test, place=place)

    assert b'{ "answer": "a", "cost": 1 }' == place.stdout.read_bytes()


# Whose fault


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (401, "auth"),
        (402, "out_of_credit"),
        (403, "auth"),
        (404, "not_found"),
        (405, "not_found"),
        (407, "auth"),
        (429, "rate_limit"),
        (502, "unavailable"),
        (503, "unavailable"),
        (504, "unavailable"),
        (302, "redirect"),
    ],
)
def test_statuses_that_say_that_no_agent_worked_are_nobodys_evidence(once, status, kind):
    """A harness failure, with the kind as the defect and the server's words in the message."""
    with serving(saying("come back later", status, "text/plain")) as server:
        ended = once(agent_at(server.url))

    assert (Ending.HARNESS_FAILURE, kind) == (ended.ending, ended.defect.type)
    assert str(status) in ended.defect.message


@pytest.mark.parametrize("status", [400, 409, 418, 422, 500, 501, 599])
def test_other_failures_are_the_agents(once, status):
    """An error; what the server said is the partial output."""
    with serving(saying("it fell over", status, "text/plain")) as server:
        ended = once(agent_at(server.url))

    assert (Ending.ERROR, "http-status", "it fell over") == (ended.ending, ended.defect.type, ended.output)
    assert str(status) in ended.defect.message
    assert "It said: it fell over" in ended.defect.message


def test_nobody_listening_is_found_before_the_run_and_is_nobodys_evidence(once):
    """Refused connections and unknown names: `prepare` says it, and a trial that meets it is a harness failure."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    for url in (f"http://127.0.0.1:{port}/", "http://no-such-host.invalid/"):
        with pytest.raises(AgentError, match="cannot be reached"):
            agent_at(url).prepare([Test(id="t", input="x")], Surroundings(environment={}))
        ended = once(agent_at(url))

        assert (Ending.HARNESS_FAILURE, "unavailable") == (ended.ending, ended.defect.type)


def test_prepare_sends_nothing():
    """The check connects and hangs up: an endpoint that counts or costs sees no request."""
    heard: list[bytes] = []

    def listen(connection, over):
        heard.append(connection.recv(1000))

    with socket_that(listen) as url:
        agent_at(url).prepare([Test(id="t", input="x")], Surroundings(environment={}))
        until = time.monotonic() + 10
        while not heard and time.monotonic() < until:
            time.sleep(0.01)

    assert [b""] == heard


# Redirects


def test_redirects_that_keep_the_request_are_followed_within_the_origin(once):
    """307 and 308 to another path: the same body arrives there."""

    def answer(server, asked):
        if server.asked[-1][0] == "/":
            return 307, {"Location": "/there"}, b""
        return 200, {"Content-Type": "application/json"}, json.dumps(asked["input"]).encode()

    with serving(answer) as server:
        ended = once(agent_at(f"{server.url}/"))

    assert (Ending.OK, "hello") == (ended.ending, ended.output)


def test_redirects_elsewhere_are_not_followed(once):
    """Another port is another origin, and never sees the headers; a circle ends."""
    with serving(saying("stolen")) as thief, serving(saying(b"", 308, Location=thief.url)) as server:
        ended = once(agent_at(server.url, headers=["Authorization: Bearer abc"]))

        assert (Ending.HARNESS_FAILURE, "redirect", []) == (ended.ending, ended.defect.type, thief.asked)
    with serving(saying(b"", 307, Location="/")) as server:
        assert "redirect" == once(agent_at(server.url)).defect.type
        assert 6 == len(server.asked)


# Limits


def test_limit_holds_for_a_server_that_sends_a_byte_now_and_then(once):
    """A dribbling body, dribbling headers, a body without end: each ends in `timeout`, with what had come."""

    def dribble(head):
        def speak(connection, over):
            connection.recv(65536)
            connection.sendall(head)
            while not over.wait(0.05):
                connection.sendall(b"x")

        return speak

    started = time.monotonic()
    with socket_that(dribble(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")) as url:
        body = once(agent_at(url), limits=SHORT)
    with socket_that(dribble(b"HTTP/1.1 200 OK\r\nX-Long: ")) as url:
        headers = once(agent_at(url), limits=SHORT)

    assert (Ending.TIMEOUT, Ending.TIMEOUT) == (body.ending, headers.ending)
    assert set("x") == set(body.output)
    assert headers.output is None
    assert time.monotonic() - started < 15


def test_limit_holds_for_a_server_that_never_answers_and_one_that_never_reads(once):
    """Silence after the request, and a request that does not fit into any buffer."""

    def wait(connection, over):
        over.wait()

    large = Test(id="t", input="x" * 30_000_000)
    with socket_that(wait) as url:
        assert Ending.TIMEOUT is once(agent_at(url), limits=SHORT).ending
        assert Ending.TIMEOUT is once(agent_at(url), large, limits=SHORT).ending


def test_body_without_end_is_cut_at_the_cap(once):
    """What comes as fast as it can ends at the output cap, else at 16 MiB; what was read is kept."""

    def flood(connection, over):
        connection.recv(65536)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
        while not over.is_set():
            connection.sendall(b"x" * 65536)

    with socket_that(flood) as url:
        capped = once(agent_at(url), limits=Limits(timeout_s=60, output_bytes=1000))
        uncapped = once(agent_at(url), limits=Limits(timeout_s=60))

    assert (Ending.OUTPUT_CAP, "x" * 1000) == (capped.ending, capped.output)
    assert (Ending.ERROR, "too-large", 16 * 1024 * 1024) == (
        uncapped.ending,
        uncapped.defect.type,
        len(uncapped.output),
    )


def test_cancel_ends_a_request_at_once(once):
    """The operator does not wait for the endpoint."""
    cancel = Cancel()
    with serving(lambda server, asked: (server.closing.wait(), (500, {}, b""))[1]) as server:
        threading.Timer(0.2, cancel.set).start()
        started = time.monotonic()
        ended = once(agent_at(server.url), limits=Limits(timeout_s=600), cancel=cancel)

    assert Ending.INTERRUPTED is ended.ending
    assert time.monotonic() - started < 15
    cancel.close()


# Servers that break off


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        (b"", "no-answer"),
        (b"SSH-2.0-OpenSSH_9\r\n", "no-http"),
        (b"HTTP/1.1 999999 Odd\r\n\r\n", "no-http"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf", "cut-off"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhalf", "cut-off"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "cut-off"),
        (b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 1\r\n\r\nx", "encoded"),
        (b"HTTP/1.1 200 OK\r\n" + b"X-A: b\r\n" * 200 + b"\r\n", "no-http"),
    ],
)
def test_server_that_breaks_off_is_an_error_that_says_how(once, said, kind):
    """It was reached and spoke wrongly: that is the agent's; half an answer is kept."""

    def speak(connection, over):
        connection.recv(65536)
        connection.sendall(said)

    with socket_that(speak) as url:
        ended = once(agent_at(url))

    assert (Ending.ERROR, kind) == (ended.ending, ended.defect.type)
    assert ended.output == ("half" if b"half" in said else None)


def test_answer_of_an_old_server_ends_with_the_connection(once):
    """HTTP/1.0 without a length is whole when the server hangs up; chunks are put together."""

    def old(connection, over):
        connection.recv(65536)
        connection.sendall(b"HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nold")

    def chunks(connection, over):
        connection.recv(65536)
        connection.sendall(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nche\r\n5;x=y\r\nerful\r\n0\r\n\r\n"
        )
        over.wait()

    for speak, output in ((old, "old"), (chunks, "cheerful")):
        with socket_that(speak) as url:
            assert output == once(agent_at(url)).output


def test_server_that_answers_before_it_has_read_everything(once):
    """A refusal of a large request is read, where the server gives the client time to."""

    def refuse(connection, over):
        connection.recv(1000)
        connection.sendall(b"HTTP/1.1 413 Too Large\r\nContent-Length: 9\r\n\r\ntoo large")
        connection.shutdown(socket.SHUT_WR)
        while select.select([connection], [], [], 5)[0] and connection.recv(1 << 20):
            pass

    with socket_that(refuse) as url:
        ended = once(agent_at(url), Test(id="t", input="x" * 5_000_000))

    assert (Ending.ERROR, "too large") == (ended.ending, ended.output)


# Secrets, addresses, headers


def test_secrets_of_url_and_headers_are_in_no_record(once, place_for):
    """An endpoint that sends back what it was sent does not put our credentials into the run."""

    def echo(server, asked):
        return 200, {"Content-Type": "application/json"}, json.dumps(server.asked[-1][1]).encode()

    test = Test(id="t", input="x")
    place = place_for(test)
    with serving(echo) as server:
        url = server.url.replace("//", "//user:password-of-mine@") + "/?api_key=query-secret-1&q=a"
        headers = [header_of("X-Custom: Bearer {TOKEN}", {"TOKEN": "tttt-oooo-kkkk"})]
        agent = HttpAgent(url, dialect=PlainDialect(), headers=headers)
        ended = once(agent, test, place=place)
    told = json.dumps(ended.output) + place.stdout.read_text() + repr(agent.identity)

    for secret in ("password-of-mine", "query-secret-1", "tttt-oooo-kkkk", "dXNlcjpwYXNzd29yZC1vZi1taW5l"):
        assert secret not in told
    assert f"{server.url}/?api_key=...&q=a" == agent.identity.label
    assert "Bearer tttt-oooo-kkkk" == server.asked[0][1]["x-custom"]


def test_identity_goes_by_what_is_asked_for():
    """URL, headers by name, and path make the digest; values of headers do not, nor a port of this machine."""

    def digest(url="http://h/", path=None, headers=()):
        return agent_at(url, path, headers).identity.digest

    assert digest("http://127.0.0.1:1/a") == digest("http://127.0.0.1:2/a") != digest("http://127.0.0.1:1/b")
    assert digest("http://h:1/") != digest("http://h:2/")
    assert digest(headers=["A: 1"]) == digest(headers=["a: 2"])
    assert 4 == len({digest(), digest("http://h/x"), digest(path="$.a"), digest(headers=["A: 1"])})


@pytest.mark.parametrize(
    ("url", "host", "port", "target"),
    [
        ("http://h", "h", 80, "/"),
        ("HTTPS://H.example:8443/a b?q=ü#part", "h.example", 8443, "/a%20b?q=%C3%BC"),
        ("http://[::1]:9/x", "::1", 9, "/x"),
        ("http://bücher.example/", "xn--bcher-kva.example", 80, "/"),
    ],
)
def test_address_of_a_url(url, host, port, target):
    """Host in ASCII, port of the scheme unless it is named, path and query as a request has them."""
    found = address_of(url)

    assert (host, port, target) == (found.host, found.port, found.target)


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "ftp://h/", "http://", "http://h:99999/", "http://[1/", "x://h"]
)
def test_what_is_no_http_endpoint_is_refused(url):
    """Other schemes, no host, no port."""
    with pytest.raises(AgentError, match="http://HOST"):
        address_of(url)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no colon",
        ": x",
        "a b: x",
        "X: ",
        "X: a\nb",
        "X: a\r\nY: b",
        "X: \u4e2d",
        "Host: h",
        "Content-Length: 1",
    ],
)
def test_what_is_no_header_is_refused(text):
    """Nothing that could end a header early, and none that is ours."""
    with pytest.raises(UsageError):
        header_of(text)


def test_header_from_the_environment():
    """A variable's value stands for its name; one that is not set, and a text without any, are errors."""
    assert "Bearer abc" == header_of("Authorization: Bearer {KEY}", {"KEY": "abc"}).value
    for text in ("A: {KEY}", "A: plain"):
        with pytest.raises(UsageError, match=r"KEY|MY_TOKEN"):
            header_of(text, {})


def test_interim_responses_are_passed_over(once):
    """Early hints and "processing" come before the answer; a server that sends nothing else is no HTTP."""

    def hint(connection, over):
        connection.recv(65536)
        connection.sendall(b"HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n")
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone")

    def always(connection, over):
        connection.recv(65536)
        while not over.is_set():
            connection.sendall(b"HTTP/1.1 102 Processing\r\n\r\n")

    with socket_that(hint) as url:
        assert "done" == once(agent_at(url)).output
    with socket_that(always) as url:
        assert "no-http" == once(agent_at(url)).defect.type


def test_sandbox_does_not_hold_an_endpoint_and_that_is_said(once):
    """Once, after `prepare`; without a sandbox there is nothing to say."""
    with serving(saying("ok")) as server:
        agent = agent_at(server.url)
        agent.prepare([], Surroundings(environment={}))
        before = agent.notices
        agent.prepare([], Surroundings(environment={}, is_confined=True))

    assert ((), 1) == (before, len(agent.notices))
