"""Local servers that speak the protocols of two providers, with streaming, and say what a script tells them to.

The script is a list of steps. Which one is next is seen from the request itself: from how many results of tools it
holds. A request without tools, such as one for a title, gets a word.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TOKENS_IN, TOKENS_CACHED, TOKENS_OUT = 120, 30, 12
"""What each reply says that it took. The first are without those from the cache for Messages, with them for Responses."""


@dataclass(frozen=True, kw_only=True)
class Call:
    """A call of a tool that the model makes; `namespace` is that of the tool in the Responses protocol."""

    name: str
    arguments: Mapping[str, Any]
    namespace: str | None = None


@dataclass(frozen=True, kw_only=True)
class Step:
    """What the model says, and what it calls; `status` is an HTTP status instead, with a message."""

    text: str = ""
    calls: Sequence[Call] = ()
    status: int = 200
    message: str = ""
    kind: str = "api_error"
    truncated: bool = False


@dataclass
class Provider:
    """A server that is running.

    Attributes:
        url: where it is.
        steps: what it says, in order; the last one again and again.
        requests: the bodies that came, in order.
        keys: the credentials that came with them.
    """

    url: str
    steps: Sequence[Step]
    requests: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    keys: list[str] = field(default_factory=list[str])

    def step_for(self, done: int) -> Step:
        return self.steps[min(done, len(self.steps) - 1)]


@contextmanager
def provider(steps: Sequence[Step]) -> Generator[Provider]:
    """A server for both protocols on a port of the loopback address."""

    class Handler(_Handler):
        said = Provider(url="", steps=steps)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    Handler.said.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield Handler.said
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    said: Provider
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is printed."""

    def do_HEAD(self) -> None:
        self._plain(200, {})

    def do_GET(self) -> None:
        # Codex asks for a WebSocket first, and takes this for the answer that there is none.
        is_socket = self.headers.get("Upgrade", "").lower() == "websocket"
        self._plain(426 if is_socket else 404, {"error": {"message": "not here"}})

    def do_POST(self) -> None:
        body: dict[str, Any] = json.loads(
            self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}"
        )
        path = self.path.partition("?")[0]
        if path.endswith("/count_tokens"):
            self._plain(200, {"input_tokens": TOKENS_IN})
        elif path.endswith("/v1/messages"):
            self._keep(body)
            self._messages(body)
        elif path.endswith("/responses"):
            self._keep(body)
            self._responses(body)
        else:
            self._plain(404, {"error": {"message": f"no such path: {path}"}})

    def _keep(self, body: dict[str, Any]) -> None:
        self.said.requests.append(body)
        self.said.keys.append(self.headers.get("x-api-key") or self.headers.get("Authorization") or "")

    def _plain(self, status: int, body: Any) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def _events(self, events: Sequence[tuple[str, dict[str, Any]]]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for name, data in events:
            self.wfile.write(f"event: {name}\ndata: {json.dumps({'type': name, **data})}\n\n".encode())
            self.wfile.flush()
        self.close_connection = True

    # Anthropic Messages

    def _messages(self, body: dict[str, Any]) -> None:
        done = sum(
            any(part["type"] == "tool_result" for part in message["content"])
            for message in body["messages"]
            if isinstance(message["content"], list)
        )
        step = self.said.step_for(done) if body.get("tools") else Step(text="Work")
        if step.status != 200:
            error = {"type": step.kind, "message": step.message}
            self._plain(step.status, {"type": "error", "error": error})
            return
        number = len(self.said.requests)
        blocks: list[dict[str, Any]] = [{"type": "text", "text": step.text}] if step.text else []
        blocks += [
            {"type": "tool_use", "id": f"toolu_{number}_{index}", "name": call.name, "input": call.arguments}
            for index, call in enumerate(step.calls)
        ]
        stop = "tool_use" if step.calls else "end_turn"
        usage = {
            "input_tokens": TOKENS_IN,
            "cache_read_input_tokens": TOKENS_CACHED,
            "cache_creation_input_tokens": 0,
            "output_tokens": 1,
        }
        message: dict[str, Any] = {
            "id": f"msg_{number}",
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": usage,
        }
        if not body.get("stream"):
            whole = {"content": blocks, "stop_reason": stop, "usage": {**usage, "output_tokens": TOKENS_OUT}}
            self._plain(200, message | whole)
            return
        events: list[tuple[str, dict[str, Any]]] = [("message_start", {"message": message})]
        for index, block in enumerate(blocks):
            if block["type"] == "text":
                start: dict[str, Any] = {"type": "text", "text": ""}
                delta = {"type": "text_delta", "text": block["text"]}
            else:
                start = {**block, "input": {}}
                delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
            events.append(("content_block_start", {"index": index, "content_block": start}))
            events.append(("content_block_delta", {"index": index, "delta": delta}))
            events.append(("content_block_stop", {"index": index}))
        ending = {"stop_reason": stop, "stop_sequence": None}
        events.append(("message_delta", {"delta": ending, "usage": {"output_tokens": TOKENS_OUT}}))
        events.append(("message_stop", {}))
        self._events(events)

    # OpenAI Responses

    def _responses(self, body: dict[str, Any]) -> None:
        given: list[dict[str, Any]] = body.get("input", [])
        results = [item.get("type") in ("function_call_output", "custom_tool_call_output") for item in given]
        done = sum(now and not before for before, now in zip([False, *results], results, strict=False))
        step = self.said.step_for(done)
        if step.status != 200:
            self._plain(
                step.status, {"error": {"type": step.kind, "code": step.kind, "message": step.message}}
            )
            return
        number = len(self.said.requests)
        items: list[dict[str, Any]] = []
        if step.text:
            part: dict[str, Any] = {"type": "output_text", "text": step.text, "annotations": []}
            items.append(
                {
                    "type": "message",
                    "id": f"msg_{number}",
                    "role": "assistant",
                    "status": "completed",
                    "content": [part],
                }
            )
        for index, call in enumerate(step.calls):
            item = {
                "type": "function_call",
                "id": f"fc_{number}_{index}",
                "call_id": f"call_{number}_{index}",
                "name": call.name,
                "arguments": json.dumps(call.arguments),
                "status": "completed",
            }
            items.append(item | ({"namespace": call.namespace} if call.namespace else {}))
        response: dict[str, Any] = {
            "id": f"resp_{number}",
            "object": "response",
            "status": "in_progress",
            "model": body["model"],
            "output": [],
        }
        events: list[tuple[str, dict[str, Any]]] = [("response.created", {"response": response})]
        for index, item in enumerate(items):
            events.append(("response.output_item.added", {"output_index": index, "item": item}))
            events.append(("response.output_item.done", {"output_index": index, "item": item}))
        usage = {
            "input_tokens": TOKENS_IN + TOKENS_CACHED,
            "input_tokens_details": {"cached_tokens": TOKENS_CACHED},
            "output_tokens": TOKENS_OUT,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": TOKENS_IN + TOKENS_CACHED + TOKENS_OUT,
        }
        whole = {**response, "status": "completed", "output": items, "usage": usage}
        if not step.truncated:
            events.append(("response.completed", {"response": whole}))
        self._events(events)
