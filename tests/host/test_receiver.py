"""The receiver of spans: who is let in, what is answered, and that a body is on disk by then."""

from __future__ import annotations

import gzip
import http.client
import json
import threading
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from proctor.host import receiver_tap
from proctor.host.receiver import Receiver, write_trace
from proctor.host.receiver_spool import bodies
from tests.tracing.sending import JSON, PROTOBUF, as_json, chat, post, protobuf, span_names


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """A receiver for one test."""
    with Receiver() as made:
        yield made


def raw(zipped: zlib._Compress, content: bytes) -> bytes:
    """What a compressor makes of some bytes."""
    return zipped.compress(content) + zipped.flush()


@pytest.mark.parametrize(
    ("kind", "encoding"),
    [
        (kind, encoding)
        for kind in (PROTOBUF, JSON)
        for encoding in ("identity", "gzip", "deflate", "bare deflate")
    ],
)
def test_a_body_in_every_form_arrives(receiver: Receiver, tmp_path: Path, kind: str, encoding: str) -> None:
    """Protobuf and JSON, as they are or packed; some programs call deflate what has no frame."""
    body = protobuf("one", "two") if kind == PROTOBUF else as_json("one", "two")
    packed = {
        "identity": body,
        "gzip": gzip.compress(body),
        "deflate": zlib.compress(body),
        "bare deflate": raw(zlib.compressobj(wbits=-15), body),
    }[encoding]
    tap = receiver.open(tmp_path / "spool")

    answer = post(
        receiver.port, packed, tap.token, kind=kind, content_encoding=encoding.removeprefix("bare ")
    )
    received = tap.close()
    written = write_trace(tap.spool, tmp_path / "trace.jsonl")

    assert (200, kind) == (answer.status, answer.kind)
    assert (1, len(packed), 0, ()) == (received.bodies, received.size, received.refused, received.notes)
    assert (2, True, ()) == (written.spans, written.is_whole, written.notes)
    assert ["one", "two"] == span_names(tmp_path / "trace.jsonl")


def test_the_answer_is_in_the_form_of_the_question(receiver: Receiver, tmp_path: Path) -> None:
    """An exporter decodes it: an empty message, and an empty object."""
    tap = receiver.open(tmp_path / "spool")
    in_protobuf = post(receiver.port, protobuf("one"), tap.token)
    in_json = post(receiver.port, as_json("one"), tap.token, kind="application/json; charset=utf-8")

    assert not ExportTraceServiceResponse.FromString(in_protobuf.content).HasField("partial_success")
    assert {} == json.loads(in_json.content)


def test_a_body_is_on_disk_as_it_came_when_it_is_answered(receiver: Receiver, tmp_path: Path) -> None:
    """Nothing has to be closed or asked for."""
    tap = receiver.open(tmp_path / "spool")
    packed = gzip.compress(protobuf("one"))
    post(receiver.port, packed, tap.token, content_encoding="gzip")
    (body,) = bodies(tmp_path / "spool")

    assert ("gzip", packed) == (body.kept.encoding, body.content)


@pytest.mark.parametrize(
    "token", [None, "", "0" * 32, "a token\u00e9"], ids=["none", "empty", "another", "odd"]
)
def test_a_stranger_is_refused_and_nothing_is_kept(
    receiver: Receiver, tmp_path: Path, token: str | None
) -> None:
    """The note says that somebody came, since that may be why a trace is missing."""
    tap = receiver.open(tmp_path / "spool")
    answer = post(receiver.port, protobuf("forged"), token)
    received = tap.close()

    assert 401 == answer.status
    assert not (tmp_path / "spool").exists()
    assert 0 == received.bodies
    assert (
        "Requests without the token of a running trial came to the trace endpoint while it ran, and were refused: 1.",
    ) == received.notes


def test_runs_in_parallel_cannot_mix(receiver: Receiver, tmp_path: Path) -> None:
    """64 agents send at once; each trial has what its own token sent, all of it, and nothing else."""
    taps = [receiver.open(tmp_path / f"{number}") for number in range(64)]
    statuses: list[int] = []

    def send(number: int) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", receiver.port, timeout=60)
        for turn in range(10):
            headers = {"Content-Type": PROTOBUF, receiver_tap.TOKEN_HEADER: taps[number].token}
            connection.request("POST", "/v1/traces", protobuf(f"{number}.{turn}"), headers)
            response = connection.getresponse()
            response.read()
            statuses.append(response.status)
        connection.close()

    threads = [threading.Thread(target=send, args=(number,)) for number in range(64)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert [200] * 640 == statuses
    for number, tap in enumerate(taps):
        tap.close()
        write_trace(tap.spool, tmp_path / f"{number}.jsonl")

        assert [f"{number}.{turn}" for turn in range(10)] == span_names(tmp_path / f"{number}.jsonl")


def test_no_body_comes_in_after_the_end(receiver: Receiver, tmp_path: Path) -> None:
    """A process that outlives its trial changes nothing any more, on a new connection or on an old one."""
    tap = receiver.open(tmp_path / "spool")
    connection = http.client.HTTPConnection("127.0.0.1", receiver.port, timeout=20)
    headers = {"Content-Type": PROTOBUF, receiver_tap.TOKEN_HEADER: tap.token}
    connection.request("POST", "/v1/traces", protobuf("in time"), headers)
    connection.getresponse().read()
    tap.close()

    assert 401 == post(receiver.port, protobuf("late"), tap.token).status
    with suppress(http.client.HTTPException, OSError):
        connection.request("POST", "/v1/traces", protobuf("late"), headers)
        assert 401 == connection.getresponse().status
    connection.close()
    write_trace(tap.spool, tmp_path / "trace.jsonl")
    assert ["in time"] == span_names(tmp_path / "trace.jsonl")


@pytest.mark.parametrize("path", ["/v1/metrics", "/v1/logs"])
def test_metrics_and_logs_are_welcome_and_not_kept(receiver: Receiver, tmp_path: Path, path: str) -> None:
    """An agent that exports all three signals is not made to retry; without the token it is refused."""
    tap = receiver.open(tmp_path / "spool")

    assert 200 == post(receiver.port, b"anything", tap.token, path=path).status
    assert 401 == post(receiver.port, b"anything", None, path=path).status
    assert not (tmp_path / "spool").exists()


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (404, {"path": "/v1/trace"}),
        (405, {"method": "PUT"}),
        (415, {"kind": "text/plain"}),
        (415, {"content_encoding": "br"}),
    ],
)
def test_what_cannot_be_taken_is_said_and_the_connection_goes_on(
    receiver: Receiver, tmp_path: Path, status: int, said: dict[str, str]
) -> None:
    """A 4xx that is no invitation to try again."""
    tap = receiver.open(tmp_path / "spool")

    assert status == post(receiver.port, b"body", tap.token, **said).status  # pyright: ignore[reportArgumentType]
    assert 200 == post(receiver.port, protobuf("one"), tap.token).status


def test_a_body_in_chunks_and_one_that_asks_first(receiver: Receiver, tmp_path: Path) -> None:
    """Chunked transfer, and `Expect: 100-continue`, on one connection that stays open."""
    import socket

    tap = receiver.open(tmp_path / "spool")
    head = f"POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: {PROTOBUF}\r\n{receiver_tap.TOKEN_HEADER}: {tap.token}\r\n"
    body = protobuf("in chunks")
    with (
        socket.create_connection(("127.0.0.1", receiver.port), 20) as client,
        client.makefile("rb") as replies,
    ):
        client.sendall(f"{head}Transfer-Encoding: chunked\r\n\r\n".encode())
        for piece in (body[:5], body[5:]):
            client.sendall(f"{len(piece):x};name=value\r\n".encode() + piece + b"\r\n")
        client.sendall(b"0\r\nTrailer: x\r\n\r\n")
        assert b"HTTP/1.1 200 OK\r\n" == replies.readline()
        while replies.readline() != b"\r\n":
            pass
        body = protobuf("asked first")
        client.sendall(f"{head}Expect: 100-continue\r\nContent-Length: {len(body)}\r\n\r\n".encode())
        assert b"HTTP/1.1 100 Continue\r\n" == replies.readline()
        assert b"\r\n" == replies.readline()
        client.sendall(body)
        assert b"HTTP/1.1 200 OK\r\n" == replies.readline()
    tap.close()
    write_trace(tap.spool, tmp_path / "trace.jsonl")

    assert ["in chunks", "asked first"] == span_names(tmp_path / "trace.jsonl")


@pytest.mark.parametrize("is_chunked", [False, True])
def test_a_body_that_is_too_large_is_refused_and_the_trace_says_so(
    receiver: Receiver, tmp_path: Path, is_chunked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether its size is said before or found out; the spans before it are kept."""
    monkeypatch.setattr("proctor.host.receiver_tap.LARGEST_BODY", 3_000_000)
    monkeypatch.setattr("proctor.host.receiver_exchange.LARGEST_BODY", 3_000_000)
    tap = receiver.open(tmp_path / "spool")
    post(receiver.port, protobuf("small"), tap.token)
    body = protobuf("x" * 3_000_000)
    if is_chunked:
        connection = http.client.HTTPConnection("127.0.0.1", receiver.port, timeout=20)
        headers = {"Content-Type": PROTOBUF, receiver_tap.TOKEN_HEADER: tap.token}
        pieces = (body[start : start + 100_000] for start in range(0, len(body), 100_000))
        connection.request("POST", "/v1/traces", pieces, headers, encode_chunked=True)
        status = connection.getresponse().status
        connection.close()
    else:
        status = post(receiver.port, body, tap.token).status
    received = tap.close()
    written = write_trace(tap.spool, tmp_path / "trace.jsonl")

    assert (413, 1, 1) == (status, received.bodies, received.refused)
    assert ("The trace is not whole: a body of more than 2 MiB was refused.",) == written.notes
    assert ["small"] == span_names(tmp_path / "trace.jsonl")
    assert ["bodies", "refused"] == sorted(file.name for file in tap.spool.iterdir())


def test_a_trial_has_a_limit_for_all_of_its_bodies(
    receiver: Receiver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An agent cannot fill the disk through its trace; another trial has a limit of its own."""
    monkeypatch.setattr("proctor.host.receiver_tap.LARGEST_SPOOL", 5_000_000)
    tap, other = receiver.open(tmp_path / "spool"), receiver.open(tmp_path / "other")
    answers = [post(receiver.port, protobuf("x" * 1_900_000), tap.token).status for _ in range(4)]

    assert [200, 200, 413, 413] == answers
    assert 200 == post(receiver.port, protobuf("y" * 1_900_000), other.token).status
    assert (2, 2, ()) == ((received := tap.close()).bodies, received.refused, received.notes)
    written = write_trace(tap.spool, tmp_path / "trace.jsonl")
    assert ("The trace is not whole: the agent sent more than 4 MiB of spans.",) == written.notes
    assert 4_200_000 > sum(file.stat().st_size for file in tap.spool.iterdir())


def test_a_large_body_is_not_held_in_memory(receiver: Receiver, tmp_path: Path) -> None:
    """It has a file of its own, and the trace has its spans in their order."""
    tap = receiver.open(tmp_path / "spool")
    for name in ("a", "b" * 5_000_000, "c"):
        assert 200 == post(receiver.port, protobuf(name), tap.token).status
    tap.close()
    write_trace(tap.spool, tmp_path / "trace.jsonl")

    assert ["a", "b", "c"] == [name[0] for name in span_names(tmp_path / "trace.jsonl")]
    assert 2 == len(list(tap.spool.iterdir()))


def test_a_disk_that_takes_no_more_costs_a_body_and_no_more(receiver: Receiver, tmp_path: Path) -> None:
    """Here the place of the folder is taken by a file."""
    (tmp_path / "spool").write_text("not a folder")
    tap = receiver.open(tmp_path / "spool")
    answer = post(receiver.port, protobuf("one"), tap.token)
    received = tap.close()

    assert 413 == answer.status
    assert ("Of its trace: its spans could not be written: File exists.",) == received.notes


def test_what_was_spent_is_known_while_the_agent_runs(receiver: Receiver, tmp_path: Path) -> None:
    """1,000 tokens in at $2.50 and 100 out at $10 a million: 0.0025 + 0.001 = 0.0035 dollars a call."""
    tap = receiver.open(tmp_path / "spool")
    before = tap.spent()
    post(receiver.port, protobuf("one", attributes=chat()), tap.token)
    once = tap.spent()
    post(receiver.port, as_json("two", attributes=chat()), tap.token, kind=JSON)
    post(receiver.port, protobuf("three", attributes=chat(gen_ai__request__model="nobody-knows")), tap.token)
    post(receiver.port, b"\xff no protobuf", tap.token)
    thrice = tap.spent()

    assert (0, 0, 0.0) == (before.calls, before.tokens, before.cost_usd)
    assert (1, 1100, pytest.approx(0.0035)) == (once.calls, once.tokens, once.cost_usd)
    assert (3, 3300, pytest.approx(0.007), 1) == (
        thrice.calls,
        thrice.tokens,
        thrice.cost_usd,
        thrice.unpriced,
    )
    assert thrice is tap.spent()


def test_calls_of_which_nothing_is_known_cost_an_unknown_amount(receiver: Receiver, tmp_path: Path) -> None:
    """It is None, and never 0."""
    tap = receiver.open(tmp_path / "spool")
    post(receiver.port, protobuf("one", attributes={"gen_ai.operation.name": "chat"}), tap.token)
    spent = tap.spent()

    assert (1, None, None, 1, 1) == (
        spent.calls,
        spent.tokens,
        spent.cost_usd,
        spent.uncounted,
        spent.unpriced,
    )


def test_a_closed_receiver_answers_nobody_and_keeps_what_it_had(tmp_path: Path) -> None:
    """Its taps can still be closed and written."""
    receiver = Receiver()
    tap = receiver.open(tmp_path / "spool")
    post(receiver.port, protobuf("one"), tap.token)
    receiver.close()

    with pytest.raises(OSError):
        post(receiver.port, protobuf("two"), tap.token)
    tap.close()
    write_trace(tap.spool, tmp_path / "trace.jsonl")
    assert ["one"] == span_names(tmp_path / "trace.jsonl")


def test_a_receiver_that_failed_is_noted_and_ends_no_run(
    receiver: Receiver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What came before it is there."""
    tap = receiver.open(tmp_path / "spool")
    post(receiver.port, protobuf("one"), tap.token)

    def broken(*_: object) -> None:
        raise ZeroDivisionError("on purpose")

    monkeypatch.setattr(receiver._loop, "_accept", broken)
    with pytest.raises(OSError):
        post(receiver.port, protobuf("two"), tap.token)
    receiver._thread.join(20)
    received = tap.close()

    written = write_trace(tap.spool, tmp_path / "trace.jsonl")

    assert (1, 1, False) == (received.bodies, written.spans, written.is_whole)
    assert (
        "The trace is not whole: the receiver of spans failed (ZeroDivisionError: on purpose).",
    ) == written.notes
