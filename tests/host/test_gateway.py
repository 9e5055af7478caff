"""The way from the sandbox to the outside: real requests through a real relay to real servers."""

from __future__ import annotations

import gzip
import http.server
import json
import os
import socket
import sys
import threading
import time
from pathlib import Path

import pytest

from proctor.agents.command import CommandAgent
from proctor.host.allowed_hosts import AllowedHosts, allowed_hosts
from proctor.host.cancel import Cancel
from proctor.host.gateway import Gateway
from proctor.host.isolation import isolate
from proctor.host.place import Place
from proctor.host.premises import Premises
from proctor.ports import Surroundings
from proctor.records.run import Attempt, Ending, Limits
from proctor.records.suite import Test

from .sandboxes import sandbox

TEST = Test(id="t")
LIMITS = Limits(timeout_s=20, grace_s=0.5)
FETCH = """
import json, sys, urllib.request
said = []
for url in sys.argv[1:]:
    try:
        with urllib.request.urlopen(url, timeout=10) as got: said.append(got.read().decode())
    except Exception as error: said.append(f"{type(error).__name__}: {error}")
print(json.dumps(said))
"""


class Echo(http.server.BaseHTTPRequestHandler):
    """Says what it was asked."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        said = f"{self.command} {self.path} of {self.headers['Host']} {self.headers.get('Proxy-Connection')}".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


@pytest.fixture
def server():
    made = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    threading.Thread(target=made.serve_forever, daemon=True).start()
    yield made.server_port
    made.shutdown()
    made.server_close()


@pytest.fixture
def trial(tmp_path):
    """Runs a Python program in a sandbox whose way out is a gateway with these hosts."""

    def run(
        program: str, *arguments: str, hosts: AllowedHosts | None, limits=LIMITS
    ) -> tuple[Attempt, Place]:
        tmp_path.chmod(0o755)
        (tmp_path / "agent.py").write_text(program)
        theirs = {"PATH": os.environ["PATH"], "HOME": str(tmp_path / "home")}
        with Premises(
            isolated=isolate(theirs),
            work_root=tmp_path,
            enclosure=sandbox(tmp_path),
            gateway=lambda port: Gateway(hosts, port),
            listens=True,
        ) as ours:
            place = ours.place(TEST, limits)
            agent = CommandAgent(" ".join([sys.executable, "agent.py", *arguments]), launch_dir=tmp_path)
            agent.prepare([TEST], Surroundings(environment=theirs))
            attempt = place.settle(agent.attempt(TEST, place, limits, Cancel()))
            assert place.tap is not None
            place.tap.close()
            return attempt, place

    return run


def said(attempt: Attempt) -> list[str]:
    assert Ending.OK is attempt.ending, attempt.defect
    return json.loads(str(attempt.output))


def test_an_allowed_host_is_reached_and_others_are_refused_and_noted(trial, server):
    """By plain HTTP; what the proxy is told is not handed on."""
    url = f"http://localhost:{server}/path?q=1"
    # Programs go straight to `localhost` otherwise.
    program = FETCH.replace("import json", "import os; os.environ['no_proxy'] = 'none'\nimport json", 1)
    attempt, _ = trial(
        program,
        url,
        "http://denied.example/",
        "https://denied.example/x",
        hosts=allowed_hosts([f"localhost:{server}"]),
    )
    good, *bad = said(attempt)

    assert f"GET /path?q=1 of localhost:{server} None" == good
    assert all("403" in one for one in bad)
    assert (
        "It tried to reach denied.example:443 and was not let (once).",
        "It tried to reach denied.example:80 and was not let (once).",
    ) == attempt.notes


def test_a_tunnel_carries_bytes_both_ways(trial, server):
    """CONNECT, as for https; here what goes through it is HTTP."""
    program = f"""
import http.client
connection = http.client.HTTPConnection("127.0.0.1", 4318)
connection.set_tunnel("localhost", {server})
body = bytes(range(256)) * 8000
connection.request("POST", "/", body)
print(connection.getresponse().read() == body)
"""
    attempt, _ = trial(program, hosts=allowed_hosts([f"localhost:{server}"]))

    assert (Ending.OK, "True") == (attempt.ending, attempt.output), attempt.defect


@pytest.mark.parametrize(
    "target",
    ["127.0.0.1:{port}", "2130706433:{port}", "0x7f.1:{port}", "[::ffff:127.0.0.1]:{port}", "127.1:{port}"],
)
def test_an_address_does_not_get_past_the_list_of_names(trial, server, target):
    """However it is written."""
    program = f"""
import socket
s = socket.create_connection(("127.0.0.1", 4318))
s.sendall(b"CONNECT {target.format(port=server)} HTTP/1.1\\r\\n\\r\\n")
print(s.recv(100).split(b"\\r\\n")[0].decode())
"""
    attempt, _ = trial(program, hosts=allowed_hosts([f"localhost:{server}", f"*.example.com:{server}"]))

    assert "HTTP/1.1 403 Forbidden" == attempt.output


def test_an_allowed_name_at_a_private_address_is_refused(trial):
    """Whoever answers for the name could otherwise open the operator's own network."""
    name = socket.gethostname()
    try:
        address = socket.gethostbyname(name)
    except OSError:
        pytest.skip("this machine's own name has no address")
    if allowed_hosts([name]).allows_address(address, name, 80):
        pytest.skip("this machine's own name has a public address")
    attempt, _ = trial(FETCH, f"http://{name}/", hosts=allowed_hosts([name]))

    assert "403" in said(attempt)[0]
    assert "which is private" in attempt.notes[0]


def test_without_hosts_the_trace_gets_out_and_nothing_else(trial):
    """`--network none`: the agent's spans are received, a proxy is not even there."""
    program = """
import os, urllib.request
url = os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"] + "/v1/traces"
headers = dict(part.split("=", 1) for part in os.environ["OTEL_EXPORTER_OTLP_HEADERS"].split(","))
body = b'{"resourceSpans": []}'
asked = urllib.request.Request(url, body, {**headers, "Content-Type": "application/json"})
print(urllib.request.urlopen(asked, timeout=10).status, sorted(name for name in os.environ if "PROXY" in name.upper()))
"""
    attempt, place = trial(program, hosts=None)

    assert (Ending.OK, "200 []") == (attempt.ending, attempt.output), attempt.defect
    assert place.tap is not None
    assert 1 == place.tap.close().bodies


def test_connections_that_are_left_half_open_hold_nothing_up(trial, server):
    """Hundreds of them, some that never said a word: the trial ends, and the next one is served."""
    program = f"""
import socket
held = [socket.create_connection(("127.0.0.1", 4318)) for _ in range(100)]
for s in held[::2]: s.sendall(b"CONNECT localhost:{server} HTTP/1.1\\r\\n\\r\\n")
for s in held[::4]: s.shutdown(socket.SHUT_WR)
print("held")
"""
    started = time.monotonic()
    attempt, _ = trial(program, hosts=allowed_hosts([f"localhost:{server}"]))

    assert (Ending.OK, "held") == (attempt.ending, attempt.output), attempt.defect
    assert time.monotonic() - started < 15


def test_a_long_path_makes_no_difference(tmp_path):
    """A socket's own path may have about a hundred bytes; a trial's folder may have more."""
    deep = tmp_path / ("x" * 100) / ("y" * 100)
    deep.mkdir(parents=True)
    gateway = Gateway(None, None)
    gate = gateway.open(deep / "relay")

    assert (deep / "relay").is_socket()
    assert () == gate.close()
    gateway.close()


def test_a_gateway_that_is_closed_leaves_no_thread_and_no_open_file(tmp_path):
    before = len(list(Path("/proc/self/fd").iterdir()))
    gateway = Gateway(allowed_hosts(["localhost"]), None)
    for number in range(5):
        gate = gateway.open(tmp_path / str(number))
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(tmp_path / str(number)))
            client.sendall(gzip.compress(b"nonsense") + b"\r\n\r\n")
        gate.close()
    gateway.close()

    assert not [thread for thread in threading.enumerate() if thread.name == "gateway"]
    assert before == len(list(Path("/proc/self/fd").iterdir()))
