"""The messages protocol of Anthropic, over a real connection."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from proctor.errors import ModelError
from proctor.models import Message, Model, Question, open_model
from proctor.models.patience import Patience

QUESTION = Question(
    messages=(Message("system", "Be strict."), Message("user", "Is it so?")),
    temperature=0.0,
    schema={"type": "object", "properties": {"score": {"type": "number", "maximum": 1}}},
)


class Server(ThreadingHTTPServer):
    """Answers with the status and body that the test puts into `plays`, and keeps what was sent."""

    plays: list[tuple[int, dict[str, Any]]]
    sent: list[tuple[dict[str, str], dict[str, Any]]]


class Handler(BaseHTTPRequestHandler):
    server: Server

    def log_message(self, *_: object) -> None:
        """Nothing on standard error."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.sent.append(({name.lower(): value for name, value in self.headers.items()}, body))
        status, answer = self.server.plays.pop(0) if self.path == "/v1/messages" else (404, {})
        content = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@pytest.fixture
def server() -> Iterator[Server]:
    with Server(("127.0.0.1", 0), Handler) as made:
        made.plays, made.sent = [], []
        thread = threading.Thread(target=made.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        yield made
        made.shutdown()
        thread.join()


def model_of(server: Server) -> Model:
    environment = {
        "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{server.server_address[1]}",
        "ANTHROPIC_API_KEY": "sk-ant-secret",
    }
    return open_model("anthropic/claude-test", environment, patience=Patience(sleep=lambda _: None))


def message(text: str, **more: Any) -> tuple[int, dict[str, Any]]:
    return 200, {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-test-1",
        "content": [{"type": "text", "text": text}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 10, "cache_read_input_tokens": 5, "output_tokens": 3},
        **more,
    }


def error(status: int, kind: str, said: str) -> tuple[int, dict[str, Any]]:
    return status, {"type": "error", "error": {"type": kind, "message": said}}


def test_a_question_is_sent_and_the_reply_is_read(server: Server) -> None:
    """The system message has a field of its own, a limit of tokens is always sent, and cached tokens count."""
    server.plays = [message("fine")]
    reply = model_of(server).ask(QUESTION)

    headers, body = server.sent[0]
    assert "sk-ant-secret" in (
        headers.get("x-api-key"),
        headers.get("authorization", "").removeprefix("Bearer "),
    )
    assert ("Be strict.", [{"role": "user", "content": "Is it so?"}]) == (body["system"], body["messages"])
    assert body["max_tokens"] > 0
    assert {
        "type": "json_schema",
        "schema": {"type": "object", "properties": {"score": {"type": "number"}}},
    } == body["output_config"]["format"]
    assert ("fine", "claude-test-1", "anthropic", 15, 3) == (
        reply.text,
        reply.model,
        reply.provider,
        reply.tokens_in,
        reply.tokens_out,
    )


def test_a_refusal_and_a_cut_are_told(server: Server) -> None:
    server.plays = [message("no", stop_reason="refusal"), message("It", stop_reason="max_tokens")]
    model = model_of(server)

    assert model.ask(QUESTION).is_refusal
    assert model.ask(QUESTION).is_cut


def test_an_old_model_is_asked_without_a_schema(server: Server) -> None:
    server.plays = [
        error(400, "invalid_request_error", "output_config.format: not supported by this model"),
        message("fine"),
    ]
    assert "fine" == model_of(server).ask(QUESTION).text
    assert ["output_config" in body for _, body in server.sent] == [True, False]


@pytest.mark.parametrize(
    ("play", "kind"),
    [
        (error(401, "authentication_error", "invalid x-api-key sk-ant-secret"), "auth"),
        (error(400, "invalid_request_error", "Your credit balance is too low"), "out_of_credit"),
        (error(404, "not_found_error", "model: claude-test"), "not_found"),
        (error(413, "request_too_large", "too large"), "bad_request"),
        (message("", content=None), "unavailable"),
    ],
)
def test_failures_have_a_kind_and_no_key(server: Server, play: tuple[int, dict[str, Any]], kind: str) -> None:
    server.plays = [play] * 6
    with pytest.raises(ModelError) as caught:
        model_of(server).ask(QUESTION)

    assert kind == caught.value.kind
    assert "secret" not in str(caught.value)


def test_overload_is_waited_out(server: Server) -> None:
    server.plays = [error(529, "overloaded_error", "Overloaded"), message("fine")]

    assert "fine" == model_of(server).ask(QUESTION).text
