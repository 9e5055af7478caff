"""Span throughput: the receiver beside a bare http.server that reads and forgets, and what becomes of the spans after.

spans.py [--quick] [-o TABLE]   every form at 1 and at 8 clients, then the conversion; medians of three rounds
spans.py client PORT TOKEN FORM REQUESTS BARRIER   one client, started by the above
"""

import argparse
import gzip
import http.client
import http.server
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

SPANS = 512  # what the SDKs put into a request at most
CLIENTS = (1, 8)
TYPES = {"protobuf": "application/x-protobuf", "gzip": "application/x-protobuf", "json": "application/json"}


def request(form):
    """A request of 512 spans: a fifth are model calls, a tenth tools, the rest steps; some 350 bytes each."""
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    from proctor.core.trace_protobuf import document_of

    made = ExportTraceServiceRequest()
    resource = made.resource_spans.add()
    resource.resource.attributes.add(key="service.name").value.string_value = "agent"
    scope = resource.scope_spans.add()
    for number in range(SPANS):
        span = scope.spans.add(
            trace_id=os.urandom(16),
            span_id=os.urandom(8),
            parent_span_id=b"",
            name=f"step {number}",
            kind=1,
            start_time_unix_nano=time.time_ns(),
            end_time_unix_nano=time.time_ns() + 10**6,
        )
        said = {"code.function": "agent.work", "thread.name": "MainThread", "step.input": "x" * 80}
        if number % 5 == 0:
            said = {
                "gen_ai.operation.name": "chat",
                "gen_ai.provider.name": "openai",
                "gen_ai.request.model": "gpt-4o",
                "gen_ai.usage.input_tokens": 1000 + number,
                "gen_ai.usage.output_tokens": 100,
                "gen_ai.input.messages": json.dumps([{"role": "user", "content": f"question {number}"}]),
            }
        elif number % 10 == 1:
            said = {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": "weather",
                "gen_ai.tool.call.arguments": '{"city": "Oslo"}',
                "gen_ai.tool.call.result": '{"sky": "rain"}',
            }
        for key, value in said.items():
            into = span.attributes.add(key=key).value
            if isinstance(value, int):
                into.int_value = value
            else:
                into.string_value = value
    body = made.SerializeToString()
    if form == "gzip":
        return gzip.compress(body)
    return json.dumps(document_of(body)).encode() if form == "json" else body


def client(port, token, form, count):
    body = request(form)
    headers = {"Content-Type": TYPES[form], "x-proctor-token": token}
    if form == "gzip":
        headers["Content-Encoding"] = "gzip"
    connection = http.client.HTTPConnection("127.0.0.1", port)
    print("ready", flush=True)
    sys.stdin.readline()
    for _ in range(count):
        connection.request("POST", "/v1/traces", body, headers)
        response = connection.getresponse()
        response.read()
        assert response.status == 200
    connection.close()


class Bare(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def timed(port, tokens, form, count):
    """Seconds until the last client has its last answer, and processor seconds of this process, which serves them."""
    clients = [
        subprocess.Popen(
            [sys.executable, __file__, "client", str(port), token, form, str(count)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for token in tokens
    ]
    for one in clients:
        assert one.stdout.readline() == "ready\n"
    started, used = time.perf_counter(), time.process_time()
    for one in clients:
        one.stdin.write("go\n")
        one.stdin.flush()
    codes = [one.wait() for one in clients]
    taken = time.perf_counter() - started, time.process_time() - used
    for one in clients:
        one.stdin.close()
        one.stdout.close()
    assert codes == [0] * len(clients)
    return taken


def bare(form, clients, count):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Bare)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        return timed(server.server_port, ["x"] * clients, form, count)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def received(form, clients, count, folder):
    from proctor.host.receiver import Receiver

    with Receiver() as receiver:
        taps = [receiver.open(folder / str(number)) for number in range(clients)]
        taken = timed(receiver.port, [tap.token for tap in taps], form, count)
        assert [tap.close().bodies for tap in taps] == [count] * clients
    return taken, taps[0].spool


def rate(spans, seconds):
    return f"{spans / seconds:,.0f}"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="one round of few requests")
    parser.add_argument("-o", "--output", type=Path, help="write the table there as well")
    arguments = parser.parse_args()
    rounds, requests = (1, 40) if arguments.quick else (3, 160)
    table = [
        "| work | floor, spans a second | proctor, spans a second | ratio of time | of processor time |",
        "| --- | --- | --- | --- | --- |",
    ]
    with tempfile.TemporaryDirectory(prefix="spans-") as root:
        spools = {}
        for form in TYPES:
            size = len(request(form)) / SPANS
            for clients in CLIENTS:
                count = requests // clients
                floors, ours = [], []
                for turn in range(rounds):
                    floors.append(bare(form, clients, count))
                    taken, spools[form] = received(
                        form, clients, count, Path(root, f"{form}-{clients}-{turn}")
                    )
                    ours.append(taken)
                spans = SPANS * count * clients
                floor, mine = (statistics.median(one[0] for one in each) for each in (floors, ours))
                floor_cpu, mine_cpu = (statistics.median(one[1] for one in each) for each in (floors, ours))
                table.append(
                    f"| receive {form}, {clients} client{'s' * (clients > 1)}, {size:.0f} bytes a span | "
                    f"{rate(spans, floor)} | {rate(spans, mine)} | {mine / floor:.2f}x | {mine_cpu / floor_cpu:.2f}x |"
                )
        for form, spool in spools.items():
            table += converted(form, spool, SPANS * (requests // CLIENTS[-1]), rounds)
    text = "\n".join(table)
    print(text)
    if arguments.output:
        arguments.output.write_text(f"{text}\n")


def converted(form, spool, spans, rounds):
    """The conversion beside decoding alone, and reading the trace beside reading its JSON, by processor time."""
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    from proctor.host.receiver import write_trace
    from proctor.host.receiver_spool import _unpacked, bodies
    from proctor.models.prices import cost_of
    from proctor.stores.tracefile import read_trace

    cost_of(provider="openai", model="gpt-4o", tokens_in=1, tokens_out=1)
    target = spool / "trace.jsonl"
    times = {"decode": [], "write": [], "json": [], "read": []}
    for _ in range(rounds):
        target.unlink(missing_ok=True)
        started = time.process_time()
        for body in bodies(spool):
            content = _unpacked(body.content, body.kept.encoding)
            if form == "json":
                json.loads(content)
            else:
                ExportTraceServiceRequest().ParseFromString(content)
        times["decode"].append(time.process_time() - started)
        started = time.process_time()
        assert write_trace(spool, target).spans == spans
        times["write"].append(time.process_time() - started)
        started = time.process_time()
        for line in target.open("rb"):
            json.loads(line)
        times["json"].append(time.process_time() - started)
        started = time.process_time()
        assert read_trace(str(spool)).is_whole
        times["read"].append(time.process_time() - started)
    decode, write, plain, read = (statistics.median(times[name]) for name in times)
    yield (
        f"| convert {form} to OTLP/JSON, with prices, against decoding it | {rate(spans, decode)} | "
        f"{rate(spans, write)} |  | {write / decode:.1f}x |"
    )
    yield (
        f"| read the trace, from {form}, against `json.loads` | {rate(spans, plain)} | {rate(spans, read)} | "
        f" | {read / plain:.2f}x |"
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["client"]:
        client(int(sys.argv[2]), sys.argv[3], sys.argv[4], int(sys.argv[5]))
    else:
        main()
