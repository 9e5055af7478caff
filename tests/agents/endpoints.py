"""Real servers for agents that are reached over HTTP: well-behaved ones, and hostile ones that speak to the socket."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Endpoint(ThreadingHTTPServer):
    """Answers each POST with what `answer` makes of the request; keeps what it was asked.

    Attributes:
        asked: of each request, its path, its headers with names in lower case, and its body as JSON.
        closing: set when the server ends; whoever keeps a client waiting waits for it.
    """

    daemon_threads = True

    def __init__(self, answer: Callable[[Endpoint, Any], tuple[int, dict[str, str], bytes]]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer = answer
        self.asked: list[tuple[str, dict[str, str], Any]] = []
        self.closing = threading.Event()

    @property
    def url(self) -> str:
        """Its address without a path."""
        return f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is what many tests are about."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Endpoint

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        asked = json.loads(body) if body else None
        self.server.asked.append((self.path, headers, asked))
        status, said, content = self.server.answer(self.server, asked)
        self.send_response(status)
        for name, value in said.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def serving(answer: Callable[[Endpoint, Any], tuple[int, dict[str, str], bytes]]) -> Generator[Endpoint]:
    """A server that runs as long as the block does."""
    server = Endpoint(answer)
    thread = threading.Thread(target=lambda: server.serve_forever(poll_interval=0.02), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()


def saying(value: Any, status: int = 200, type: str = "application/json", **headers: str) -> Any:
    """An answer that is always the same: bytes as they are, text encoded, anything else as JSON."""
    content = (
        value
        if isinstance(value, bytes)
        else value.encode()
        if isinstance(value, str)
        else json.dumps(value).encode()
    )
    return lambda server, asked: (status, {"Content-Type": type, **headers}, content)


def behaving(server: Endpoint, asked: Any) -> tuple[int, dict[str, str], bytes]:
    """Does what the last part of the path says: echo, hang, crash or silent."""
    match server.asked[-1][0].rpartition("/")[2]:
        case "hang":
            server.closing.wait()
            return 500, {}, b""
        case "crash":
            return 500, {"Content-Type": "text/plain"}, b"the agent fell over"
        case "silent":
            return 204, {}, b""
        case _:
            return 200, {"Content-Type": "application/json"}, json.dumps(asked.get("input")).encode()


def chatting(server: Endpoint, asked: Any) -> tuple[int, dict[str, str], bytes]:
    """A chat endpoint whose model is called echo, hang, crash or silent, and is that."""
    model = asked["model"]
    if model == "hang":
        server.closing.wait()
        return 500, {}, b""
    if model == "crash":
        error = {
            "message": "the context is too long",
            "type": "invalid_request_error",
            "code": None,
            "param": None,
        }
        return 400, {"Content-Type": "application/json"}, json.dumps({"error": error}).encode()
    content = "" if model == "silent" else asked["messages"][-1]["content"]
    return 200, {"Content-Type": "application/json"}, json.dumps(completion(content, model)).encode()


def completion(content: Any, model: str = "echo", finish: str = "stop", **more: Any) -> dict[str, Any]:
    """A chat completion that used 7 tokens of input and 3 of output."""
    message = {"role": "assistant", "content": content} | more
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": f"{model}-2026",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10},
    }


@contextmanager
def socket_that(speaks: Callable[[socket.socket, threading.Event], None]) -> Generator[str]:
    """A server that takes connections and then does as it likes; its URL. The event says that the test is over."""
    over = threading.Event()
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=talk, args=(connection,), daemon=True).start()

    def talk(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            speaks(connection, over)

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
    finally:
        over.set()
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
