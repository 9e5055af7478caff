"""HTTP out of bytes, however they are cut, and whatever they are."""

from __future__ import annotations

from contextlib import suppress
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.host.receiver_http import LARGEST_HEAD, End, Head, Part, Piece, Refused, RequestReader


def read(*pieces: bytes) -> list[Part]:
    """The parts of what came, with the pieces of a body joined."""
    reader, parts = RequestReader(), list[Part]()
    for piece in pieces:
        for part in reader.feed(piece):
            if isinstance(part, Piece) and parts and isinstance(parts[-1], Piece):
                parts[-1] = Piece(parts[-1].content + part.content)
            elif part != Piece(b""):
                parts.append(part)
    return parts


def request(body: bytes, *, chunks: int = 0) -> bytes:
    """A request with this body, whole or in chunks of some size."""
    head = b"POST /v1/traces?x=1 HTTP/1.1\r\nHost: here\r\nX-Token:  t \r\n"
    if not chunks:
        return head + f"Content-Length: {len(body)}\r\n\r\n".encode() + body
    parts = [body[start : start + chunks] for start in range(0, len(body), chunks)]
    written = b"".join(f"{len(part):X}\r\n".encode() + part + b"\r\n" for part in parts)
    return head + b"Transfer-Encoding: chunked\r\n\r\n" + written + b"0\r\n\r\n"


@given(
    bodies=st.lists(st.tuples(st.binary(max_size=200), st.integers(0, 50)), min_size=1, max_size=4),
    cuts=st.lists(st.integers(1, 2000), max_size=12),
)
def test_it_does_not_matter_where_the_bytes_are_cut(bodies: list[tuple[bytes, int]], cuts: list[int]) -> None:
    """Several requests one after another, whole or in chunks, give the same parts in whatever pieces they come."""
    sent = b"".join(request(body, chunks=chunks) for body, chunks in bodies)
    places = [0, *sorted(cut for cut in cuts if cut < len(sent)), len(sent)]
    found = read(*(sent[start:end] for start, end in pairwise(places) if start < end))

    assert read(sent) == found
    assert [body for body, _ in bodies if body] == [part.content for part in found if isinstance(part, Piece)]
    assert len(bodies) == found.count(End()) == sum(isinstance(part, Head) for part in found)


def test_a_head_is_read() -> None:
    """Method, path without a query, headers without spaces, and whether another request may follow."""
    (head, *_) = read(request(b"x"))
    (old, *_) = read(b"POST / HTTP/1.0\r\n\r\n")
    (last, *_) = read(b"POST / HTTP/1.1\r\nConnection: Close\r\n\r\n")

    assert isinstance(head, Head)
    assert ("POST", "/v1/traces", "t", 1, True) == (
        head.method,
        head.path,
        head.headers["x-token"],
        head.length,
        head.keeps_open,
    )
    assert [False, False] == [part.keeps_open for part in (old, last) if isinstance(part, Head)]


@pytest.mark.parametrize(
    ("status", "sent"),
    [
        (400, b"\x16\x03\x01 a handshake of TLS\r\n\r\n"),
        (400, b"POST /\r\n\r\n"),
        (400, b"POST / HTTP/1.1\r\nno colon\r\n\r\n"),
        (400, b"POST / HTTP/1.1\r\nHost : x\r\n\r\n"),
        (400, b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n"),
        (400, b"POST / HTTP/1.1\r\nContent-Length: 1e9\r\n\r\n"),
        (400, "POST / HTTP/1.1\r\nContent-Length: \u00b2\r\n\r\n".encode("latin-1")),
        (400, b"POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"),
        (400, b"POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n"),
        (400, b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n"),
        (400, b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n"),
        (400, b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1" * 2000),
        (505, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
        (431, b"POST / HTTP/1.1\r\nX: " + b"x" * LARGEST_HEAD),
    ],
)
def test_what_is_no_request_is_refused(status: int, sent: bytes) -> None:
    """With a status, whatever it is."""
    with pytest.raises(Refused) as refused:
        read(sent)

    assert status == refused.value.status


@given(st.binary(max_size=300))
def test_no_bytes_do_harm(sent: bytes) -> None:
    """They are parts, or refused; nothing else is raised."""
    for start in (b"", b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"):
        with suppress(Refused):
            assert all(isinstance(part, Head | Piece | End) for part in read(start + sent))
