"""A model server whose answers are written beforehand: real HTTP, the OpenAI chat completions protocol, no model.

    with ScriptedServer([answer('{"score": 1}')]) as server:
        ...  # base URL: server.base_url, that is http://127.0.0.1:PORT/v1
    server.asked[0].prompt  # what the client sent

The script is a list of plays, one a request in the order of arrival, or a function from what was asked to a play; a
list that has run out answers 400, and says why. By hand:

    python tests/judging/scripted_server.py --port 8123 --answer '{"reasoning": "fine", "score": 1}'
"""

from __future__ import annotations

import argparse
import json
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODEL = "scripted-1"


@dataclass(frozen=True)
class Asked:
    """One request, as it arrived.

    Attributes:
        path: with the query.
        headers: names in lower case.
        body: the JSON that was sent.
        at: seconds on the monotonic clock.
    """

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    at: float = field(compare=False, default=0.0)

    def text(self, *roles: str) -> str:
        """The text of the messages of these roles, all when none is named, one after the other."""
        return "\n".join(
            _content_text(message.get("content"))
            for message in self.body.get("messages", ())
            if not roles or message["role"] in roles
        )

    @property
    def prompt(self) -> str:
        """Everything that the model is shown."""
        return self.text()

    @property
    def model(self) -> str:
        """The name of the model that was asked for."""
        return str(self.body.get("model", ""))

    @property
    def key(self) -> str:
        """The bearer token."""
        return self.headers.get("authorization", "").removeprefix("Bearer ")

    @property
    def schema(self) -> Mapping[str, Any] | None:
        """The JSON Schema that the answer must follow, whether by response format or by a tool."""
        response_format = self.body.get("response_format") or {}
        if response_format.get("type") == "json_schema":
            return response_format["json_schema"]["schema"]
        if response_format.get("type") == "json_object":
            return response_format.get("schema")
        for tool in self.body.get("tools") or ():
            return tool["function"]["parameters"]
        return None


def _content_text(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(part.get("text", "") for part in content)
    return content or ""


@dataclass(frozen=True)
class Play:
    """What the server does with one request; a plain one answers `text` and ends well.

    Attributes:
        text: the answer; given as the arguments of the first tool when the client insists on a tool.
        status: HTTP status.
        finish: the finish reason: `stop`, `length`, `content_filter`.
        refusal: the model's own words of refusal, in the field that the protocol has for them.
        tokens_in: prompt tokens; counted as a quarter of the characters when None.
        tokens_out: completion tokens; likewise.
        delay_s: seconds to wait before the first byte.
        headers: further headers.
        raw: a body to send instead of a well-formed one.
        has_usage: whether the answer says what it used.
        hang_up: close the connection in the middle of the body.
    """

    text: str | None = ""
    status: int = 200
    finish: str = "stop"
    refusal: str | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    delay_s: float = 0.0
    headers: Mapping[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    has_usage: bool = True
    hang_up: bool = False


def answer(text: str, **more: Any) -> Play:
    """An ordinary answer."""
    return Play(text=text, **more)


def cut(text: str) -> Play:
    """An answer that ran into the limit of tokens."""
    return Play(text=text, finish="length")


def refusal(words: str = "I can't help with that.") -> Play:
    """A refusal in the protocol's own field."""
    return Play(text=None, refusal=words)


def filtered() -> Play:
    """An answer that the provider's content filter held back."""
    return Play(text="", finish="content_filter")


def failure(
    status: int, message: str = "", *, code: str | None = None, retry_after: str | None = None, **more: Any
) -> Play:
    """An error in the provider's own form: 400, 401, 402, 404, 429, 500, 503, 529..."""
    body = {"error": {"message": message or f"scripted {status}", "type": "scripted", "code": code}}
    headers = {} if retry_after is None else {"Retry-After": retry_after}
    return Play(status=status, raw=json.dumps(body).encode(), headers=headers, **more)


def rate_limited(retry_after: str | None = None) -> Play:
    """429, with or without a time to wait."""
    return failure(429, "Rate limit reached", code="rate_limit_exceeded", retry_after=retry_after)


def out_of_credit() -> Play:
    """429 of the kind that waiting does not cure."""
    return failure(429, "You exceeded your current quota", code="insufficient_quota")


def slow(seconds: float, text: str = "") -> Play:
    """An answer that comes late."""
    return Play(text=text, delay_s=seconds)


def malformed(raw: bytes = b'{"choices": [{"mess') -> Play:
    """A body that is no JSON, though the status says that all is well."""
    return Play(raw=raw)


def hang_up() -> Play:
    """The connection closes in the middle of the body."""
    return Play(text="cut off", hang_up=True)


Script = Callable[[Asked], Play | str] | Iterable[Play | str]


class ScriptedServer:
    """Listens on a free port of the loopback interface while the `with` block lasts.

    Attributes:
        asked: every request for a completion, in the order of arrival.
        most_at_once: the largest number of requests that were being answered at the same time.
    """

    def __init__(self, script: Script, *, port: int = 0) -> None:
        self.asked: list[Asked] = []
        self.most_at_once = 0
        self._at_once = 0
        self._lock = threading.Lock()
        self._ended = threading.Event()
        if callable(script):
            self._function: Callable[[Asked], Play | str] | None = script
        else:
            self._function, self._plays = None, iter(script)
        self._server = _Server(("127.0.0.1", port), _Handler)
        self._server.owner = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def origin(self) -> str:
        """Scheme, host and port."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def base_url(self) -> str:
        """What goes into OPENAI_BASE_URL."""
        return f"{self.origin}/v1"

    def __enter__(self) -> ScriptedServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def play_for(self, asked: Asked) -> Play:
        """The next play; waits out its delay, and gives up the wait when the server ends."""
        with self._lock:
            self.asked.append(asked)
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
            play = None if self._function is not None else next(self._plays, None)
        if self._function is not None:
            play = self._function(asked)
        if play is None:
            play = failure(400, "the script of this test has run out")
        if isinstance(play, str):
            play = answer(play)
        if play.delay_s:
            self._ended.wait(play.delay_s)
        return play

    def done(self) -> None:
        """A request has been answered."""
        with self._lock:
            self._at_once -= 1


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128
    owner: ScriptedServer


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, *_: object) -> None:
        """Nothing on standard error."""

    def do_GET(self) -> None:
        if self.path.rstrip("/").endswith("/models"):
            models = [{"id": MODEL, "object": "model", "created": 0, "owned_by": "proctor"}]
            self._send(200, json.dumps({"object": "list", "data": models}).encode())
        else:
            self._send(404, b'{"error": {"message": "no such page", "type": "scripted", "code": null}}')

    def do_POST(self) -> None:
        sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if not self.path.partition("?")[0].endswith("/chat/completions"):
            self._send(404, b'{"error": {"message": "no such page", "type": "scripted", "code": null}}')
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        asked = Asked(self.path, headers, json.loads(sent), time.monotonic())
        try:
            play = self.server.owner.play_for(asked)
            body = play.raw if play.raw is not None else json.dumps(completion(asked, play)).encode()
            self._send(play.status, body, play.headers, hang_up=play.hang_up)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
        finally:
            self.server.owner.done()

    def _send(
        self, status: int, body: bytes, headers: Mapping[str, str] | None = None, *, hang_up: bool = False
    ) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if hang_up else body)
        if hang_up:
            self.close_connection = True


def completion(asked: Asked, play: Play) -> dict[str, Any]:
    """The answer in the form of the protocol."""
    message: dict[str, Any] = {"role": "assistant", "content": play.text, "refusal": play.refusal}
    finish = play.finish
    forced = asked.body.get("tool_choice")
    if play.text is not None and asked.body.get("tools") and forced not in (None, "none", "auto"):
        name = asked.body["tools"][0]["function"]["name"]
        call = {"id": "call_1", "type": "function", "function": {"name": name, "arguments": play.text}}
        message |= {"content": None, "tool_calls": [call]}
        finish = "tool_calls" if finish == "stop" else finish
    tokens_in = len(asked.prompt) // 4 if play.tokens_in is None else play.tokens_in
    tokens_out = len(play.text or "") // 4 if play.tokens_out is None else play.tokens_out
    answer: dict[str, Any] = {
        "id": "chatcmpl-scripted",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": asked.model or MODEL,
        "choices": [{"index": 0, "message": message, "finish_reason": finish, "logprobs": None}],
    }
    if play.has_usage:
        answer["usage"] = {
            "prompt_tokens": tokens_in,
            "completion_tokens": tokens_out,
            "total_tokens": tokens_in + tokens_out,
        }
    return answer


def main() -> None:
    """Serve one answer to everybody until interrupted."""
    parser = argparse.ArgumentParser(description="A model server that always gives the same answer.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--answer", default='{"reasoning": "As scripted.", "score": 1}')
    arguments = parser.parse_args()
    with ScriptedServer(lambda _: arguments.answer, port=arguments.port) as server:
        print(f"OPENAI_BASE_URL={server.base_url}", flush=True)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            return


if __name__ == "__main__":
    main()
